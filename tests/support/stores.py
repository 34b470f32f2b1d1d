"""A counting embedder, an index in memory that uses it, and what is in it."""

import asyncio
from typing import Any

import pytest

from flowkit import Document, EmbedderInfo, Flowkit
from flowkit.plugin import VectorStore
from flowkit.rag.stores.memory import InMemoryStore

__all__ = ["Counting", "all_of", "counting", "doc", "menu", "store"]


class Counting:
    """Text → a vector of its letters; what was embedded is in `texts`, and how many calls ran at once in `most`."""

    def __init__(self, ai: Flowkit, *, limit: int | None = None, name: str = "counting", fail_on: str = "") -> None:
        self.texts: list[str] = []
        self.fail_on = fail_on
        self.now = self.most = 0
        info = EmbedderInfo(label=name, max_batch_size=limit)
        self.action = ai.embedder(name, info=info)(self.embed)

    async def embed(self, texts: list[str]) -> list[list[float]]:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        if self.fail_on in texts:
            raise ConnectionError("429")
        self.texts.extend(texts)
        return [[float(text.count(letter)) + 0.1 for letter in "aeiou"] for text in texts]


def doc(text: str, source: str | None = "menu.pdf", **metadata: Any) -> Document:
    return Document.from_text(text, {"source": source, **metadata})


async def all_of(store: VectorStore) -> dict[str, dict[str, Any]]:
    page = await store.fetch(limit=10_000)
    return {row.document.text: dict(row.document.metadata) for row in page.items}


@pytest.fixture
def counting(ai: Flowkit) -> Counting:
    return Counting(ai)


@pytest.fixture
def store(ai: Flowkit, counting: Counting) -> InMemoryStore:
    store = InMemoryStore("menu")
    ai.vector_store(store, name="memory/menu", embedder="counting")
    return store


@pytest.fixture
async def menu(ai: Flowkit, store: InMemoryStore) -> InMemoryStore:
    await ai.index("menu", [doc("banana", price=3), doc("tomato soup", price=5), doc("eel pie", price=12)])
    return store
