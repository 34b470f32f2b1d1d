"""Search by words and by both, in an index that is made with `hybrid=True`."""

from pathlib import Path

import pytest

from flowkit import Document, F, Flowkit
from flowkit.config import Settings
from flowkit.errors import ConfigError, IdentityError, InvalidInputError, StoreError, UnsupportedError
from flowkit.rag import copy_index
from flowkit.rag.stores.contract import SearchQuery
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.testing import FakeEmbedder
from flowkit.testing.store_contract.base import ids_of, numbers, row
from flowkit_pinecone import Pinecone
from flowkit_pinecone.words import MOST_TERMS, document_words, query_words
from tests.plugins.pinecone.conftest import Make
from tests.servers.pinecone import PineconeServer
from tests.servers.pinecone_data import Index

pytestmark = pytest.mark.heavy
ROWS = [
    row("soup", [3, 4], text="Tomato soup with basil", n=1, name="starter"),
    row("cake", [0, 2], text="Chocolate cake with berries", n=2, name="dessert"),
    row("pie", [1, 0], text="Tomato pie", n=3, name="main dish"),
]


async def opened(store: Pinecone) -> Pinecone:
    await store.open(create=True, dimension=2)
    return store


async def found(store: Pinecone, text: str, **more: object) -> list[str]:
    return ids_of(await store.search(SearchQuery(text=text, **more)))  # type: ignore[arg-type]


def value_of(text: str, term: str) -> float:
    words, asked = document_words(text), query_words(term)
    assert words is not None
    assert asked is not None
    return dict(zip(words["indices"], words["values"], strict=True)).get(asked["indices"][0], 0.0)


async def test_vectors_of_any_length_keep_their_cosines_and_come_back(server: PineconeServer, make: Make):
    store = await opened(make(hybrid=True))
    await store.upsert(ROWS)

    assert server.indexes["menu"].metric == "dotproduct"
    hits = await store.search(SearchQuery(vector=[6, 8]))
    assert {hit.id: hit.score for hit in hits} == pytest.approx({"soup": 1, "cake": 0.9, "pie": 0.8}, abs=1e-6)
    (item,) = (await store.fetch(ids=["soup"], with_vectors=True)).items
    assert numbers(item.vector) == [3, 4]


async def test_words_alone_find_what_has_them_and_nothing_else(make: Make):
    store = await opened(make(hybrid=True))
    await store.upsert(ROWS)

    hits = await store.search(SearchQuery(text="Where are the tomatoes?", k=10))

    assert ids_of(hits) == ["pie", "soup"]  # the shorter text first
    bm25 = value_of("Tomato pie", "tomato")
    assert hits[0].score == pytest.approx(bm25 / (bm25 + 1), abs=1e-6)
    assert await found(store, "elephant") == []
    assert await found(store, "?!") == []
    assert await found(store, "tomato", where=F("n") > 1) == ["pie"]
    assert await found(store, "tomato", where=F("name").contains("start")) == ["soup"]


async def test_more_hits_than_pinecone_gives_are_compared_here(make: Make, monkeypatch: pytest.MonkeyPatch):
    store = await opened(make(hybrid=True))
    await store.upsert(ROWS)
    query = SearchQuery(text="tomato basil", k=20)
    right = [(hit.id, hit.score) for hit in await store.search(query)]

    monkeypatch.setattr("flowkit_pinecone.search._MOST", 20)

    assert [hit[0] for hit in right] == ["soup", "pie"]
    assert [(hit.id, hit.score) for hit in await store.search(query)] == right


async def test_a_hybrid_search_asks_twice_and_is_the_same_as_in_memory(server: PineconeServer, make: Make):
    """Ranks are compared, and those of words do not hang on document frequencies here."""
    store = await opened(make(hybrid=True))
    memory = InMemoryStore("menu")
    await memory.open(create=True, dimension=2)
    for each in (store, memory):
        await each.upsert(ROWS)
    await store.search(SearchQuery(vector=[1, 0]))  # waits for the writes
    before = server.count("/query")

    for vector, text, where in (
        ([1, 0], "basil", None),
        ([1, 2], "tomato", F("n") < 3),
        ([0, 1], "cake", F("name").contains("s")),
        ([0, 1], "elephant", None),
    ):
        query = SearchQuery(vector=vector, text=text, where=where)
        right = [(hit.id, hit.score) for hit in await memory.search(query)]
        assert [(hit.id, hit.score) for hit in await store.search(query)] == right

    assert server.count("/query") - before == 8


async def test_a_text_that_is_written_again_is_found_by_its_new_words(make: Make):
    store = await opened(make(hybrid=True))
    await store.upsert(ROWS)
    await store.upsert([row("soup", None, text="Lentil stew")])

    assert await found(store, "basil") == []
    assert await found(store, "stews") == ["soup"]
    (item,) = (await store.fetch(ids=["soup"], with_vectors=True)).items
    assert numbers(item.vector) == [3, 4]


async def test_of_too_many_terms_the_heaviest_are_kept(server: PineconeServer, make: Make):
    store = await opened(make(hybrid=True))
    rare = " ".join(f"w{at}" for at in range(2_000))
    await store.upsert([row("long", [1, 0], text=f"{rare} needle needle")])

    (record,) = server.indexes["menu"].namespaces["__default__"].records().values()
    assert len(record.sparse) == MOST_TERMS == 1_000
    assert await found(store, "needle") == ["long"]
    assert await found(store, "w1999") == []
    assert await found(store, f"{rare} needle") == ["long"]  # as long a question is cut too


