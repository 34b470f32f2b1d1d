"""Opening: made once by however many, compared with what is expected, brought to the present version."""

import asyncio
import sys
from collections.abc import Callable

import pytest

from flowkit import Document, F
from flowkit.errors import ConfigError, IdentityError, InvalidInputError, NotFoundError, StoreError
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit_pgvector import PgVector, opening
from tests.plugins.pgvector.data import ask

pytestmark = [pytest.mark.heavy, pytest.mark.requires("pg", "the store is tested against a real Postgres")]

Maker = Callable[..., PgVector]
OPENER = """
import asyncio, sys
from flowkit import Document
from flowkit.plugin import EmbeddedDocument
from flowkit_pgvector import PgVector

async def main(dsn, schema, who):
    sys.stdin.readline()
    store = PgVector("menu", dsn=dsn, schema=schema, columns={"price": float})
    await store.open(create=True, dimension=2, embedder="local/x")
    await store.upsert([EmbeddedDocument(Document.from_text("soup", {"price": 1}, id=who), [1, 0])])
    await store.aclose()

asyncio.run(main(*sys.argv[1:]))
"""


def row(id: str, text: str = "tomato soup", **metadata: object) -> EmbeddedDocument:
    return EmbeddedDocument(Document.from_text(text, metadata, id=id), [1, 0])


async def test_processes_that_make_the_same_index_at_once_all_succeed(make_store: Maker, dsn: str, index: str):
    """Schema, tables and index: nothing of it is there yet."""
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", OPENER, dsn, index, f"p{at}", stdin=-1, stdout=-1, stderr=-1
        )
        for at in range(3)
    ]
    ends = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))

    assert [process.returncode for process in processes] == [0, 0, 0], ends
    store = make_store("menu", schema=index)
    await store.open(create=False)
    assert [item.id for item in (await store.fetch()).items] == ["p0", "p1", "p2"]


async def test_an_index_of_another_distance_or_language_is_refused_naming_both(make_store: Maker):
    await make_store(distance="l2", language="german").open(create=True, dimension=2)

    for options, words in (
        ({"language": "german"}, ("'l2'", "'cosine'")),
        ({"distance": "l2"}, ("'german'", "'english'")),
    ):
        for create in (True, False):
            with pytest.raises(IdentityError) as caught:
                await make_store(**options).open(create=create)
            assert all(word in str(caught.value) for word in words)


async def test_a_mistyped_name_is_told_the_near_one(make_store: Maker, index: str):
    await make_store("dinner", schema=index).open(create=True)

    with pytest.raises(NotFoundError, match="did you mean 'dinner'"):
        await make_store("diner", schema=index).open(create=False)


async def test_columns_can_be_added_to_an_index_with_rows(make_store: Maker, dsn: str, index: str):
    store = make_store(schema=index)
    await store.open(create=True, dimension=2)
    await store.upsert([row("a", price=9.5), row("b", price="on request"), row("c", price=12)])

    wider = make_store(schema=index, columns={"price": float, "vegan": bool})
    await wider.open(create=False)
    assert await ask(dsn, "SELECT column_name FROM information_schema.columns WHERE column_name = 'meta_price' "
                          "AND table_schema = %s", (index,)) == []  # fmt: skip
    wider = make_store(schema=index, columns={"price": float, "vegan": bool})
    await wider.open(create=True)

    assert await ask(dsn, f'SELECT id, meta_price::float FROM "{index}"."index_{index}" ORDER BY id') == [
        ("a", 9.5), ("b", None), ("c", 12.0)]  # fmt: skip
    for each in (store, wider):
        found = await each.fetch(where=(F("price") < 10) | (F("price") == "on request"))
        assert [item.id for item in found.items] == ["a", "b"]
    with pytest.raises(IdentityError, match="price"):
        await make_store(schema=index, columns={"price": str}).open(create=True)


async def test_a_newer_format_is_refused_and_left_alone(make_store: Maker, dsn: str, index: str):
    await make_store(schema=index).open(create=True, dimension=2)
    await ask(dsn, f'UPDATE "{index}".format SET version = 99')

    for create in (True, False):
        with pytest.raises(StoreError, match="99") as caught:
            await make_store(schema=index).open(create=create)
        assert "update flowkit-pgvector" in (caught.value.hint or "")


async def test_an_older_format_is_brought_up_once_by_whoever_opens_it(
    make_store: Maker, dsn: str, index: str, monkeypatch: pytest.MonkeyPatch
):
    store = make_store(schema=index)
    await store.open(create=True, dimension=2)
    await store.upsert([row("a")])
    monkeypatch.setattr(opening, "FORMAT", 2)
    monkeypatch.setattr("flowkit_pgvector.registry.FORMAT", 2)
    monkeypatch.setitem(opening.UPGRADES, 1, ["ALTER TABLE {schema}.indexes ADD COLUMN note text DEFAULT 'new'"])

    others = [make_store(schema=index) for _ in range(4)]
    await asyncio.gather(*(other.open(create=False) for other in others))

    assert await ask(dsn, f'SELECT version, note FROM "{index}".format, "{index}".indexes') == [(2, "new")]
    assert [item.id for item in (await others[0].fetch()).items] == ["a"]


async def test_search_terms_of_an_older_version_are_made_anew(make_store: Maker, dsn: str, index: str):
    store = make_store(schema=index)
    await store.open(create=True, dimension=2)
    await store.upsert([row(f"r{at:04d}", f"soup number{at}") for at in range(1200)])
    right = await store.search(SearchQuery(text="soup number7", k=5))
    await ask(dsn, f'UPDATE "{index}"."index_{index}" SET words = \'{{old}}\'')
    await ask(dsn, f'UPDATE "{index}".indexes SET terms_version = 0')
    await ask(dsn, f'UPDATE "{index}".namespaces SET words = 1')

    again = make_store(schema=index)
    await again.open(create=False)

    assert await again.search(SearchQuery(text="soup number7", k=5)) == right
    assert right[0].id == "r0007"


async def test_a_dimension_that_comes_with_the_first_vector_is_the_same_for_all(make_store: Maker):
    one, other = make_store(), make_store()
    await one.open(create=True)
    await other.open(create=True)
    assert await other.search(SearchQuery(vector=[1, 0])) == []
    await one.upsert([row("a")])

    assert [hit.id for hit in await other.search(SearchQuery(vector=[1, 0]))] == ["a"]
    with pytest.raises(InvalidInputError, match="3 dimensions"):
        await other.upsert([EmbeddedDocument(Document.from_text("b", id="b"), [1, 0, 0])])


async def test_two_first_vectors_of_different_dimensions_do_not_both_win(make_store: Maker):
    stores = [make_store(), make_store()]
    for store in stores:
        await store.open(create=True)
    vectors = [[1.0, 0.0], [1.0, 0.0, 0.0]]

    ends = await asyncio.gather(
        *(
            store.upsert([EmbeddedDocument(Document.from_text("x", id=f"r{len(vector)}"), vector)])
            for store, vector in zip(stores, vectors, strict=True)
        ),
        return_exceptions=True,
    )

    assert sorted(type(end) for end in ends if end is not None) == [InvalidInputError]
    assert (await stores[0].stats()).count == 1


async def test_a_database_that_is_not_utf8_is_refused(make_store: Maker, dsn: str, index: str):
    import psycopg

    await ask(dsn, f"CREATE DATABASE {index} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(ConfigError, match="LATIN1"):
        await make_store(dsn=psycopg.conninfo.make_conninfo(dsn, dbname=index)).open(create=True)
