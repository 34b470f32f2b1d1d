"""Making, finding and refusing indexes; namespaces; metrics; the plugin in an app."""

import asyncio
import math

import pytest

from flowkit import Document, F, Flowkit
from flowkit.errors import IdentityError, InvalidInputError, NotFoundError, StoreError, UnsupportedError
from flowkit.rag.stores.contract import SearchQuery
from flowkit.testing import FakeEmbedder
from flowkit.testing.store_contract.base import ids_of, numbers, row
from tests.plugins.pinecone.conftest import Make
from tests.servers.pinecone import PineconeServer
from tests.servers.pinecone_data import Index

pytestmark = pytest.mark.heavy
SPEC = {"serverless": {"cloud": "aws", "region": "us-east-1"}}


async def test_an_index_is_made_where_it_was_asked_for(server: PineconeServer, make: Make):
    store = make("Le Menu", cloud="gcp", region="europe-west4", metric="dotproduct")
    await store.open(create=True, dimension=3)

    (index,) = server.indexes.values()
    assert (index.dimension, index.metric) == (3, "dotproduct")
    assert index.spec == {"serverless": {"cloud": "gcp", "region": "europe-west4"}}
    assert index.name == "fk-n--4ce-20-4denu"


async def test_an_index_that_is_not_ready_yet_is_waited_for(server: PineconeServer, make: Make):
    server.ready_after = 3
    store = make()
    await store.open(create=True, dimension=2)
    await store.upsert([row("a", [1, 0])])

    assert server.count("/indexes/menu") >= 4


async def test_many_who_make_an_index_at_once_make_one(server: PineconeServer, make: Make):
    stores = [make() for _ in range(4)]
    await asyncio.gather(*(store.open(create=True, dimension=2, embedder="local/one") for store in stores))
    await asyncio.gather(*(store.upsert([row(str(at), [1, at])]) for at, store in enumerate(stores)))

    assert len(server.indexes) == 1
    assert ids_of((await stores[0].fetch()).items) == ["0", "1", "2", "3"]


async def test_first_writers_of_an_index_of_unknown_dimension_make_it_once(server: PineconeServer, make: Make):
    store = make()
    await store.open(create=True, embedder="local/one")
    assert (await store.fetch()).items == ()
    assert await store.search(SearchQuery(vector=[1, 2, 3])) == []
    await asyncio.gather(*(store.upsert([row(str(at), [1, at])]) for at in range(3)))

    stats = await store.stats()
    assert (stats.count, stats.dimension, stats.embedder) == (3, 2, "local/one")


async def test_an_index_of_somebody_else_is_left_alone(server: PineconeServer, make: Make):
    server.indexes["menu"] = Index("menu", 2, "cosine", SPEC, 0.0)
    server.know("menu")
    server.indexes["menu"].upsert("__default__", [{"id": "x", "values": [1, 0]}])
    before = len(server.requests)

    with pytest.raises(StoreError, match="not made by flowkit") as caught:
        await make().open(create=True, dimension=2)

    assert caught.value.hint
    assert not [path for _, path, _ in server.requests[before:] if path == "/vectors/upsert"]


async def test_an_empty_index_that_was_made_by_hand_is_taken(server: PineconeServer, make: Make):
    server.indexes["menu"] = Index("menu", 2, "cosine", SPEC, 0.0)
    server.know("menu")
    with pytest.raises(NotFoundError):
        await make(wait_seconds=0).open(create=False)

    store = make(wait_seconds=0)
    await store.open(create=True, dimension=2)
    await store.upsert([row("a", [1, 0])])
    await make().open(create=False)


async def test_a_newer_format_is_refused(server: PineconeServer, make: Make):
    await make().open(create=True, dimension=2)
    newer = {"flowkit:format": 2, "flowkit:name": "menu"}
    server.indexes["menu"].upsert("flowkit-catalog", [{"id": "identity", "values": [1, 0], "metadata": newer}])

    with pytest.raises(StoreError, match="format 2, this version reads up to 1") as caught:
        await make().open(create=False)
    assert "upgrade" in str(caught.value.hint)


