"""The same work done by two, in turns: a slow moment of the machine hits both.

found = await pair(ours, theirs, at=0)
found.theirs / found.ours
"""

import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

__all__ = ["Pair", "pair"]


class Pair(NamedTuple):
    """Seconds that the same work took."""

    ours: float
    theirs: float


async def pair(ours: Callable[[], Awaitable[Any]], theirs: Callable[[], Awaitable[Any]], *, at: int) -> Pair:
    """One after the other. Who is first finds the data cold, so that changes from turn to turn."""
    if at % 2:
        their_seconds = await _timed(theirs)
        return Pair(await _timed(ours), their_seconds)
    return Pair(await _timed(ours), await _timed(theirs))


async def _timed(work: Callable[[], Awaitable[Any]]) -> float:
    start = time.perf_counter()
    await work()
    return time.perf_counter() - start
