"""The dev store: one index in a folder of the project, exact search, nothing to install or start.

store = DevStore("menu", embedder="local/all-minilm-l6-v2")
ai = Flowkit(plugins=[store])
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from flowkit import Filter, ScoredDocument
from flowkit.errors import NotFoundError, StateError
from flowkit.plugin import (
    EmbeddedDocument,
    Page,
    RowKey,
    SearchMode,
    SearchQuery,
    StorePlugin,
    StoreStats,
    run_in_thread,
)
from flowkit.rag.stores.rules import checked_selector
from flowkit_devstore.folders import DATABASE, default_folder, folder_name

if TYPE_CHECKING:
    from flowkit_devstore.session import Session
    from flowkit_devstore.snapshot import Snapshot
    from flowkit_devstore.writer import Writer

__all__ = ["DevStore"]

Result = TypeVar("Result")

# Below these a search takes about a millisecond, less than a thread and its wake-up are worth.
_INLINE_NUMBERS = 6_000_000
_INLINE_ROWS = 20_000
_INLINE_WORDS_ROWS = 1_000
_PAGE = 2_000


class DevStore(StorePlugin):
    """A vector store for development, in files: exact up to about a million chunks, several processes at once.

    An index is a folder, `<folder>/<safe name>`, with one SQLite file and one file of float32 vectors. Nothing is
    created by a search. For production use pgvector, Chroma or Pinecone: the code stays the same.
    """

    name = "devstore"

    def __init__(
        self, index: str, *, embedder: str | None = None, mode: SearchMode = "vector", folder: Path | None = None
    ) -> None:
        """`mode` is how retrieving searches when it does not say; `folder` is where indexes live, by default
        `.flowkit/indexes` in the project root."""
        folder_name(index)  # refuses a blank name here and now
        self.index = index
        self.embedder = embedder
        self.mode = mode
        self._folder = folder
        self._session: Session | None = None
        self._lock = threading.Lock()

    @property
    def path(self) -> Path:
        """The folder of this index, which need not exist yet."""
        if self._folder is None:
            self._folder = default_folder()
        return Path(self._folder) / folder_name(self.index)

    async def open(self, *, create: bool, dimension: int | None = None, embedder: str | None = None) -> None:
        """Open the index, or make it; cheap when it is open already.

        Raises:
            NotFoundError: it is not there, and `create` is False.
            IdentityError: it was built with another dimension or embedder.
            StoreError: its files are damaged or of a newer format; they are left as they are.
        """
        embedder = embedder or self.embedder
        session = self._session
        if session is not None and not session.is_current():
            await self.aclose()
            session = None
        if session is None:
            session = await self._open(create=create, dimension=dimension, embedder=embedder)
        if not session.expects(dimension, embedder):
            await self._write(lambda writer: session.identify(create=create, dimension=dimension, embedder=embedder))

    async def _open(self, *, create: bool, dimension: int | None, embedder: str | None) -> "Session":
        from flowkit_devstore.session import Session

        identity = {"name": self.index, "dimension": dimension, "embedder": embedder}
        if create and not (self.path / DATABASE).exists():
            await run_in_thread(Session.create, (self.path,), identity)
        try:
            session = Session.open(self.path, name=self.index, dimension=dimension, embedder=embedder)
        except NotFoundError:
            if not create:
                raise
            # Another task or process has made the file and not yet what is in it: `create` waits for it.
            await run_in_thread(Session.create, (self.path,), identity)
            session = Session.open(self.path, name=self.index, dimension=dimension, embedder=embedder)
        if session.is_outdated:
            await run_in_thread(session.write, (lambda writer: writer.rebuild_words(),))
        with self._lock:
            held = self._session = self._session or session
        if held is not session:  # another task, or another thread's loop, was faster
            await run_in_thread(session.close)
        return held

    async def upsert(self, rows: Sequence[EmbeddedDocument]) -> None:
        """Insert or replace by id, all or nothing; on disk when it returns."""
        rows = list(rows)
        await self._write(lambda writer: writer.upsert(rows))

    async def search(self, query: SearchQuery) -> list[ScoredDocument]:
        """The best `query.k` rows with score ≥ `min_score`, best first; exact."""
        from flowkit_devstore.search import search

        session = self._opened()
        state = session.state
        inline = state.slots * (state.dimension or 0) <= _INLINE_NUMBERS if query.vector is not None else True
        if query.where is not None:
            inline = inline and state.rows <= _INLINE_ROWS
        if query.text is not None:
            inline = inline and state.rows <= _INLINE_WORDS_ROWS
        return await self._read(lambda snapshot: search(snapshot, query), inline=inline)

    async def fetch(
        self,
        *,
        ids: Sequence[str] | None = None,
        where: Filter | None = None,
        cursor: str | None = None,
        limit: int = 100,
        with_vectors: bool = False,
    ) -> Page[EmbeddedDocument]:
        """Rows by id in the order asked, or by filter in id order, a page at a time."""
        from flowkit_devstore.fetch import fetch

        inline = limit <= 100 and (where is None or self._opened().state.rows <= _INLINE_ROWS)
        return await self._read(
            lambda snapshot: fetch(
                snapshot, ids=ids, where=where, cursor=cursor, limit=limit, with_vectors=with_vectors
            ),
            inline=inline,
        )

    async def manifest(self, source: str | None = None) -> AsyncIterator[RowKey]:
        """The keys of all rows, or of one source's, in id order."""
        from flowkit_devstore.fetch import manifest

        after = ""
        while True:
            page = partial(manifest, source=source, after=after, limit=_PAGE)
            keys = await self._read(page, inline=False)
            for key in keys:
                yield key
            if len(keys) < _PAGE:
                return
            after = keys[-1].id

    async def delete(self, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        """Delete by exactly one selector; returns how many rows went."""
        checked_selector(ids, where)
        wanted = None if ids is None else list(ids)
        return await self._write(lambda writer: writer.delete(ids=wanted, where=where))

    async def clear(self) -> None:
        """Delete every row; the index stays."""
        await self._write(lambda writer: writer.clear())

    async def stats(self) -> StoreStats:
        from flowkit_devstore.fetch import stats

        return await self._read(stats, inline=True)

    async def aclose(self) -> None:
        """Close the files; `open` opens them again."""
        session, self._session = self._session, None
        if session is not None:
            await run_in_thread(session.close)

    def _opened(self) -> "Session":
        if self._session is None:
            raise StateError(f"index {self.index!r} is not open", hint="await store.open(create=…) first")
        return self._session

    async def _read(self, look: "Callable[[Snapshot], Result]", *, inline: bool) -> Result:
        session = self._opened()
        if inline:
            return session.read(look)
        found: Result = await run_in_thread(session.read, (look,))
        return found

    async def _write(self, change: "Callable[[Writer], Result]") -> Result:
        session = self._opened()
        loop = asyncio.get_running_loop()
        try:
            writing = loop.run_in_executor(session.threads, session.write, change)
        except RuntimeError as error:  # the thread has ended
            raise StateError(f"index {self.index!r} is being closed", hint="open it again") from error
        return await writing
