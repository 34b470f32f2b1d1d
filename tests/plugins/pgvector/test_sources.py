"""Tables that were there before: searched in place by vector, with every filter, and never changed."""

from collections.abc import Callable
from typing import Any

import pytest

from flowkit import F
from flowkit.errors import (
    BackendError,
    FilterTypeError,
    IdentityError,
    InvalidInputError,
    NotFoundError,
    UnsupportedError,
)
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit.rag import copy_index
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.rag.stores.rules import row_key
from flowkit.testing.store_contract.base import numbers
from flowkit_pgvector import PgVector, Query, Table
from tests.plugins.pgvector.data import BY_INDEX, ask, scans, with_options

pytestmark = [pytest.mark.heavy, pytest.mark.requires("pg", "the store is tested against a real Postgres")]

Maker = Callable[..., PgVector]
DISHES = [
    (1, "Tomato soup", "Munich", 5.5, True, "[1,0]"),
    (2, "Beef stew", "Munich", 12, False, "[0,1]"),
    (3, "Pumpkin soup", "Kyoto", None, True, "[2,2]"),
    (4, "O'Neil's 50% cake", "Kyoto", 4.25, None, "[-1,0]"),
    (5, "no vector yet", "Kyoto", 1, True, None),
    (6, "zero", "Kyoto", 1, True, "[0,0]"),
]


@pytest.fixture
async def dishes(dsn: str, index: str) -> str:
    """A table as an application may have it, with a vector index; the name is a hostile one."""
    name = f"dishes 50% {index}"
    await ask(dsn, "CREATE EXTENSION IF NOT EXISTS vector")
    await ask(
        dsn,
        f'CREATE TABLE "{name}" ("dish id" integer PRIMARY KEY, description varchar(200), city text, '
        "price numeric, vegan boolean, vector_of_it vector(2))",
    )
    for dish in DISHES:
        await ask(dsn, f'INSERT INTO "{name}" VALUES (%s, %s, %s, %s, %s, %s)'.replace("50%", "50%%"), dish)
    await ask(dsn, f'CREATE INDEX "idx_{index}" ON "{name}" USING hnsw (vector_of_it vector_cosine_ops)')
    return name


def table(name: str, **options: Any) -> Table:
    columns = {"id": "dish id", "text": "description", "vector": "vector_of_it", "metadata": ["price", "vegan", "city"]}
    return Table(name, **{**columns, **options})


async def test_a_table_is_searched_with_its_columns_as_metadata(make_store: Maker, dishes: str):
    store = make_store(source=table(dishes))
    await store.open(create=False, dimension=2)

    hits = await store.search(SearchQuery(vector=[1, 0], k=10))

    assert [(hit.id, hit.score) for hit in hits] == [
        ("1", 1), ("3", pytest.approx(0.8535534, abs=1e-6)), ("2", 0.5), ("6", 0.5), ("4", 0)]  # fmt: skip
    assert dict(hits[0].metadata) == {"price": 5.5, "vegan": True, "city": "Munich"}
    assert dict(hits[1].metadata) == {"vegan": True, "city": "Kyoto"}, "a null is a missing key"
    assert hits[4].text == "O'Neil's 50% cake"


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        (F("price") < 6, "146"),
        (F("price") != 12, "1346"),
        (F("vegan") == True, "136"),  # noqa: E712
        (~(F("vegan") == True), "24"),  # noqa: E712
        ((F("city") == "Kyoto") & (F("price") >= 4), "4"),
        (F("city").in_(["Munich"]), "12"),
        (F("source") != "x", "12346"),
    ],
    ids=str,
)
async def test_filters_hold_for_a_table_as_for_an_index(make_store: Maker, dishes: str, where: Any, ids: str):
    store = make_store(source=table(dishes))
    await store.open(create=False)

    hits = await store.search(SearchQuery(vector=[1, 0], k=10, where=where))
    assert sorted(hit.id or "" for hit in hits) == list(ids)
    assert [item.id for item in (await store.fetch(where=where)).items] == list(ids)


async def test_types_are_checked_as_the_columns_are(make_store: Maker, dishes: str):
    store = make_store(source=table(dishes))
    await store.open(create=False)

    with pytest.raises(FilterTypeError, match="price"):
        await store.search(SearchQuery(vector=[1, 0], where=F("price") == "5.5"))


