"""Namespaces: the rows of one are not there for another, whatever is asked or deleted."""

import asyncio
from collections.abc import Callable

import pytest

from flowkit import Document, F
from flowkit.errors import FilterTypeError, NotFoundError, StateError
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit_pgvector import PgVector
from tests.plugins.pgvector.data import BY_INDEX, clustered, with_options

pytestmark = [pytest.mark.heavy, pytest.mark.requires("pg", "the store is tested against a real Postgres")]

Maker = Callable[..., PgVector]


def row(id: str, text: str, **metadata: object) -> EmbeddedDocument:
    return EmbeddedDocument(Document.from_text(text, metadata, id=id), [1, 0])


async def test_the_same_id_in_two_namespaces_is_two_rows(make_store: Maker):
    one, two, none = make_store(namespace="one"), make_store(namespace="two"), make_store()
    for store, text in ((one, "soup of one"), (two, "soup of two"), (none, "soup of nobody")):
        await store.open(create=True, dimension=2)
        await store.upsert([row("a", text, source="menu.pdf")])

    for store, text in ((one, "soup of one"), (two, "soup of two"), (none, "soup of nobody")):
        for query in (
            SearchQuery(vector=[1, 0]),
            SearchQuery(text="soup"),
            SearchQuery(vector=[1, 0], text="soup", where=F("source") == "menu.pdf"),
        ):
            assert [hit.text for hit in await store.search(query)] == [text]
        assert [item.document.text for item in (await store.fetch()).items] == [text]
        assert [item.document.text for item in (await store.fetch(ids=["a"])).items] == [text]
        assert len([key async for key in store.manifest("menu.pdf")]) == 1
        assert (await store.stats()).count == 1

    assert [store.namespace for store in (one, two, none)] == ["one", "two", ""]
    assert await one.namespaces() == {"": 1, "one": 1, "two": 1}
    assert await one.delete(where=F("source") == "menu.pdf") == 1
    assert await two.namespaces() == {"": 1, "one": 0, "two": 1}
    await none.clear()
    assert (await one.fetch()).items == (await none.fetch()).items == ()
    assert [item.document.text for item in (await two.fetch()).items] == ["soup of two"]


async def test_word_weights_and_key_types_are_the_namespaces_own(make_store: Maker):
    one, two = make_store(namespace="one"), make_store(namespace="two")
    for store in (one, two):
        await store.open(create=True, dimension=2)
    await one.upsert([row(f"r{at}", "soup and bread", n=at) for at in range(5)] + [row("x", "cake")])
    alone = (await one.search(SearchQuery(text="cake")))[0].score
    await two.upsert([row(f"r{at}", "cake, cake and more of it", n="five") for at in range(50)])

    assert (await one.search(SearchQuery(text="cake")))[0].score == alone
    assert dict((await one.stats()).key_types) == {"n": {"number"}}
    with pytest.raises(FilterTypeError):
        await one.fetch(where=F("n") == "five")


async def test_a_small_namespace_in_a_big_index_is_found_whole(make_store: Maker, dsn: str):
    big = make_store(namespace="big", dsn=with_options(dsn, BY_INDEX), exact_below=0)
    small = make_store(namespace="small", dsn=with_options(dsn, BY_INDEX), exact_below=0)
    for store in (big, small):
        await store.open(create=True, dimension=8)
    rows = clustered(1_000, 8)
    await big.upsert(rows)
    await small.upsert(rows[:7])

    assert len(await small.search(SearchQuery(vector=rows[500].vector, k=7))) == 7
    assert len(await big.search(SearchQuery(vector=rows[500].vector, k=7))) == 7


async def test_tenants_share_the_connections_of_the_store_they_came_from(make_store: Maker):
    menu = make_store(pool_size=2)
    await menu.open(create=True, dimension=2)

    async def serve(tenant: str) -> list[str]:
        store = menu.within(tenant)
        await store.open(create=False)
        await store.upsert([row("a", f"soup of {tenant}")])
        return [hit.text for hit in await store.search(SearchQuery(text="soup"))]

    assert await asyncio.gather(*(serve(f"t{at}") for at in range(6))) == [[f"soup of t{at}"] for at in range(6)]
    assert menu.within("t1").index == f"{menu.index}@t1"
    with pytest.raises(StateError):
        await menu.within("t1").fetch()


async def test_a_namespace_of_an_index_that_is_not_there_is_not_there(make_store: Maker):
    with pytest.raises(NotFoundError):
        await make_store(namespace="one").open(create=False)
