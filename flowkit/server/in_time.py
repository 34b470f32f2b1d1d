"""A time limit that costs nothing where there is nothing to wait for: the body of a request is mostly there already.

message = await in_time(receive(), lambda now: now + 30)        # TimeoutError when it takes longer
"""

import asyncio
import types
from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

__all__ = ["in_time"]

T = TypeVar("T")


async def in_time(work: Awaitable[T], until: Callable[[float], float]) -> T:
    """The result of `work`, until a time of the running loop's clock, which `until` tells from the present one.

    It is begun without a limit; only when it begins to wait a timer is set, which takes several times as long as a
    `receive` that has its message.

    Raises:
        TimeoutError: it took longer, and was cancelled.
    """
    steps = work.__await__()
    try:
        waits_for = next(steps)
    except StopIteration as done:
        result: T = done.value
        return result
    async with asyncio.timeout_at(until(asyncio.get_running_loop().time())):
        return await _rest(steps, waits_for)


@types.coroutine
def _rest(steps: Generator[Any, Any, T], waits_for: Any) -> Generator[Any, Any, T]:
    """What is left of an awaitable that has begun and yielded `waits_for`."""
    try:
        while True:
            try:
                sent = yield waits_for
            except GeneratorExit:
                steps.close()
                raise
            except BaseException as error:  # noqa: BLE001  a cancellation, for whatever waits in there
                waits_for = steps.throw(error)
            else:
                waits_for = steps.send(sent)
    except StopIteration as done:
        result: T = done.value
        return result
