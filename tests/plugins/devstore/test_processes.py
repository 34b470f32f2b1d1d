"""Several processes on one index, and processes that die in the middle."""

import asyncio
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowkit.errors import StateError
from flowkit.plugin import SearchQuery
from flowkit_devstore import DevStore
from tests.plugins.devstore.numbered import filled, numbered, python, whole

pytestmark = pytest.mark.heavy

WRITER = """
import asyncio, sys
from pathlib import Path
from flowkit_devstore import DevStore
from tests.plugins.devstore.numbered import numbered

async def main():
    store = DevStore("menu", folder=Path(sys.argv[1]))
    await store.open(create=True)
    for first in range(int(sys.argv[2]), int(sys.argv[3]), 10):
        await store.upsert([numbered(number) for number in range(first, first + 10)])
        print(first, flush=True)
    await store.aclose()

asyncio.run(main())
"""


async def test_a_writer_killed_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path: Path):
    numbers = random.Random()
    start = 0
    for _ in range(5):
        writer = python(WRITER, tmp_path, start, start + 100_000)
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(numbers.randint(1, 6))]
        time.sleep(numbers.uniform(0, 0.02))
        writer.kill()
        acknowledged += [int(line) for line in writer.stdout.read().split()]
        writer.wait()
        writer.stdout.close()

        store = DevStore("menu", folder=tmp_path)
        await store.open(create=False)
        found = await whole(store)

        wanted = acknowledged[-1] + 10
        assert found in (list(range(wanted)), list(range(wanted + 10))), "whole batches, one of them perhaps untold"
        start = len(found)
        await store.upsert([numbered(number) for number in range(start, start + 10)])
        assert await whole(store) == list(range(start + 10))
        await store.aclose()
        start += 10


async def test_two_processes_write_at_once_and_nothing_is_lost_or_doubled(tmp_path: Path):
    """Both also create the index, and a third reads all the time."""
    writers = [python(WRITER, tmp_path, first, first + 150) for first in (0, 1000)]
    store = DevStore("menu", folder=tmp_path)
    await store.open(create=True)
    seen = [0]
    while any(writer.poll() is None for writer in writers):
        hits = await store.search(SearchQuery(vector=[0, 0, 0, 0, 0, 1], k=500))
        assert all(hit.text == f"text number{hit.metadata['n']}" for hit in hits)
        seen.append(len(hits))
        await asyncio.sleep(0.005)
    for writer in writers:
        writer.communicate()

    assert [writer.returncode for writer in writers] == [0, 0]
    assert seen == sorted(seen), "what was there once stays"
    assert await whole(store) == [*range(150), *range(1000, 1150)]
    await store.aclose()


async def test_a_reader_notices_what_another_process_did(tmp_path: Path):
    store = await filled(tmp_path, 20)
    assert len(await store.search(SearchQuery(vector=[1, 0, 0, 0, 0, 0], k=100))) == 20

    python(WRITER, tmp_path, 20, 50).communicate()
    assert await whole(store) == list(range(50))

    other = await filled(tmp_path, 0)
    await other.delete(ids=["r00007"])
    assert await whole(store) == [number for number in range(50) if number != 7]
    await other.clear()
    assert await whole(store) == []
    await other.upsert([numbered(3)])
    assert await whole(store) == [3]
    await other.aclose()
    await store.aclose()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
async def test_a_forked_child_opens_the_files_anew(tmp_path: Path):
    code = f"""
import asyncio, os
from pathlib import Path
from tests.plugins.devstore.numbered import filled, numbered, whole

folder = Path({str(tmp_path)!r})
store = asyncio.run(filled(folder, 20))
child = os.fork()
if child == 0:
    async def main():
        await store.open(create=False)
        await store.upsert([numbered(20)])
        assert await whole(store) == list(range(21))
        await store.aclose()
    asyncio.run(main())
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
async def main():
    assert await whole(store) == list(range(21))
    await store.upsert([numbered(21)])
    assert await whole(store) == list(range(22))
    await store.aclose()
asyncio.run(main())
print("fine")
"""
    output, _ = python(code).communicate()

    assert output == "fine\n"


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(options, capture_output=True).returncode != 0:
        pytest.skip("a full disk is played with a small tmpfs, which only root on Linux may mount")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


async def test_a_full_disk_is_said_and_everything_written_before_stays(tiny_disk: Path):
    store = await filled(tiny_disk, 0)
    count = 0

    async def write_on() -> None:
        nonlocal count
        while True:
            await store.upsert([numbered(number) for number in range(count, count + 50)])
            count += 50

    with pytest.raises(StateError) as caught:
        await write_on()
    assert caught.value.status == "RESOURCE_EXHAUSTED"
    assert "space" in caught.value.message
    assert str(store.path) in caught.value.message
    assert count > 100
    assert await whole(store) == list(range(count)), "reading goes on"
    await store.aclose()

    subprocess.run(["mount", "-o", "remount,size=20m", str(tiny_disk)], check=True)
    again = DevStore("menu", folder=tiny_disk)
    await again.open(create=False)
    assert await whole(again) == list(range(count))
    await again.upsert([numbered(number) for number in range(count, count + 50)])
    assert await whole(again) == list(range(count + 50))
    await again.aclose()
