"""What the store does by itself: gives back space, renews its keyword index, forgets nothing meanwhile."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from flowkit import F
from flowkit.errors import IdentityError, InvalidInputError, StateError
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit_devstore import DevStore
from tests.plugins.devstore.numbered import filled, numbered, whole


def vector_files(store: DevStore) -> list[tuple[str, int]]:
    return [(path.name, path.stat().st_size) for path in sorted(store.path.glob("vectors-*"))]


async def test_places_of_deleted_rows_are_given_back_when_they_are_the_most(tmp_path: Path):
    store, reader = await filled(tmp_path, 3000, batch=1000), DevStore("menu", folder=tmp_path)
    await reader.open(create=False)
    assert len(await whole(reader)) == 3000
    ((_, size),) = vector_files(store)

    await store.delete(where=F("n") < 1200)
    assert vector_files(store) == [("vectors-000001.f32", size)], "not yet worth the work"
    assert await whole(store) == list(range(1200, 3000))
    await store.delete(where=F("n") < 2600)

    ((name, smaller),) = vector_files(store)
    assert name == "vectors-000002.f32"
    assert smaller == size - 2600 * 6 * 4
    assert await whole(store) == list(range(2600, 3000))
    assert await whole(reader) == list(range(2600, 3000))
    hits = await reader.search(SearchQuery(vector=numbered(2700).vector, k=500, where=F("group") == 3))
    assert sorted(hit.metadata["n"] for hit in hits) == list(range(2603, 3000, 10))
    await reader.upsert([numbered(number) for number in range(100)])
    assert await whole(store) == [*range(100), *range(2600, 3000)]
    await store.aclose()
    await reader.aclose()


async def test_clearing_gives_everything_back(tmp_path: Path):
    store = await filled(tmp_path, 300)
    await store.clear()
    assert vector_files(store) == []

    await store.upsert([numbered(number) for number in range(5)])
    await store.delete(ids=[f"r{number:05d}" for number in range(5)])
    assert await whole(store) == []
    await store.upsert([numbered(7)])
    assert await whole(store) == [7]
    assert len(vector_files(store)) == 1
    await store.aclose()


async def test_replacing_vectors_again_and_again_does_not_fill_the_disk(tmp_path: Path):
    store = await filled(tmp_path, 200)
    for turn in range(1, 12):
        rows = [
            EmbeddedDocument(numbered(number).document, [turn, *numbered(number).vector[1:]]) for number in range(200)
        ]
        await store.upsert(rows)

    ((_, size),) = vector_files(store)
    assert size < 10 * 200 * 6 * 4
    (item,) = (await store.fetch(ids=["r00005"], with_vectors=True)).items
    assert item.vector[0] == pytest.approx(11)
    await store.aclose()


async def test_writing_the_same_rows_again_takes_no_place(tmp_path: Path):
    store = await filled(tmp_path, 200)
    before = vector_files(store)

    await store.upsert([numbered(number) for number in range(200)])

    assert vector_files(store) == before
    await store.aclose()


async def test_the_keyword_index_is_renewed_when_search_terms_have_changed(tmp_path: Path):
    store = await filled(tmp_path, 50)
    await store.aclose()
    with sqlite3.connect(store.path / "index.db") as database:
        database.execute("INSERT INTO words (words) VALUES ('delete-all')")
        database.execute("INSERT INTO words (rowid, terms) VALUES (1, 'other terms of another version')")
        database.execute("UPDATE state SET terms_version = 0")
    database.close()

    await store.open(create=False)

    assert await whole(store) == list(range(50))
    assert await store.search(SearchQuery(text="version")) == []
    await store.aclose()


async def test_a_process_of_another_version_does_not_write_on(tmp_path: Path):
    store = await filled(tmp_path, 50)
    with sqlite3.connect(store.path / "index.db") as database:
        database.execute("UPDATE state SET terms_version = 1000")
    database.close()

    with pytest.raises(StateError, match="version"):
        await store.upsert([numbered(60)])
    with pytest.raises(StateError, match="version"):
        await store.delete(ids=["r00001"])

    assert (await store.stats()).count == 50
    await store.aclose()


async def test_a_big_index_is_searched_in_a_thread_and_cancelling_harms_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("flowkit_devstore.store._INLINE_NUMBERS", 0)
    store = await filled(tmp_path, 300)
    query = SearchQuery(vector=numbered(5).vector, text="number7", k=3, where=F("n") < 100)

    searches = [asyncio.create_task(store.search(query)) for _ in range(30)]
    await asyncio.sleep(0)
    for task in searches[::3]:
        task.cancel()
    done = await asyncio.gather(*searches, return_exceptions=True)

    answers = [hits for hits in done if not isinstance(hits, asyncio.CancelledError)]
    assert len(answers) >= 20
    assert all([hit.id for hit in hits] == [hit.id for hit in answers[0]] for hits in answers)
    assert await whole(store) == list(range(300))
    await store.aclose()


async def test_a_cancelled_write_is_whole_or_not_there(tmp_path: Path):
    store = await filled(tmp_path, 10)
    writes = [
        asyncio.create_task(store.upsert([numbered(number) for number in range(first, first + 10)]))
        for first in range(10, 110, 10)
    ]
    await asyncio.sleep(0)
    for task in writes[1::2]:
        task.cancel()
    await asyncio.gather(*writes, return_exceptions=True)

    found = await whole(store)
    assert set(range(10)) <= set(found)
    assert len(found) % 10 == 0
    await store.aclose()


async def test_closing_waits_for_the_write_under_way(tmp_path: Path):
    store = await filled(tmp_path, 0)
    write = asyncio.create_task(store.upsert([numbered(number) for number in range(500)]))
    await asyncio.sleep(0)

    await store.aclose()
    await write

    await store.open(create=False)
    assert await whole(store) == list(range(500))
    await store.aclose()


async def test_many_tasks_may_open_and_close_at_once(tmp_path: Path):
    store = DevStore("menu", folder=tmp_path)

    await asyncio.gather(*(store.open(create=True, dimension=6) for _ in range(8)))
    await asyncio.gather(*(store.upsert([numbered(number)]) for number in range(8)))
    assert await whole(store) == list(range(8))
    await asyncio.gather(*(store.aclose() for _ in range(3)))
    with pytest.raises(StateError):
        await store.upsert([numbered(9)])


async def test_more_rows_with_one_vector_than_fit_a_block(tmp_path: Path):
    store = await filled(tmp_path, 3)
    same = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    rows = [EmbeddedDocument(numbered(number).document, same) for number in range(9000)]
    await store.upsert(rows[::-1])

    hits = await store.search(SearchQuery(vector=same, k=4))

    assert [(hit.metadata["n"], hit.score) for hit in hits] == [(number, 1) for number in range(4)]
    await store.aclose()


async def test_what_the_index_was_built_with_is_kept(tmp_path: Path):
    store = DevStore("menu", embedder="local/one", folder=tmp_path)
    await store.open(create=True, dimension=6)
    await store.upsert([numbered(1)])
    stats = await store.stats()
    assert (stats.embedder, stats.dimension) == ("local/one", 6)
    assert stats.size_bytes == sum(path.stat().st_size for path in store.path.iterdir())
    await store.aclose()

    with pytest.raises(IdentityError, match="'local/one', not 'local/two'"):
        await DevStore("menu", embedder="local/two", folder=tmp_path).open(create=False)
    unnamed = DevStore("menu", folder=tmp_path)
    await unnamed.open(create=False)
    assert await whole(unnamed) == [1]
    with pytest.raises(InvalidInputError, match="embedder 'local/one'"):
        await unnamed.search(SearchQuery(vector=[0] * 6))
    await unnamed.aclose()


async def test_an_embedder_that_becomes_known_later_is_noted(tmp_path: Path):
    store = await filled(tmp_path, 3)
    await store.open(create=True, embedder="local/one")
    await store.aclose()

    with pytest.raises(IdentityError):
        await DevStore("menu", embedder="local/two", folder=tmp_path).open(create=False)
