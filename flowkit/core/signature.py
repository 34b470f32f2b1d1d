"""Function → the shape of its input: what an action takes, as validators and JSON Schema.

    ()                     no input
    (x: str)               the input is the string
    (x: Model, ctx)        the input is the model; the context is found by its type, at any position
    (a: int, b: int = 3)   the input is an object {"a": …, "b": …}; so is (*, a: int)
"""

import collections.abc
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, make_dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from flowkit.core.context import RunContext
from flowkit.core.values import to_plain
from flowkit.errors import ConfigError, InvalidInputError, InvalidOutputError

__all__ = ["MISSING", "Signature"]

MISSING: Any = inspect.Parameter.empty
_STREAMS = (
    collections.abc.AsyncIterator,
    collections.abc.AsyncGenerator,
    collections.abc.AsyncIterable,
    collections.abc.Iterator,
    collections.abc.Generator,
    collections.abc.Iterable,
)
_Style = Literal["async", "sync", "async_stream", "sync_stream"]


class _Type:
    """One annotation: its validator and schema, made at first use (pydantic takes about a millisecond for each)."""

    __slots__ = ("_adapter", "_where", "annotation", "exact")

    def __init__(self, annotation: Any, where: str) -> None:
        self.annotation = Any if annotation is MISSING else annotation
        self.exact = self.annotation if self.annotation in (str, int, float, bool) else None
        self._where = where
        self._adapter: Any = None

    @property
    def adapter(self) -> Any:
        if self._adapter is None:
            from pydantic import PydanticUserError, TypeAdapter

            try:
                self._adapter = TypeAdapter(self.annotation)
            except (PydanticUserError, TypeError, NameError) as error:
                raise ConfigError(
                    f"{self._where}: pydantic has no schema for {self.annotation!r}",
                    hint="annotate with a pydantic model, a dataclass or plain types; or drop the annotation",
                ) from error
        return self._adapter

    def validate(self, value: Any) -> Any:
        if value.__class__ is self.exact or self.annotation is Any:
            return value
        return self.adapter.validate_python(value)

    def schema(self, mode: Literal["validation", "serialization"]) -> dict[str, Any]:
        return {} if self.annotation is Any else self.adapter.json_schema(mode=mode, by_alias=True)


