"""Waiting until what was written can be read: Pinecone answers reads from a state that is a moment old.

waiting.wrote(place, answer)
await waiting.until_visible(place, dimension)

Writes are numbered, and reads say up to which number they have seen. A server that gives no numbers is not waited for.
"""

import asyncio
import time

from flowkit.errors import BackendError
from flowkit_pinecone.link import Answer, Link, Place

__all__ = ["Waiting"]

_FIRST_WAIT = 0.01
_LONGEST_WAIT = 0.5


class Waiting:
    """The last write of this store in each namespace."""

    def __init__(self, link: Link, wait_seconds: float) -> None:
        self._link = link
        self._wait_seconds = wait_seconds
        self._written: dict[str, int] = {}

    def wrote(self, place: Place, answer: Answer) -> None:
        if answer.committed is not None:
            self._written[place.namespace] = max(answer.committed, self._written.get(place.namespace, 0))

    async def until_visible(self, place: Place, dimension: int) -> None:
        """Before a read. With `wait_seconds=0` nothing is waited for.

        Raises:
            BackendError: it took longer than `wait_seconds`.
        """
        if self._wait_seconds and not await self.is_visible(place, dimension, self._wait_seconds):
            raise BackendError(
                f"what was written to pinecone {place} cannot be read after {self._wait_seconds:g} seconds",
                status="DEADLINE_EXCEEDED",
                hint="it is stored; read later, raise wait_seconds=, or give wait_seconds=0 to read what there is",
            )

    async def is_visible(self, place: Place, dimension: int, timeout_seconds: float) -> bool:
        """Whether it is, within that time."""
        began = time.monotonic()
        seconds = _FIRST_WAIT
        while (wanted := self._written.get(place.namespace)) is not None:
            answer = await self._link.call(place, "look into", "query", vector=[1.0] + [0.0] * (dimension - 1), top_k=1)
            if answer.reconciled is None or answer.reconciled >= wanted:
                if self._written.get(place.namespace) == wanted:
                    del self._written[place.namespace]
                    return True
                continue  # another task has written meanwhile
            left = timeout_seconds - (time.monotonic() - began)
            if left <= 0:
                return False
            await asyncio.sleep(min(seconds, left))
            seconds = min(seconds * 2, _LONGEST_WAIT)
        return True
