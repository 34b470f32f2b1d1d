"""Chroma answers as the in-memory store does: each mode, with filters that it can do and others."""

import random
from pathlib import Path

import pytest

from flowkit import Document, F, Filter
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit.rag.stores.memory import InMemoryStore
from flowkit_chroma import Chroma
from tests.plugins.pgvector.compared import assert_same

pytestmark = [pytest.mark.heavy, pytest.mark.requires("chroma", "the store is tested against the real Chroma")]

WORDS = ["soup", "tomato", "cake", "返金", "営業", "the", "indexing", "indexed", "naïve", "42"]
VALUES = [
    "a",
    "b",
    "",
    0,
    1,
    -1,
    2,
    1.5,
    -2.5,
    2.0,
    2**53 + 1,
    1e22,
    0.1 + 0.2,
    1764487167.1234567,
    True,
    ["a", 1],
    -0.0,
]
SIMPLE = [value for value in VALUES if not isinstance(value, list | bool)]


def documents(numbers: random.Random, count: int) -> list[EmbeddedDocument]:
    return [
        EmbeddedDocument(
            Document.from_text(
                " ".join(numbers.choices(WORDS, k=numbers.randint(1, 8))),
                {key: numbers.choice(VALUES) for key in numbers.sample("xyz", numbers.randint(0, 3))},
                id=f"id{numbers.randrange(80):02d}",
            ),
            [numbers.gauss(0, 1) for _ in range(8)],
        )
        for _ in range(count)
    ]


def filters(numbers: random.Random, depth: int) -> Filter:
    if depth and numbers.random() < 0.7:
        left, right = filters(numbers, depth - 1), filters(numbers, depth - 1)
        return numbers.choice([left & right, left | right, ~left])
    key, value = F(numbers.choice("xyzw")), numbers.choice(SIMPLE)
    some = numbers.sample(SIMPLE, 3)
    return numbers.choice(
        [key == value, key != value, key > value, key <= value, key.between(*some[:2]), key.in_(some), key.not_in(some)]
    )


async def test_the_same_hits_whatever_was_written_and_deleted_before(folder: Path):
    numbers = random.Random(7)
    chroma, memory = Chroma("menu", path=folder), InMemoryStore("menu")
    for store in (chroma, memory):
        await store.open(create=True, dimension=8)
        # Every key has had both types, so that no filter is refused.
        for value in ("a", 0):
            document = Document.from_text("soup", dict.fromkeys("xyz", value), id="id00")
            await store.upsert([EmbeddedDocument(document, [1.0] * 8)])
    for _ in range(4):
        rows, gone, odd = documents(numbers, 40), [f"id{numbers.randrange(80):02d}" for _ in range(5)], F("x") == 1
        for store in (chroma, memory):
            await store.upsert(rows)
            await store.delete(ids=gone)
            await store.delete(where=odd)
        assert (await chroma.fetch(limit=1000)).items == (await memory.fetch(limit=1000)).items
        for _ in range(8):
            where = filters(numbers, 3)
            vector = [numbers.gauss(0, 1) for _ in range(8)]
            text = " ".join(numbers.choices(WORDS, k=2))
            k = numbers.randint(1, 30)
            assert (await chroma.fetch(where=where)).items == (await memory.fetch(where=where)).items, where
            for query in (SearchQuery(vector=vector, k=k, where=where), SearchQuery(text=text, k=k, where=where),
                          SearchQuery(vector=vector, text=text, k=k, where=where)):  # fmt: skip
                assert_same(await chroma.search(query), await memory.search(query), query)
    await chroma.aclose()