class Signature:
    """What a function takes and gives. Annotations are read at once, validators are made when they are needed."""

    def __init__(self, fn: Callable[..., Any], where: str, *, lead: int = 0) -> None:
        """`lead`: so many parameters at the front are given by the framework (a query, documents); the rest is input."""
        self.where = where
        self.lead: dict[str, Any] = {}
        inner = inspect.unwrap(fn.__func__ if isinstance(fn, staticmethod) else fn)
        target = inner if inspect.isroutine(inner) else type(inner).__call__
        try:
            parameters = list(inspect.signature(fn).parameters.values())
            hints = get_type_hints(target, include_extras=True)
        except NameError as error:
            raise ConfigError(f"{where}: {error}", hint="define the type before the function, at module level") from error
        self.style = _style(target)
        self.context_name: str | None = None
        self._inputs: dict[str, inspect.Parameter] = {}
        self._order: list[inspect.Parameter] = []
        for parameter in parameters:
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise ConfigError(f"{where}: *{parameter.name} has no schema", hint="name every parameter")
            self._order.append(parameter)
            if len(self.lead) < lead and not _is_context(hints.get(parameter.name)):
                self.lead[parameter.name] = hints.get(parameter.name, MISSING)
            elif _is_context(hints.get(parameter.name)):
                self.context_name = parameter.name
            else:
                self._inputs[parameter.name] = parameter
        self._types = {name: _Type(hints.get(name, MISSING), f"{where}, parameter {name!r}") for name in self._inputs}
        only = next(iter(self._inputs.values()), None)
        self.single = len(self._inputs) == 1 and only is not None and only.kind is not only.KEYWORD_ONLY
        if lead:  # options: one parameter of that name is the object itself, other names are its keys
            self.single = list(self._inputs) == ["options"]
            if len(self.lead) < lead:
                raise ConfigError(f"{where} takes {len(self.lead)} parameters", hint=f"it is called with {lead} or more")
        self._only = self._types[only.name] if self.single and only is not None else None
        self._only_name = only.name if only is not None else ""
        self._default = only.default if self.single and only is not None else MISSING
        self._model: Any = None
        output = hints.get("return", MISSING)
        self._chunk = _Type(Any, where)
        if self.style.endswith("stream"):
            item = next(iter(get_args(output)), Any) if get_origin(output) in _STREAMS else Any
            self._chunk = _Type(item, f"{where}, chunk")
            output = item if item is str else (list[item] if item is not Any else Any)  # type: ignore[valid-type]
        self._output = _Type(type(None) if output is None else output, f"{where}, result")

    # Binding: from a call or from a wire input to the arguments of the function.

    def gather(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A Python call's arguments as one input value, MISSING when there are none."""
        if self.single:
            if len(args) == 1 and not kwargs:
                return args[0]
            if not args and len(kwargs) == 1 and self._only_name in kwargs:
                return kwargs[self._only_name]
        if not args and not kwargs:
            return MISSING
        names = [p.name for p in self._inputs.values() if p.kind is not p.KEYWORD_ONLY]
        if len(args) == 1 and not kwargs and len(self._inputs) > 1 and isinstance(args[0], Mapping):
            return args[0]  # the wire's object form is accepted from Python too
        if len(args) > len(names):
            raise self._bad(f"takes {len(names)} positional arguments, {len(args)} were given")
        given = dict(zip(names, args, strict=False))
        twice = given.keys() & kwargs.keys()
        unknown = kwargs.keys() - self._inputs.keys()
        if twice or unknown:
            what = f"got {sorted(twice)[0]!r} twice" if twice else f"has no parameter {sorted(unknown)[0]!r}"
            raise self._bad(what)
        return {**given, **kwargs}

    def bind(self, value: Any, context: RunContext, lead: tuple[Any, ...] = ()) -> tuple[Sequence[Any], dict[str, Any]]:
        """Validate an input value and lay it out as the function's arguments.

        Raises:
            InvalidInputError: with the path and message of each field in `details`.
        """
        if self._only is not None:
            if value is MISSING or (value is None and self._default is not MISSING):
                if self._default is MISSING:
                    raise self._bad("needs an input")
                value = self._default
            elif value.__class__ is not self._only.exact:
                value = self._validated(self._only.validate, value)
            if self.context_name is None and not lead:
                return (value,), {}
            values = {self._only_name: value}
        elif self._inputs:
            given = {} if value is MISSING or value is None else value
            fields = self._validated(self._object().validate_python, given)
            values = {name: getattr(fields, name) for name in self._inputs}
        elif value is not MISSING and value is not None and not self.lead:
            raise self._bad("takes no input")
        else:
            values = {}
        if self.context_name is not None:
            values[self.context_name] = context
        values.update(zip(self.lead, lead, strict=True))
        args = [values[p.name] for p in self._order if p.kind is not p.KEYWORD_ONLY]
        return args, {p.name: values[p.name] for p in self._order if p.kind is p.KEYWORD_ONLY}

    def validate_output(self, value: Any) -> Any:
        if value.__class__ is self._output.exact:
            return value
        try:
            return self._output.validate(value)
        except ValueError as error:
            raise InvalidOutputError(
                f"{self.where} returned what its annotation forbids: {_first(error)}",
                hint="return the annotated type, or change the annotation",
                details={"errors": _errors(error)},
            ) from error

    def validate_chunk(self, value: Any) -> Any:
        if value.__class__ is self._chunk.exact:
            return value
        try:
            return self._chunk.validate(value)
        except ValueError as error:
            raise InvalidOutputError(f"{self.where} yielded what its annotation forbids: {_first(error)}") from error

    # Schemas.

    @property
    def takes_input(self) -> bool:
        return bool(self._inputs)

    @property
    def needs_input(self) -> bool:
        """True when the function cannot be called without an input."""
        return any(parameter.default is MISSING for parameter in self._inputs.values())

    def input_schema(self) -> dict[str, Any] | None:
        """JSON Schema of the input; None when there is no input, `{}` when anything goes."""
        if self._only is not None:
            schema = self._only.schema("validation")
            if self._default is not MISSING and "default" not in schema:
                schema = {**schema, "default": to_plain(self._default)}
            return schema
        if not self._inputs:
            return None
        schema: dict[str, Any] = self._object().json_schema(by_alias=True)
        for name, parameter in self._inputs.items():
            if parameter.default is not MISSING:
                schema["properties"][name].setdefault("default", to_plain(parameter.default))
        return schema

    def output_schema(self) -> dict[str, Any] | None:
        return self._output.schema("serialization")

    def chunk_schema(self) -> dict[str, Any] | None:
        return self._chunk.schema("serialization") if self.style.endswith("stream") else None

    def _object(self) -> Any:
        """Several parameters as one object: a dataclass, since a model's own attributes would clash with names."""
        if self._model is None:
            from pydantic import ConfigDict, TypeAdapter

            fields = [
                (name, self._types[name].annotation, field(**_default(parameter)))
                for name, parameter in self._inputs.items()
            ]
            namespace = {"__pydantic_config__": ConfigDict(extra="forbid")}
            try:
                self._model = TypeAdapter(make_dataclass("Input", fields, kw_only=True, namespace=namespace))
            except (TypeError, NameError, ValueError) as error:
                raise ConfigError(f"{self.where}: no schema for its parameters: {error}") from error
        return self._model

    def _validated(self, validate: Callable[[Any], Any], value: Any) -> Any:
        try:
            return validate(value)
        except ValueError as error:
            details = {"errors": _errors(error), "schema": self.input_schema()}
            raise InvalidInputError(f"bad input for {self.where}: {_first(error)}", details=details) from error

    def _bad(self, what: str) -> InvalidInputError:
        return InvalidInputError(f"{self.where} {what}", details={"errors": [{"path": "", "message": what}]})


def _default(parameter: inspect.Parameter) -> dict[str, Any]:
    """A dataclass field's default; a factory, since dataclasses refuse mutable ones."""
    return {} if parameter.default is MISSING else {"default_factory": lambda: parameter.default}


def _style(target: Any) -> _Style:
    if inspect.isasyncgenfunction(target):
        return "async_stream"
    if inspect.iscoroutinefunction(target):
        return "async"
    return "sync_stream" if inspect.isgeneratorfunction(target) else "sync"


def _is_context(annotation: Any) -> bool:
    """True for RunContext, and for a union with it."""
    return annotation is RunContext or RunContext in get_args(annotation)


def _errors(error: ValueError) -> list[dict[str, str]]:
    """`[{"path": "items.0.n", "message": …}]` of a validation error."""
    listed = getattr(error, "errors", None)
    if not callable(listed):
        return [{"path": "", "message": str(error)}]
    found = listed(include_url=False, include_context=False, include_input=False)
    return [{"path": ".".join(map(str, item["loc"])), "message": item["msg"]} for item in found]


def _first(error: ValueError) -> str:
    """The first problems in words, fields named."""
    problems = [f"{item['path']}: {item['message']}" if item["path"] else item["message"] for item in _errors(error)]
    more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
    return "; ".join(problems[:3]) + more
