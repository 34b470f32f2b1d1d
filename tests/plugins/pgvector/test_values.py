"""What goes in comes out: numbers to the last digit, odd JSON, odd ids; and equal rows are not written again."""

from collections.abc import Callable
from typing import Any

import pytest

from flowkit import Document, F
from flowkit.errors import FilterTypeError, InvalidInputError
from flowkit.plugin import EmbeddedDocument, metadata_hash
from flowkit_pgvector import PgVector
from tests.plugins.pgvector.data import ask

pytestmark = [pytest.mark.heavy, pytest.mark.requires("pg", "the store is tested against a real Postgres")]

Maker = Callable[..., PgVector]
ODD: list[Any] = [
    -0.0,
    1e16,
    -1.5e300,
    5e-324,
    1e-7,
    2.0**62,
    2**62,
    [-0.0, {"x": 1e22}],
    {"a\x00b": 1, "a\ud800": {"c\x00": [1e16]}},
    "1e+16",
    "\\u0000",
    "-0.0",
    {"k": "5e+3"},
]


async def opened(store: PgVector) -> PgVector:
    await store.open(create=True, dimension=2)
    return store


def row(id: str, vector: Any = (1, 0), **metadata: Any) -> EmbeddedDocument:
    return EmbeddedDocument(Document.from_text(f"text of {id}", metadata, id=id), vector)


@pytest.mark.parametrize("value", ODD, ids=lambda value: repr(value)[:30])
async def test_odd_values_come_back_as_they_were(make_store: Maker, value: Any):
    store = await opened(make_store())
    await store.upsert([row("a", v=value, other=1)])

    (item,) = (await store.fetch(where=F("other") == 1)).items

    assert repr(item.document.metadata["v"]) == repr(row("a", v=value).document.metadata["v"])
    (key,) = [key async for key in store.manifest()]
    assert key.metadata_hash == metadata_hash(item.document.metadata)


async def test_numbers_compare_exactly_whatever_their_size_and_form(make_store: Maker):
    stored = {"a": 2**53, "b": 2**53 + 1, "c": 2.0**62, "d": 2**62 + 1, "e": -0.0, "f": 1e300, "g": 0.1}
    for columns in (None, {"n": int}):
        store = await opened(make_store(columns=columns))
        await store.upsert([row(id, n=n) for id, n in stored.items()])
        for where, ids in (
            (F("n") == 2.0**53, "a"),
            (F("n") == 2**53 + 1, "b"),
            (F("n") > 2.0**53, "bcdf"),
            (F("n") == 2**62, "c"),
            (F("n") > 2**62, "df"),
            (F("n") == 0, "e"),
            (F("n") >= 1e300, "f"),
            (F("n") < 0.1, "e"),
            (F("n") <= 0.1, "eg"),
            (F("n").in_([2**62, 1e300, 0.1, *range(5, 25)]), "cfg"),
        ):
            assert "".join(item.id for item in (await store.fetch(where=where)).items) == ids, (where, columns)
        await store.clear()


async def test_ids_that_postgres_cannot_hold_are_refused_and_never_found(make_store: Maker):
    store = await opened(make_store())
    await store.upsert([row("a")])
    with pytest.raises(InvalidInputError, match=r"id 'xxx.*2,000 bytes"):
        await store.upsert([row("b"), row("x" * 2001)])
    for bad in ("x\x00y", "x\ud800"):
        assert (await store.fetch(ids=[bad, "a"])).items[0].id == "a"
        assert await store.delete(ids=[bad]) == 0
        assert [key async for key in store.manifest(bad)] == []
    assert (await store.stats()).count == 1


async def test_what_is_equal_is_not_written_again(make_store: Maker, dsn: str, index: str):
    """A row that Postgres writes anew gets another transaction's number (xmin), and new entries in every index."""
    store = await opened(make_store())
    rows = [row(f"r{at}", (1, at), n=at) for at in range(5)]
    await store.upsert(rows)
    versions = f"SELECT id, xmin::text FROM flowkit.index_{index} ORDER BY id"
    before = await ask(dsn, versions)

    await store.upsert([*rows[:3], row("r3", None, n=3), row("r4", (1, 4), n=40)])

    after = await ask(dsn, versions)
    assert after[:4] == before[:4]
    assert after[4] != before[4]


async def test_counts_stay_true_through_every_kind_of_write(make_store: Maker, dsn: str, index: str):
    store = await opened(make_store())
    await store.upsert([row(f"r{at}") for at in range(9)])
    await store.upsert([EmbeddedDocument(Document.from_text("one", id="r0"), None), row("r1"), row("new")])
    await store.delete(ids=["r2", "r2", "nowhere"])
    await store.delete(where=F("n") != 1)
    await store.upsert([row("back", n=2), EmbeddedDocument(Document.from_text("a b c", id="back"), (0, 1))])

    held = await ask(dsn, "SELECT rows, words FROM flowkit.namespaces WHERE index_name = %s", (index,))
    real = await ask(dsn, f"SELECT count(*), sum(cardinality(words))::bigint FROM flowkit.index_{index}")
    assert held == real == [(1, 3)]


async def test_types_that_another_process_wrote_are_known_before_a_filter_is_refused(make_store: Maker):
    one, other = await opened(make_store()), make_store()
    await other.open(create=False)
    await one.upsert([row("a", n=5)])
    with pytest.raises(FilterTypeError):
        await other.fetch(where=F("n") == "5")

    await one.upsert([row("b", n="5")])

    assert [item.id for item in (await other.fetch(where=F("n") == "5")).items] == ["b"]


async def test_a_document_of_many_thousand_words_is_searched_like_any(make_store: Maker):
    from flowkit.plugin import SearchQuery

    store = await opened(make_store())
    words = " ".join(f"word{at}" for at in range(60_000))
    await store.upsert([EmbeddedDocument(Document.from_text(words, id="long"), (1, 0)), row("b")])

    assert [hit.id for hit in await store.search(SearchQuery(text="word59999"))] == ["long"]
