"""Processes that sync one source: at once through a server, and one after the other in a folder."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flowkit_chroma import Chroma
from tests.rag.ingest.conftest import Counting, app, texts
from tests.servers.chroma import ChromaServer
from tests.support.modules import ROOT, plugin_packages

pytestmark = [pytest.mark.heavy, pytest.mark.requires("chroma", "the store is tested against the real Chroma")]

Start = Callable[..., "subprocess.Popen[str]"]

PROCESS = """
import asyncio, sys
from pathlib import Path
from flowkit.errors import StateError
from tests.plugins.chroma.test_processes import chroma
from tests.rag.ingest.conftest import Counting, app

async def main(root: Path, index: str, place: str, waits_at: int) -> None:
    counting = Counting()
    batches = 0

    async def wait(texts: list[str]) -> None:
        nonlocal batches
        batches += 1
        if batches == waits_at:
            print("at work", flush=True)
            await asyncio.to_thread(sys.stdin.readline)

    counting.before = wait
    async with app(chroma(index, place), counting, root) as ai:
        try:
            report = await ai.ingest(index, root / "docs", sync="full")
            print("written", report.written, "deleted", report.deleted, flush=True)
        except StateError as error:
            print("refused:", error, flush=True)

asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])))
"""


def chroma(index: str, place: str) -> Chroma:
    """In the server on that port, or in that folder."""
    if place.isdecimal():
        return Chroma(index, host="127.0.0.1", port=int(place), embedder="counting")
    return Chroma(index, path=place, embedder="counting")


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a process that syncs, and stops to wait for a line at the batch of that number."""
    started: list[subprocess.Popen[str]] = []

    def begin(root: Path, index: str, place: str, *, waits_at: int) -> "subprocess.Popen[str]":
        started.append(_process(root, index, place, waits_at))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def _process(root: Path, index: str, place: str, waits_at: int) -> "subprocess.Popen[str]":
    path = [str(ROOT), *(str(package.parent) for package in plugin_packages())]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    command = [sys.executable, "-c", PROCESS, str(root), index, place, str(waits_at)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    assert process.stderr is not None
    found = process.stdout.readline().strip()
    return found or f"it ended: {process.stderr.read()}"


async def sync_here(root: Path, index: str, place: str) -> tuple[int, int]:
    """Written and deleted by a full sync in this process."""
    async with app(chroma(index, place), Counting(), root) as ai:
        report = await ai.ingest(index, root / "docs", sync="full")
    return report.written, report.deleted


async def stored(index: str, place: str) -> list[str]:
    store = chroma(index, place)
    await store.open(create=False)
    found = await texts(store)
    assert (await store.stats()).count == len(found)
    await store.aclose()
    return found


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for number in range(40):
        (tmp_path / "docs" / f"{number:02}.txt").write_text(f"text {number}")
    return tmp_path


async def test_two_processes_that_sync_one_folder_through_a_server_lose_nothing(
    docs: Path, server: ChromaServer, index: str, start: Start
):
    place = str(server.port)
    assert await sync_here(docs, index, place) == (40, 0)
    for number in range(2, 40):
        (docs / "docs" / f"{number:02}.txt").write_text(f"edited {number}")
    (docs / "docs" / "01.txt").unlink()

    # At the first: of what one has embedded, the other finds the vectors in their cache.
    both = [start(docs, index, place, waits_at=1) for _ in range(2)]
    assert [line(process) for process in both] == ["at work"] * 2, "each is at work while the other one is"
    ends = await asyncio.gather(*(asyncio.to_thread(process.communicate, "go\n", 60) for process in both))

    assert [process.returncode for process in both] == [0, 0], ends
    assert await stored(index, place) == sorted(["text 0", *(f"edited {number}" for number in range(2, 40))])
    assert await sync_here(docs, index, place) == (0, 0)


async def test_a_second_process_that_syncs_into_a_folder_is_told_and_does_the_rest_afterwards(
    docs: Path, folder: Path, index: str, start: Start
):
    first = start(docs, index, str(folder), waits_at=3)
    assert line(first) == "at work"
    (docs / "docs" / "late.txt").write_text("late")

    second = start(docs, index, str(folder), waits_at=3)
    refused, trouble = second.communicate("go\n", 60)
    assert "Traceback" not in trouble
    assert refused.splitlines()[-1].startswith(
        f"refused: chroma could not write to index '{index}': process {first.pid} is writing to the folder"
    )
    done, _ = first.communicate("go\n", 60)

    assert done.startswith("written 4")
    assert await sync_here(docs, index, str(folder)) in ((1, 0), (0, 0))
    assert await stored(index, str(folder)) == sorted(["late", *(f"text {number}" for number in range(40))])
