"""When one of several fails, the others do not go on behind the caller's back."""

import asyncio

import pytest

from flowkit.core.together import together


async def after(turns: int, result: object) -> object:
    for _ in range(turns):
        await asyncio.sleep(0)
    if isinstance(result, Exception):
        raise result
    return result


class Long:
    """Ends when it is cancelled, and not at once."""

    ended = False

    async def __call__(self) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            self.ended = True


async def test_results_come_in_order():
    assert await together(after(3, "slow"), after(0, "quick")) == ["slow", "quick"]
    assert await together() == []


async def test_the_first_failure_is_raised_when_the_others_have_ended():
    long = Long()
    with pytest.raises(KeyError, match="first"):
        await together(long(), after(2, ValueError("later")), after(1, KeyError("first")))
    assert long.ended


async def test_a_cancellation_ends_all():
    one, two = Long(), Long()
    task = asyncio.create_task(together(one(), two()))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert one.ended
    assert two.ended
