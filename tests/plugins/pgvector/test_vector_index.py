"""Vector indexes: made for what fits, really used, near enough to the truth, and never the reason for a missing row."""

import asyncio
import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flowkit import Document, F
from flowkit.errors import InvalidInputError, NotFoundError, UnsupportedError
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit.testing.store_contract.base import numbers
from flowkit_pgvector import PgVector
from flowkit_pgvector.relation import Relation
from flowkit_pgvector.statements import index_settings
from tests.plugins.pgvector.data import BY_INDEX, ask, clustered, queries, scans, with_options

pytestmark = [pytest.mark.heavy, pytest.mark.requires("pg", "the store is tested against a real Postgres")]

Maker = Callable[..., PgVector]
COUNT, DIMENSION, K = 3_000, 24, 10


async def indexed(dsn: str, index: str) -> str:
    """What the vector index of a table is, as Postgres says it; empty without one."""
    rows = await ask(dsn, "SELECT indexdef FROM pg_indexes WHERE indexname = %s", (f"index_{index}_embedding",))
    return str(rows[0][0]) if rows else ""


@pytest.fixture(scope="module")
def many(dsn: str) -> str:
    """The name of an index with 3,000 rows; building it takes longest, so tests that only read share it."""

    async def fill() -> str:
        store = PgVector(f"many_{os.getpid()}", dsn=dsn)
        await filled(store, clustered(COUNT, DIMENSION))
        await store.aclose()
        return store.index

    return asyncio.run(fill())


async def filled(store: PgVector, rows: list[EmbeddedDocument]) -> PgVector:
    await store.open(create=True)  # the first vector sets the dimension
    await store.upsert(rows)
    await store.build_index()
    return store


@pytest.mark.parametrize(
    ("options", "dimension", "operators"),
    [
        ({}, DIMENSION, "USING hnsw (embedding vector_ip_ops)"),
        ({"distance": "l2"}, DIMENSION, "USING hnsw (embedding vector_l2_ops)"),
        ({"index": "ivfflat"}, DIMENSION, "USING ivfflat (embedding vector_ip_ops) WITH (lists='10')"),
        ({"index": "ivfflat", "distance": "l2"}, DIMENSION, "USING ivfflat (embedding) WITH"),
    ],
    ids=["cosine", "l2", "ivfflat", "ivfflat-l2"],
)
async def test_a_search_uses_the_index_and_finds_what_is_near(
    make_store: Maker, dsn: str, index: str, options: dict[str, Any], dimension: int, operators: str
):
    rows = clustered(1_200, dimension)
    store = await filled(make_store(**options), rows)
    found = 0
    for vector in queries(20, dimension, seed=1):
        hits = await store.search(SearchQuery(vector=vector, k=K))
        truth = nearest(rows, vector, l2="distance" in options)
        found += len({hit.id for hit in hits} & set(truth))
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.id))
        assert hits[0].score == pytest.approx(truth[hits[0].id], abs=1e-5)
    await store.aclose()

    assert operators in await indexed(dsn, index)
    assert await scans(dsn, f"index_{index}_embedding") >= 20
    assert found / (20 * K) >= 0.95


def nearest(rows: list[EmbeddedDocument], vector: Any, *, l2: bool = False, k: int = K) -> dict[str, float]:
    """Ids of the best rows and their scores, in double precision."""
    held = np.array([row.vector for row in rows], dtype=np.float64)
    if l2:
        scores = 1 / (1 + np.linalg.norm(held - vector, axis=1))
    else:
        scores = (1 + held @ vector / np.linalg.norm(held, axis=1) / np.linalg.norm(vector)) / 2
    return {rows[at].id: float(scores[at]) for at in np.argsort(-scores)[:k]}


@pytest.mark.parametrize("planner", ["free", "by index"])
async def test_a_filtered_search_finds_ten_of_ten_at_any_selectivity(
    make_store: Maker, dsn: str, many: str, planner: str
):
    rows = clustered(COUNT, DIMENSION)
    store = make_store(many, dsn=with_options(dsn, BY_INDEX) if planner == "by index" else dsn)
    await store.open(create=False)
    for percent in (1, 10, 50):
        matching = [row for row in rows if row.document.metadata["percent"] < percent]
        assert len(matching) == COUNT * percent // 100
        found = 0
        for vector in queries(25, DIMENSION, seed=percent):
            hits = await store.search(SearchQuery(vector=vector, k=K, where=F("percent") < percent))
            assert len(hits) == K
            assert all(hit.metadata["percent"] < percent for hit in hits)
            found += len({hit.id for hit in hits} & set(nearest(matching, vector)))
        assert found / (25 * K) >= 0.95, f"recall at a filter of {percent} %"


async def test_when_the_index_gives_up_early_the_rest_comes_from_the_table(make_store: Maker, dsn: str, many: str):
    rows = clustered(COUNT, DIMENSION)
    store = make_store(many, dsn=with_options(dsn, f"{BY_INDEX} -c hnsw.max_scan_tuples=20"))
    await store.open(create=False)
    where = F("percent") == 7
    matching = [row for row in rows if row.document.metadata["percent"] == 7]
    for vector in queries(5, DIMENSION, seed=2):
        hits = await store.search(SearchQuery(vector=vector, k=20, where=where))
        assert [hit.id for hit in hits] == list(nearest(matching, vector, k=20))

        both = await store.search(SearchQuery(vector=vector, text="row", k=20, where=where))
        assert {hit.id for hit in both} <= {row.id for row in matching}
        assert len(both) == 20


