"""A store and the reference in memory do the same at random, and must answer the same: hits, pages, counts, errors.

await Comparison(store, seed=7).run(documents=100, questions=50)

What has been written, deleted and asked follows from the seed alone, so a failure can be had again.
"""

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flowkit import Document, F, Filter, ScoredDocument
from flowkit.errors import FlowkitError
from flowkit.plugin import EmbeddedDocument, SearchQuery, VectorStore
from flowkit.rag.stores.abilities import abilities_of
from flowkit.rag.stores.memory import InMemoryStore
from tests.plugins.pgvector.compared import assert_same

__all__ = ["Comparison"]

DIMENSION = 16
WORDS = ["soup", "tomato", "basil", "bread", "cakes", "berry", "wine", "返金", "営業時間", "café", "Straße", "naïve"]
NAMES = ["", "a", "B", "ä", "日本", "\U0001f600", "a'b", 'q"q', "50%", "x\\y", "5", "true"]
NUMBERS: list[int | float] = [-4, 0, 1, 2, 2.5, 1e-7, 2**53, 2**53 + 1, 2**62, 1e300, -0.5]
MOST = 30
"""The largest k."""


@dataclass
class Comparison:
    """One store beside the reference. Both must be new."""

    store: VectorStore
    seed: int
    exact: bool = True
    """Otherwise hits of a search by vector may be missed, few of all."""
    done: list[str] = field(default_factory=list)
    """What was done so far, for a message."""
    hits: int = 0
    missed: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.reference = InMemoryStore("reference")
        self.modes = abilities_of(self.store).modes
        self.ids: list[str] = []

    async def run(self, *, documents: int, questions: int) -> None:
        """Write so many documents, ask so many questions, with deletions and reopening between them."""
        await self._open(create=True)
        asked = written = 0
        try:
            while asked < questions or written < documents:
                if written < documents and (not self.ids or self.random.random() < 0.3):
                    written += await self._write(documents)
                elif asked < questions and self.random.random() < 0.8:
                    asked += 1
                    await self.random.choices([self._search, self._fetch, self._look], [6, 2, 1])[0]()
                else:
                    await self.random.choices([self._delete, self._update, self._reopen], [3, 3, 1])[0]()
            await self._look()
            await self._delete_all()
        except AssertionError as error:
            error.add_note(f"seed {self.seed}; the last steps were: {'; '.join(self.done[-6:])}")
            raise
        finally:
            await self.store.aclose()
        assert self.missed <= 0.05 * self.hits, f"{self.missed} of {self.hits} hits were missed, seed {self.seed}"

    async def recall(self, share: int, *, questions: int) -> float:
        """How many of the best 10 are found, with a filter that lets through so many percent; 0…1."""
        found = right = 0
        for _ in range(questions):
            query = SearchQuery(vector=self._vector(), k=10, where=F("part") < share)
            best = {hit.id for hit in await self.reference.search(query)}
            right += len(best)
            found += len(best & {hit.id for hit in await self.store.search(query)})
        return found / right

    async def fill(self, count: int) -> None:
        """Open both with so many documents."""
        await self._open(create=True)
        rows = [EmbeddedDocument(self._document(f"d{n:05}", n), self._vector()) for n in range(count)]
        for store in (self.store, self.reference):
            await store.upsert(rows)

    # Steps

    async def _write(self, most: int) -> int:
        count = self.random.randint(1, max(1, most // 5))
        ids = [f"d{self.random.randrange(most):05}" for _ in range(count)]
        rows = [EmbeddedDocument(self._document(id, n), self._vector()) for n, id in enumerate(ids)]
        await self._both("write", lambda store: store.upsert(rows))
        self.ids = sorted({*self.ids, *ids})
        return count

    async def _update(self) -> None:
        """Metadata and texts anew, vectors kept; now and then of an id that is not there, which is refused."""
        ids = self.random.choices([*self.ids, "nobody"], k=self.random.randint(1, 5))
        rows = [EmbeddedDocument(self._document(id, 1)) for id in ids]
        await self._both(f"update {ids}", lambda store: store.upsert(rows))

    async def _delete(self) -> None:
        if self.random.random() < 0.6:
            ids = self.random.sample([*self.ids, "nobody"], min(4, len(self.ids)))
            await self._both(f"delete {ids}", lambda store: store.delete(ids=ids))
        else:
            where = (F("part") == self.random.randrange(100)) & self._filter(1)
            await self._both(f"delete where {where}", lambda store: store.delete(where=where))

    async def _delete_all(self) -> None:
        await self._both("clear", lambda store: store.clear())
        await self._both("search", lambda store: store.search(SearchQuery(vector=[1.0] * DIMENSION, k=3)))
        assert (await self.store.stats()).count == 0

    async def _reopen(self) -> None:
        self.done.append("reopen")
        await self.store.aclose()
        await self.store.open(create=False)

    async def _search(self) -> None:
        mode = self.random.choice(self.modes)
        query = SearchQuery(
            vector=None if mode == "keyword" else self._vector(),
            text=None if mode == "vector" else " ".join(self.random.choices(WORDS, k=2)),
            k=self.random.randint(1, MOST),
            min_score=self.random.choice([0, 0, 0.3, 0.5, 0.6]),
            where=self._filter(3) if self.random.random() < 0.7 else None,
        )
        found, right = await self._each(f"search {query}", lambda store: store.search(query))
        if isinstance(right, str) or self.exact or mode == "keyword":
            self._same(found, right, query)
        else:
            self._near(found, right, query)

    async def _fetch(self) -> None:
        where = self._filter(2) if self.random.random() < 0.7 else None
        ids = self.random.sample([*self.ids, "nobody"], min(20, len(self.ids))) if self.random.random() < 0.5 else None
        limit = self.random.choice([1, 3, 1000])

        async def pages(store: VectorStore) -> Any:
            items: list[Document] = []
            cursor = None
            for _ in range(5):
                page = await store.fetch(ids=ids, where=where, cursor=cursor, limit=limit)
                items += [row.document for row in page.items]
                cursor = page.cursor
                if cursor is None:
                    break
            return items, cursor is None

        found, right = await self._each(f"fetch {ids} where {where}", pages)
        assert found == right, f"fetch {ids} where {where}"

    async def _look(self) -> None:
        async def keys(store: VectorStore) -> Any:
            return {key async for key in store.manifest()}

        async def numbers(store: VectorStore) -> Any:
            stats = await store.stats()
            return stats.count, stats.dimension, dict(stats.key_types)

        for step in (keys, numbers):
            found, right = await self._each(step.__name__, step)
            assert found == right, step.__name__
        source = f"file{self.random.randrange(7)}.md"
        found, right = await self._each(source, lambda store: _keys(store, source))
        assert found == right, source

    # Comparing

    async def _both(self, what: str, step: Callable[[VectorStore], Awaitable[Any]]) -> None:
        found, right = await self._each(what, step)
        assert found == right, what

    async def _each(self, what: str, step: Callable[[VectorStore], Awaitable[Any]]) -> tuple[Any, Any]:
        self.done.append(what)
        return await _outcome(step, self.store), await _outcome(step, self.reference)

    def _same(self, found: Any, right: Any, query: SearchQuery) -> None:
        if isinstance(found, str) or isinstance(right, str):
            assert found == right, query
        else:
            assert_same(found, right, query)

    def _near(self, found: Any, right: Sequence[ScoredDocument], query: SearchQuery) -> None:
        assert not isinstance(found, str), (found, query)
        ids = {hit.id for hit in found}
        self.hits += len(right)
        self.missed += sum(hit.id not in ids for hit in right)
        if query.text is None:  # fused ranks move when a hit is missed
            scores = {hit.id: hit.score for hit in right}
            for hit in found:
                assert abs(scores.get(hit.id, hit.score) - hit.score) < 1e-6, query

    # Values

    async def _open(self, *, create: bool) -> None:
        for store in (self.store, self.reference):
            await store.open(create=create, dimension=DIMENSION, embedder="local/some")

    def _vector(self) -> "np.ndarray[Any, np.dtype[np.float32]]":
        return np.asarray([self.random.gauss(0, 1) for _ in range(DIMENSION)], np.float32)

    def _document(self, id: str, n: int) -> Document:
        text = " ".join(self.random.choices(WORDS, weights=range(len(WORDS), 0, -1), k=self.random.randint(1, 20)))
        metadata: dict[str, Any] = {"source": f"file{n % 7}.md", "index": n, "part": self.random.randrange(100)}
        if self.random.random() < 0.8:
            metadata["name"] = self.random.choice(NAMES)
        if self.random.random() < 0.8:
            metadata["n"] = self.random.choice(NUMBERS)
        if self.random.random() < 0.6:
            metadata["flag"] = self.random.random() < 0.5
        if self.random.random() < 0.5:
            metadata["tags"] = self.random.sample([*NAMES, 1, 2.5, 2**53 + 1, True, [1], {"a": 1}], 2)
        if self.random.random() < 0.5:
            metadata["mixed"] = self.random.choice([1, "1", True, [1], ["1"], {"1": 1}, 1.0, "one"])
        return Document.from_text(text, metadata, id=id)

    def _filter(self, depth: int) -> Filter:
        if depth and self.random.random() < 0.6:
            left, right = self._filter(depth - 1), self._filter(depth - 1)
            return self.random.choice([left & right, left | right, ~left])
        key = self.random.choice(["name", "n", "flag", "mixed", "part", "source", "absent"])
        if self.random.random() < 0.15:
            return F("tags").contains(self.random.choice([*NAMES, 1, 2**53 + 1]))
        values: Sequence[Any] = {"name": NAMES, "source": ["file1.md", "x"], "flag": [True, False]}.get(key, NUMBERS)
        if key in ("mixed", "absent") or self.random.random() < 0.03:  # now and then a type that the key never had
            values = ["1", "one", 1, 1.0, True]
        if key == "part":
            values = range(100)
        value, other = self.random.choice(list(values)), self.random.choice(list(values))
        made = [F(key) == value, F(key) != value, F(key).in_([value, other]), F(key).not_in([value, other])]
        if not isinstance(value, bool):
            made += [F(key) > value, F(key) >= value, F(key) < value, F(key) <= value]
        return self.random.choice(made)


async def _outcome(step: Callable[[VectorStore], Awaitable[Any]], store: VectorStore) -> Any:
    """What came of it; of an error, its kind."""
    try:
        return await step(store)
    except FlowkitError as error:
        return f"raises {type(error).__name__}"


async def _keys(store: VectorStore, source: str) -> Any:
    return {key async for key in store.manifest(source)}
