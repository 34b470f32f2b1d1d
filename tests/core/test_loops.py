"""Loops and threads: one app is used from many, and nothing stays bound to one that is gone."""

import asyncio
import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from flowkit import Flowkit
from flowkit.core.loops import private_loop, run_on
from flowkit.core.per_loop import PerLoop
from flowkit.errors import StateError
from flowkit.testing import FakeModel


class Client:
    """As async clients are: it works on the loop on which it was made."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()

    async def ask(self, text: str) -> str:
        assert asyncio.get_running_loop() is self.loop
        await asyncio.sleep(0)
        return text.upper()


@pytest.fixture
def shout(ai: Flowkit):
    clients = PerLoop(Client)

    @ai.flow("shout")
    async def shout(text: str) -> str:
        return await clients.get().ask(text)

    return shout


def test_two_event_loops_one_after_the_other(ai: Flowkit, shout):
    async def main() -> list[str]:
        return [await shout("a"), await shout("b")]

    assert [asyncio.run(main()) for _ in range(2)] == [["A", "B"], ["A", "B"]]


def test_three_threads_with_loops_of_their_own(ai: Flowkit, shout):
    async def main() -> list[str]:
        return list(await asyncio.gather(*(shout(letter) for letter in "abc")))

    with ThreadPoolExecutor(3) as pool:
        found = [future.result() for future in [pool.submit(asyncio.run, main()) for _ in range(3)]]

    assert found == [["A", "B", "C"]] * 3


def test_several_apps_live_side_by_side():
    one, two = Flowkit(plugins=[FakeModel(["one"])]), Flowkit(plugins=[FakeModel(["two"])])

    answers = [ai.run_sync(ai.generate("?", model="fake-model")).text for ai in (one, two)]

    assert answers == ["one", "two"]


async def test_runs_from_outside_use_the_loop_on_which_the_app_runs(ai: Flowkit, shout):
    here = asyncio.get_running_loop()

    await shout("a")

    assert ai.runtime.loop() is here


def test_the_attached_loop_comes_first_while_it_runs(ai: Flowkit, shout):
    seen: list[asyncio.AbstractEventLoop] = []

    async def attached(done: asyncio.Event, ready: threading.Event) -> None:
        seen.append(asyncio.get_running_loop())
        ai.attach()
        ready.set()
        await done.wait()

    done, ready = asyncio.Event(), threading.Event()
    other = threading.Thread(target=lambda: asyncio.run(attached(done, ready)))
    other.start()
    ready.wait(5)

    async def main() -> asyncio.AbstractEventLoop:
        await shout("a")
        return ai.runtime.loop()

    assert asyncio.run(main()) is seen[0]
    seen[0].call_soon_threadsafe(done.set)
    other.join()
    outside = ai.runtime.loop()
    assert outside is not seen[0]
    assert outside.is_running()
    ai.run_sync(ai.aclose())


async def test_a_sync_call_in_between_does_not_change_that(ai: Flowkit, shout):
    here = asyncio.get_running_loop()
    await shout("a")

    await asyncio.to_thread(ai.run_sync, shout, "b")

    assert ai.runtime.loop() is here


def test_an_app_without_a_loop_has_the_private_one(ai: Flowkit):
    loop = ai.runtime.loop()

    assert loop.is_running()
    assert run_on(loop, lambda: asyncio.sleep(0, "ran")).result(5) == "ran"
    ai.run_sync(ai.aclose())


def test_a_run_on_another_loop_can_be_cancelled(ai: Flowkit):
    begun, ended = threading.Event(), threading.Event()

    async def forever() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            ended.set()

    run = run_on(ai.runtime.loop(), forever)
    begun.wait(5)

    assert run.cancel()
    assert ended.wait(5)
    ai.run_sync(ai.aclose())
    assert run.cancelled()
    assert not run.cancel()


async def test_a_run_on_another_loop_is_cancelled_with_whoever_awaits_it(ai: Flowkit):
    begun, ended = threading.Event(), threading.Event()

    async def forever() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            ended.set()

    waiting = asyncio.wrap_future(run_on(private_loop(ai.runtime), forever))
    await asyncio.to_thread(begun.wait, 5)
    waiting.cancel()

    assert await asyncio.to_thread(ended.wait, 5)
    await ai.aclose()


def test_a_closed_loop_is_refused():
    loop = asyncio.new_event_loop()
    loop.close()

    with pytest.raises(StateError, match="closed"):
        run_on(loop, lambda: asyncio.sleep(0))


def test_apps_that_are_forgotten_do_not_keep_each_other_from_closing(shout, ai: Flowkit):
    forgotten = Flowkit()
    forgotten.run_sync(forgotten.run("step", len, "abc"))
    del forgotten
    gc.collect()

    assert ai.run_sync(shout, "a") == "A"
    ai.run_sync(ai.aclose())

    assert "flowkit-loop" not in [thread.name for thread in threading.enumerate()]
