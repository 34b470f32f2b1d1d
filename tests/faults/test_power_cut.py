"""What a power cut leaves: files that end anywhere, a log that is torn, side files that are gone."""

import random
import shutil
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from flowkit.errors import StoreError
from flowkit.rag.embedding_cache import EmbeddingCache, VectorSpace
from flowkit.tracing.rows import SpanRow
from flowkit.tracing.store import TraceStore
from flowkit_devstore import DevStore
from tests.plugins.devstore.numbered import filled, numbered, whole

SPACE = VectorSpace("numbers", dimensions=4)


async def test_a_vector_file_that_ends_anywhere_is_refused_until_it_is_whole_again(tmp_path: Path):
    store = await filled(tmp_path, 60)
    await store.delete(ids=["r00010"])
    await store.upsert([numbered(60)])
    await store.aclose()
    (vectors,) = store.path.glob("vectors-*")
    sound = vectors.read_bytes()
    numbers = random.Random(5)
    for cut in [0, 1, 63, 64, len(sound) - 1, *(numbers.randrange(len(sound)) for _ in range(25))]:
        vectors.write_bytes(sound[:cut])
        for again in (DevStore("menu", folder=tmp_path), DevStore("menu", folder=tmp_path)):
            with pytest.raises(StoreError, match=r"vectors-000001\.f32") as caught:
                await again.open(create=True)
            assert "copy" in (caught.value.hint or "")
        assert vectors.read_bytes() == sound[:cut], "nothing was changed"
    vectors.write_bytes(sound)
    await store.open(create=False)
    assert await whole(store) == [number for number in range(61) if number != 10]
    await store.aclose()


async def test_vectors_that_came_to_disk_without_their_transaction_are_not_missed(tmp_path: Path):
    """Written and synced first, so after a cut there may be more of them than the database knows; never fewer."""
    store = await filled(tmp_path, 40)
    database = {path.name: path.read_bytes() for path in store.path.glob("index.db*") if not path.name.endswith("-shm")}
    await store.upsert([numbered(number) for number in range(40, 80)])
    await store.aclose()
    for path in store.path.glob("index.db*"):
        path.unlink()
    for name, content in database.items():
        (store.path / name).write_bytes(content)

    await store.open(create=False)
    assert await whole(store) == list(range(40))
    await store.upsert([numbered(number) for number in range(100, 130)])
    assert await whole(store) == [*range(40), *range(100, 130)]
    await store.aclose()


async def test_an_index_without_its_shared_memory_file(tmp_path: Path):
    store = await filled(tmp_path / "original", 50)
    copy = tmp_path / "copy"
    shutil.copytree(store.path, copy / "menu", ignore=shutil.ignore_patterns("*-shm"))
    assert (copy / "menu" / "index.db-wal").stat().st_size
    again = DevStore("menu", folder=copy)
    await again.open(create=False)
    assert await whole(again) == list(range(50))
    await again.aclose()
    await store.aclose()


async def _cache(folder: Path, numbers: range) -> Callable[[], object]:
    cache = EmbeddingCache(folder / "file.db")
    for number in numbers:
        await cache.put_many(SPACE, [f"text {number}"], [[float(number)] * 4])
    return cache._file.close if cache._file is not None else lambda: None


async def _cached(folder: Path) -> list[int]:
    cache = EmbeddingCache(folder / "file.db")
    found = await cache.get_many(SPACE, [f"text {number}" for number in range(60)])
    await cache.put_many(SPACE, ["more"], [[0.5] * 4])
    await cache.aclose()
    for number, vector in enumerate(found):
        assert vector is None or vector.tolist() == [float(number)] * 4
    return [number for number, vector in enumerate(found) if vector is not None]


async def _traces(folder: Path, numbers: range) -> Callable[[], object]:
    store = TraceStore(folder / "file.db")
    for number in numbers:
        store.write([_span(number)])
    return store.close


async def _traced(folder: Path) -> list[int]:
    store = TraceStore(folder / "file.db")
    found = store.list(limit=100, internal=True)
    assert found.skipped == 0
    store.write([_span(99)])
    assert len(store.list(limit=100, internal=True).items) == len(found.items) + 1
    store.close()
    return sorted(int(item.trace_id, 16) for item in found.items)


@pytest.mark.parametrize(("fill", "look"), [(_cache, _cached), (_traces, _traced)], ids=["embedding cache", "traces"])
async def test_a_torn_log_of_a_store_costs_no_more_than_was_torn(tmp_path: Path, fill, look):
    original = tmp_path / "original"
    original.mkdir()
    (await fill(original, range(20)))()
    close = await fill(original, range(20, 40))
    log = original / "file.db-wal"
    whole_log = log.read_bytes()
    numbers = random.Random(6)
    seen = set()
    for cut in [0, 1, 31, len(whole_log), *(numbers.randrange(len(whole_log)) for _ in range(25))]:
        for garbage in (b"", numbers.randbytes(500)):
            copy = tmp_path / f"copy-{cut}-{len(garbage)}"
            shutil.copytree(original, copy, ignore=shutil.ignore_patterns("*-shm"))
            (copy / "file.db-wal").write_bytes(whole_log[:cut] + garbage)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = await look(copy)
            assert found == list(range(len(found))), "what came first is there"
            assert len(found) >= 20
            connection = sqlite3.connect(copy / "file.db")
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            connection.close()
            seen.add(len(found))
    assert len(seen) > 5
    close()


def _span(number: int) -> SpanRow:
    return SpanRow(f"{number:032x}", f"{number:016x}", "soup", 1000 + number, 2000 + number, local_root=True)
