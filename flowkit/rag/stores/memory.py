"""A vector store in memory: simple and exact, for tests, notebooks and comparison with other stores.

store = InMemoryStore("menu")
await store.open(create=True)
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flowkit.errors import IdentityError, InvalidInputError, NotFoundError, StateError
from flowkit.rag.keyword import KeywordIndex, query_terms, terms
from flowkit.rag.stores.contract import EmbeddedDocument, Page, RowKey, SearchQuery, StoreStats
from flowkit.rag.stores.rules import (
    HYBRID_DEPTH,
    checked_query,
    checked_rows,
    checked_selector,
    fused_scores,
    keyword_score,
    rounded_score,
    row_key,
    vector_score,
    wanted_ids,
)
from flowkit.rag.stores.serve import StorePlugin
from flowkit.schema.documents import Document, ScoredDocument
from flowkit.schema.filters import Filter, check, compile, key_type

if TYPE_CHECKING:
    import numpy as np

    Float32 = np.ndarray[Any, np.dtype[np.float32]]

__all__ = ["InMemoryStore"]

Hits = list[tuple[str, float]]


class InMemoryStore(StorePlugin):
    """One index, which lives as long as this object. Every method is a plain scan.

    With an embedder it is a plugin too: `Flowkit(plugins=[InMemoryStore("menu", embedder="local/all-minilm-l6-v2")])`.

    Safe for many tasks of one event loop; nothing in it awaits.
    """

    name = "memory"

    def __init__(self, name: str, *, embedder: str | None = None) -> None:
        self.index = name
        self.embedder = embedder
        self._rows: dict[str, tuple[Document, Float32]] = {}
        self._words = KeywordIndex()
        self._key_types: dict[str, set[str]] = {}
        self._dimension: int | None = None
        self._created = self._open = False

    async def open(self, *, create: bool, dimension: int | None = None, embedder: str | None = None) -> None:
        if not (self._created or create):
            raise NotFoundError(f"there is no index {self.index!r}", hint="index documents first")
        for what, mine, given in (("dimension", self._dimension, dimension), ("embedder", self.embedder, embedder)):
            if mine is not None and given is not None and mine != given:
                raise IdentityError(
                    f"index {self.index!r} has {what} {mine!r}, not {given!r}",
                    hint=f"use {what} {mine!r}, or build a new index",
                )
        self._dimension = self._dimension or dimension
        self.embedder = self.embedder or embedder
        self._created = self._open = True

    async def upsert(self, rows: Sequence[EmbeddedDocument]) -> None:
        self._check_open()
        checked = checked_rows(rows, index=self.index, dimension=self._dimension)
        ready: dict[str, tuple[Document, Float32]] = {}
        for id, (document, vector) in checked.items():
            if vector is None and id not in self._rows:
                raise InvalidInputError(
                    f"{id!r} has no vector, and index {self.index!r} has none stored", hint="embed it first"
                )
            kept = document.model_copy(update={"metadata": document.metadata.copy()})
            ready[id] = (kept, self._rows[id][1] if vector is None else vector.copy())
        for id, (document, vector) in ready.items():
            self._dimension = len(vector)
            self._rows[id] = (document, vector)
            self._words.add(id, terms(document.text))
            for key, value in document.metadata.items():
                self._key_types.setdefault(key, set()).add(key_type(value))

    async def search(self, query: SearchQuery) -> list[ScoredDocument]:
        self._check_open()
        keep = self._predicate(query.where)
        if query.text is None:
            hits = self._by_vector(query, keep)
        elif query.vector is None:
            hits = self._by_keyword(query.text, keep)
        else:
            depth = max(query.k, HYBRID_DEPTH)
            lists = (self._by_vector(query, keep)[:depth], self._by_keyword(query.text, keep)[:depth])
            hits = _ordered(fused_scores([id for id, _ in hits] for hits in lists))
        found = [(id, score) for id, score in hits if score >= rounded_score(query.min_score)]
        return [ScoredDocument.of(_copy(self._rows[id][0]), score) for id, score in found[: query.k]]

    async def fetch(
        self,
        *,
        ids: Sequence[str] | None = None,
        where: Filter | None = None,
        cursor: str | None = None,
        limit: int = 100,
        with_vectors: bool = False,
    ) -> Page[EmbeddedDocument]:
        self._check_open()
        if limit < 1:
            raise InvalidInputError(f"limit is {limit!r}", hint="ask for 1 or more rows")
        keep = self._predicate(where)
        wanted = sorted(self._rows) if ids is None else wanted_ids(ids)
        if ids is None:
            wanted = [id for id in wanted if cursor is None or id > cursor]
        elif cursor is not None:
            wanted = wanted[wanted.index(cursor) + 1 :] if cursor in wanted else []
        found = [id for id in wanted if id in self._rows and keep(self._rows[id][0].metadata)]
        items = (self._rows[id] for id in found[:limit])
        return Page(
            tuple(EmbeddedDocument(_copy(doc), vector.copy() if with_vectors else None) for doc, vector in items),
            found[limit - 1] if len(found) > limit else None,
        )

    async def manifest(self, source: str | None = None) -> AsyncIterator[RowKey]:
        self._check_open()
        for document, _ in list(self._rows.values()):
            if source is None or document.source == source:
                yield row_key(document)

    async def delete(self, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        self._check_open()
        checked_selector(ids, where)
        keep = self._predicate(where)
        gone = [id for id in (self._rows if ids is None else wanted_ids(ids)) if id in self._rows]
        gone = [id for id in gone if keep(self._rows[id][0].metadata)]
        for id in gone:
            del self._rows[id]
            self._words.remove(id)
        return len(gone)

    async def clear(self) -> None:
        self._check_open()
        self._rows.clear()
        self._words = KeywordIndex()

    async def stats(self) -> StoreStats:
        self._check_open()
        return StoreStats(
            count=len(self._rows),
            dimension=self._dimension,
            embedder=self.embedder,
            key_types={key: frozenset(types) for key, types in self._key_types.items()},
            size_bytes=sum(vector.nbytes + len(doc.text) for doc, vector in self._rows.values()),
        )

    async def aclose(self) -> None:
        self._open = False

    def _check_open(self) -> None:
        if not self._open:
            raise StateError(f"index {self.index!r} is not open", hint="await store.open(create=…) first")

    def _predicate(self, where: Filter | None) -> Callable[[Mapping[str, Any]], bool]:
        if where is None:
            return lambda metadata: True
        check(where, self._key_types)
        return compile(where)

    def _by_vector(self, query: SearchQuery, keep: Callable[[Mapping[str, Any]], bool]) -> Hits:
        import numpy as np

        assert query.vector is not None
        unit = checked_query(query.vector, index=self.index, dimension=self._dimension, embedder=self.embedder)
        scores: dict[str, float] = {}
        for id, (document, vector) in self._rows.items():
            if keep(document.metadata):
                row = vector.astype(np.float64)
                length = float(np.sqrt(row @ row))
                scores[id] = vector_score(float(row @ unit) / length if length else 0.0)
        return _ordered(scores)

    def _by_keyword(self, text: str, keep: Callable[[Mapping[str, Any]], bool]) -> Hits:
        found = self._words.scores(query_terms(text)).items()
        scores = {id: keyword_score(bm25) for id, bm25 in found if keep(self._rows[id][0].metadata)}
        return _ordered({id: score for id, score in scores.items() if score > 0})


def _ordered(scores: dict[str, float]) -> Hits:
    return sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))


def _copy(document: Document) -> Document:
    # Metadata is a dict: a caller who changes a hit must not change the store.
    return document.model_copy(update={"metadata": document.metadata.copy()})
