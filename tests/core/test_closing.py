"""Closing: what was used is closed, all of it and nothing else, and the app can be used again."""

import asyncio
import gc
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from flowkit import Action, Flowkit
from flowkit.config import Settings
from flowkit.plugin import ActionInfo, Kind, Registry
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.schema.documents import Document
from flowkit.testing import FakeEmbedder
from flowkit.tracing.store import TraceStore


class Menu:
    """A plugin that writes down what happens to it."""

    def __init__(self, name: str, log: list[str], *, fails: bool = False) -> None:
        self.name = name
        self.log = log
        self.fails = fails
        self.open = False

    async def setup(self, registry: Registry) -> None:
        self.open = True
        self.log.append(f"{self.name} opened")

    async def resolve(self, kind: Kind, name: str) -> Action[Any, Any, Any] | None:
        async def dish() -> str:
            assert self.open
            return self.name

        return Action(kind, name, dish) if kind == "flow" else None

    def list(self) -> Sequence[ActionInfo]:
        return [ActionInfo("flow", f"{self.name}/dish")]

    async def aclose(self) -> None:
        self.open = False
        self.log.append(f"{self.name} closed")
        if self.fails:
            raise OSError(f"{self.name} is stuck")


@pytest.fixture
def log() -> list[str]:
    return []


def app(*plugins: Menu) -> Flowkit:
    return Flowkit(plugins=plugins, settings=Settings())


async def dish(ai: Flowkit, name: str) -> str:
    return str(await (await ai.action(f"/flow/{name}/dish"))())


async def test_leaving_the_block_closes_what_was_used_the_last_first(log: list[str]):
    async with app(Menu("lunch", log), Menu("dinner", log), Menu("brunch", log)) as ai:
        await dish(ai, "dinner")
        await dish(ai, "lunch")

    assert log == ["dinner opened", "lunch opened", "lunch closed", "dinner closed"]


async def test_a_plugin_that_cannot_close_does_not_keep_the_others_open(log: list[str]):
    ai = app(Menu("lunch", log), Menu("dinner", log, fails=True), Menu("brunch", log, fails=True))
    for name in ("lunch", "dinner", "brunch"):
        await dish(ai, name)

    with pytest.raises(OSError, match="brunch is stuck") as caught:
        await ai.aclose()

    assert log[3:] == ["brunch closed", "dinner closed", "lunch closed"]
    assert caught.value.__notes__ == ["closing Menu failed too: OSError: dinner is stuck"]


async def test_a_cancelled_close_still_closes_all(log: list[str]):
    class Slow(Menu):
        async def aclose(self) -> None:
            await asyncio.sleep(10)

    ai = app(Menu("lunch", log), Slow("dinner", log))
    await dish(ai, "lunch")
    await dish(ai, "dinner")
    closing = asyncio.create_task(ai.aclose())
    await asyncio.sleep(0)
    closing.cancel()

    with pytest.raises(asyncio.CancelledError):
        await closing
    assert log[-1] == "lunch closed"


async def test_an_app_can_be_used_again(log: list[str]):
    ai = app(Menu("lunch", log))
    for _ in range(2):
        assert await dish(ai, "lunch") == "lunch"
        await ai.aclose()

    assert log == ["lunch opened", "lunch closed"] * 2


async def test_closing_twice_closes_once(log: list[str]):
    ai = app(Menu("lunch", log))
    await dish(ai, "lunch")

    await asyncio.gather(ai.aclose(), ai.aclose())
    await ai.aclose()

    assert log == ["lunch opened", "lunch closed"]


async def test_what_the_user_registered_stays(log: list[str]):
    ai = app(Menu("lunch", log))

    @ai.flow()
    async def mine() -> str:
        return await dish(ai, "lunch")

    assert await mine() == "lunch"
    await ai.aclose()
    assert await (await ai.action("/flow/mine"))() == "lunch"


async def test_a_store_that_is_no_plugin_is_closed_too():
    store = InMemoryStore("menu")
    async with Flowkit(plugins=[FakeEmbedder()], settings=Settings()) as ai:
        ai.vector_store(store, name="menu", embedder="fake-embedder")
        await ai.index("menu", [Document.from_text("soup")])
        assert (await store.stats()).count == 1

    with pytest.raises(Exception, match="not open"):
        await store.stats()
    assert [hit.text for hit in await ai.retrieve("menu", "soup")] == ["soup"]


def test_threads_are_gone_afterwards():
    gc.collect()  # apps of other tests
    ai = Flowkit(settings=Settings())

    @ai.flow()
    def in_a_thread() -> str:
        return threading.current_thread().name

    assert ai.run_sync(in_a_thread) == "flowkit-sync"
    workers = [thread for thread in threading.enumerate() if thread.name == "flowkit-sync"]

    ai.run_sync(ai.aclose())

    for worker in workers:
        worker.join(5)
    assert not {"flowkit-sync", "flowkit-loop"} & {thread.name for thread in threading.enumerate()}
    assert ai.run_sync(in_a_thread) == "flowkit-sync"
    ai.run_sync(ai.aclose())


async def test_traces_are_on_disk_and_their_thread_is_gone_afterwards(tmp_path: Path):
    before = set(threading.enumerate())
    ai = Flowkit(settings=Settings(root=tmp_path, traces=True))

    for _ in range(2):
        await ai.run("step", len, "abc")
        await ai.aclose()

    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive()
    store = TraceStore(tmp_path / ".flowkit" / "traces.db")
    assert len(store.list().items) == 2
    store.close()


def test_closing_on_a_loop_of_the_users_own_ends_the_private_one():
    gc.collect()
    ai = Flowkit(settings=Settings())
    ai.run_sync(ai.run("step", len, "abc"))

    asyncio.run(ai.aclose())

    assert "flowkit-loop" not in [thread.name for thread in threading.enumerate()]
