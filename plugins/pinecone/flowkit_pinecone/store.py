"""The Pinecone store: one index in Pinecone's serverless service, or one namespace of it.

store = Pinecone("menu", embedder="local/all-minilm-l6-v2")       # the key: PINECONE_API_KEY
ai = Flowkit(plugins=[store])
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from flowkit import Filter, ScoredDocument
from flowkit.errors import ConfigError, InvalidInputError, StateError, UnsupportedError
from flowkit.plugin import (
    EmbeddedDocument,
    Page,
    RowKey,
    SearchMode,
    SearchQuery,
    StoreAbilities,
    StorePlugin,
    StoreStats,
    check,
)
from flowkit.rag.stores.rules import checked_query, checked_rows, checked_selector, clean_id
from flowkit_pinecone.catalog import Identity
from flowkit_pinecone.link import Access, Link
from flowkit_pinecone.names import checked_namespace, pinecone_name, row_id
from flowkit_pinecone.opening import Opening
from flowkit_pinecone.rows import Metric

if TYPE_CHECKING:
    from flowkit_pinecone.session import Session

__all__ = ["Pinecone"]

_BY_VECTOR = StoreAbilities(modes=("vector",), exact=False, namespaces=True, tells_size=False)
_HYBRID = replace(_BY_VECTOR, modes=("vector", "keyword", "hybrid"))


class Pinecone(StorePlugin):
    """A vector index in Pinecone. It is made, serverless, when it is first written to.

    Safe for many tasks, threads, loops and processes. Reads wait for what this object wrote before them; what others
    wrote is seen when Pinecone shows it, after a moment. Searches by vector, and with `hybrid=True` by words too.
    """

    name = "pinecone"
    environment = ("PINECONE_API_KEY",)

    def __init__(
        self,
        index: str,
        *,
        embedder: str | None = None,
        mode: SearchMode = "vector",
        api_key: str | None = None,
        host: str | None = None,
        cloud: str = "aws",
        region: str = "us-east-1",
        namespace: str = "",
        metric: Metric = "cosine",
        hybrid: bool = False,
        wait_seconds: float = 30.0,
        retry_seconds: float = 60.0,
        timeout_seconds: float = 30.0,
    ) -> None:
        """No connection is made here.

        Args:
            index: its name, any text; Pinecone's own name of it is `pinecone_name(index)`.
            mode: how retrieving searches when it does not say; what is not "vector" needs `hybrid`.
            api_key: by default the SDK's own, PINECONE_API_KEY.
            host: where Pinecone's control plane is, for a proxy or a local server.
            cloud: where a new index is made, together with `region`.
            namespace: a part of the index with rows of its own; "" is the default one.
            metric: how a new index compares. Vectors of any length for cosine, of length 1 for dotproduct.
            hybrid: search by words, and by both, too. The index is made with metric dotproduct and takes vectors of any
                length, with the scores of cosine.
            wait_seconds: how long a read waits until earlier writes of this object can be seen; 0 for not at all.
            retry_seconds: how long a request that is told "later" is repeated, all attempts together.
            timeout_seconds: how long one request may take.

        Raises:
            InvalidInputError: a name, metric or time that cannot be.
            ConfigError: a mode that the index will not have.
        """
        pinecone_name(index)  # raises for what is no name
        if metric not in ("cosine", "dotproduct", "euclidean"):
            raise InvalidInputError(f"metric is {metric!r}", hint="use 'cosine', 'dotproduct' or 'euclidean'")
        if hybrid and metric == "euclidean":
            raise InvalidInputError(
                "metric 'euclidean' has no hybrid search in Pinecone", hint="leave out metric=, or hybrid=True"
            )
        for what, seconds in (("wait_seconds", wait_seconds), ("retry_seconds", retry_seconds)):
            if not seconds >= 0:
                raise InvalidInputError(f"{what} is {seconds!r}", hint="give 0 or more")
        self.index = index
        self.embedder = embedder
        self.mode = mode
        if mode != "vector" and not hybrid:
            raise ConfigError(f"pinecone index {index!r} has no {mode} search", hint="give hybrid=True as well")
        self._opening = Opening(
            index=index,
            namespace=checked_namespace(namespace),
            metric="dotproduct" if hybrid else metric,
            hybrid=hybrid,
            cloud=cloud,
            region=region,
            wait_seconds=wait_seconds,
            ready_seconds=max(retry_seconds, 300.0),
        )
        self._access = Access(api_key, host, timeout_seconds, retry_seconds)
        self._link: Link | None = None
        self._session: Session | None = None
        self._planned: Identity | None = None
        """What an index is to be made with, as soon as a vector tells its dimension."""

    @property
    def abilities(self) -> StoreAbilities:
        """How it searches depends on `hybrid`."""
        return _HYBRID if self._opening.hybrid else _BY_VECTOR

    async def open(self, *, create: bool, dimension: int | None = None, embedder: str | None = None) -> None:
        """Open the index, or make it; cheap when it is open already. Of unknown dimension, it is made by the first
        upsert.

        Raises:
            NotFoundError: it is not there, and `create` is False.
            IdentityError: it was built with another dimension, embedder or metric.
            StoreError: the index was not made by flowkit, or by a newer version.
            ConfigError: there is no key, or Pinecone refuses it.
            BackendError: Pinecone does not answer.
        """
        embedder = embedder or self.embedder
        session = self._session
        if session is None:
            if self._planned is not None and not create and dimension is None:
                return
            session = await self._open(create=create, dimension=dimension, embedder=embedder)
            if session is None:
                return
        joined = session.identity.joined(embedder=embedder, dimension=dimension)
        if create and joined != session.identity:
            await session.catalog.identify(joined)
            session.identity = joined

    async def upsert(self, rows: Sequence[EmbeddedDocument]) -> None:
        """Insert or replace by id; what is refused is refused before anything is written.

        Raises:
            InvalidInputError: as the contract says, and for a vector of zeros, an id over 512 bytes as Pinecone has it,
                and more than 40 KB of text and metadata.
        """
        from flowkit_pinecone.write import prepared, upsert

        session = self._opened()
        dimension = session.identity.dimension if session else None
        checked = checked_rows(list(rows), index=self.index, dimension=dimension)
        records = prepared(checked, self._opening.metric, hybrid=self._opening.hybrid)
        if not checked:
            return
        if session is None:
            found = next((len(vector) for _, vector in checked.values() if vector is not None), None)
            if found is None:
                raise InvalidInputError(
                    f"{next(iter(checked))!r} has no vector, and pinecone index {self.index!r} has none stored",
                    hint="embed it first",
                )
            session = await self._made(found)
        await upsert(session, checked, records)

    async def search(self, query: SearchQuery) -> list[ScoredDocument]:
        """The best `query.k` rows with score ≥ `min_score`, best first; as exact as Pinecone's index is.

        Raises:
            UnsupportedError: the query has a text, and the index is no hybrid one.
        """
        from flowkit_pinecone.search import search

        session = self._opened()
        if query.text is not None and query.mode not in self.abilities.modes:
            raise UnsupportedError(
                f"pinecone index {self.index!r} has no {query.mode} search, only vector search",
                hint="build one with hybrid=True, or search another store by keyword and merge with flowkit.rag.fuse",
            )
        if session is None:
            if query.vector is not None:
                checked_query(query.vector, index=self.index, dimension=None, embedder=self.embedder)
            self._check(query.where)
            return []
        return await search(session, query)

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
        from flowkit_pinecone.fetch import fetch

        session = self._opened()
        if limit < 1:
            raise InvalidInputError(f"limit is {limit!r}", hint="ask for 1 or more rows")
        if session is None:
            self._check(where)
            return Page()
        return await fetch(session, ids=ids, where=where, cursor=cursor, limit=limit, with_vectors=with_vectors)

    async def manifest(self, source: str | None = None) -> AsyncIterator[RowKey]:
        """The keys of all rows, or of one source's."""
        from flowkit_pinecone.fetch import manifest

        session = self._opened()
        if session is not None:
            async for key in manifest(session, source):
                yield key

    async def ids(self, *, prefix: str = "") -> AsyncIterator[str]:
        """The ids that begin with `prefix`, in order, read a page at a time: no text, metadata or vector is read."""
        from flowkit_pinecone.fetch import prefixed

        session = self._opened()
        if session is not None:
            async for id in prefixed(session, clean_id(prefix)):
                yield id

    async def delete_prefix(self, prefix: str) -> int:
        """Delete the rows whose ids begin with `prefix`, at most 1,000 at a time; returns how many rows went.

        Raises:
            InvalidInputError: the prefix is empty.
        """
        from flowkit_pinecone.write import delete_prefix

        session = self._opened()
        prefix = clean_id(prefix)
        if not prefix:
            raise InvalidInputError("the prefix is empty", hint="to delete every row, call clear()")
        return 0 if session is None else await delete_prefix(session, prefix)

    async def delete(self, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        """Delete by exactly one selector; returns how many rows went."""
        from flowkit_pinecone.write import delete

        session = self._opened()
        checked_selector(ids, where)
        if session is None:
            self._check(where)
            return 0
        return await delete(session, ids=ids, where=where)

    async def clear(self) -> None:
        """Delete every row of the namespace; the index stays, with what is known of its metadata keys."""
        from flowkit_pinecone.write import clear

        session = self._opened()
        if session is not None:
            await clear(session)

    async def stats(self) -> StoreStats:
        """Counts and types of this namespace. Pinecone's count may be some seconds behind, and it tells no size."""
        from flowkit_pinecone.fetch import stats

        session = self._opened()
        if session is None:
            return StoreStats(0, None, self._planned.embedder if self._planned else None)
        return await stats(session)

    @property
    def namespace(self) -> str:
        """The one whose rows this store sees; "" is the default one."""
        return row_id(self._opening.namespace)

    async def namespaces(self) -> Mapping[str, int]:
        """How many rows Pinecone counts in each namespace of the index; it may be some seconds behind."""
        session = self._opened()
        return {} if session is None else await session.namespaces()

    async def wait_until_searchable(self, *, timeout_seconds: float = 60.0) -> bool:
        """Wait until everything that this object has written can be read; False when it still cannot by then."""
        session = self._opened()
        if session is None:
            return True
        return await session.waiting.is_visible(session.place, session.dimension, timeout_seconds)

    async def aclose(self) -> None:
        """Close the connections; `open` opens again."""
        link, self._link = self._link, None
        self._session = self._planned = None
        if link is not None:
            await link.aclose()

    async def _open(self, *, create: bool, dimension: int | None, embedder: str | None) -> "Session | None":
        """The session; None when there is nothing to open, and no dimension to make it with."""
        link = self._link or Link(self._access)
        try:
            opened = await self._opening.open(link, create=create, dimension=dimension, embedder=embedder)
        except BaseException:  # failed or cancelled, a new one is nobody's then
            if self._link is not link:
                await link.aclose()
            raise
        if self._link is None:
            self._link = link
        elif self._link is not link:  # another task was faster
            await link.aclose()
        if self._session is None and opened is not None and self._link is link:
            self._session, self._planned = opened, None
        elif self._session is None:
            self._planned = Identity(self.index, embedder)
        return self._session

    async def _made(self, dimension: int) -> "Session":
        embedder = self._planned.embedder if self._planned else self.embedder
        session = await self._open(create=True, dimension=dimension, embedder=embedder)
        if session is None:
            raise StateError(f"index {self.index!r} was closed meanwhile", hint="open it again")
        session.identity.joined(embedder=embedder, dimension=dimension)
        return session

    def _check(self, where: Filter | None) -> None:
        if where is not None:
            check(where, {})

    def _opened(self) -> "Session | None":
        """The session; None for an index that is yet to be made.

        Raises:
            NotFoundError, StateError: there is neither.
        """
        if self._session is None and self._planned is None:
            raise StateError(f"index {self.index!r} is not open", hint="await store.open(create=…) first")
        return self._session
