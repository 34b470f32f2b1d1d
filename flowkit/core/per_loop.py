"""Values cached per event loop, and closed by the loop that they belong to.

clients = PerLoop(make_client)         # an async client bound to the loop that uses it
await clients.get().ask("soup")
await clients.close(Client.aclose)
"""

import asyncio
import os
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from flowkit.core.loops import is_held_up

__all__ = ["PerLoop"]

T = TypeVar("T")

_PATIENCE_SECONDS = 5.0
_LOOK_SECONDS = 0.05


class PerLoop(Generic[T]):
    """A value per running loop, made at first use and dropped with its loop: for async clients that belong to one."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._begin()

    def _begin(self) -> None:
        self._values: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()
        self._lock = threading.Lock()
        self._process = os.getpid()

    def get(self) -> T:
        """The running loop's value."""
        if self._process != os.getpid():
            self._begin()  # after a fork: the loops, and what belongs to them, are the other process's
        loop = asyncio.get_running_loop()
        found = self._values.get(loop)
        if found is not None:
            return found
        with self._lock:
            if loop not in self._values:
                # A client holds its loop, so weak keys alone would keep closed loops for ever.
                for other in [known for known in self._values if known.is_closed()]:
                    del self._values[other]
                self._values[loop] = self._make()
            return self._values[loop]

    async def close(self, close: Callable[[T], Awaitable[None] | None], *, anywhere: bool = False) -> None:
        """Take all values out, and have each closed once, by its own loop. What comes later makes new ones.

        All closing is begun before anything is awaited, so a cancellation only ends the waiting. Loops of other threads
        are waited for until they have closed their value or have ended, for five seconds at most: a loop may be busy,
        or waiting for this very call; it closes its value when it comes to that.

        Args:
            anywhere: `close` is no coroutine function, and closes here what belongs to a loop that does not run any
                more; else that is left to the garbage collector.

        Raises:
            Exception: the first that `close` raised, once everything is closed.
        """
        values, here = self._drained(), asyncio.get_running_loop()
        mine = [values.pop(here)] if here in values else []
        others = [_Closing(loop, value, close, anywhere=anywhere) for loop, value in values.items()]

        async def close_mine() -> None:
            for value in mine:
                doing = close(value)
                if doing is not None:
                    await doing

        errors: list[Exception] = []
        for ended in (close_mine, *(other.ended for other in others)):
            try:
                await ended()
            except Exception as error:  # noqa: BLE001  it is raised when all have ended
                errors.append(error)
        if errors:
            try:
                raise errors[0]
            finally:
                errors.clear()  # the error knows this frame, and both would wait for the garbage collector

    def _drained(self) -> dict[asyncio.AbstractEventLoop, T]:
        if self._process != os.getpid():
            self._begin()
        with self._lock:
            items = dict(self._values)
            self._values.clear()
            return items


class _Closing(Generic[T]):
    """A value that the loop of another thread closes, or whoever comes first when that loop has ended."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        value: T,
        close: Callable[[T], Awaitable[None] | None],
        *,
        anywhere: bool,
    ) -> None:
        self._loop = loop
        self._value = value
        self._close = close
        self._anywhere = anywhere
        self._lock = threading.Lock()
        self._is_taken = False
        self._closed: Future[None] = Future()
        self._until = time.monotonic() + _PATIENCE_SECONDS
        if anywhere and not loop.is_running():
            self._begin()
        else:
            with suppress(RuntimeError):  # it is closed
                loop.call_soon_threadsafe(self._begin)

    async def ended(self) -> None:
        """Wait until it is closed, or is left to its loop or to nobody. Raises what `close` raised."""
        awaited = asyncio.wrap_future(self._closed)
        awaited.add_done_callback(_seen)
        while not self._closed.done() and self._is_worth_waiting():
            await asyncio.wait([awaited], timeout=_LOOK_SECONDS)
        if self._anywhere and not self._loop.is_running():  # it ended before it came to that
            self._begin()
        if self._closed.done() and not self._closed.cancelled():
            self._closed.result()

    def _is_worth_waiting(self) -> bool:
        return self._loop.is_running() and not is_held_up(self._loop) and time.monotonic() < self._until

    def _begin(self) -> None:
        with self._lock:
            is_taken, self._is_taken = self._is_taken, True
        if is_taken:
            return
        try:
            doing = self._close(self._value)
        except Exception as error:  # noqa: BLE001  whoever waits raises it
            self._closed.set_exception(error)
        else:
            if doing is None:
                self._closed.set_result(None)
            else:
                asyncio.ensure_future(doing).add_done_callback(self._finish)

    def _finish(self, doing: "asyncio.Future[None]") -> None:
        if doing.cancelled():  # the loop ends
            self._closed.cancel()
        elif (error := doing.exception()) is not None:
            self._closed.set_exception(error)
        else:
            self._closed.set_result(None)


def _seen(awaited: "asyncio.Future[None]") -> None:
    """Also when nobody waits any more, its error has been seen."""
    if not awaited.cancelled():
        awaited.exception()
