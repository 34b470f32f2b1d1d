"""Function → the shape of its input: what an action takes, as validators and JSON Schema.

()                     no input
(x: str)               the input is the string
(x: Model, ctx)        the input is the model; the context is found by its type, at any position
(a: int, b: int = 3)   the input is an object {"a": …, "b": …}; so is (*, a: int)
"""

import collections.abc
import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args, get_origin

from flowkit.core.context import RunContext
from flowkit.core.functions import MISSING, look_at
from flowkit.core.types import TypeOf, adapter_of, json_schema, problems, summary
from flowkit.core.values import to_plain
from flowkit.errors import ConfigError, InvalidInputError, InvalidOutputError

__all__ = ["MISSING", "Signature"]

_STREAMS = (
    collections.abc.AsyncIterator,
    collections.abc.AsyncGenerator,
    collections.abc.AsyncIterable,
    collections.abc.Iterator,
    collections.abc.Generator,
    collections.abc.Iterable,
)
_AWAITABLES = (collections.abc.Awaitable, collections.abc.Coroutine)


class Signature:
    """What a function takes and gives. Annotations are read at once, validators are made when they are needed."""

    def __init__(self, fn: Callable[..., Any], where: str, *, lead: int = 0) -> None:
        """`lead`: so many parameters at the front are given by the framework (a query, documents); the rest is options.

        Raises:
            ConfigError: the function has no signature that makes an input; the message names the parameter.
        """
        self.where = where
        self.hint: str | None = None
        """What to do when an input is bad; for actions that are called through a verb."""
        function = look_at(fn, where)
        self.style = function.style
        self.lead: dict[str, Any] = {}
        self.context_name: str | None = None
        self._inputs: dict[str, inspect.Parameter] = {}
        self._order = function.parameters
        for parameter in function.parameters:
            hint = function.hints.get(parameter.name, MISSING)
            if _is_context(hint):
                if self.context_name is not None:
                    raise ConfigError(f"{where} takes two contexts", hint="one RunContext is enough")
                self.context_name = parameter.name
            elif len(self.lead) < lead:
                self.lead[parameter.name] = hint
            else:
                self._inputs[parameter.name] = parameter
        if len(self.lead) < lead:
            raise ConfigError(f"{where} takes {len(self.lead)} parameters", hint=f"it is called with {lead} or more")
        self._types = {
            name: TypeOf(function.hints.get(name, MISSING), f"{where}, parameter {name!r}") for name in self._inputs
        }
        only = next(iter(self._inputs.values()), None) if len(self._inputs) == 1 else None
        if only is not None and lead:
            # Options: one parameter that is an object, or is named so, holds them; another one is a key of them.
            self.single = only.name == "options" or _is_object(self._types[only.name].annotation)
        else:
            self.single = only is not None and only.kind is not only.KEYWORD_ONLY
        self._only = self._types[only.name] if self.single and only is not None else None
        self._only_name = only.name if only is not None else ""
        self._default = only.default if self.single and only is not None else MISSING
        self._model: Any = None
        self._set_output(function.returns)

    def _set_output(self, returns: Any) -> None:
        self._chunk = TypeOf(Any, self.where)
        if self.style.endswith("stream"):
            item = next(iter(get_args(returns)), Any) if get_origin(returns) in _STREAMS else Any
            self._chunk = TypeOf(item, f"{self.where}, chunk")
            if item is Any:
                returns = Any
            else:
                returns = item if item is str else list[item]  # type: ignore[valid-type]
        elif get_origin(returns) in _AWAITABLES:  # a sync function that hands on a coroutine
            returns = get_args(returns)[-1]
        self._output = TypeOf(returns, f"{self.where}, result")

    # Binding: from a call or from a wire input to the arguments of the function.

    def gather(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A Python call's arguments as one input value, MISSING when there are none.

        Raises:
            InvalidInputError: the function cannot be called so.
        """
        if self.single:
            if len(args) == 1 and not kwargs:
                return args[0]
            if not args and len(kwargs) == 1 and self._only_name in kwargs:
                return kwargs[self._only_name]
        if not args and not kwargs:
            return MISSING
        if len(args) == 1 and not kwargs and self._is_whole(args[0]):
            return args[0]
        names = [p.name for p in self._inputs.values() if p.kind is not p.KEYWORD_ONLY]
        if len(args) > len(names):
            raise self._bad(f"takes {len(names)} positional arguments, {len(args)} were given")
        given = dict(zip(names, args, strict=False))
        twice = given.keys() & kwargs.keys()
        unknown = kwargs.keys() - self._inputs.keys()
        if twice or unknown:
            what = f"got {min(twice)!r} twice" if twice else f"has no parameter {min(unknown)!r}"
            raise self._bad(what)
        return {**given, **kwargs}

    def _is_whole(self, value: Any) -> bool:
        """True when a sole argument is the wire's object form, and not the first of several parameters."""
        if not isinstance(value, Mapping) or self.single or not self._inputs:
            return False
        first = next(iter(self._inputs.values()))
        if first.kind is first.KEYWORD_ONLY or self._types[first.name].exact is not None:
            return True
        required = {name for name, parameter in self._inputs.items() if parameter.default is MISSING}
        return required <= value.keys() <= self._inputs.keys()

    def bind(self, value: Any, context: RunContext, lead: tuple[Any, ...] = ()) -> tuple[Sequence[Any], dict[str, Any]]:
        """Validate an input value and lay it out as the function's arguments.

        Raises:
            InvalidInputError: with the path and message of each field in `details`.
        """
        if self._only is not None:
            if value is MISSING:
                if self._default is MISSING:
                    raise self._bad("needs an input")
                value = self._default
            elif value.__class__ is not self._only.exact:
                value = self._one(self._only, value)
            if self.context_name is None and not lead:
                return (value,), {}
            values = {self._only_name: value}
        elif self._inputs:
            values = self._several(value)
        elif value is not MISSING and value is not None and not (isinstance(value, Mapping) and not value):
            raise self._bad("takes no options" if self.lead else "takes no input")
        else:
            values = {}
        if self.context_name is not None:
            values[self.context_name] = context
        values.update(zip(self.lead, lead, strict=True))
        args = [values[p.name] for p in self._order if p.kind is not p.KEYWORD_ONLY]
        return args, {p.name: values[p.name] for p in self._order if p.kind is p.KEYWORD_ONLY}

    def _one(self, only: TypeOf, value: Any) -> Any:
        try:
            return only.validate(value)
        except ValueError as error:
            if value is None and self._default is not MISSING:
                return self._default  # null on the wire, where the type has no None
            raise self._refused(problems(error)) from error

    def _several(self, value: Any) -> dict[str, Any]:
        given = {} if value is MISSING or value is None else value
        found: list[dict[str, str]] = []
        cause = None
        if isinstance(given, Mapping) and not given.keys() <= self._inputs.keys():
            known = ", ".join(self._inputs)
            unknown = [str(key) for key in given if key not in self._inputs]
            found = [{"path": key, "message": f"there is no such field; there are: {known}"} for key in unknown]
            given = {key: item for key, item in given.items() if key in self._inputs}
        try:
            fields = self._object().validate_python(given)
        except ValueError as error:
            found, cause = found + problems(error), error
        if found:
            raise self._refused(found) from cause
        return {name: getattr(fields, name) for name in self._inputs}

    def validate_output(self, value: Any) -> Any:
        if value.__class__ is self._output.exact:
            return value
        try:
            return self._output.validate(value)
        except ValueError as error:
            raise self._wrong("returned", error) from error

    def validate_chunk(self, value: Any) -> Any:
        if value.__class__ is self._chunk.exact:
            return value
        try:
            return self._chunk.validate(value)
        except ValueError as error:
            raise self._wrong("yielded", error) from error

    def join(self, chunks: list[Any]) -> Any:
        """The result of a generator: its chunks as one text when they are text, else the list of them."""
        text = self._chunk.exact is str
        if self._chunk.annotation is Any:
            text = bool(chunks) and all(type(chunk) is str for chunk in chunks)
        return "".join(chunks) if text else chunks

    # Schemas.

    @property
    def takes_input(self) -> bool:
        return bool(self._inputs)

    @property
    def takes_context_input(self) -> bool:
        """True when an input is called "context", which is also the keyword for the run's context."""
        return "context" in self._inputs

    @property
    def needs_input(self) -> bool:
        """True when the function cannot be called without an input."""
        return any(parameter.default is MISSING for parameter in self._inputs.values())

    def input_schema(self) -> dict[str, Any] | None:
        """JSON Schema of the input; None when there is no input, `{}` when anything goes.

        Raises:
            ConfigError: a type has no schema; the message names the parameter.
        """
        if self._only is not None:
            schema = self._only.schema("validation")
            if self._default is not MISSING and "default" not in schema:
                schema = {**schema, "default": to_plain(self._default)}
            return schema
        if not self._inputs:
            return None
        whole = json_schema(self._object())
        whole["additionalProperties"] = False
        for name, parameter in self._inputs.items():
            if parameter.default is not MISSING:
                whole["properties"][name].setdefault("default", to_plain(parameter.default))
        return whole

    def output_schema(self) -> dict[str, Any] | None:
        return self._output.schema("serialization")

    def chunk_schema(self) -> dict[str, Any] | None:
        return self._chunk.schema("serialization") if self.style.endswith("stream") else None

    def _object(self) -> Any:
        """Several parameters as one object: a dataclass, since a model's own attributes would clash with names."""
        if self._model is None:
            fields = [
                (name, self._types[name].annotation, dataclasses.field(**_default(parameter)))
                for name, parameter in self._inputs.items()
            ]
            try:
                self._model = adapter_of(dataclasses.make_dataclass("Input", fields, kw_only=True), self.where)
            except ConfigError:
                for each in self._types.values():  # one of them says which parameter it is
                    _ = each.adapter
                raise
        return self._model

    def _refused(self, found: list[dict[str, str]]) -> InvalidInputError:
        details = {"errors": found, "schema": self.input_schema()}
        return InvalidInputError(f"bad input for {self.where}: {summary(found)}", hint=self.hint, details=details)

    def _wrong(self, verb: str, error: ValueError) -> InvalidOutputError:
        found = problems(error)
        return InvalidOutputError(
            f"{self.where} {verb} what its annotation forbids: {summary(found)}",
            hint="keep to the annotated type, or change the annotation",
            details={"errors": found},
        )

    def _bad(self, what: str) -> InvalidInputError:
        details = {"errors": [{"path": "", "message": what}]}
        return InvalidInputError(f"{self.where} {what}", hint=self.hint, details=details)


def _default(parameter: inspect.Parameter) -> dict[str, Any]:
    """A dataclass field's default; a factory, since dataclasses refuse mutable ones."""
    return {} if parameter.default is MISSING else {"default_factory": lambda: parameter.default}


def _is_context(annotation: Any) -> bool:
    """True for RunContext, and for a union with it."""
    return annotation is RunContext or RunContext in get_args(annotation)


def _is_object(annotation: Any) -> bool:
    """True for a pydantic model or a dataclass, also when it is optional."""
    return any(
        isinstance(kind, type) and (dataclasses.is_dataclass(kind) or hasattr(kind, "model_fields"))
        for kind in (annotation, *get_args(annotation))
    )
