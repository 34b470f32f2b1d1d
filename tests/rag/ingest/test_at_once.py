"""Several runs over the same sources at once, in one process or in several: nothing is lost, nothing outdated stays."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flowkit import Document, Flowkit
from flowkit.rag.ingest.ledger import Ledger
from flowkit.rag.stores.memory import InMemoryStore
from flowkit_devstore import DevStore
from tests.rag.ingest.conftest import Counting, app, doc, lines, texts
from tests.support.modules import ROOT, plugin_packages

MANY = "\n".join(f"line {number}" for number in range(60))


async def test_two_runs_of_the_same_documents_embed_each_text_once(
    ai: Flowkit, store: InMemoryStore, counting: Counting
):
    reports = await asyncio.gather(*(ai.ingest("docs", doc(MANY), splitter=lines) for _ in range(3)))

    assert sum(report.written for report in reports) == 60
    assert sorted(counting.texts) == sorted(set(counting.texts)) == await texts(store)


@pytest.mark.parametrize("sync", ["source", "full"])
async def test_of_two_versions_the_one_that_was_read_last_stays(
    store: InMemoryStore, counting: Counting, tmp_path: Path, sync: str
):
    """The first run has read its version and waits for its embeddings, while the second one comes and ends."""
    ai = app(store, counting, tmp_path, batch=1)
    await ai.ingest("docs", doc("kept\nold"), splitter=lines)
    gate, waiting = asyncio.Event(), asyncio.Event()

    async def wait(texts: list[str]) -> None:
        if "first" in texts:
            waiting.set()
            await gate.wait()

    counting.before = wait
    first = asyncio.create_task(ai.ingest("docs", doc("kept\nfirst"), splitter=lines, sync=sync))
    await waiting.wait()
    # It brings back what the first run takes for outdated.
    await ai.ingest("docs", doc("kept\nold\nsecond"), splitter=lines, sync=sync)
    gate.set()
    await first

    assert {"kept", "old", "second"} <= set(await texts(store))
    await ai.ingest("docs", doc("kept\nold\nsecond"), splitter=lines, sync=sync)
    assert await texts(store) == ["kept", "old", "second"]


async def test_a_full_run_leaves_what_came_into_the_index_while_it_ran(
    ai: Flowkit, store: InMemoryStore, counting: Counting
):
    async def loader() -> AsyncIterator[Document]:
        yield doc("a")
        await ai.ingest("docs", doc("uploaded", "upload.md"))
        await ai.index("docs", [doc("indexed", "index.md")])

    await ai.ingest("docs", doc("gone", "gone.md"))
    report = await ai.ingest("docs", loader(), sync="full")

    assert report.deleted == 1
    assert await texts(store) == ["a", "indexed", "uploaded"]


async def test_a_source_that_another_run_is_reading_is_that_runs_to_judge(ai: Flowkit, store: InMemoryStore):
    """The other one has read the file again, and not yet written what is new in it."""
    await ai.ingest("docs", [doc("a"), doc("b", "b.md")])

    async def loader() -> AsyncIterator[Document]:
        yield doc("a")
        async with Ledger.open(f"flowkit-{id(store)}") as ledger:
            await ledger.claim("another run", {"b.md": await ledger.stamp()})

    async with Ledger.open(f"flowkit-{id(store)}"):
        report = await ai.ingest("docs", loader(), sync="full")

    assert report.deleted == 0
    assert await texts(store) == ["a", "b"]


async def test_the_ledger_gives_each_stamp_once_and_keeps_the_latest_claim(tmp_path: Path):
    ledgers = [Ledger.open(tmp_path / "a" / "ledger.db") for _ in range(3)]
    stamps = await asyncio.gather(*(ledger.stamp() for ledger in ledgers for _ in range(10)))
    assert sorted(stamps) == list(range(1, 31))

    first, second, third = ledgers
    await first.claim("one", {"a": 31, "b": 33})
    await second.claim("two", {"a": 32, "b": 32})
    async with third.turn():
        assert third.is_mine("two", "a")
        assert third.is_mine("one", "b")
        assert not third.is_mine("one", "never")
        assert third.is_left_alone("never", 0)
        assert third.is_left_alone("a", 32)
        assert not third.is_left_alone("a", 31)
        claiming = asyncio.create_task(first.claim("three", {"a": 40}))
        await asyncio.sleep(0.05)
        assert third.is_mine("two", "a"), "nobody claims while another one has its turn"
    await claiming
    for ledger in ledgers:
        await ledger.__aexit__(None, None, None)


async def test_a_ledger_opens_while_another_run_has_its_turn(tmp_path: Path):
    async with Ledger.open(tmp_path / "ledger.db") as first:
        async with first.turn(), Ledger.open(tmp_path / "ledger.db") as second:
            waiting = asyncio.create_task(second.stamp())
            await asyncio.sleep(0.05)
            assert not waiting.done()
            waiting.cancel()
        assert await first.stamp() == 1


async def test_a_ledger_that_cannot_be_used_is_told_and_done_without(counting: Counting, tmp_path: Path):
    (tmp_path / ".flowkit").mkdir()
    (tmp_path / ".flowkit" / "sync").write_text("a file where a folder should be")
    store = DevStore("docs", embedder="counting", folder=tmp_path / "indexes")
    async with app(store, counting, tmp_path) as ai:
        report = await ai.ingest("docs", doc("a"))

    assert report.written == 1
    assert "cannot be used" in report.warnings[0]


PROCESS = """
import asyncio, sys
from pathlib import Path
from flowkit_devstore import DevStore
from tests.rag.ingest.conftest import Counting, app

