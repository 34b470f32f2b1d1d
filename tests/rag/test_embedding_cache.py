"""The embedding cache: what is found again, what is not, and that it never makes anybody fail."""

import asyncio
import multiprocessing
import os
import sqlite3
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from flowkit.errors import InvalidInputError, InvalidOutputError
from flowkit.rag.embedding_cache import EmbeddingCache, VectorSpace
from flowkit.rag.embedding_file import VERSION

SPACE = VectorSpace("local/small", revision="1", dimensions=3, task="document", normalized=True)


class Embedder:
    """Counts what it is asked; a text's vector tells its length."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    async def __call__(self, texts: list[str]) -> Sequence[Sequence[float]]:
        self.asked.append(texts)
        return [[len(text), 0.5, -1.25] for text in texts]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".flowkit" / "cache" / "embeddings.db"


async def test_a_text_is_embedded_once(file: Path):
    embed = Embedder()

    first = await EmbeddingCache(file).through(SPACE, ["soup", "salad", "soup"], embed)
    again = await EmbeddingCache(file).through(SPACE, ["salad", "tea", "soup"], embed)

    assert embed.asked == [["soup", "salad"], ["tea"]]
    assert (first.hits, again.hits) == (1, 2)
    assert [row.tolist() for row in again.vectors] == [[5, 0.5, -1.25], [3, 0.5, -1.25], [4, 0.5, -1.25]]


async def test_nothing_to_embed_is_no_work(file: Path):
    embed = Embedder()

    assert await EmbeddingCache(file).through(SPACE, [], embed) == ([], 0)
    assert embed.asked == []
    assert not file.exists()


@pytest.mark.parametrize(
    "other",
    [
        VectorSpace("local/other", revision="1", dimensions=3, normalized=True),
        VectorSpace("local/small", revision="2", dimensions=3, normalized=True),
        VectorSpace("local/small", revision="1", dimensions=None, normalized=True),
        VectorSpace("local/small", revision="1", dimensions=3, task="query", normalized=True),
        VectorSpace("local/small", revision="1", dimensions=3, normalized=False),
        VectorSpace("local/small", revision="1", dimensions=3, normalized=True, options={"style": "short"}),
    ],
    ids=["model", "revision", "dimensions", "task", "normalized", "options"],
)
async def test_a_vector_made_in_another_way_is_not_found(file: Path, other: VectorSpace):
    cache = EmbeddingCache(file)
    await cache.put_many(SPACE, ["soup"], [[1, 2, 3]])

    assert await cache.get_many(other, ["soup"]) == [None]


async def test_the_order_of_options_does_not_matter(file: Path):
    cache = EmbeddingCache(file)
    await cache.put_many(VectorSpace("m", options={"a": 1, "b": [2]}), ["soup"], [[1.0]])

    (row,) = await cache.get_many(VectorSpace("m", options={"b": [2], "a": 1}), ["soup"])

    assert row is not None
    assert row.tolist() == [1.0]


async def test_vectors_come_back_bit_for_bit(file: Path):
    vectors = np.random.default_rng(7).standard_normal((700, 3)).astype(np.float32)
    texts = [f"text {number}" for number in range(700)]
    cache = EmbeddingCache(file)
    await cache.put_many(SPACE, texts, list(vectors))

    found = await cache.get_many(SPACE, texts[::-1])

    assert np.array_equal(np.stack([row for row in found if row is not None]), vectors[::-1])


async def test_texts_of_any_kind_are_told_apart(file: Path):
    texts = ["soup", "Soup", "soup ", "", "スープ", "a\x00b", "\ud800"]
    cache = EmbeddingCache(file)
    await cache.put_many(SPACE, texts, [[number, 0, 0] for number in range(len(texts))])

    assert [row[0] for row in await cache.get_many(SPACE, texts) if row is not None] == [0, 1, 2, 3, 4, 5, 6]


async def test_a_later_vector_replaces_an_earlier_one(file: Path):
    cache = EmbeddingCache(file)
    await cache.put_many(SPACE, ["soup"], [[1, 1, 1]])
    await cache.put_many(SPACE, ["soup"], [[2, 2, 2]])

    (row,) = await cache.get_many(SPACE, ["soup"])

    assert row is not None
    assert row.tolist() == [2, 2, 2]


async def test_switched_off_it_finds_and_keeps_nothing():
    embed = Embedder()
    cache = EmbeddingCache(None)

    await cache.through(SPACE, ["soup", "soup"], embed)
    await cache.through(SPACE, ["soup"], embed)

    assert embed.asked == [["soup"], ["soup"]]


@pytest.mark.parametrize("damage", ["not a database", "cut in the middle"])
async def test_a_damaged_file_is_moved_aside_and_made_anew(file: Path, damage: str):
    texts = [f"text {number}" for number in range(500)]
    earlier = EmbeddingCache(file)
    await earlier.put_many(SPACE, texts, [[1, 2, 3]] * 500)
    await earlier.aclose()
    whole = file.read_bytes()
    file.write_bytes(b"no database" * 1000 if damage == "not a database" else whole[:20_000])
    embed = Embedder()
    cache = EmbeddingCache(file)

    with pytest.warns(RuntimeWarning, match="damaged"):
        result = await cache.through(SPACE, texts, embed)

    assert result.hits == 0
    assert len(list(file.parent.glob("embeddings.db.damaged-*"))) == 1
    assert (await cache.through(SPACE, texts, embed)).hits == 500


async def test_a_file_of_a_newer_version_is_left_alone(file: Path):
    earlier = EmbeddingCache(file)
    await earlier.put_many(SPACE, ["soup"], [[1, 2, 3]])
    await earlier.aclose()
    with sqlite3.connect(file) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    db.close()
    before = file.read_bytes()

    with pytest.warns(RuntimeWarning, match="upgrade"):
        result = await EmbeddingCache(file).through(SPACE, ["soup"], Embedder())

    assert result.vectors[0].tolist() == [4, 0.5, -1.25]
    assert file.read_bytes() == before


async def test_where_nothing_can_be_written_embedding_goes_on(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    cache = EmbeddingCache(tmp_path / "file" / "cache" / "embeddings.db")

    with pytest.warns(RuntimeWarning, match="not cached"):
        result = await cache.through(SPACE, ["soup"], Embedder())
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it was said once
        await cache.through(SPACE, ["soup"], Embedder())

    assert result.vectors[0].tolist() == [4, 0.5, -1.25]


async def test_the_file_stays_within_its_bound(file: Path):
    space = VectorSpace("big", dimensions=1024)
    cache = EmbeddingCache(file, max_size_bytes=1_000_000)
    vector = [0.5] * 1024
    for batch in range(10):
        await cache.put_many(space, [f"{batch}-{number}" for number in range(50)], [vector] * 50)

    found = [await cache.get_many(space, [f"{batch}-0", f"{batch}-49"]) for batch in range(10)]

    assert file.stat().st_size < 1_100_000
    assert found[9][1] is not None
    assert found[0] == [None, None]


async def test_what_is_in_use_stays_longest(file: Path):
    space = VectorSpace("big", dimensions=1024)
    cache = EmbeddingCache(file, max_size_bytes=1_000_000)
    await cache.put_many(space, ["in use", *(f"old {n}" for n in range(140))], [[0.5] * 1024] * 141)
    with sqlite3.connect(file) as db:
        db.execute("UPDATE vectors SET day = day - 30")
    db.close()
    await cache.get_many(space, ["in use"])

    await cache.put_many(space, [f"new {n}" for n in range(100)], [[0.5] * 1024] * 100)
    used, old, new = await cache.get_many(space, ["in use", "old 0", "new 0"])

    assert used is not None
    assert old is None
    assert new is not None


async def test_vectors_that_cannot_be_right_are_refused(file: Path):
    cache = EmbeddingCache(file)
    with pytest.raises(InvalidInputError, match="3 dimensions"):
        await cache.put_many(SPACE, ["soup"], [[1, 2]])
    with pytest.raises(InvalidInputError, match="NaN"):
        await cache.put_many(SPACE, ["soup"], [[1, 2, float("nan")]])
    with pytest.raises(InvalidInputError, match="2 texts and 1 vectors"):
        await cache.put_many(SPACE, ["soup", "tea"], [[1, 2, 3]])
    with pytest.raises(InvalidInputError, match="switches the cache off"):
        EmbeddingCache(file, max_size_bytes=0)

    async def short(texts: list[str]) -> list[list[float]]:
        return []

    with pytest.raises(InvalidOutputError, match="0 vectors for 1 texts"):
        await cache.through(SPACE, ["soup"], short)


async def test_a_failing_embedder_leaves_the_cache_as_it_was(file: Path):
    async def fail(texts: list[str]) -> list[list[float]]:
        raise RuntimeError("out of order")

    cache = EmbeddingCache(file)
    await cache.put_many(SPACE, ["soup"], [[1, 2, 3]])

    with pytest.raises(RuntimeError, match="out of order"):
        await cache.through(SPACE, ["soup", "tea"], fail)

    assert (await cache.through(SPACE, ["soup", "tea"], Embedder())).hits == 1


async def test_many_tasks_may_use_one_cache(file: Path):
    cache = EmbeddingCache(file)
    results = await asyncio.gather(*[cache.through(SPACE, [f"{n}", f"{n + 1}"], Embedder()) for n in range(20)])

    assert all(result.vectors[0].tolist() == [len(str(n)), 0.5, -1.25] for n, result in enumerate(results))
    assert (await cache.through(SPACE, [f"{n}" for n in range(21)], Embedder())).hits == 21


def fill(file: Path, first: int) -> None:
    """What another process does."""
    cache = EmbeddingCache(file)
    for batch in range(5):
        texts = [f"{first + batch * 10 + number}" for number in range(10)]
        asyncio.run(cache.through(SPACE, texts, Embedder()))


@pytest.mark.heavy
async def test_several_processes_may_use_one_file(file: Path):
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=fill, args=(file, first)) for first in (0, 50, 25)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)

    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert (await EmbeddingCache(file).through(SPACE, [f"{n}" for n in range(100)], Embedder())).hits == 100


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
async def test_a_forked_child_opens_the_file_for_itself(file: Path):
    cache = EmbeddingCache(file)
    await cache.put_many(SPACE, ["soup"], [[1, 2, 3]])
    context = multiprocessing.get_context("fork")
    child = context.Process(target=use_inherited, args=(cache,))
    child.start()
    await cache.put_many(SPACE, ["salad"], [[4, 5, 6]])
    child.join(60)

    assert child.exitcode == 0
    assert (await cache.through(SPACE, ["soup", "salad", "tea"], Embedder())).hits == 3


def use_inherited(cache: EmbeddingCache) -> None:
    result = asyncio.run(cache.through(SPACE, ["soup", "tea"], Embedder()))
    assert result.hits == 1


async def test_a_file_that_was_removed_is_made_again(file: Path):
    cache = EmbeddingCache(file)
    await cache.put_many(SPACE, ["soup"], [[1, 2, 3]])
    for left in file.parent.iterdir():
        left.unlink()

    assert (await cache.through(SPACE, ["soup"], Embedder())).hits == 0
    assert (await cache.through(SPACE, ["soup"], Embedder())).hits == 1


async def test_it_can_be_closed_and_used_again(file: Path):
    cache = EmbeddingCache(file)
    await cache.put_many(SPACE, ["soup"], [[1, 2, 3]])
    await cache.aclose()
    await cache.aclose()

    assert [path.name for path in file.parent.iterdir()] == ["embeddings.db"]
    assert (await cache.through(SPACE, ["soup"], Embedder())).hits == 1


async def test_the_folder_is_private(file: Path):
    await EmbeddingCache(file).put_many(SPACE, ["soup"], [[1, 2, 3]])

    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert file.parent.parent.stat().st_mode & 0o777 == 0o700
