"""However many files a folder has, only a few of them are in memory."""

import tracemalloc
from pathlib import Path

import pytest

from flowkit.rag import load

TEXT = "A line of text about soup and bread.\n" * 20


def fill(folder: Path, count: int) -> Path:
    for at in range(count):
        if at % 500 == 0:
            inside = folder / f"{at:06}"
            inside.mkdir(parents=True)
        (inside / f"{at:06}.txt").write_text(f"{at} {TEXT}")
    return folder


async def peak_bytes(folder: Path) -> tuple[int, int]:
    """How many documents there are, and how much memory loading them took at most."""
    tracemalloc.start()
    try:
        count = 0
        async for item in load.directory(folder, root=folder):
            assert item.source
            count += 1
        return count, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


async def test_ten_times_the_files_take_no_more_memory(tmp_path: Path):
    await peak_bytes(fill(tmp_path / "first", 10))  # what is loaded once

    few, memory = await peak_bytes(fill(tmp_path / "few", 500))
    many, more = await peak_bytes(fill(tmp_path / "many", 5000))

    assert (few, many) == (500, 5000)
    # All documents at once would take 11 MB; Python's own table of the names of paths may double in between.
    assert more < 1.3 * memory + 3_000_000


@pytest.mark.soak
@pytest.mark.timeout(1200)
async def test_a_hundred_thousand_files_take_no_more_memory_than_a_thousand(tmp_path: Path):
    await peak_bytes(fill(tmp_path / "first", 10))

    few, memory = await peak_bytes(fill(tmp_path / "few", 1000))
    many, more = await peak_bytes(fill(tmp_path / "many", 100_000))

    assert (few, many) == (1000, 100_000)
    assert more < 1.3 * memory + 12_000_000  # Python keeps a table of the names of paths
