"""A time limit that begins when there is something to wait for."""

import asyncio

import pytest

from flowkit.server.in_time import in_time


async def test_what_is_there_is_given_without_asking_for_a_limit():
    async def ready() -> str:
        return "soup"

    def until(now: float) -> float:
        raise AssertionError("nothing is waited for")

    assert await in_time(ready(), until) == "soup"


async def test_what_comes_in_time_is_given_after_any_number_of_waits():
    async def cooked() -> str:
        for _ in range(3):
            await asyncio.sleep(0.001)
        return "soup"

    assert await in_time(cooked(), lambda now: now + 10) == "soup"


async def test_what_takes_too_long_is_cancelled_and_may_clean_up():
    ended = []

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            ended.append("cleaned")

    with pytest.raises(TimeoutError):
        await in_time(slow(), lambda now: now + 0.01)
    assert ended == ["cleaned"]


@pytest.mark.parametrize("waits", [0, 1])
async def test_what_it_raises_comes_out(waits: int):
    async def broken() -> None:
        for _ in range(waits):
            await asyncio.sleep(0)
        raise KeyError("salt")

    with pytest.raises(KeyError, match="salt"):
        await in_time(broken(), lambda now: now + 10)


async def test_cancelling_whoever_waits_reaches_it():
    ended = asyncio.Event()

    async def forever() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            ended.set()
            raise

    task = asyncio.ensure_future(in_time(forever(), lambda now: now + 10))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_a_future_may_be_waited_for():
    future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(future.set_result, 3)

    assert await in_time(future, lambda now: now + 10) == 3
