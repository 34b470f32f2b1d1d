"""What the parts of the contract suite share: the hooks, and short ways to write, read and compare.

async with self.opened(store, [row("a", [1, 0], n=1)]) as store: ...
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar

import pytest

from flowkit.errors import UnsupportedFilter
from flowkit.rag.stores.contract import EmbeddedDocument, SearchMode, SearchQuery, Vector, VectorStore
from flowkit.schema.documents import Document, ScoredDocument
from flowkit.schema.filters import And, Comparison, Filter, Membership, Not, Or

__all__ = ["StoreHooks", "ids_of", "numbers", "operators", "row"]


def row(id: str, vector: Vector | None, *, text: str = "", **metadata: Any) -> EmbeddedDocument:
    """A row to write; its text is "text of <id>" unless given."""
    return EmbeddedDocument(Document.from_text(text or f"text of {id}", metadata, id=id), vector)


def ids_of(documents: Iterable[Document] | Iterable[EmbeddedDocument]) -> list[str]:
    return [document.id or "" for document in documents]


def numbers(vector: Vector | None) -> list[float]:
    """The vector of a fetched row."""
    assert vector is not None, "the vector was asked for"
    return [float(x) for x in vector]


def operators(where: Filter) -> set[str]:
    """The operators in a filter."""
    match where:
        case And(left=left, right=right) | Or(left=left, right=right):
            return {type(where).__name__.lower()} | operators(left) | operators(right)
        case Not(expr=expr):
            return {"not"} | operators(expr)
        case Comparison(op=op) | Membership(op=op):
            return {op}
    raise TypeError(where)


class StoreHooks:
    """What a store's own class may override; `StoreContract` says what each means."""

    modes: ClassVar[frozenset[SearchMode]] = frozenset({"vector", "keyword", "hybrid"})
    unsupported_filters: ClassVar[frozenset[str]] = frozenset()
    exact: ClassVar[bool] = True
    tolerance: ClassVar[float] = 1e-6
    zero_vectors: ClassVar[bool] = True
    big_batch: ClassVar[int] = 3_000

    def make_store(self, store: VectorStore) -> VectorStore:
        """Another object for the same index."""
        return store

    async def settle(self, store: VectorStore) -> None:
        """Wait until what was written can be read."""

    @asynccontextmanager
    async def opened(
        self, store: VectorStore, rows: Sequence[EmbeddedDocument] = (), *, dimension: int | None = 2
    ) -> AsyncIterator[VectorStore]:
        """The store, created and filled, closed afterwards."""
        await store.open(create=True, dimension=dimension)
        try:
            if rows:
                await self.write(store, rows)
            yield store
        finally:
            await store.aclose()

    async def write(self, store: VectorStore, rows: Sequence[EmbeddedDocument]) -> None:
        await store.upsert(rows)
        await self.settle(store)

    async def reopened(self, store: VectorStore) -> VectorStore:
        await store.aclose()
        again = self.make_store(store)
        await again.open(create=False)
        return again

    async def search(
        self,
        store: VectorStore,
        vector: Vector | None = None,
        *,
        text: str | None = None,
        k: int = 100,
        min_score: float = 0.0,
        where: Filter | None = None,
    ) -> list[ScoredDocument]:
        return await store.search(SearchQuery(vector=vector, text=text, k=k, min_score=min_score, where=where))

    async def texts(self, store: VectorStore) -> dict[str, str]:
        """Id → text of every row."""
        found: dict[str, str] = {}
        cursor = None
        while True:
            page = await store.fetch(limit=500, cursor=cursor)
            found.update((item.id, item.document.text) for item in page.items)
            cursor = page.cursor
            if cursor is None:
                return found

    async def matching(self, store: VectorStore, vector: Vector, where: Filter) -> set[str] | None:
        """Ids that a filter lets through, the same by search and by fetch; None when the store says it can't."""
        refused = operators(where) & self.unsupported_filters
        if refused:
            with pytest.raises(UnsupportedFilter):
                await self.search(store, vector, where=where)
            with pytest.raises(UnsupportedFilter):
                await store.fetch(where=where)
            return None
        searched = ids_of(await self.search(store, vector, where=where))
        fetched = ids_of((await store.fetch(where=where, limit=1000)).items)
        assert sorted(searched) == fetched, f"search and fetch differ for {where}"
        return set(searched)
