"""What a callable is: its parameters, annotations and style, whatever form it has.

    look_at(functools.partial(fetch, 3), "flow 'fetch'").style       # "async"

Functions, methods, static and class methods, callable objects, classes, `functools.partial`, decorated functions.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal, get_type_hints

from flowkit.errors import ConfigError

__all__ = ["MISSING", "Function", "Style", "described", "look_at", "origin", "plain_function", "style_of"]

MISSING: Any = inspect.Parameter.empty
Style = Literal["async", "sync", "async_stream", "sync_stream"]


@dataclass(frozen=True, slots=True)
class Function:
    """`hints` are resolved annotations by parameter; `returns` is MISSING without one."""

    parameters: tuple[inspect.Parameter, ...]
    hints: dict[str, Any]
    returns: Any
    style: Style


def look_at(fn: Callable[..., Any], where: str) -> Function:
    """Read a callable.

    Raises:
        ConfigError: it is not callable, takes `*args`, has no readable signature, or an annotation names nothing.
    """
    if not callable(fn):
        raise ConfigError(f"{where}: {type(fn).__name__} is not callable", hint="decorate a function")
    try:
        parameters = tuple(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where}: {error}", hint="wrap it in a function of your own") from error
    target = plain_function(fn)
    made = target if isinstance(target, type) else None
    hints = _hints(made.__init__ if made is not None else target, where)  # type: ignore[misc]
    returns = hints.pop("return", MISSING) if made is None else MISSING
    for at, parameter in enumerate(parameters):
        _check(parameter, at, hints, target, where)
    return Function(parameters, hints, returns, style_of(fn))


def plain_function(fn: Any) -> Any:
    """The function (or class) in which a callable's annotations and docstring are written."""
    while True:
        if isinstance(fn, staticmethod | classmethod):
            fn = fn.__func__
        elif isinstance(fn, functools.partial):
            fn = fn.func
        elif hasattr(fn, "__wrapped__"):
            fn = fn.__wrapped__
        elif inspect.isroutine(fn) or isinstance(fn, type):
            return fn
        else:
            fn = type(fn).__call__


def style_of(fn: Any) -> Style:
    """How a call of it gives its result.

    What is called decides. A decorator's sync wrapper usually hands on what the function in it gives, so then that
    function decides.
    """
    while True:
        if isinstance(fn, staticmethod | classmethod):
            fn = fn.__func__
        elif isinstance(fn, functools.partial):
            fn = fn.func
        elif not (inspect.isroutine(fn) or isinstance(fn, type)):
            fn = fn.__wrapped__ if hasattr(fn, "__wrapped__") else type(fn).__call__
        elif inspect.isasyncgenfunction(fn):
            return "async_stream"
        elif inspect.iscoroutinefunction(fn):
            return "async"
        elif inspect.isgeneratorfunction(fn):
            return "sync_stream"
        elif hasattr(fn, "__wrapped__"):
            fn = fn.__wrapped__
        else:
            return "sync"


def described(fn: Any) -> str | None:
    """The docstring of a callable, without its indentation; a `partial` has that of its function."""
    inner = fn.func if isinstance(fn, functools.partial) else fn
    if inspect.isroutine(inner) or isinstance(inner, type):
        return inspect.getdoc(inner)
    own = getattr(vars(type(inner)).get("__call__"), "__doc__", None)
    return inspect.cleandoc(own) if own else inspect.getdoc(type(inner))


def origin(fn: Any) -> str:
    """Where a callable comes from, as module and qualified name; the same for a function that is defined again."""
    inner = plain_function(fn)
    return f"{getattr(inner, '__module__', None) or '?'}.{getattr(inner, '__qualname__', repr(inner))}"


def _check(parameter: inspect.Parameter, at: int, hints: dict[str, Any], target: Any, where: str) -> None:
    name = parameter.name
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
        raise ConfigError(f"{where}: {stars}{name} has no schema", hint="name every parameter")
    if name == "self" and at == 0 and name not in hints and _in_class(target):
        raise ConfigError(
            f"{where} is a method without its object", hint="register the bound method, ai.flow(…)(it.method)"
        )
    if name == "ctx" and name not in hints:
        raise ConfigError(f"{where}: parameter 'ctx' has no type", hint="write ctx: RunContext")
    if type(parameter.default).__name__ == "FieldInfo":
        raise ConfigError(
            f"{where}: the default of parameter {name!r} is a pydantic Field",
            hint=f"write {name}: Annotated[…, Field(…)] = value",
        )


def _in_class(target: Any) -> bool:
    holder = str(getattr(target, "__qualname__", "")).rpartition(".")[0]
    return bool(holder) and not holder.endswith("<locals>")


def _hints(target: Any, where: str) -> dict[str, Any]:
    try:
        return get_type_hints(target, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError) as error:
        culprit = _culprit(target)
        place = f"{where}, parameter {culprit!r}" if culprit not in (None, "return") else where
        raise ConfigError(
            f"{place}: {error}", hint="define the type before the function, at module level, outside TYPE_CHECKING"
        ) from error


def _culprit(target: Any) -> str | None:
    """The first parameter whose annotation cannot be resolved."""
    try:
        written: dict[str, Any] = dict(target.__annotations__)
    except (AttributeError, NameError):
        return None
    for name, annotation in written.items():
        try:
            get_type_hints(SimpleNamespace(__annotations__={name: annotation}), globalns=target.__globals__)
        except (NameError, TypeError, AttributeError, SyntaxError):
            return name
    return None
