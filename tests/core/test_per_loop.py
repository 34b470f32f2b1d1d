"""Values of event loops: each loop has its own, closes it, and takes it along when it goes."""

import asyncio
import gc
import threading
import warnings
import weakref
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

import pytest

from flowkit.core.loops import run_on, run_sync
from flowkit.core.per_loop import PerLoop
from flowkit.errors import StateError

T = TypeVar("T")
CLOSES = "flowkit.core.per_loop._PATIENCE_SECONDS"


class Client:
    """As async clients are: it belongs to the loop on which it was made."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.closed: list[str] = []

    def close(self) -> None:
        self.closed.append("by its loop" if asyncio.get_running_loop() is self.loop else "by another")

    async def aclose(self) -> None:
        await asyncio.sleep(0.01)
        self.close()

    async def fail(self) -> None:
        await asyncio.sleep(0)
        raise StateError("broken")


async def told(ask: Callable[[], T]) -> T:
    return ask()


@contextmanager
def running_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop of another thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


async def value_of(loop: asyncio.AbstractEventLoop, values: PerLoop[T]) -> T:
    """The value of a loop of another thread."""
    return await asyncio.wrap_future(run_on(loop, lambda: told(values.get)))


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.001)


async def test_a_value_is_made_once_for_each_loop():
    made: list[object] = []

    def make() -> object:
        made.append(object())
        return made[-1]

    values = PerLoop(make)

    async def twice() -> bool:
        return values.get() is values.get()

    assert values.get() is values.get()
    assert await asyncio.to_thread(asyncio.run, twice())
    assert len(made) == 2


def test_a_value_goes_with_its_loop_though_it_holds_it():
    values = PerLoop(Client)

    async def use() -> Client:
        return values.get()

    first = weakref.ref(asyncio.run(use()))
    asyncio.run(use())
    gc.collect()

    assert first() is None


def test_a_value_may_be_none():
    values = PerLoop[None](lambda: None)

    async def use() -> None:
        return values.get()

    assert asyncio.run(use()) is None


@pytest.mark.parametrize("close", [Client.close, Client.aclose])
async def test_values_are_closed_each_by_its_own_loop_and_the_closing_waits_for_that(
    close: Callable[[Client], Awaitable[None] | None],
):
    values = PerLoop(Client)
    with running_loop() as running:
        clients = [values.get(), await value_of(running, values)]

        await values.close(close)

        assert [client.closed for client in clients] == [["by its loop"]] * 2
        assert values.get() is not clients[0]


async def test_what_belongs_to_a_loop_that_does_not_run_is_closed_here_once_if_anybody_may_do_that():
    values, paused = PerLoop(Client), asyncio.new_event_loop()
    client = await asyncio.to_thread(paused.run_until_complete, told(values.get))

    await values.close(Client.close, anywhere=True)
    await asyncio.to_thread(paused.run_until_complete, asyncio.sleep(0))

    assert client.closed == ["by another"]
    paused.close()


async def test_what_belongs_to_a_loop_that_has_ended_is_left_when_only_that_could_close_it():
    values = PerLoop(Client)
    client = await asyncio.to_thread(asyncio.run, told(values.get))

    await values.close(Client.aclose)

    assert client.closed == []


@pytest.mark.parametrize("failing", ["here", "there"])
async def test_an_error_of_one_value_does_not_keep_the_others_open(failing: str):
    values = PerLoop(Client)
    with running_loop() as running:
        here, there = values.get(), await value_of(running, values)
        bad, good = (here, there) if failing == "here" else (there, here)

        with pytest.raises(StateError, match="broken"):
            await values.close(lambda client: client.fail() if client is bad else client.aclose())

        assert good.closed == ["by its loop"]


async def test_an_error_keeps_no_value_in_memory():
    values = PerLoop(Client)
    gone = weakref.ref(values.get())
    gc.disable()
    try:
        with suppress(StateError):
            await values.close(Client.fail)
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("close", [Client.close, Client.aclose])
async def test_a_closing_that_is_cancelled_before_its_first_step_has_begun_everything(
    close: Callable[[Client], Awaitable[None] | None],
):
    values = PerLoop(Client)
    with running_loop() as running:
        here, there = values.get(), await value_of(running, values)

        async def work() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await values.close(close)

        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0)
        await asyncio.wait([task])
        await until(lambda: there.closed)

        assert there.closed == ["by its loop"]
        assert here.closed == (["by its loop"] if close is Client.close else []), "its first step was cancelled"


def test_closing_does_not_wait_for_a_loop_that_waits_for_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(CLOSES, 1_000)
    values = PerLoop(Client)

    async def blocked() -> list[str]:
        client = values.get()
        run_sync(lambda: values.close(Client.aclose), user=values)  # which holds up this loop
        assert client.closed == []
        await until(lambda: client.closed)
        return client.closed

    assert asyncio.run(blocked()) == ["by its loop"]


async def test_closing_does_not_wait_for_ever_for_a_loop_that_is_busy(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(CLOSES, 0.1)
    values, go = PerLoop(Client), threading.Event()
    with running_loop() as running:
        client = await value_of(running, values)
        running.call_soon_threadsafe(go.wait)

        await values.close(Client.close, anywhere=True)

        assert client.closed == []
        go.set()
        await until(lambda: client.closed)
        assert client.closed == ["by its loop"]


async def test_an_error_for_which_nobody_waits_any_more_makes_no_noise(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(CLOSES, 0.0)
    values, go, failed = PerLoop(Client), threading.Event(), threading.Event()

    async def fail(client: Client) -> None:
        await until(go.is_set)
        try:
            await client.fail()
        finally:
            failed.set()

    with running_loop() as running, warnings.catch_warnings():
        warnings.simplefilter("error")
        await value_of(running, values)
        await values.close(fail)
        go.set()
        await asyncio.to_thread(failed.wait)
        await asyncio.sleep(0.05)
        gc.collect()

    assert caplog.text == ""
