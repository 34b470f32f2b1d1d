"""What a model says: its pieces go out as they come, and together they are the answer.

reply = Reply("local/extractive", ctx)
reply.add("Soup "), reply.add("is vegan."); reply.response(latency_ms=12.0).text
"""

import asyncio
from collections.abc import Sequence
from typing import Any, cast, get_args

from flowkit.core.context import RunContext
from flowkit.errors import InvalidOutputError
from flowkit.schema.messages import Message
from flowkit.schema.model import GenerateResponse, GenerateResponseChunk
from flowkit.schema.parts import Part, TextPart

__all__ = ["Reply"]

_PARTS: tuple[type, ...] = tuple(get_args(one)[0] for one in get_args(get_args(Part)[0]))


class _ModelContext(RunContext):
    """The context that a model gets: its chunks pass through the reply, whether somebody reads them or not."""

    __slots__ = ("_read",)

    def __init__(self, ctx: RunContext, reply: "Reply") -> None:
        super().__init__(ctx.values, ctx.params, reply.add, ctx.record)
        self._read = ctx.streaming

    @property
    def streaming(self) -> bool:
        return self._read


class Reply:
    """Collects what a model yields, sends or returns. `ctx` is the context to call the model with."""

    def __init__(self, name: str, ctx: RunContext) -> None:
        self.ctx: RunContext = _ModelContext(ctx, self)
        self._name = name
        self._send = ctx.send_chunk
        self._parts: list[Part] = []
        self._last: GenerateResponse | None = None

    def add(self, item: Any) -> None:
        """A piece: text, a part, a message, a chunk; or a response, which says the rest. Any thread may call it.

        Raises:
            InvalidOutputError: it is none of these.
        """
        if isinstance(item, GenerateResponse):
            self._last = item
            return
        chunk = self._as_chunk(item)
        if chunk.aggregated:
            self._parts = list(chunk.content)
        else:
            self._parts.extend(chunk.content)
        self._send(chunk)

    async def take(self, item: Any) -> None:
        """As `add`; then the reader has its turn, and a cancellation too, even when the model never waits."""
        self.add(item)
        await asyncio.sleep(0)

    def end(self, result: Any) -> None:
        """What a model that does not yield has returned; None is enough when it has sent chunks.

        Raises:
            InvalidOutputError: it is no answer.
        """
        if isinstance(result, str):
            result = Message.model(result)
        if isinstance(result, Message):
            result = GenerateResponse(message=result)
        if isinstance(result, GenerateResponse):
            self._last = result
        elif result is not None or not self._parts:
            raise self._wrong(result)

    def response(self, latency_ms: float) -> GenerateResponse:
        """The whole answer. `latency_ms` is used when the model has not said its own."""
        response = self._last or GenerateResponse()
        missing: dict[str, Any] = {}
        if response.message is None:
            missing["message"] = Message(role="model", content=_merged(self._parts))
        if response.latency_ms is None:
            missing["latency_ms"] = latency_ms
        return response.model_copy(update=missing)

    def _as_chunk(self, item: Any) -> GenerateResponseChunk:
        if isinstance(item, GenerateResponseChunk):
            return item
        if isinstance(item, str):
            return GenerateResponseChunk.of_text(item)
        if isinstance(item, _PARTS):
            return GenerateResponseChunk(role="model", index=0, content=(cast(Part, item),))
        if isinstance(item, Message):
            return GenerateResponseChunk(role=item.role, index=0, content=item.content)
        raise self._wrong(item)

    def _wrong(self, item: Any) -> InvalidOutputError:
        return InvalidOutputError(
            f"model {self._name!r} gave {type(item).__name__}",
            hint="give text, a Message, chunks or a GenerateResponse",
        )


def _merged(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Neighbouring text parts as one."""
    merged: list[Part] = []
    for part in parts:
        before = merged[-1] if merged else None
        if isinstance(part, TextPart) and isinstance(before, TextPart) and part.metadata == before.metadata:
            merged[-1] = before.model_copy(update={"text": before.text + part.text})
        else:
            merged.append(part)
    return tuple(merged)
