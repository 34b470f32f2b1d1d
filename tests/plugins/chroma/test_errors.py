"""What goes wrong with a folder or a server is told in one line: store, operation, index and place, and what to do."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowkit import Document
from flowkit.errors import BackendError, ConfigError, StateError
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit_chroma import Chroma
from flowkit_chroma.server import Transport

pytestmark = [pytest.mark.heavy, pytest.mark.requires("chroma", "the store is tested against the real Chroma")]


def row(id: str, text: str = "tomato soup", size: int = 2) -> EmbeddedDocument:
    return EmbeddedDocument(Document.from_text(text, id=id), [1.0] * size)


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize("below", ["", "data/chroma"])
async def test_a_file_in_the_way_of_the_folder(tmp_path: Path, below: str, create: bool):
    (tmp_path / "app.py").touch()
    store = Chroma("menu", path=tmp_path / "app.py" / below)

    with pytest.raises(
        ConfigError, match=r"^chroma could not open index 'menu' \(folder '.*app.py.*in the way"
    ) as caught:
        await store.open(create=create)

    assert "path=" in (caught.value.hint or "")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a place where nobody can make a folder is /proc, on Linux")
async def test_a_place_where_no_folder_can_be_made():
    with pytest.raises(ConfigError, match=r"^chroma could not open index 'menu' .folder '/proc/chroma'"):
        await Chroma("menu", path="/proc/chroma").open(create=True)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
async def test_a_folder_that_may_not_be_written_to(tmp_path: Path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ConfigError, match=r"^chroma could not open index 'menu'.*denied") as caught:
            await Chroma("menu", path=tmp_path / "data").open(create=True)
    finally:
        tmp_path.chmod(0o700)
    assert "owner and mode" in (caught.value.hint or "")


async def test_a_folder_that_becomes_a_file_while_the_store_is_open(tmp_path: Path):
    folder = tmp_path / "data"
    store, reader = Chroma("menu", path=folder), Chroma("menu", path=folder)
    await store.open(create=True, dimension=2)
    await store.upsert([row("a")])
    await store.aclose()
    await reader.open(create=False)
    folder.rename(tmp_path / "moved")
    folder.touch()

    with pytest.raises(ConfigError, match=r"^chroma could not read index 'menu'.*in the way"):
        await reader.search(SearchQuery(vector=[1, 0]))
    with pytest.raises(ConfigError, match=r"^chroma could not write to index 'menu'.*in the way"):
        await reader.upsert([row("b")])
    await reader.aclose()


@pytest.mark.parametrize("transport", ["async", "threads"])
async def test_no_server(transport: Transport):
    store = Chroma("menu", host="127.0.0.1", port=1, transport=transport)

    with pytest.raises(
        BackendError, match=r"^chroma could not open index 'menu': no Chroma server answers at http://127.0.0.1:1"
    ) as caught:
        await store.open(create=True)

    assert "chroma run" in (caught.value.hint or "")


HOLDER = """
import asyncio, sys
from flowkit_chroma import Chroma

async def main():
    store = Chroma("other", path=sys.argv[1])
    await store.open(create=True, dimension=2)
    print("holding", flush=True)
    sys.stdin.read()
    await store.aclose()

asyncio.run(main())
"""


async def test_a_second_writer_of_a_folder_is_told_who_the_first_is(tmp_path: Path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "holding\n"
        store = Chroma("menu", path=tmp_path)
        with pytest.raises(
            StateError, match=f"^chroma could not write to index 'menu': process {holder.pid} is writing to the folder"
        ) as caught:
            await store.open(create=True, dimension=2)
        holder.stdin.close()
        holder.wait()

    assert "chroma run" in (caught.value.hint or "")
    await store.open(create=True, dimension=2)
    await store.upsert([row("a")])
    assert (await store.stats()).count == 1
    await store.aclose()


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(options, capture_output=True).returncode != 0:
        pytest.skip("a full disk is played with a small tmpfs, which only root on Linux may mount")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


async def test_a_full_disk_is_told_and_what_was_written_before_stays(tiny_disk: Path):
    store = Chroma("menu", path=tiny_disk / "data")
    await store.open(create=True, dimension=16)
    count = 0

    async def write_on() -> None:
        nonlocal count
        while True:
            await store.upsert([row(f"r{at:05d}", f"text {at} " * 200, 16) for at in range(count, count + 50)])
            count += 50

    with pytest.raises(BackendError, match=r"^chroma could not write to index 'menu'.*data") as caught:
        await write_on()
    assert caught.value.status == "RESOURCE_EXHAUSTED"
    assert "space" in (caught.value.hint or "")
    assert count > 100
    written = [f"r{at:05d}" for at in range(count)]
    assert [row.id for row in (await store.fetch(limit=10_000)).items] == written, "reading goes on"
    await store.aclose()

    subprocess.run(["mount", "-o", "remount,size=60m", str(tiny_disk)], check=True)
    again = Chroma("menu", path=tiny_disk / "data")
    await again.open(create=False)
    found = [row.id for row in (await again.fetch(limit=10_000)).items]
    untold = [f"r{at:05d}" for at in range(count, count + 50)]
    assert found in (written, written + untold), "whole batches; Chroma may still do the one that failed"
    await again.upsert([row(f"r{at:05d}", f"text {at}", 16) for at in range(count + 50)])
    assert (await again.stats()).count == count + 50
    assert len(await again.search(SearchQuery(vector=[1.0] * 16, k=count + 50))) == count + 50
    await again.aclose()