async def test_a_select_of_ones_own_takes_parameters(make_store: Maker, dsn: str, dishes: str, index: str):
    select = f"""SELECT "dish id"::text AS id, description AS text, vector_of_it AS embedding,
      jsonb_build_object('price', price) AS metadata FROM "{dishes.replace("%", "%%")}" WHERE city = %(city)s;"""
    store = make_store(source=Query(select, {"city": "Kyoto' OR '1'='1"}))
    await store.open(create=False)
    assert await store.search(SearchQuery(vector=[1, 0])) == []

    store = make_store(source=Query(select, {"city": "Kyoto"}), dsn=with_options(dsn, BY_INDEX))
    await store.open(create=False)
    assert [hit.id for hit in await store.search(SearchQuery(vector=[1, 0], k=9))] == ["3", "6", "4"]
    assert [hit.id for hit in await store.search(SearchQuery(vector=[1, 0], where=F("price") > 2))] == ["4"]
    await store.aclose()
    assert await scans(dsn, f"idx_{index}") >= 1, "the table's own vector index was used"


async def test_rows_are_read_by_id_and_page_and_have_keys(make_store: Maker, dishes: str):
    store = make_store(source=table(dishes))
    await store.open(create=False)

    page = await store.fetch(limit=3, with_vectors=True)
    assert [item.id for item in page.items] == ["1", "2", "3"]
    assert numbers(page.items[2].vector) == [2, 2]
    assert [item.id for item in (await store.fetch(limit=3, cursor=page.cursor)).items] == ["4", "6"]
    assert [item.id for item in (await store.fetch(ids=["4", "x", "1"])).items] == ["4", "1"]
    keys = [key async for key in store.manifest()]
    assert keys == [row_key(item.document) for item in (await store.fetch()).items]
    stats = await store.stats()
    assert (stats.count, stats.dimension, stats.key_types["price"]) == (5, 2, {"number"})


async def test_a_table_is_copied_into_an_index(make_store: Maker, dishes: str):
    source, target = make_store(source=table(dishes)), InMemoryStore("menu")

    report = await copy_index(source, target)

    assert (report.copied, report.count, report.dimension) == (5, 5, 2)
    copied, there = await target.fetch(with_vectors=True), await source.fetch(with_vectors=True)
    assert [item.document for item in copied.items] == [item.document for item in there.items]
    assert [numbers(item.vector) for item in copied.items] == [numbers(item.vector) for item in there.items]


async def test_a_source_is_never_changed(make_store: Maker, dishes: str):
    from flowkit import Document

    store = make_store(source=table(dishes))
    await store.open(create=True, dimension=2)
    for call in (
        store.upsert([EmbeddedDocument(Document.from_text("x", id="x"), [1, 0])]),
        store.delete(ids=["1"]),
        store.clear(),
        store.build_index(),
    ):
        with pytest.raises(UnsupportedError, match="never changes it"):
            await call
    for text in (SearchQuery(text="soup"), SearchQuery(text="soup", vector=[1, 0])):
        with pytest.raises(UnsupportedError, match="by words"):
            await store.search(text)


async def test_half_precision_columns_and_json_metadata_are_taken(make_store: Maker, dsn: str, index: str):
    await ask(dsn, "CREATE EXTENSION IF NOT EXISTS vector")
    await ask(dsn, f"CREATE TABLE half_{index} (id text, text text, metadata jsonb, embedding halfvec(2))")
    rows = [("a", '{"n": 1, "gone": null}', "[1,0]"), ("b", None, "[0,1]"), ("c", "[1]", "[1,1]")]
    for each in rows:
        await ask(dsn, f"INSERT INTO half_{index} VALUES (%s, 'text', %s, %s)", each)
    store = make_store(source=Table(f"half_{index}", metadata="metadata"))
    await store.open(create=False)

    hits = await store.search(SearchQuery(vector=[1, 0]))

    assert [(hit.id, dict(hit.metadata)) for hit in hits] == [("a", {"n": 1}), ("c", {}), ("b", {})]


async def test_what_cannot_be_used_is_said_when_it_is_opened(make_store: Maker, dsn: str, index: str, dishes: str):
    with pytest.raises(NotFoundError, match="nowhere"):
        await make_store(source=Table("nowhere")).open(create=True)
    with pytest.raises(BackendError, match="vektor"):
        await make_store(source=table(dishes, vector="vektor")).open(create=True)
    with pytest.raises(InvalidInputError, match=r"'embedding'.*type text"):
        await make_store(source=table(dishes, vector="city")).open(create=True)
    with pytest.raises(InvalidInputError, match="no column 'text'"):
        await make_store(source=Query("SELECT '1'::text AS id")).open(create=True)
    with pytest.raises(IdentityError, match="2 dimensions, not 384"):
        await make_store(source=table(dishes)).open(create=True, dimension=384)
    with pytest.raises(InvalidInputError, match="no SELECT"):
        Query("DELETE FROM dishes")
    with pytest.raises(InvalidInputError, match="flowkit_k"):
        Query("SELECT 1", {"flowkit_k": 1})
