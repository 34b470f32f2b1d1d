"""Stores as indexers: what is there is not embedded again, and nobody's work is lost."""

import asyncio
import threading
from typing import Any

import pytest

from flowkit import Document, Flowkit
from flowkit.errors import (
    InvalidInputError,
    NotFoundError,
)
from flowkit.rag.stores.memory import InMemoryStore
from tests.support.stores import Counting, all_of, doc
from tests.support.traced import Spans

# Ids.


async def test_equal_texts_of_one_source_are_counted(ai: Flowkit, store: InMemoryStore):
    report = await ai.index("menu", [doc("soup"), doc("soup"), doc("soup", "other.pdf"), doc("cake")])

    assert len(set(report.ids)) == 4
    assert report.written == 4
    again = await ai.index("menu", [doc("cake"), doc("soup"), doc("soup")])
    assert again.ids == (report.ids[3], report.ids[0], report.ids[1])
    assert again.unchanged == 3


async def test_without_a_source_text_and_metadata_make_the_id(ai: Flowkit, store: InMemoryStore):
    report = await ai.index("menu", [doc("soup", None, page=1), doc("soup", None, page=2), doc("soup", None, page=1)])

    assert len(set(report.ids)) == 3


async def test_an_id_of_the_users_own_is_kept_and_the_last_of_equal_ones_wins(ai: Flowkit, store: InMemoryStore):
    report = await ai.index("menu", [doc("soup").with_id("a"), doc("cake").with_id("a")])

    assert report.ids == ("a", "a")
    assert report.written == 1
    assert list(await all_of(store)) == ["cake"]


async def test_hits_can_be_indexed_again_and_lose_their_score(ai: Flowkit, store: InMemoryStore):
    await ai.index("menu", [doc("soup")])
    hits = await ai.retrieve("menu", "soup")

    report = await ai.index("menu", hits)

    assert report.unchanged == 1
    assert type((await store.fetch()).items[0].document) is Document


# What is embedded.


async def test_indexing_again_embeds_nothing(ai: Flowkit, store: InMemoryStore, counting: Counting):
    first = await ai.index("menu", [doc("soup"), doc("cake")])
    counting.texts.clear()

    again = await ai.index("menu", [doc("soup"), doc("cake")])

    assert (first.written, again.written, again.unchanged) == (2, 0, 2)
    assert counting.texts == []


async def test_new_metadata_is_written_without_embedding(ai: Flowkit, store: InMemoryStore, counting: Counting):
    await ai.index("menu", [doc("soup", page=1), doc("cake", page=1)])
    counting.texts.clear()

    report = await ai.index("menu", [doc("soup", page=2), doc("cake", page=1)])

    assert (report.updated, report.unchanged, report.written) == (1, 1, 0)
    assert counting.texts == []
    assert (await all_of(store))["soup"]["page"] == 2
    assert [hit.metadata["page"] for hit in await ai.retrieve("menu", "soup", k=1)] == [2]


async def test_a_new_text_of_an_id_is_embedded(ai: Flowkit, store: InMemoryStore, counting: Counting):
    await ai.index("menu", [doc("soup").with_id("a")])
    counting.texts.clear()

    report = await ai.index("menu", [doc("cake").with_id("a"), doc("tea").with_id("b")])

    assert (report.written, report.updated, report.unchanged) == (2, 0, 0)
    assert counting.texts == ["cake", "tea"]


async def test_nothing_to_index_makes_nothing(ai: Flowkit, store: InMemoryStore, counting: Counting):
    report = await ai.index("menu", [])

    assert report.written == 0
    with pytest.raises(NotFoundError):
        await ai.retrieve("menu", "soup")


async def test_cleaned_characters_and_windows_are_reported(ai: Flowkit, store: InMemoryStore):
    report = await ai.index("menu", [doc("so\x00up"), doc("ca\ud800ke")])

    assert report.cleaned_characters == 2


@pytest.mark.parametrize("content", [[], [{"text": " "}], [{"media": {"url": "https://example.org/soup.png"}}]])
async def test_a_document_without_text_is_refused_before_anything_is_written(
    ai: Flowkit, store: InMemoryStore, counting: Counting, content: Any
):
    blank = Document.from_wire({"content": content})

    with pytest.raises(InvalidInputError, match="document 1 has no text"):
        await ai.index("menu", [doc("soup"), blank])
    assert counting.texts == []


