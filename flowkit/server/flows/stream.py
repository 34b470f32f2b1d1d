"""A streamed call: each chunk as a frame as soon as it is there, and always a last frame with result or error.

    await stream(call, receive, send, limits=limits, tell=tell)

Frames are `data: {…}` and an empty line, nothing else: Genkit's client takes any other line for JSON, has no decoder
for characters that two packets share, and waits for ever for a stream that merely ends.
"""

import asyncio
import contextlib
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flowkit.core.access import FlowLimits
from flowkit.errors import FlowkitError
from flowkit.server.flows.call import Call
from flowkit.server.frames import frame

if TYPE_CHECKING:
    from starlette.types import Receive, Send

__all__ = ["stream"]

_GATHER_SECONDS = 0.001  # chunks that come within it go in one packet; the first never waits
_END_SECONDS = 1.0  # for the `finally` blocks of a flow that was cancelled

Tell = Callable[[BaseException], dict[str, Any]]


class _Frames:
    """Frames that wait to be sent. `put` may be called in any thread."""

    def __init__(self, limit_bytes: int) -> None:
        self.wake = asyncio.Event()
        self.overflow: Callable[[], object] = lambda: None
        self._loop = asyncio.get_running_loop()
        self._frames: list[bytes] = []
        self._bytes = 0
        self._limit: float = limit_bytes

    def put(self, chunk: Any) -> None:
        data = b'data: {"message":' + frame(chunk) + b"}\n\n"
        self._frames.append(data)
        self._bytes += len(data)
        if self._bytes > self._limit:
            self._limit = math.inf
            self._call(self.overflow)
        self._call(self.wake.set)

    def take(self) -> bytes:
        frames, self._frames, self._bytes = self._frames, [], 0
        return b"".join(frames)

    def _call(self, function: Callable[[], object]) -> None:
        try:
            here = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            here = False
        if here:
            function()
            return
        try:
            self._loop.call_soon_threadsafe(function)
        except RuntimeError:  # the loop has ended, and with it whoever read
            return


class _Reader:
    """The other end of the connection."""

    def __init__(self, call: Call, send: "Send", seconds: float) -> None:
        self._call = call
        self._send = send
        self._seconds = seconds
        self.started = False

    async def write(self, data: bytes, *, more: bool = True) -> None:
        """Raises TimeoutError when nobody takes it, OSError when nobody is there."""
        async with asyncio.timeout(self._seconds):
            if not self.started:
                self.started = True
                headers = [
                    (b"content-type", b"text/event-stream; charset=utf-8"),
                    (b"cache-control", b"no-store"),
                    (b"x-accel-buffering", b"no"),  # proxies of the nginx family hold streams back otherwise
                    *self._call.id_headers,
                ]
                await self._send({"type": "http.response.start", "status": 200, "headers": headers})
            await self._send({"type": "http.response.body", "body": data, "more_body": more})


async def stream(call: Call, receive: "Receive", send: "Send", *, limits: FlowLimits, tell: Tell) -> None:
    """Run the flow and send what it gives.

    Args:
        tell: An exception as the body of an error.
    """
    frames = _Frames(limits.unread_bytes)
    reader = _Reader(call, send, limits.write_seconds)
    running = asyncio.ensure_future(call.run(frames.put))
    running.add_done_callback(lambda _: frames.wake.set())
    slow = False

    def overflow() -> None:
        nonlocal slow
        slow = True
        running.cancel()

    frames.overflow = overflow
    try:
        async with call.unless_left(receive):
            await _pump(running, frames, reader)
            error = _outcome_error(running)
            if slow:
                error = FlowkitError("the stream was read too slowly", status="RESOURCE_EXHAUSTED")
            if error is None:
                last = b'data: {"result":' + frame(running.result()) + b"}\n\n"
            else:
                last = _error(tell(error))
            await reader.write(last, more=False)
    except asyncio.CancelledError:  # the server ends
        await _stop(running)
        gone = FlowkitError("the server is shutting down", status="UNAVAILABLE")
        with contextlib.suppress(OSError, TimeoutError):
            await reader.write(frames.take() + _error(tell(gone)), more=False)
        raise
    except (OSError, TimeoutError):  # nobody reads
        call.left = True
    finally:
        await _stop(running)


async def _pump(running: "asyncio.Future[Any]", frames: _Frames, reader: _Reader) -> None:
    """Send frames until the flow has ended and all are sent."""
    loop = asyncio.get_running_loop()
    loop.call_soon(frames.wake.set)  # the flow has begun by then, and its ids are known
    sent_at = 0.0
    while True:
        if not running.done():
            await frames.wake.wait()
            rest = sent_at + _GATHER_SECONDS - loop.time()
            if rest > 0 and not running.done():
                await asyncio.sleep(rest)
        frames.wake.clear()
        ended = running.done()
        data = frames.take()
        if data or not reader.started:
            await reader.write(data)
            sent_at = loop.time()
        elif ended:
            return


async def _stop(running: "asyncio.Future[Any]") -> None:
    if not running.done():
        running.cancel()
        await asyncio.wait([running], timeout=_END_SECONDS)
    _outcome_error(running)


def _outcome_error(running: "asyncio.Future[Any]") -> BaseException | None:
    if not running.done():
        return None
    return asyncio.CancelledError() if running.cancelled() else running.exception()


def _error(body: dict[str, Any]) -> bytes:
    return b"data: " + frame({"error": body}) + b"\n\n"
