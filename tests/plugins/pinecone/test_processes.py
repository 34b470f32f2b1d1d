"""Several processes that sync the same source into one index at once."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flowkit.plugin import SearchQuery
from flowkit_pinecone import Pinecone
from tests.plugins.pinecone.conftest import Make
from tests.rag.ingest.conftest import Counting, app, texts
from tests.servers.pinecone import PineconeServer
from tests.support.modules import ROOT, plugin_packages

pytestmark = pytest.mark.heavy

SYNC = """
import asyncio, sys
from pathlib import Path
from flowkit_pinecone import Pinecone
from tests.rag.ingest.conftest import Counting, app

async def main(host: str, root: Path, docs: Path) -> None:
    store = Pinecone("docs", api_key="k", host=host, embedder="counting", hybrid=True)
    counting = Counting()
    async def slow(texts: list[str]) -> None:
        await asyncio.sleep(0.01)
    counting.before = slow
    async with app(store, counting, root) as ai:
        print("ready", flush=True)
        sys.stdin.readline()
        report = await ai.ingest("docs", docs, sync="full")
    print(report.written, report.deleted, flush=True)

asyncio.run(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
"""


def start(server: PineconeServer, root: Path, docs: Path) -> "subprocess.Popen[str]":
    path = [str(ROOT), *(str(package.parent) for package in plugin_packages())]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    command = [sys.executable, "-c", SYNC, server.url, str(root), str(docs)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


async def synced(server: PineconeServer, root: Path, docs: Path) -> None:
    """By two processes that begin at the same moment; they have `root` in common or a machine each."""
    roots = [root, root] if root.name == "shared" else [root / "one", root / "two"]
    for each in roots:
        each.mkdir(parents=True, exist_ok=True)
    processes = [start(server, each, docs) for each in roots]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate(timeout=60)
    ends = await asyncio.gather(*(asyncio.to_thread(process.communicate, "go\n", 60) for process in processes))
    assert [process.returncode for process in processes] == [0, 0], ends


@pytest.mark.parametrize("machines", ["shared", "apart"])
async def test_two_processes_that_sync_one_folder_leave_what_is_in_it(
    server: PineconeServer, make: Make, tmp_path: Path, machines: str
):
    """Both make the index; then both find files that were edited, are gone, and are new."""
    server.delay_seconds = 0.02
    docs, root = tmp_path / "docs", tmp_path / machines
    docs.mkdir()
    wanted = {f"{number:02}.txt": f"text {number}" for number in range(40)}
    for name, text in wanted.items():
        (docs / name).write_text(text)
    await synced(server, root, docs)
    assert await held(make) == sorted(wanted.values())

    for number in range(0, 40, 2):
        wanted[f"{number:02}.txt"] = f"edited {number}"
    del wanted["01.txt"]
    wanted["new.txt"] = "quite new"
    (docs / "01.txt").unlink()
    for name, text in wanted.items():
        (docs / name).write_text(text)
    await synced(server, root, docs)

    assert await held(make) == sorted(wanted.values())
    store = opened = make("docs", embedder="counting", hybrid=True)
    await opened.open(create=False)
    assert [hit.text for hit in await store.search(SearchQuery(text="quite new"))] == ["quite new"]
    async with app(make("docs", embedder="counting", hybrid=True), Counting(), tmp_path / "third") as ai:
        report = await ai.ingest("docs", docs, sync="full")
    assert (report.written, report.deleted, report.unchanged) == (0, 0, 40)


async def held(make: Make) -> list[str]:
    """What every reader sees, once what others wrote is to be seen."""
    store: Pinecone = make("docs", embedder="counting", hybrid=True)
    await store.open(create=False)
    await asyncio.sleep(0.1)
    return await texts(store)
