"""The words of an index, in memory: Chroma has no BM25, so its texts are read once, and later only what has changed.

words = Words()
scores = await words.scores(session, "tomato soup")
"""

from typing import TYPE_CHECKING, Any

from flowkit.plugin import run_in_thread
from flowkit.rag.keyword import KeywordIndex, query_terms, terms
from flowkit.rag.stores.rules import keyword_score
from flowkit.rag.stores.turns import Turns
from flowkit_chroma.rows import ROW

if TYPE_CHECKING:
    from flowkit_chroma.session import Row, Session

__all__ = ["Words"]

_HASH = 32


class Words:
    """BM25 over all texts, exact: the same scores as those of the other stores."""

    def __init__(self) -> None:
        self._index = KeywordIndex()
        self._hashes: dict[str, str] = {}
        self._seen: Any = None
        self._turns = Turns()

    async def scores(self, session: "Session", text: str) -> dict[str, float]:
        """Id → score, for every row that has one of the words."""
        async with self._turns.hold([""]):
            await self._follow(session)
            found = self._index.scores(query_terms(text)).items()
        scores = ((id, keyword_score(bm25)) for id, bm25 in found)
        return {id: score for id, score in scores if score > 0}

    async def _follow(self, session: "Session") -> None:
        """Catch up with what was written, by whomever."""
        await session.link.refresh(session.collection)
        seen = session.link.version
        if seen is None:
            await session.catalog.watch()
            await session.catalog.read()
            seen = session.catalog.mark, await session.call("count")
        if seen == self._seen:
            return
        found = await session.call("get", include=["metadatas"])
        hashes = {id: str(metadata[ROW])[:_HASH] for id, metadata in zip(found["ids"], found["metadatas"], strict=True)}
        index = self._index
        for id in self._hashes.keys() - hashes.keys():
            index.remove(id)
            del self._hashes[id]
        new = [id for id, text in hashes.items() if self._hashes.get(id) != text]
        async for rows in session.batches(new, "documents"):
            await run_in_thread(self._add, (rows,))
        # A text that another writer changed meanwhile is newer than its hash; the next look reads it again.
        self._hashes.update((id, hashes[id]) for id in new)
        self._seen = seen

    def _add(self, rows: "list[Row]") -> None:
        for row in rows:
            self._index.add(row.id, terms(row.text or ""))
