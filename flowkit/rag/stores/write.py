"""Writing documents into a vector store: only what is new is embedded, and finished batches stay whatever comes after.

report = await Writer(store, embedder, turns).write(documents)
"""

import asyncio
from collections import Counter
from collections.abc import Sequence

from flowkit.errors import InvalidInputError, NotFoundError
from flowkit.rag.embedder import CachedEmbedder
from flowkit.rag.stores.contract import EmbeddedDocument, VectorStore
from flowkit.rag.stores.turns import Turns
from flowkit.schema.documents import Document, document_id, metadata_hash, text_hash
from flowkit.schema.retrieval import IndexReport
from flowkit.schema.text import is_blank

__all__ = ["Writer", "with_ids"]

_WINDOW = 1000  # documents compared at once with what is stored
_CONCURRENT = 4  # batches that are embedded and written at a time


class Writer:
    """One call of an indexer."""

    def __init__(self, store: VectorStore, embedder: CachedEmbedder, turns: Turns) -> None:
        self._store = store
        self.embedder = embedder
        self._turns = turns
        self._opened = False

    async def write(self, documents: Sequence[Document]) -> IndexReport:
        """Compare, embed and write; see `StoreActions.index`."""
        rows = with_ids(documents)
        queue = list({doc.id: doc for doc in rows}.values())  # the last of equal ids wins
        written = updated = 0
        for at in range(0, len(queue), _WINDOW):
            new, changed = await self.sync(queue[at : at + _WINDOW])
            written += len(new)
            updated += len(changed)
        return IndexReport(
            written=written,
            updated=updated,
            unchanged=len(queue) - written - updated,
            ids=tuple(doc.id or "" for doc in rows),
            cleaned_characters=sum(doc.cleaned_characters for doc in documents),
            windowed=self.embedder.windowed,
            cached=self.embedder.hits,
        )

    async def sync(self, window: Sequence[Document]) -> tuple[list[Document], list[Document]]:
        """Write some documents (with ids, each id once); returns those that were new, and those with new metadata."""
        async with self._turns.hold([doc.id or "" for doc in window]):
            new, changed = await self.compare(window)
            if changed:
                await self._store.upsert([EmbeddedDocument(doc) for doc in changed])
            await self._write_new(new)
        return new, changed

    async def open(self) -> bool:
        """Open the index if it is there. It is made when the first vectors are, so that a failing run leaves none."""
        if not self._opened:
            try:
                await self._store.open(
                    create=False, dimension=self.embedder.info.dimensions, embedder=self.embedder.name
                )
            except NotFoundError:
                return False
            self._opened = True
        return True

    async def compare(self, window: Sequence[Document]) -> tuple[list[Document], list[Document]]:
        """Which documents need a vector, and which only new metadata."""
        if not await self.open():
            return list(window), []
        page = await self._store.fetch(ids=[doc.id or "" for doc in window], limit=len(window))
        stored = {row.id: row.document for row in page.items}
        new: list[Document] = []
        changed: list[Document] = []
        for doc in window:
            old = stored.get(doc.id or "")
            if old is None or text_hash(old.text) != text_hash(doc.text):
                new.append(doc)
            elif metadata_hash(old.metadata) != metadata_hash(doc.metadata):
                changed.append(doc)
        return new, changed

    async def _write_new(self, new: Sequence[Document]) -> None:
        """Some batches at a time. After a failure no further one begins; those under way are finished and kept."""
        size = self.embedder.batch_size
        batches = [new[at : at + size] for at in range(0, len(new), size)]
        if len(batches) == 1:
            return await self._write_batch(batches[0])
        running: set[asyncio.Task[None]] = set()
        failures: list[BaseException] = []
        try:
            for batch in batches:
                if len(running) == _CONCURRENT:
                    running = await _some(running, failures, asyncio.FIRST_COMPLETED)
                if failures:
                    break
                running.add(asyncio.create_task(self._write_batch(batch)))
            while running:
                running = await _some(running, failures, asyncio.ALL_COMPLETED)
        finally:
            for task in running:  # when this is cancelled; else there are none left
                task.cancel()
            if running:
                await asyncio.wait(running)
        if failures:
            raise failures[0]
        return None

    async def _write_batch(self, batch: Sequence[Document]) -> None:
        vectors = await self.embedder.embed(batch)
        if not await self.open():
            await self._store.open(create=True, dimension=len(vectors[0]), embedder=self.embedder.name)
            self._opened = True
        await self._store.upsert([EmbeddedDocument(doc, vector) for doc, vector in zip(batch, vectors, strict=True)])


async def _some(running: set[asyncio.Task[None]], failures: list[BaseException], when: str) -> set[asyncio.Task[None]]:
    done, running = await asyncio.wait(running, return_when=when)
    failures.extend(error for task in done if (error := task.exception()) is not None)
    return running


def with_ids(documents: Sequence[Document]) -> list[Document]:
    """Give each document without an id its own: a hash of source, text, and how many equal ones came before.

    Raises:
        InvalidInputError: a document has no text.
    """
    seen: Counter[tuple[str | None, str]] = Counter()
    rows: list[Document] = []
    for at, doc in enumerate(documents):
        if is_blank(doc.text):
            raise InvalidInputError(f"document {at} has no text", hint="leave out empty pages and files")
        if type(doc) is not Document:  # a hit of another index: its score is nothing to keep
            doc = Document.model_construct(content=doc.content, metadata=doc.metadata, id=doc.id)
        if not doc.id:
            key = (doc.source, doc.text if doc.source is not None else f"{doc.text}\x00{metadata_hash(doc.metadata)}")
            doc = doc.with_id(document_id(doc.source, doc.text, seen[key], doc.metadata))
            seen[key] += 1
        rows.append(doc)
    return rows