# Failures and resuming.


async def test_finished_batches_stay_when_one_fails_and_a_rerun_embeds_the_rest(ai: Flowkit):
    counting = Counting(ai, limit=10, name="flaky", fail_on="dish 15")
    store = InMemoryStore("menu")
    ai.vector_store(store, name="memory/menu", embedder="flaky")
    dishes = [doc(f"dish {n}") for n in range(100)]

    with pytest.raises(ConnectionError):
        await ai.index("menu", dishes)
    kept = len(await all_of(store))
    assert "dish 0" in counting.texts
    assert 10 <= kept < 90
    assert kept == len(counting.texts)

    counting.fail_on = ""
    report = await ai.index("menu", dishes)

    assert (report.written, report.unchanged) == (100 - kept, kept)
    assert sorted(counting.texts) == sorted(f"dish {n}" for n in range(100))


async def test_a_first_run_that_fails_leaves_no_index(ai: Flowkit):
    Counting(ai, name="flaky", fail_on="soup")
    ai.vector_store(InMemoryStore("menu"), name="memory/menu", embedder="flaky")

    with pytest.raises(ConnectionError):
        await ai.index("menu", [doc("soup")])
    with pytest.raises(NotFoundError):
        await ai.retrieve("menu", "soup")


async def test_cancelling_stops_all_batches(ai: Flowkit, spans: Spans):
    counting = Counting(ai, limit=1, name="slow")
    store = InMemoryStore("menu")
    ai.vector_store(store, name="memory/menu", embedder="slow")
    task = asyncio.create_task(ai.index("menu", [doc(f"dish {n}") for n in range(1000)]))
    while not counting.texts:
        await asyncio.sleep(0.001)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    done = len(counting.texts)
    await asyncio.sleep(0.01)
    assert len(counting.texts) == done < 1000
    assert len(await all_of(store)) <= done
    await ai.index("menu", [doc("after")])


# At the same time.


async def test_two_calls_at_once_lose_nothing(ai: Flowkit, store: InMemoryStore, counting: Counting):
    a, b = [doc(f"a {n}") for n in range(150)], [doc(f"b {n}") for n in range(150)]

    await asyncio.gather(ai.index("menu", a), ai.index("menu", b))

    assert len(await all_of(store)) == 300


async def test_the_same_documents_at_once_are_embedded_once(ai: Flowkit, store: InMemoryStore, counting: Counting):
    dishes = [doc(f"dish {n}") for n in range(150)]

    reports = await asyncio.gather(*(ai.index("menu", dishes) for _ in range(3)))

    assert sorted(report.written for report in reports) == [0, 0, 150]
    assert len(counting.texts) == 150


def test_the_same_documents_from_many_threads_are_embedded_once(ai: Flowkit, store: InMemoryStore, counting: Counting):
    dishes = [doc(f"dish {n}") for n in range(20)]
    together = threading.Barrier(4)
    reports: list[int] = []

    async def index() -> None:
        together.wait(5)
        reports.append((await ai.index("menu", dishes)).written)

    threads = [threading.Thread(target=asyncio.run, args=(index(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)

    assert sorted(reports) == [0, 0, 0, 20]
    assert len(counting.texts) == 20


async def test_a_change_of_text_and_one_of_metadata_at_once_leave_a_text_with_its_own_vector(
    ai: Flowkit, store: InMemoryStore, counting: Counting
):
    for _ in range(5):
        await ai.index("menu", [doc("aaa", page=1).with_id("x")])

        await asyncio.gather(
            ai.index("menu", [doc("eee", page=1).with_id("x")]), ai.index("menu", [doc("aaa", page=2).with_id("x")])
        )

        (row,) = (await store.fetch(with_vectors=True)).items
        (expected,) = await counting.embed([row.document.text])
        assert row.vector == pytest.approx(expected)


async def test_few_calls_of_an_embedder_run_at_once(ai: Flowkit):
    counting = Counting(ai, limit=10, name="limited")
    ai.vector_store(InMemoryStore("menu"), name="memory/menu", embedder="limited")

    await ai.index("menu", [doc(f"dish {n}") for n in range(500)])

    assert counting.most == 4