async def test_another_metric_is_refused_naming_both(make: Make):
    await make().open(create=True, dimension=2)
    with pytest.raises(IdentityError, match=r"'cosine', not 'euclidean'"):
        await make(metric="euclidean").open(create=False)


async def test_an_index_that_is_deleted_meanwhile_is_named(server: PineconeServer, make: Make):
    store = make()
    await store.open(create=True, dimension=2)
    server.indexes.clear()

    with pytest.raises(NotFoundError, match="index 'menu'"):
        await store.stats()
    with pytest.raises(NotFoundError, match="write to index 'menu'"):
        await store.upsert([row("a", [1, 0])])
    with pytest.raises(NotFoundError, match="search index 'menu'"):
        await store.search(SearchQuery(vector=[1, 0]))


async def test_namespaces_have_rows_and_types_of_their_own(make: Make):
    one, other = make(namespace="one"), make(namespace="二")
    for store in (one, other):
        await store.open(create=True, dimension=2)
    await one.upsert([row("a", [1, 0], n=1)])
    await other.upsert([row("a", [0, 1], n="1"), row("b", [0, 1])])

    assert ((await one.stats()).count, (await other.stats()).count) == (1, 2)
    assert (await one.stats()).key_types == {"n": {"number"}}
    assert (one.namespace, other.namespace) == ("one", "二")
    assert await one.namespaces() == await other.namespaces() == {"one": 1, "二": 2}
    assert ids_of(await other.search(SearchQuery(vector=[1, 0], where=F("n") == "1"))) == ["a"]
    await other.clear()
    assert ids_of((await one.fetch()).items) == ["a"]
    assert (await other.fetch()).items == ()


async def test_euclidean_scores_are_one_over_one_plus_the_distance(make: Make):
    store = make(metric="euclidean")
    await store.open(create=True, dimension=2)
    await store.upsert([row("a", [3, 4], s="x"), row("b", [0, 1], s="y"), row("c", [6, 8])])

    hits = await store.search(SearchQuery(vector=[3, 4]))
    assert ids_of(hits) == ["a", "b", "c"]
    assert [hit.score for hit in hits] == pytest.approx([1, 1 / (1 + math.sqrt(18)), 1 / 6], abs=1e-6)
    narrowed = await store.search(SearchQuery(vector=[3, 4], where=F("s") > "x"))
    assert [(hit.id, hit.score) for hit in narrowed] == [("b", hits[1].score)]
    (item,) = (await store.fetch(ids=["c"], with_vectors=True)).items
    assert numbers(item.vector) == [6, 8]


async def test_dotproduct_takes_vectors_of_length_one(make: Make):
    store = make(metric="dotproduct")
    await store.open(create=True, dimension=2)
    await store.upsert([row("a", [0.6, 0.8]), row("b", [1, 0])])
    assert [hit.score for hit in await store.search(SearchQuery(vector=[3, 4]))] == pytest.approx([1, 0.8], abs=1e-6)

    with pytest.raises(InvalidInputError, match="length 5"):
        await store.upsert([row("c", [3, 4])])


async def test_searching_by_words_is_refused_with_a_way_out(make: Make):
    store = make()
    await store.open(create=True, dimension=2)
    with pytest.raises(UnsupportedError, match="no hybrid search") as caught:
        await store.search(SearchQuery(vector=[1, 0], text="soup"))
    assert "fuse" in str(caught.value.hint)
    assert store.abilities.modes == ("vector",)


async def test_an_app_indexes_and_retrieves(make: Make):
    async with Flowkit(plugins=[make(embedder="fake-embedder"), FakeEmbedder(dimension=32)]) as ai:
        documents = [Document.from_text("tomato soup", {"price": 5}), Document.from_text("apple cake", {"price": 7})]
        report = await ai.index("menu", documents)
        assert (report.written, (await ai.index("menu", documents)).unchanged) == (2, 2)
        hits = await ai.retrieve("menu", "tomato soup", k=1)
        assert [hit.text for hit in hits] == ["tomato soup"]
        assert [hit.text for hit in await ai.retrieve("menu", "soup", where=F("price") > 6)] == ["apple cake"]
