"""Work that is done once, whatever number of tasks, loops and threads ask for it.

action = await once.run("/model/local/extractive", load)
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Any, TypeVar

from flowkit.errors import StateError

__all__ = ["Once"]

T = TypeVar("T")

_AGAIN: Any = object()
_within: ContextVar[tuple[Hashable, ...]] = ContextVar("flowkit_once", default=())


class Once:
    """The first who asks does it, the others wait. Failed or cancelled work is not kept: the next call tries again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[Hashable, Future[Any]] = {}

    async def run(self, key: Hashable, start: Callable[[], Awaitable[T]], *, keep: bool) -> T:
        """The result of `start()`; `keep` it for later calls, or only for those who wait now.

        Raises:
            StateError: the work waits for itself.
            Exception: what `start` raised; all who wait get it.
        """
        while True:
            with self._lock:
                flight = self._flights.get(key)
                first = flight is None
                if flight is None:
                    flight = self._flights[key] = Future()
                    flight.set_running_or_notify_cancel()  # from here on a waiter that is cancelled leaves it alone
            if first:
                return await self._fly(key, flight, start, keep)
            if not flight.done():
                if key in _within.get():
                    raise StateError(f"{key!r} needs itself to be made", hint="a circle in setup or resolve")
                await asyncio.wrap_future(flight)
            value = flight.result()
            if value is not _AGAIN:
                return value  # type: ignore[no-any-return]

    def forget(self, key: Hashable) -> None:
        """Do it again at the next call."""
        with self._lock:
            flight = self._flights.get(key)
            if flight is not None and flight.done():
                del self._flights[key]

    async def _fly(self, key: Hashable, flight: "Future[Any]", start: Callable[[], Awaitable[T]], keep: bool) -> T:
        token = _within.set((*_within.get(), key))
        try:
            value = await start()
        except BaseException as error:
            self._drop(key)
            if isinstance(error, Exception):
                flight.set_exception(error)
            else:  # cancelled: that is nothing to those who wait
                flight.set_result(_AGAIN)
            raise
        finally:
            _within.reset(token)
        if not keep:
            self._drop(key)
        flight.set_result(value)
        return value

    def _drop(self, key: Hashable) -> None:
        with self._lock:
            del self._flights[key]