def test_a_term_weighs_more_the_more_often_it_is_there_and_less_in_a_longer_text():
    once, twice = value_of("soup", "soup"), value_of("soup soup", "soup")
    assert 1 < once < twice < 2.2
    assert value_of("soup " + "and so on " * 100, "soup") < once
    assert value_of("Suppe", "soup") == 0
    assert document_words(" \n?") is None
    assert query_words("soup soup") == query_words("Soups?")


def test_what_stands_in_indexes_stays_the_same_in_all_processes():
    assert document_words("Tomato soup") == {"indices": [739524634, 419995900], "values": [1.680672, 1.680672]}


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
async def test_an_index_of_another_metric_is_refused_with_a_way_out(make: Make, metric: str):
    await opened(make(metric=metric))

    with pytest.raises(IdentityError, match=f"metric '{metric}'.*needs 'dotproduct'") as caught:
        await make(hybrid=True).open(create=True)
    assert "copy the index into a new one" in str(caught.value.hint)


async def test_an_index_whose_rows_have_no_words_is_refused(make: Make):
    await opened(make(metric="dotproduct"))

    with pytest.raises(IdentityError, match="without hybrid=True") as caught:
        await make(hybrid=True).open(create=True)
    assert "copy" in str(caught.value.hint)


@pytest.mark.parametrize("metric", ["cosine", "dotproduct"])
async def test_a_hybrid_index_is_not_written_without_words(make: Make, metric: str):
    await opened(make(hybrid=True))

    with pytest.raises(IdentityError) as caught:
        await make(metric=metric).open(create=True)
    assert "hybrid=True" in str(caught.value.hint)


async def test_words_by_the_rules_of_another_version_are_not_mixed(server: PineconeServer, make: Make):
    await (await opened(make(hybrid=True))).upsert(ROWS)
    older = {"flowkit:format": 1, "flowkit:name": "menu", "flowkit:words": "0.1"}
    server.indexes["menu"].upsert("flowkit-catalog", [{"id": "identity", "values": [1, 0], "metadata": older}])
    store = make(hybrid=True)
    await store.open(create=False)

    assert ids_of(await store.search(SearchQuery(vector=[3, 4], k=1))) == ["soup"]
    with pytest.raises(StoreError, match=r"by rules 0\.1") as caught:
        await store.search(SearchQuery(text="soup"))
    assert "copy the index" in str(caught.value.hint)
    with pytest.raises(StoreError, match=r"by rules 0\.1"):
        await store.upsert(ROWS)


async def test_an_empty_index_made_by_hand_can_become_a_hybrid_one(server: PineconeServer, make: Make):
    spec = {"serverless": {"cloud": "aws", "region": "us-east-1"}}
    server.indexes["menu"] = Index("menu", 2, "dotproduct", spec, 0.0)
    server.know("menu")
    store = await opened(make(hybrid=True, wait_seconds=0))
    await store.upsert(ROWS)
    assert await found(store, "basil") == ["soup"]


def test_abilities_say_what_the_index_was_asked_to_be():
    assert Pinecone("menu").abilities.modes == ("vector",)
    assert Pinecone("menu", hybrid=True).abilities.modes == ("vector", "keyword", "hybrid")
    with pytest.raises(InvalidInputError, match="'euclidean' has no hybrid search"):
        Pinecone("menu", hybrid=True, metric="euclidean")
    with pytest.raises(ConfigError, match="no hybrid search") as caught:
        Pinecone("menu", mode="hybrid")
    assert "hybrid=True" in str(caught.value.hint)


async def test_without_hybrid_the_error_names_the_option(make: Make):
    with pytest.raises(UnsupportedError, match="no keyword search") as caught:
        await found(await opened(make()), "soup")
    assert "hybrid=True" in str(caught.value.hint)


async def test_an_index_moves_into_a_hybrid_one_with_its_vectors(make: Make):
    plain, hybrid = make("plain"), make("hybrid", hybrid=True)
    await opened(plain)
    await plain.upsert(ROWS)

    report = await copy_index(plain, hybrid)

    assert (report.copied, report.count) == (3, 3)
    assert await found(hybrid, "berry") == ["cake"]
    (item,) = (await hybrid.fetch(ids=["soup"], with_vectors=True)).items
    assert numbers(item.vector) == [3, 4]
    assert (await copy_index(hybrid, InMemoryStore("menu"))).count == 3


async def test_an_app_ingests_and_retrieves_by_both(make: Make, tmp_path: Path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "soup.md").write_text("# Soup\nTomato soup with basil costs five euros.")
    (docs / "cake.md").write_text("# Cake\nA chocolate cake with berries costs seven.")
    store = make(embedder="fake-embedder", hybrid=True, mode="hybrid")
    settings = Settings(root=tmp_path, embedding_cache=False)
    async with Flowkit(plugins=[store, FakeEmbedder(dimension=32)], settings=settings) as ai:
        assert (await ai.ingest("menu", docs)).written == 2
        assert (await ai.ingest("menu", docs)).unchanged == 2
        best, *_ = await ai.retrieve("menu", "berries")
        assert "chocolate cake" in best.text
        assert best.score == 1
        hits = await ai.retrieve("menu", "basil", options={"mode": "keyword"})
        assert ["Tomato soup" in hit.text for hit in hits] == [True]
        documents = [Document.from_text("lentil stew", {"price": 5}), Document.from_text("lentil pie", {"price": 7})]
        assert (await ai.index("menu", documents)).written == 2
        assert [hit.text for hit in await ai.retrieve("menu", "lentils", where=F("price") > 6)] == ["lentil pie"]
