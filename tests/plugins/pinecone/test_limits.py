"""Sizes: what is too big is refused before anything is sent, and requests stay within the service's limits."""

from typing import Any

import numpy as np
import orjson
import pytest

from flowkit import Document, F
from flowkit.errors import InvalidInputError
from flowkit.rag.stores.contract import EmbeddedDocument, SearchQuery
from flowkit.testing.store_contract.base import ids_of, row
from flowkit_pinecone.write import LARGEST_REQUEST, MOST_RECORDS, batches
from tests.plugins.pinecone.conftest import Make
from tests.servers.pinecone import PineconeServer

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize(
    ("letter", "count", "fits"), [("a", 40_000, True), ("漢", 14_000, False), ("漢", 13_000, True)]
)
async def test_the_limit_is_of_bytes(server: PineconeServer, make: Make, letter: str, count: int, fits: bool):
    store = make()
    await store.open(create=True, dimension=2)
    rows = [row("fine", [1, 0]), row("long", [1, 0], text=letter * count, source="book.txt")]

    if fits:
        await store.upsert(rows)
        assert len((await store.fetch(ids=["long"])).items[0].document.text) == count
    else:
        before = len(server.requests)
        with pytest.raises(InvalidInputError, match=r"'long' of 'book\.txt'.*42,\d\d\d bytes.*40,960") as caught:
            await store.upsert(rows)
        assert caught.value.hint
        assert len(server.requests) == before


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
async def test_numbers_are_sent_in_few_digits_and_are_the_same_as_float32(
    server: PineconeServer, make: Make, metric: str
):
    random = np.random.default_rng(5)
    vectors = random.normal(size=(40, 64)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[1] = np.copysign(10.0 ** random.uniform(-38, 18, 64), vectors[1])  # any size
    store = make(metric=metric)
    await store.open(create=True, dimension=64)

    await store.upsert([row(f"r{at}", vector) for at, vector in enumerate(vectors)])
    await store.search(SearchQuery(vector=vectors[0]))

    bodies = {path: body for _, path, body in server.requests}
    sent = [bodies["/vectors/upsert"]["vectors"][0]["values"], bodies["/query"]["vector"]]
    for numbers in sent:
        assert np.array_equal(np.asarray(numbers, dtype=np.float32), vectors[0])
        assert len(orjson.dumps(numbers)) < 0.7 * len(orjson.dumps(vectors[0].tolist()))
    items = (await store.fetch(limit=40, with_vectors=True)).items
    stored = {item.document.id: item.vector for item in items}
    assert all(np.array_equal(stored[f"r{at}"], vectors[at]) for at in range(40) if metric == "euclidean" or at != 1)


async def test_metadata_counts_too(make: Make):
    store = make()
    await store.open(create=True, dimension=2)

    with pytest.raises(InvalidInputError, match="'a'"):
        await store.upsert([row("a", [1, 0], notes="x" * 41_000)])


async def test_an_index_is_not_made_for_rows_that_are_refused(server: PineconeServer, make: Make):
    store = make()
    await store.open(create=True)
    for bad in (row("a", [1, 0], text="x" * 50_000), row("a", [0, 0]), row("日" * 60, [1, 0]), row("a", None)):
        with pytest.raises(InvalidInputError):
            await store.upsert([bad])
    assert server.indexes == {}


@pytest.mark.parametrize("size", [10, 900, 30_000])
def test_requests_hold_as_many_records_as_fit(size: int):
    record: dict[str, Any] = {
        "id": "r" * 32,
        "values": [0.123456789] * 64,
        "metadata": {"flowkit:text": "漢" * (size // 3)},
    }
    made = list(batches([record] * 2_500))

    assert sum(map(len, made)) == 2_500
    for batch in made:
        sent = len(orjson.dumps({"vectors": batch, "namespace": "n" * 512}))
        assert len(batch) <= MOST_RECORDS
        assert sent <= LARGEST_REQUEST
        assert len(batch) == MOST_RECORDS or batch is made[-1] or sent > LARGEST_REQUEST - 40_000


async def test_big_rows_are_written_searched_and_fetched_in_parts(server: PineconeServer, make: Make):
    store = make()
    await store.open(create=True, dimension=2)
    rows = [row(f"r{at:03d}", [1, at], text="x" * 39_000) for at in range(120)]
    await store.upsert(rows)

    assert server.count("/vectors/upsert") >= 4
    hits = await store.search(SearchQuery(vector=[1, 0], k=110))
    assert ids_of(hits) == [f"r{at:03d}" for at in range(110)]
    assert len((await store.fetch(limit=1_000)).items) == 120


async def test_a_filter_that_pinecone_lacks_is_evaluated_over_all_rows(make: Make, monkeypatch: pytest.MonkeyPatch):
    """More rows than one search gives (10,000 in truth): the one that matches is the farthest of all."""
    monkeypatch.setattr("flowkit_pinecone.search._MOST", 300)
    store = make()
    await store.open(create=True, dimension=2)
    many = [row(f"r{at:05d}", [1, at / 500], name="plain") for at in range(500)]
    await store.upsert([*many, row("far", [-1, 0], name="a needle")])

    assert ids_of(await store.search(SearchQuery(vector=[1, 0], k=1, where=F("name").contains("needle")))) == ["far"]


@pytest.mark.parametrize(
    "value", [None, {"deep": [{"x": None}]}, [1, "a"], [], -0.0, 2**53 + 1, -(2**63), 1e300, 3.0, 3]
)
async def test_what_pinecone_refuses_or_changes_comes_back(make: Make, value: Any):
    store = make()
    await store.open(create=True, dimension=2)
    document = Document.from_text("soup", {"v": value, "$where": 1, "flowkit:text": "mine"}, id="a")
    await store.upsert([EmbeddedDocument(document, [1, 0])])

    (hit,) = await store.search(SearchQuery(vector=[1, 0]))
    assert repr(dict(sorted(hit.metadata.items()))) == repr(dict(sorted(document.metadata.items())))
