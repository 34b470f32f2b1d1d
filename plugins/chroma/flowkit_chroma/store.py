"""The Chroma store: one index in a folder of this machine, or in a Chroma server.

store = Chroma("menu", host="localhost", port=8000, embedder="local/all-minilm-l6-v2")
ai = Flowkit(plugins=[store])
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flowkit import Filter, ScoredDocument
from flowkit.errors import ConfigError, InvalidInputError, NotFoundError, StateError
from flowkit.plugin import (
    EmbeddedDocument,
    Page,
    RowKey,
    SearchMode,
    SearchQuery,
    StoreAbilities,
    StorePlugin,
    StoreStats,
)
from flowkit.rag.stores.rules import checked_selector
from flowkit_chroma.names import collection_name
from flowkit_chroma.server import Address, Server, Transport

if TYPE_CHECKING:
    from flowkit_chroma.links import Link
    from flowkit_chroma.session import Session

__all__ = ["Chroma"]


class Chroma(StorePlugin):
    """A vector index in Chroma: `path=` for a folder, `host=` for a server.

    An index is a collection of the same name where Chroma allows it, else of an encoded one, and a small collection
    beside it. Safe for many tasks, threads and loops; several processes share a server, or a folder that one of them
    writes to.
    """

    name = "chroma"

    def __init__(
        self,
        index: str,
        *,
        path: Path | str | None = None,
        host: str | None = None,
        port: int = 8000,
        embedder: str | None = None,
        mode: SearchMode = "vector",
        ssl: bool = False,
        headers: Mapping[str, str] | None = None,
        tenant: str = "default_tenant",
        database: str = "default_database",
        transport: Transport = "async",
        timeout_seconds: float = 60.0,
    ) -> None:
        """No connection is made here.

        Args:
            index: its name, any text.
            path: the folder of Chroma's files, made when it is first written to.
            host: the server, in place of a folder; `port`, `ssl`, `headers`, `tenant`, `database`, `transport` and
                `timeout_seconds` are for it only.
            mode: how retrieving searches when it does not say.
            headers: sent with every request, for instance a token.
            transport: "async" for a client on each event loop, "threads" for one blocking client on threads.

        Raises:
            ConfigError: both path and host, or none of them.
        """
        self._collection = collection_name(index)
        if (path is None) == (host is None):
            raise ConfigError(
                f"chroma index {index!r} needs either path= or host=",
                hint=f"Chroma({index!r}, path='data/chroma') keeps it in a folder, host='localhost' in a server",
            )
        if transport not in ("async", "threads"):
            raise InvalidInputError(f"transport is {transport!r}", hint="use 'async' or 'threads'")
        self.index = index
        self.embedder = embedder
        self.mode = mode
        self._path = None if path is None else Path(path)
        self._transport: Transport = transport
        self._address = (
            None if host is None else Address(host, port, ssl, dict(headers or {}), tenant, database, timeout_seconds)
        )
        self._session: Session | None = None

    @property
    def abilities(self) -> StoreAbilities:
        """Everything; a server does not tell how much room an index takes."""
        return StoreAbilities(exact=False, tells_size=self._path is not None)

    async def open(self, *, create: bool, dimension: int | None = None, embedder: str | None = None) -> None:
        """Open the index, or make it; cheap when it is open already.

        Raises:
            NotFoundError: it is not there, and `create` is False.
            IdentityError: it was built with another dimension or embedder.
            StoreError: the collection was not made by flowkit, or by a newer version.
            StateError: it is to be made, and another process writes to the folder.
            ConfigError: the server is of another major version than the client.
            BackendError: no server answers.
        """
        embedder = embedder or self.embedder
        session = self._session
        if session is None:
            link = self._link()
            try:
                opened = await self._opened(link, create=create, dimension=dimension, embedder=embedder)
            except BaseException:  # failed or cancelled, it is nobody's then
                await link.aclose()
                raise
            if self._session is None:
                session = self._session = opened
            else:  # another task was faster
                session = self._session
                await link.aclose()
        joined = session.identity.joined(embedder=embedder, dimension=dimension)
        if create and joined != session.identity:
            from flowkit_chroma.write import identify

            async with session.link.turn(self._collection):
                await identify(session, joined)

    async def upsert(self, rows: Sequence[EmbeddedDocument]) -> None:
        """Insert or replace by id; what is refused is refused before anything is written."""
        from flowkit_chroma.write import upsert

        await upsert(self._opened_session(), list(rows))

    async def search(self, query: SearchQuery) -> list[ScoredDocument]:
        """The best `query.k` rows with score ≥ `min_score`, best first; by vector as exact as Chroma's index is."""
        from flowkit_chroma.search import search

        return await search(self._opened_session(), query)

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
        from flowkit_chroma.fetch import fetch

        return await fetch(
            self._opened_session(), ids=ids, where=where, cursor=cursor, limit=limit, with_vectors=with_vectors
        )

    async def manifest(self, source: str | None = None) -> AsyncIterator[RowKey]:
        """The keys of all rows, or of one source's, in id order."""
        from flowkit_chroma.fetch import manifest

        async for key in manifest(self._opened_session(), source):
            yield key

    async def delete(self, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        """Delete by exactly one selector; returns how many rows went."""
        from flowkit_chroma.write import delete

        session = self._opened_session()
        checked_selector(ids, where)
        return await delete(session, ids=ids, where=where)

    async def clear(self) -> None:
        """Delete every row; the index stays."""
        from flowkit_chroma.write import clear

        await clear(self._opened_session())

    async def stats(self) -> StoreStats:
        """Counts and types; `size_bytes` is of the whole folder, and None for a server."""
        from flowkit_chroma.fetch import stats

        return await stats(self._opened_session())

    async def aclose(self) -> None:
        """Close the client, and let go of the writer's lock; `open` opens again."""
        session, self._session = self._session, None
        if session is not None:
            await session.link.aclose()

    def _link(self) -> "Link":
        if self._address is not None:
            return Server(self._address, transport=self._transport)
        from flowkit_chroma.embedded import Embedded

        assert self._path is not None  # __init__ wants one of the two
        return Embedded.of(self._path)

    async def _opened(self, link: "Link", *, create: bool, dimension: int | None, embedder: str | None) -> "Session":
        from flowkit_chroma.catalog import Catalog, Identity
        from flowkit_chroma.session import Session

        catalog = Catalog(link, self._collection)
        link.titles |= {self._collection: self.index, catalog.name: self.index}
        there = await link.connect(self._collection, create=create)
        held = await link.metadata(self._collection) if there else None
        if held is None:
            if not create:
                raise NotFoundError(f"there is no index {self.index!r} in {link.place}", hint="index documents first")
            async with link.turn(self._collection):
                await catalog.create(self.index)
                await link.create(self._collection, Identity(self.index, embedder, dimension).metadata())
            held = await link.metadata(self._collection) or {}  # what whoever was first has written
        identity = Identity.read(self.index, held, link.place)
        identity.joined(embedder=embedder, dimension=dimension)
        return Session(link, self._collection, identity, catalog)

    def _opened_session(self) -> "Session":
        if self._session is None:
            raise StateError(f"index {self.index!r} is not open", hint="await store.open(create=…) first")
        return self._session
