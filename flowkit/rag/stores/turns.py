"""Turns: work on the same ids is done one after the other, other work at once. For all tasks, loops and threads.

async with turns.hold(ids): ...      # compare, embed, write
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Collection
from concurrent.futures import Future
from contextlib import asynccontextmanager

__all__ = ["Turns"]


class Turns:
    """Who works on which ids. A holder takes all its ids together, so holders never wait for each other in a circle."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, Future[None]] = {}

    @asynccontextmanager
    async def hold(self, ids: Collection[str]) -> AsyncIterator[None]:
        """Wait until nobody works on any of these ids, then keep others from them."""
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()  # so that a waiter that is cancelled does not cancel it for the others
        while (busy := self._take(ids, done)) is not None:
            await asyncio.wrap_future(busy)
        try:
            yield
        finally:
            with self._lock:
                for id in ids:
                    self._held.pop(id, None)
            done.set_result(None)

    def _take(self, ids: Collection[str], done: "Future[None]") -> "Future[None] | None":
        with self._lock:
            for id in ids:
                if id in self._held:
                    return self._held[id]
            self._held.update(dict.fromkeys(ids, done))
            return None
