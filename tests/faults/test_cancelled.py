"""Cancelling while embedding, waiting for a retry, or writing: it stops, is never retried, and harms nothing."""

import asyncio
import signal
import time
from pathlib import Path

import pytest

from flowkit import Document, Flowkit
from flowkit.config import Settings
from flowkit.errors import BackendError
from flowkit.plugin import EmbedderInfo
from flowkit_devstore import DevStore
from tests.faults.conftest import Menu

INFO = EmbedderInfo(label="Numbers", dimensions=4, max_batch_size=10, revision="1")
DOCUMENTS = [Document.from_text(f"dish {number}") for number in range(200)]


class Kitchen:
    """An embedder that can be held up at a batch, and counts its calls."""

    def __init__(self, folder: Path) -> None:
        self.calls = 0
        self.hold_at = 0
        self.held = asyncio.Event()
        self.cancelled = 0
        self.texts: list[str] = []
        settings = Settings(root=folder, embedding_cache=True)
        self.ai = Flowkit(plugins=[DevStore("menu", embedder="numbers", folder=folder)], settings=settings)

        @self.ai.embedder("numbers", info=INFO)
        async def numbers(texts: list[str]) -> list[list[float]]:
            self.calls += 1
            if self.hold_at and self.calls >= self.hold_at:
                self.held.set()
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    self.cancelled += 1
                    raise
            self.texts += texts
            return [[1.0, len(text), number, 1.0] for number, text in enumerate(texts)]

    async def count(self) -> int:
        store = self.ai.stores["devstore/menu"]
        await store.open(create=True)
        return (await store.stats()).count


@pytest.fixture
async def kitchen(tmp_path: Path):
    made = Kitchen(tmp_path)
    yield made
    await made.ai.aclose()


async def stopped(task: "asyncio.Task[object]") -> None:
    """Cancel it; it ends as cancelled, at once: what it waited for would take a minute or more."""
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=5)  # of which a busy machine takes most
    assert done, "it stops at once"
    assert task.cancelled()


@pytest.mark.parametrize("hold_at", [1, 2, 7])
async def test_while_embedding(kitchen: Kitchen, hold_at: int):
    kitchen.hold_at = hold_at
    task = asyncio.create_task(kitchen.ai.index("menu", DOCUMENTS))
    await kitchen.held.wait()
    calls = kitchen.calls

    await stopped(task)

    await asyncio.sleep(0.1)
    assert kitchen.calls == calls, "never taken for a failure that may be tried again"
    assert kitchen.cancelled >= 1
    there = await kitchen.count()
    assert there % 10 == 0
    kitchen.hold_at, kitchen.texts = 0, []
    report = await kitchen.ai.index("menu", DOCUMENTS)
    assert (report.written, await kitchen.count()) == (200 - there, 200)
    assert len(kitchen.texts) <= 200 - there


async def test_while_an_embedder_waits_to_try_again(tmp_path: Path):
    """Whoever retries waits where it can be cancelled, and a cancelled wait is the end of it."""
    ai = Flowkit(plugins=[DevStore("menu", embedder="busy", folder=tmp_path)], settings=Settings(root=tmp_path))
    waiting, calls = asyncio.Event(), 0

    @ai.embedder("busy", info=INFO)
    async def busy(texts: list[str]) -> list[list[float]]:
        nonlocal calls
        for _ in range(3):
            calls += 1
            try:
                raise BackendError("429: too many requests")
            except BackendError:
                waiting.set()
                await asyncio.sleep(60)
        raise BackendError("429: too many requests")

    task = asyncio.create_task(ai.index("menu", DOCUMENTS[:5]))
    await waiting.wait()
    await stopped(task)
    assert calls == 1
    assert not (tmp_path / "menu").exists(), "a run that embedded nothing leaves no index"
    await ai.aclose()


async def test_while_writing(kitchen: Kitchen):
    """At any moment of it: each batch is there as a whole or not at all."""
    for moment in range(12):
        documents = [Document.from_text(f"dish {moment} {number} " + "soup " * 100) for number in range(60)]
        task = asyncio.create_task(kitchen.ai.index("menu", documents))
        for _ in range(moment * 6):
            await asyncio.sleep(0.0005)
        task.cancel()
        await asyncio.wait([task], timeout=5)
        assert task.done()
        # A write that is under way in its thread is finished there; then either all of a batch is in, or none.
        assert (await kitchen.count()) % 10 == 0
        report = await kitchen.ai.index("menu", documents)
        assert report.written + report.unchanged == 60
        assert await kitchen.count() == 60 * (moment + 1)


async def test_a_time_limit_of_the_user_while_embedding(kitchen: Kitchen):
    kitchen.hold_at = 3
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await kitchen.ai.index("menu", DOCUMENTS)
    kitchen.hold_at = 0
    assert (await kitchen.ai.index("menu", DOCUMENTS)).written > 0
    assert await kitchen.count() == 200


@pytest.mark.heavy
@pytest.mark.parametrize("after", [0, 60], ids=["at the first text", "between batches"])
def test_ctrl_c_while_indexing(menu: Menu, after: int):
    menu.lines(300)
    pace = "30" if after == 0 else "0.03"
    env = {"EMBED_SECONDS": pace}
    menu.write(
        "app.py",
        (menu.folder / "app.py")
        .read_text()
        .replace("    await asyncio.sleep", '    print("embedding", flush=True)\n    await asyncio.sleep'),
    )
    process = menu.start("flow:run", "indexMenu", '"menu.txt"', env=env)
    assert process.stderr is not None
    assert process.stderr.readline() == "embedding\n"
    until = time.monotonic() + 30
    while len(menu.embedded()) < after and time.monotonic() < until:
        time.sleep(0.005)

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)

    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert "interrupted" in err
    there = menu.indexed()
    assert len(there) % 10 == 0
    menu.forget_embedded()
    run = menu.run("flow:run", "indexMenu", '"menu.txt"')
    assert (run.code, run.out) == (0, f"{300 - len(there)}\n")
    assert menu.indexed() == list(range(300))
