"""Answers that go on: lines of JSON, or server-sent events, until the source ends or the reader leaves.

return Lines(events)                       # NDJSON: one JSON value on each line
return Lines(events, events=True)          # data: {…}
"""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from flowkit.core.values import to_json
from flowkit.server.frames import frame

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

__all__ = ["NDJSON", "SERVER_SENT", "Lines"]

NDJSON = "application/x-ndjson"
SERVER_SENT = "text/event-stream"


class Lines:
    """An ASGI response. The source is closed when the reader leaves."""

    def __init__(self, source: AsyncIterator[Any], *, events: bool = False) -> None:
        self._source = source
        self._events = events

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        media = SERVER_SENT if self._events else NDJSON
        headers = [
            (b"content-type", f"{media}; charset=utf-8".encode()),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        writing = asyncio.ensure_future(self._write(send))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait({writing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            done = writing.done()
            for task in (writing, leaving):
                task.cancel()
            results = await asyncio.gather(writing, leaving, return_exceptions=True)
        if done and isinstance(results[0], Exception):
            raise results[0]

    async def _write(self, send: "Send") -> None:
        try:
            async for item in self._source:
                await send({"type": "http.response.body", "body": self._line(item), "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            close = getattr(self._source, "aclose", None)
            if close is not None:
                await close()

    def _line(self, item: Any) -> bytes:
        if self._events:
            return b"data: " + frame(item) + b"\n\n"
        return (item if isinstance(item, bytes) else to_json(item)) + b"\n"


async def _left(receive: "Receive") -> None:
    while (await receive())["type"] != "http.disconnect":
        continue
