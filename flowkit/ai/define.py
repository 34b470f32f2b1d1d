"""What all decorators share: calling a user's function with the right arguments, whatever form it has.

    call = UserFunction(fn, "retriever 'menu'", request=RetrieverRequest, lead=1)
    await call.start(request, (request.query,), request.options, ctx)

A function may take the whole request, or its parts in order, then options (one parameter that is an object or is called
`options`, or a parameter for each), and the context anywhere. It may be async or sync.
"""

import collections.abc
import contextlib
import inspect
import types
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Union, get_args, get_origin

from flowkit.core.action import Action, tell_if_abandoned
from flowkit.core.context import RunContext
from flowkit.core.functions import described, plain_function
from flowkit.core.signature import MISSING, Signature
from flowkit.core.threads import pump, start_in_thread
from flowkit.schema.documents import Document, embedded_text

__all__ = ["UserFunction", "wants"]

_LISTS = (list, tuple, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)


class UserFunction:
    """A user's function and how to call it. `whole`: it takes the request itself, and not its parts."""

    def __init__(
        self, fn: Callable[..., Any], where: str, *, request: type, lead: int, soft: Sequence[str] = ()
    ) -> None:
        """`soft`: options that are dropped when the function has no parameter for them.

        Raises:
            ConfigError: it cannot be called with such parts.
        """
        if isinstance(fn, Action):  # one function under two decorators
            fn = fn.__wrapped__
        self.fn: Callable[..., Any] = fn.__func__ if isinstance(fn, staticmethod) else fn
        doc = described(self.fn) or ""
        self.description = doc.strip().partition("\n")[0] or None
        probe = Signature(self.fn, where, lead=1)
        self.whole = next(iter(probe.lead.values())) is request
        self._signature = probe if self.whole or lead == 1 else Signature(self.fn, where, lead=lead)
        self._as_text = [_wants_text(annotation) for annotation in self._signature.lead.values()]
        self._soft = soft
        self.style = self._signature.style
        # A lambda cannot say that it hands on a coroutine.
        self._may_await = getattr(plain_function(self.fn), "__name__", "") == "<lambda>"

    @cached_property
    def options_schema(self) -> dict[str, Any] | None:
        """JSON Schema of its options, None when it takes none."""
        schema = self._signature.input_schema()
        return None if schema is None else _object_schema(schema)

    def bind(self, request: Any, parts: Sequence[Any], options: Any, ctx: RunContext) -> tuple[Any, Any]:
        """The arguments, with options validated.

        Raises:
            InvalidInputError: the options do not fit; `details` names the fields.
        """
        given = MISSING if options is None else options
        if self._soft and isinstance(options, dict):
            given = {key: value for key, value in options.items() if key not in self._soft or self.has(key)}
        if self.whole:
            return self._signature.bind(given if self._signature.takes_input else MISSING, ctx, (request,))
        lead = [_text(part) if text else part for part, text in zip(parts, self._as_text, strict=True)]
        return self._signature.bind(given, ctx, tuple(lead))

    def has(self, option: str) -> bool:
        """True when the function has that option, or takes any."""
        return wants(self.options_schema, option)

    def start(
        self,
        request: Any,
        parts: Sequence[Any],
        options: Any,
        ctx: RunContext,
        *,
        each: Callable[[Any], None] | None = None,
    ) -> Awaitable[Any]:
        """Call the function; no coroutine of ours stands between the caller and it in a traceback.

        What a generator yields comes as a list. `each`: what a sync generator yields goes there instead, in its thread.
        """
        args, kwargs = self.bind(request, parts, options, ctx)
        if self.style == "async":
            awaitable: Awaitable[Any] = self.fn(*args, **kwargs)
            return awaitable
        if self.style == "async_stream":
            return _listed(self.fn(*args, **kwargs))
        if self.style == "sync":
            running = start_in_thread(self.fn, args, kwargs)
        elif each is not None:
            running = start_in_thread(pump, (self.fn, args, kwargs, each))
        else:
            running = start_in_thread(lambda: list(self.fn(*args, **kwargs)))
        running.add_done_callback(lambda future: tell_if_abandoned(future, ctx.record))
        return _settled(running) if self._may_await else running

    def stream(self, request: Any, parts: Sequence[Any], options: Any, ctx: RunContext) -> AsyncGenerator[Any, None]:
        """The async generator of a function that streams."""
        args, kwargs = self.bind(request, parts, options, ctx)
        generator: AsyncGenerator[Any, None] = self.fn(*args, **kwargs)
        return generator


def wants(schema: Mapping[str, Any] | None, option: str) -> bool:
    """True when options of that schema may have that key. Without a schema, or with an empty one, there are none."""
    if not schema:
        return False
    known = schema.get("properties")
    return known is None or option in known or bool(schema.get("additionalProperties"))


def _object_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Options that may be left out (`Options | None`) have the schema of their object; untyped ones take any key."""
    variants = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(variants) == 1:
        schema = {key: value for key, value in schema.items() if key not in ("anyOf", "default")} | variants[0]
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        schema = {key: value for key, value in schema.items() if key != "$ref"} | schema["$defs"][name]
    return schema or {"type": "object", "additionalProperties": True}


async def _listed(generator: AsyncGenerator[Any, None]) -> list[Any]:
    async with contextlib.aclosing(generator) as items:
        return [item async for item in items]


async def _settled(running: Awaitable[Any]) -> Any:
    result = await running
    return await result if inspect.isawaitable(result) else result


def _wants_text(annotation: Any) -> bool:
    """True when a parameter is annotated as text (`str`, `list[str]`) where the wire carries documents."""
    kind = get_origin(annotation)
    if kind in (Union, types.UnionType):
        return any(_wants_text(one) for one in get_args(annotation))
    return annotation is str or (kind in _LISTS and get_args(annotation)[:1] == (str,))


def _text(part: Any) -> Any:
    return embedded_text(part) if isinstance(part, Document) else list(map(embedded_text, part))
