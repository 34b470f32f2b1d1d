"""What all decorators share: calling a user's function with the right arguments, whatever form it has.

    call = UserFunction(fn, "retriever 'menu'", request=RetrieverRequest, lead=1)
    await call(request, (request.query,), request.options, ctx)

A function may take the whole request, or its parts in order, then options (one `options` parameter with a type, or
keyword parameters), and the context anywhere. It may be async or sync.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, get_args, get_origin

from flowkit.core.context import RunContext
from flowkit.core.signature import MISSING, Signature
from flowkit.core.threads import run_in_thread
from flowkit.schema.documents import Document

__all__ = ["UserFunction"]


class UserFunction:
    """A user's function and how to call it. `options_schema` is the JSON Schema of its options, or None."""

    def __init__(self, fn: Callable[..., Any], where: str, *, request: type, lead: int, soft: Sequence[str] = ()) -> None:
        """`soft`: options that are dropped when the function has no parameter for them."""
        self.fn = fn.__func__ if isinstance(fn, staticmethod) else fn
        self.description = (inspect.getdoc(self.fn) or "").strip().partition("\n")[0] or None
        probe = Signature(self.fn, where, lead=1)
        self._whole = next(iter(probe.lead.values())) is request
        self._signature = probe if self._whole or lead == 1 else Signature(self.fn, where, lead=lead)
        self._as_text = [_wants_text(annotation) for annotation in self._signature.lead.values()]
        self._soft = soft
        self.streams = self._signature.style == "async_stream"

    @property
    def options_schema(self) -> dict[str, Any] | None:
        return self._signature.input_schema()

    def bind(self, request: Any, parts: Sequence[Any], options: Any, ctx: RunContext) -> tuple[Any, Any]:
        """The arguments, with options validated.

        Raises:
            InvalidInputError: the options do not fit; `details` names the fields.
        """
        given = MISSING if options is None else options
        if self._soft and isinstance(options, dict):
            schema = self.options_schema or {}
            if "properties" in schema and not schema.get("additionalProperties"):
                given = {k: v for k, v in options.items() if k not in self._soft or k in schema["properties"]}
        if self._whole:
            return self._signature.bind(given if self._signature.takes_input else MISSING, ctx, (request,))
        lead = [_text(part) if text else part for part, text in zip(parts, self._as_text, strict=True)]
        return self._signature.bind(given, ctx, tuple(lead))

    async def __call__(self, request: Any, parts: Sequence[Any], options: Any, ctx: RunContext) -> Any:
        args, kwargs = self.bind(request, parts, options, ctx)
        if self._signature.style == "async":
            return await self.fn(*args, **kwargs)
        result = await run_in_thread(self.fn, args, kwargs)
        return await result if inspect.isawaitable(result) else result

    def stream(self, request: Any, parts: Sequence[Any], options: Any, ctx: RunContext) -> AsyncIterator[Any]:
        """The async generator of a function that streams."""
        args, kwargs = self.bind(request, parts, options, ctx)
        generator: AsyncIterator[Any] = self.fn(*args, **kwargs)
        return generator


def _wants_text(annotation: Any) -> bool:
    """True when a parameter is annotated as text (`str`, `list[str]`) where the wire carries documents."""
    return annotation is str or (get_origin(annotation) is not None and get_args(annotation)[:1] == (str,))


def _text(part: Any) -> Any:
    return part.text if isinstance(part, Document) else [document.text for document in part]
