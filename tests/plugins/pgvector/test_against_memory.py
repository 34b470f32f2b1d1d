"""pgvector gives what the in-memory store gives: 500 documents, random filters, every mode."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from flowkit import Document, F, Filter
from flowkit.plugin import And, EmbeddedDocument, Not, Or, SearchQuery
from flowkit.rag.stores.memory import InMemoryStore
from flowkit_pgvector import PgVector
from tests.plugins.pgvector.compared import assert_same

pytestmark = [pytest.mark.heavy, pytest.mark.requires("pg", "the store is tested against a real Postgres")]

DIMENSION = 16
WORDS = ["soup", "tomato", "basil", "bread", "cake", "berry", "wine", "cheese", "olive", "garlic"]
WORDS += ["返金", "営業時間", "café", "Straße", "été", "naïve"]
NAMES = [
    "",
    "a",
    "b",
    "B",
    "ä",
    "z",
    "日本",
    "\U0001f600",
    "\uff5e",
    "a'b",
    'q"q',
    "50%",
    "x\\y",
    "5",
    "true",
    "l" * 3000,
]
NUMBERS: list[int | float] = [-4, 0, 1, 2, 2.5, 1e-7, 2**53, 2**53 + 1, float(2**53), 2**62, 2.0**62, 1e300, -0.5]


def make_document(source: random.Random, at: int) -> Document:
    text = " ".join(source.choices(WORDS, weights=range(len(WORDS), 0, -1), k=source.randint(1, 30)))
    metadata: dict[str, Any] = {"source": f"file{at % 7}.md", "index": at}
    if source.random() < 0.8:
        metadata["name"] = source.choice(NAMES)
    if source.random() < 0.8:
        metadata["n"] = source.choice(NUMBERS)
    if source.random() < 0.6:
        metadata["flag"] = source.random() < 0.5
    if source.random() < 0.5:
        metadata["tags"] = source.sample([*NAMES[:6], 1, 2.5, 2**53 + 1, True, [1]], source.randint(0, 3))
    if source.random() < 0.5:
        metadata["mixed"] = source.choice([1, "1", True, [1], ["1"], {"1": 1}, 1.0, "one", False])
    return Document.from_text(text, metadata, id=f"d{at:03d}")


def make_filter(source: random.Random, depth: int) -> Filter:
    if depth and source.random() < 0.6:
        left = make_filter(source, depth - 1)
        match source.choice(["and", "or", "not"]):
            case "not":
                return Not(left)
            case "and":
                return And(left, make_filter(source, depth - 1))
        return Or(left, make_filter(source, depth - 1))
    values: dict[str, list[Any]] = {
        "name": NAMES,
        "n": [*NUMBERS, float("inf"), float("-inf"), float("nan")],
        "flag": [True, False],
        "mixed": [1, "1", True, 2, "one"],
        "source": ["file1.md", "file2.md", "nowhere"],
        "nothing": ["x", 1],
    }
    key = source.choice(["name", "name", "n", "n", "flag", "mixed", "source", "tags", "nothing"])
    if key == "tags":
        return F(key).contains(source.choice([*NAMES[:6], 1, 2.5, 2**53, 2**53 + 1]))
    value = source.choice(values[key])
    ways: list[Callable[[], Filter]] = [
        lambda: F(key) == value,
        lambda: F(key) != value,
        lambda: F(key).in_(source.sample(values[key], 2)),
        lambda: F(key).not_in(source.choices(values[key], k=source.choice([0, 1, 20]))),
    ]
    if not isinstance(value, bool):
        ways += [lambda: F(key) > value, lambda: F(key) >= value, lambda: F(key) < value, lambda: F(key) <= value]
    if isinstance(value, str):
        ways.append(lambda: F(key).contains(value[:1]))
    return source.choice(ways)()


COLUMNS: dict[str, type] = {"n": float, "name": str, "flag": bool, "mixed": int}


@pytest.mark.parametrize("columns", [None, COLUMNS], ids=["json", "columns"])
async def test_the_same_hits_in_the_same_order_for_any_filter_and_mode(
    make_store: Callable[..., PgVector], columns: dict[str, type] | None
):
    await compare(make_store(columns=columns, index=None), filters=100, queries=3, seed=42)


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_the_same_hits_for_a_hundred_filters_and_fifty_queries_each(make_store: Callable[..., PgVector]):
    await compare(make_store(columns=COLUMNS, index=None), filters=100, queries=50, seed=random.randrange(2**32))


async def compare(store: PgVector, *, filters: int, queries: int, seed: int) -> None:
    source = random.Random(seed)
    rows = [
        EmbeddedDocument(make_document(source, at), [source.gauss(0, 1) for _ in range(DIMENSION)]) for at in range(500)
    ]
    memory = InMemoryStore("menu")
    for each in (store, memory):
        await each.open(create=True, dimension=DIMENSION)
        await each.upsert(rows)
    matched = 0
    for _ in range(filters):
        where = make_filter(source, 4)
        for at in range(queries):
            mode = ("vector", "keyword", "hybrid")[at % 3]
            query = SearchQuery(
                vector=None if mode == "keyword" else [source.gauss(0, 1) for _ in range(DIMENSION)],
                text=None if mode == "vector" else " ".join(source.choices(WORDS, k=2)),
                k=source.choice([1, 5, 20, 120]),
                min_score=source.choice([0, 0, 0.3]),
                where=where,
            )
            right = await memory.search(query)
            assert_same(await store.search(query), right, (seed, query))
            matched += len(right)
    assert matched > 5 * filters, "the filters let enough through to mean something"
    await memory.aclose()


async def test_the_words_of_another_language_are_its_own(make_store: Callable[..., PgVector]):
    store = make_store(language="german")
    await store.open(create=True, dimension=2)
    texts = {"a": "Öffnungszeiten der Häuser", "b": "Suppe des Tages", "c": "返金は三日以内に行います"}
    await store.upsert([EmbeddedDocument(Document.from_text(text, id=id), [1, 0]) for id, text in texts.items()])

    for query, id in (("Haus", "a"), ("öffnungszeit", "a"), ("Suppen", "b"), ("返金", "c")):
        assert [hit.id for hit in await store.search(SearchQuery(text=query))] == [id], query