async def main(root: Path, delay: float, sync: str) -> None:
    counting = Counting()
    store = DevStore("docs", embedder="counting", folder=root / "indexes")
    async def slow(texts):
        print("embedding", flush=True)
        await asyncio.sleep(delay)
    counting.before = slow
    async with app(store, counting, root) as ai:
        report = await ai.ingest("docs", root / "docs", sync=sync)
    print("written", report.written, "deleted", report.deleted, flush=True)

asyncio.run(main(Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3]))
"""


def start(root: Path, delay: float, sync: str) -> "subprocess.Popen[str]":
    path = [str(ROOT), *(str(package.parent) for package in plugin_packages())]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    command = [sys.executable, "-c", PROCESS, str(root), str(delay), sync]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


async def stored(root: Path) -> list[str]:
    store = DevStore("docs", embedder="counting", folder=root / "indexes")
    await store.open(create=False)
    try:
        return await texts(store)
    finally:
        await store.aclose()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(80):
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / f"{number:02}.txt").write_text(f"text {number}")
    return tmp_path


async def sync_here(root: Path) -> tuple[int, int]:
    """Written and deleted by a full sync in this process."""
    async with app(DevStore("docs", embedder="counting", folder=root / "indexes"), Counting(), root) as ai:
        report = await ai.ingest("docs", root / "docs", sync="full")
    return report.written, report.deleted


@pytest.mark.heavy
async def test_two_processes_that_sync_one_folder_lose_nothing(folder: Path):
    await sync_here(folder)
    for number in range(0, 80, 2):
        (folder / "docs" / f"{number:02}.txt").write_text(f"edited {number}")
    (folder / "docs" / "01.txt").unlink()

    ends = [start(folder, 0.01, "full") for _ in range(2)]
    outputs = [process.communicate(timeout=60) for process in ends]

    assert [process.returncode for process in ends] == [0, 0], outputs
    odd = [f"text {number}" for number in range(3, 80, 2)]
    assert await stored(folder) == sorted([f"edited {number}" for number in range(0, 80, 2)] + odd)
    assert await sync_here(folder) == (0, 0)


@pytest.mark.heavy
async def test_a_killed_process_leaves_what_it_wrote_and_a_rerun_does_the_rest(folder: Path):
    killed = start(folder, 0.05, "full")
    assert killed.stdout is not None
    for _ in range(6):
        assert killed.stdout.readline() == "embedding\n"
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)

    left = len(await stored(folder))

    assert left < 80
    assert await sync_here(folder) == (80 - left, 0)
    assert await stored(folder) == sorted(f"text {number}" for number in range(80))
