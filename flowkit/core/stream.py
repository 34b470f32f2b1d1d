"""Streams: the chunks of a running action, and its result.

async with action.stream("soup") as stream:
    async for chunk in stream: print(chunk, end="")
answer = await stream.result
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from flowkit.errors import StateError

__all__ = ["ActionStream"]

Out = TypeVar("Out")
Chunk = TypeVar("Chunk")

_END: Any = object()


class ActionStream(AsyncIterator[Chunk], Generic[Chunk, Out]):
    """Iterate over the chunks, then await `result`. The action runs in a task of its own.

    User code never runs between two chunks with a span of the action current: spans live in the task. Leaving the
    `async with` block, `aclose()`, or dropping the last reference cancels the action when it still runs. An error of
    the action comes out of the iteration after the chunks before it, and out of `result`. Several tasks may iterate:
    each chunk goes to one of them, the end to all.

    Raises:
        StateError: no event loop runs here.
    """

    def __init__(self, start: Callable[[Callable[[Chunk], None]], Coroutine[Any, Any, Out]]) -> None:
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            raise StateError(
                "a stream needs a running event loop", hint="from sync code: ai.run_sync(action, input, on_chunk=…)"
            ) from None
        self._queue: asyncio.Queue[Any] = asyncio.Queue()
        loop, chunks = self._loop, self._queue

        def send(chunk: Chunk) -> None:
            try:
                here = asyncio.get_running_loop()
            except RuntimeError:
                here = None
            if here is loop:
                chunks.put_nowait(chunk)
                return
            try:  # a sync function, in its thread
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)
            except RuntimeError:  # the loop is closed: nobody reads any more
                return

        self._task: asyncio.Task[Out] = loop.create_task(start(send))
        # Through the loop, so that chunks which a thread has just handed over come before the end.
        self._task.add_done_callback(lambda _: loop.call_soon(chunks.put_nowait, _END))
        self._ended = self._closed = False

    @property
    def result(self) -> Awaitable[Out]:
        """The action's result. It needs no iteration: chunks that nobody reads are kept until the stream goes.

        Raises (when awaited):
            StateError: the stream was closed before the action ended.
        """
        return _Result(self)

    def _outcome(self) -> "asyncio.Future[Out]":
        if self._closed and self._task.cancelled():
            raise StateError("the stream was closed before the action ended", hint="read it to its end")
        # Shielded: whoever gives up waiting must not cancel the action for the others.
        shielded = asyncio.shield(self._task)
        shielded.add_done_callback(_seen)
        return shielded

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        if self._ended:
            raise StopAsyncIteration
        chunk = await self._queue.get()
        if chunk is not _END:
            return chunk  # type: ignore[no-any-return]
        self._ended = True
        self._queue.put_nowait(_END)  # for the others that wait
        if self._task.cancelled():
            if self._closed:
                raise StopAsyncIteration
            raise asyncio.CancelledError
        error = self._task.exception()
        if error is not None:
            raise error
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Cancel the action if it still runs, and wait until its `finally` blocks are done."""
        self._ended = True
        if not self._task.done():
            self._closed = True
            self._task.cancel()
            await asyncio.wait([self._task])
        _seen(self._task)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        task = getattr(self, "_task", None)
        if task is None:
            return
        if task.done():
            _seen(task)
        else:
            with contextlib.suppress(RuntimeError):  # the loop is closed, and has cancelled the task itself
                self._loop.call_soon_threadsafe(_abandon, task)


class _Result(Awaitable[Out]):
    """Whoever waits for it keeps the stream, and so the action."""

    def __init__(self, stream: ActionStream[Any, Out]) -> None:
        self._stream = stream

    def __await__(self) -> Generator[Any, None, Out]:
        return (yield from self._stream._outcome().__await__())


def _abandon(task: "asyncio.Future[Any]") -> None:
    task.add_done_callback(_seen)
    task.cancel()


def _seen(task: "asyncio.Future[Any]") -> None:
    """Mark the outcome as retrieved: the consumer has had it, or has gone on purpose."""
    if not task.cancelled():
        task.exception()
