"""What is in an index and stands for nothing any more: finding it, and deleting it when all that is new is in.

outdated = Outdated(store, tally, ledger, items, "source", run_id)
await outdated.begin(); …; await outdated.find()
async for deleted in outdated.delete(): ...
"""

from collections.abc import AsyncIterator, Iterable, Sequence

from flowkit.rag.ingest.items import Items
from flowkit.rag.ingest.ledger import Ledger
from flowkit.rag.ingest.report import SyncMode
from flowkit.rag.ingest.tally import Tally
from flowkit.rag.stores.contract import RowKey, VectorStore

__all__ = ["Outdated"]

_PAGE = 1000
_ONE_BY_ONE = 16  # up to so many sources are asked for one by one; beyond, all rows are looked through
_AT_ONCE = 2000  # rows deleted in one go


class Outdated:
    """For one run. Rows of sources that another run has read since are that run's to delete."""

    def __init__(
        self, store: VectorStore, tally: Tally, ledger: Ledger, items: Items, sync: SyncMode, run_id: str
    ) -> None:
        self._store = store
        self._tally = tally
        self._ledger = ledger
        self._items = items
        self._sync = sync
        self._run_id = run_id
        self._since = 0

    async def begin(self) -> None:
        """Before anything is read: what comes into the index from now on is not ours to judge."""
        self._since = await self._ledger.stamp()
        if self._sync == "full":
            async for page in self._pages(None):
                self._tally.remember(page)

    async def find(self) -> None:
        """Put down which rows are outdated, and which of them this mode deletes."""
        few = self._tally.met_at_most(_ONE_BY_ONE) if self._items.scope is None and self._sync != "full" else None
        for source in [None] if few is None else few:
            async for page in self._pages(source):
                self._judge(page)

    async def delete(self) -> AsyncIterator[int]:
        """Delete what `find` has found; gives how many rows went, some at a time."""
        for rows in self._tally.to_delete(_AT_ONCE):
            async with self._ledger.turn():
                met = self._tally.met(_sources(source for _, source in rows))
                ids = [id for id, source in rows if self._may_delete(source, met)]
                deleted = await self._store.delete(ids=ids) if ids else 0
            yield deleted

    def _judge(self, page: Sequence[RowKey]) -> None:
        unseen = self._tally.unseen(page)
        sources = _sources(key.source for key in unseen)
        met, unreadable = self._tally.met(sources), self._tally.unreadable(sources)
        mine = [key for key in unseen if key.source in met]
        self._tally.add_stale(mine, removed=self._sync != "append")
        others = [key for key in unseen if key.source not in met and key.source not in unreadable]
        gone = [key for key in others if self._is_in_scope(key.source)]
        if self._sync == "full":
            there = self._tally.was_there([key.id for key in gone])
            self._tally.add_stale([key for key in gone if key.id in there], removed=True)
        elif self._items.scope is not None:
            self._tally.add_stale(gone, removed=False)

    def _is_in_scope(self, source: str | None) -> bool:
        """Whether a source would have been met if it were still there."""
        if self._items.only_itself:
            return False
        scope = self._items.scope
        if scope is None:
            return True
        return source is not None and source.startswith(scope) and ("://" in source) == ("://" in scope)

    def _may_delete(self, source: str | None, met: set[str]) -> bool:
        if source is None:
            return True
        if source in met:
            return self._ledger.is_mine(self._run_id, source)
        return self._ledger.is_left_alone(source, self._since)

    async def _pages(self, source: str | None) -> AsyncIterator[list[RowKey]]:
        page: list[RowKey] = []
        async for key in self._store.manifest(source):
            page.append(key)
            if len(page) == _PAGE:
                yield page
                page = []
        if page:
            yield page


def _sources(sources: Iterable[str | None]) -> list[str]:
    return list({source for source in sources if source is not None})
