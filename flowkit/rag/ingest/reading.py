"""Reading: from a stream of documents to windows of chunks, with the ids, stamps and claims that syncing needs.

async for window in Reader(items, pipeline, tally, ledger, run_id).windows(64): ...
"""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, NamedTuple

from flowkit.rag.ingest.chunks import Pipeline
from flowkit.rag.ingest.items import Items
from flowkit.rag.ingest.ledger import Ledger
from flowkit.rag.ingest.tally import Tally
from flowkit.rag.load.skipped import Skipped
from flowkit.schema.documents import Document

__all__ = ["Reader", "Window"]

_DOCUMENTS = 32
_CHARACTERS = 1_000_000
_SECONDS = 0.3
_END: Any = object()


class Window(NamedTuple):
    """Chunks that are compared, embedded and written together, each id once."""

    rows: list[Document]
    stamp: int
    """From before the documents were read."""
    documents: int = 0
    """How many documents this brings to their end."""


class Reader:
    """One pass over the items."""

    def __init__(self, items: Items, pipeline: Pipeline, tally: Tally, ledger: Ledger, run_id: str) -> None:
        self._items = items
        self._pipeline = pipeline
        self._tally = tally
        self._ledger = ledger
        self._run_id = run_id
        self.documents = 0
        self.skipped: list[Skipped] = []

    async def windows(self, size: int) -> AsyncGenerator[Window, None]:
        """The chunks, `size` at a time."""
        held: list[Document] = []
        oldest = 0
        ended = 0
        failure: Exception | None = None
        async with aclosing(self._batches()) as batches:
            try:
                async for documents, stamp in batches:
                    rows = await self._pipeline.chunks(documents, self._tally)
                    await self._claim([*documents, *rows], stamp)
                    ended += len(documents)
                    oldest = oldest if held else stamp
                    held += rows
                    while len(held) >= size:
                        yield _window(held[:size], oldest, ended)
                        held, oldest, ended = held[size:], stamp, 0
            except Exception as error:  # noqa: BLE001  raised below: what came before it is not lost
                failure = error
        if held or ended:
            yield _window(held, oldest, ended)
        if failure is not None:
            raise failure

    async def _batches(self) -> AsyncGenerator[tuple[list[Document], int], None]:
        """Some documents at a time, with a stamp from before they were read."""
        failure: Exception | None = None
        async with aclosing(aiter(self._items)) as items:
            ended = False
            stamp = 0
            while not ended:
                if not self._items.pending:
                    stamp = await self._ledger.stamp()
                batch: list[Document] = []
                size = 0
                until = time.monotonic() + _SECONDS
                while len(batch) < _DOCUMENTS and size < _CHARACTERS and (not batch or time.monotonic() < until):
                    try:
                        item = await anext(items, _END)
                    except Exception as error:  # noqa: BLE001  raised below: what came before it is not lost
                        item, failure = _END, error
                    if item is _END:
                        ended = True
                        break
                    if isinstance(item, Skipped):
                        await self._skip(item, stamp)
                        continue
                    batch.append(item)
                    size += len(item.text)
                self.documents += len(batch)
                if batch:
                    yield batch, stamp
        if failure is not None:
            raise failure

    async def _skip(self, item: Skipped, stamp: int) -> None:
        self.skipped.append(item)
        self._tally.read(item.source, unreadable=not item.empty)
        if item.empty:
            await self._ledger.claim(self._run_id, {item.source: stamp})

    async def _claim(self, documents: list[Document], stamp: int) -> None:
        sources = {document.source for document in documents}
        await self._ledger.claim(self._run_id, {source: stamp for source in sources if source is not None})


def _window(rows: list[Document], stamp: int, documents: int) -> Window:
    return Window(list({row.id: row for row in rows}.values()), stamp, documents)