async def test_a_small_index_is_read_whole_and_ties_are_ordered_by_id(make_store: Maker):
    store = make_store(exact_below=400)
    await store.open(create=True, dimension=2)
    rows = [EmbeddedDocument(Document.from_text("same", id=f"r{at:03d}"), [0.3, 0.4]) for at in range(300)]
    await store.upsert(rows[::-1])

    hits = await store.search(SearchQuery(vector=[1, 0], k=5))

    assert [hit.id for hit in hits] == ["r000", "r001", "r002", "r003", "r004"]


@pytest.mark.parametrize(
    ("dimension", "operators"),
    [(2000, "(embedding vector_ip_ops)"), (2001, "halfvec_ip_ops"), (4000, "halfvec_ip_ops")],
)
async def test_wide_vectors_are_indexed_as_half_precision_numbers_and_scored_as_whole_ones(
    make_store: Maker, dsn: str, index: str, dimension: int, operators: str
):
    rows = clustered(60, dimension)
    store = await filled(make_store(dsn=with_options(dsn, BY_INDEX), exact_below=0), rows)
    for vector in queries(3, dimension, seed=3):
        hits = await store.search(SearchQuery(vector=vector, k=5))
        truth = nearest(rows, vector, k=5)
        assert [hit.id for hit in hits] == list(truth)
        assert [hit.score for hit in hits] == pytest.approx(list(truth.values()), abs=1e-6)
        both = await store.search(SearchQuery(vector=vector, text="row", k=5))
        assert len(both) == 5
    await store.aclose()

    assert operators in await indexed(dsn, index)
    assert await scans(dsn, f"index_{index}_embedding") >= 3


async def test_vectors_too_wide_for_an_index_are_searched_without_one_after_a_warning(
    make_store: Maker, dsn: str, index: str
):
    rows = clustered(30, 4001)
    store = make_store()
    with pytest.warns(RuntimeWarning, match="4,001 dimensions"):
        await store.open(create=True, dimension=4001)
    await store.upsert(rows)
    await store.build_index()

    vector = queries(1, 4001, seed=4)[0]
    assert [hit.id for hit in await store.search(SearchQuery(vector=vector, k=5))] == list(nearest(rows, vector, k=5))
    assert await indexed(dsn, index) == ""


async def test_dimensions_that_no_column_holds_are_refused_before_anything_is_made(make_store: Maker):
    with pytest.raises(UnsupportedError, match="16,000"):
        await make_store().open(create=True, dimension=16_001)

    with pytest.raises(NotFoundError):
        await make_store().open(create=False)


async def test_ivfflat_learns_its_lists_when_there_are_rows_to_learn_from(make_store: Maker, dsn: str, index: str):
    rows = clustered(1_200, 8)
    store = make_store(index="ivfflat", exact_below=100)
    await store.open(create=True, dimension=8)
    await store.upsert(rows[:500])
    assert await indexed(dsn, index) == ""
    assert len(await store.search(SearchQuery(vector=rows[0].vector, k=5))) == 5

    await store.upsert(rows[500:])
    assert "ivfflat" in await indexed(dsn, index)
    best, *_ = await store.search(SearchQuery(vector=rows[900].vector, k=5))
    assert best.id == rows[900].id

    other = make_store(index="ivfflat", exact_below=100)
    await other.open(create=False)
    hits = await other.search(SearchQuery(vector=rows[0].vector, k=200))
    assert len(hits) == 200


async def test_l2_scores_are_one_over_one_plus_the_distance(make_store: Maker):
    store = make_store(distance="l2")
    await store.open(create=True, dimension=2)
    vectors = {"a": [1, 0], "b": [4, 4], "c": [0, 0]}
    await store.upsert([EmbeddedDocument(Document.from_text(id, id=id), vector) for id, vector in vectors.items()])

    hits = await store.search(SearchQuery(vector=[1, 0]))

    assert [(hit.id, hit.score) for hit in hits] == [("a", 1), ("c", 0.5), ("b", pytest.approx(1 / 6, abs=1e-6))]
    (item,) = (await store.fetch(ids=["b"], with_vectors=True)).items
    assert numbers(item.vector) == [4, 4]


async def test_an_inner_product_is_for_vectors_of_length_one(make_store: Maker):
    store = make_store(distance="ip")
    await store.open(create=True, dimension=2)
    unit = EmbeddedDocument(Document.from_text("a", id="a"), [math.sqrt(0.5), math.sqrt(0.5)])
    await store.upsert([unit])
    for bad in ([1, 1], [0, 0]):
        with pytest.raises(InvalidInputError, match=r"'b'.*length 1"):
            await store.upsert([unit, EmbeddedDocument(Document.from_text("b", id="b"), bad)])

    (hit,) = await store.search(SearchQuery(vector=[1, 0]))
    assert hit.score == pytest.approx((1 + math.sqrt(0.5)) / 2, abs=1e-6)


def test_a_pgvector_before_0_8_is_asked_for_no_iterative_scan():
    newer, older = (
        index_settings(Relation("t", "TRUE", "<#>", {}, True, method="hnsw"), iterative=yes) for yes in (True, False)
    )

    assert "hnsw.iterative_scan" in newer
    assert "iterative" not in older
    assert "hnsw.ef_search" in older


async def test_an_index_is_built_anew_among_writers_and_readers(make_store: Maker):
    rows = clustered(1_000, 16)
    store = await filled(make_store(exact_below=0, pool_size=8), rows[:600])

    async def write(at: int) -> None:
        await store.upsert(rows[at : at + 20])

    async def read() -> None:
        for row in rows[:10]:
            assert (await store.search(SearchQuery(vector=row.vector, k=1)))[0].id == row.id

    builds = [store.build_index() for _ in range(2)]
    await asyncio.gather(*(write(at) for at in range(400, 1_000, 20)), read(), *builds, read())

    assert (await store.stats()).count == 1_000
    assert (await store.search(SearchQuery(vector=rows[990].vector, k=1)))[0].id == rows[990].id
