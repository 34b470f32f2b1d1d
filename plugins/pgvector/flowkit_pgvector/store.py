"""The pgvector store: one index in Postgres, for any number of processes, machines and tenants.

store = PgVector("menu", dsn="postgresql://localhost/app", embedder="local/all-minilm-l6-v2")
ai = Flowkit(plugins=[store])
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from flowkit import Filter, ScoredDocument
from flowkit.errors import InvalidInputError, StateError, UnsupportedError
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
from flowkit_pgvector.layout import Distance, Method, checked_layout
from flowkit_pgvector.names import Names, checked_name
from flowkit_pgvector.source import Source

if TYPE_CHECKING:
    from flowkit_pgvector.database import Database
    from flowkit_pgvector.session import Session

__all__ = ["PgVector"]


class PgVector(StorePlugin):
    """A vector index in Postgres with pgvector.

    The store makes its tables when it is first written to, in a schema of its own (`create_sql` shows them). The rows
    of a `namespace` are seen by stores of that namespace only. Safe for many tasks, threads, loops and processes.
    """

    name = "pgvector"
    environment = ("PGHOST", "PGPORT", "PGDATABASE", "PGUSER", "PGPASSWORD")

    def __init__(
        self,
        name: str,
        /,
        *,
        dsn: str = "",
        embedder: str | None = None,
        mode: SearchMode = "vector",
        schema: str = "flowkit",
        namespace: str | None = None,
        index: Method | None = "hnsw",
        distance: Distance = "cosine",
        language: str = "english",
        columns: Mapping[str, type] | None = None,
        source: Source | None = None,
        ef_search: int = 100,
        exact_below: int = 1_000,
        pool_size: int = 8,
        pool_timeout_seconds: float = 10.0,
        prepared: bool = True,
    ) -> None:
        """No connection is made here.

        Args:
            name: of the index, any text.
            dsn: a connection string; what it leaves out is taken from libpq's variables (PGHOST, …) and ~/.pgpass.
            mode: how retrieving searches when it does not say.
            schema: the database schema of the plugin's tables.
            namespace: None is the namespace without a name.
            index: the vector index of a new table; None for exact search only.
            distance: "ip" takes vectors of length 1 only.
            language: whose rules give search terms: "english", "german", …, or "simple" for none.
            columns: metadata keys that get a column and an index of their own, and their types: `{"price": float}`.
            source: a table or SELECT of your own that is searched in place, and never changed.
            ef_search: how far an HNSW index is read, 1…1000; more finds more, and takes longer.
            exact_below: a namespace with fewer rows is read whole, which is exact.
            pool_size: connections for each event loop, at most.
            pool_timeout_seconds: how long to wait for one of them, and for a server that is away to come back.
            prepared: False for a pooler that knows no prepared statements.
        """
        self._names = Names(checked_name(schema, "schema"), checked_name(name, "index"))
        self._namespace = "" if namespace is None else checked_name(namespace, "namespace")
        self._layout = checked_layout(distance=distance, method=index, language=language, columns=columns)
        if not 1 <= ef_search <= 1000:
            raise InvalidInputError(f"ef_search is {ef_search!r}", hint="use 1…1000")
        if pool_size < 1:
            raise InvalidInputError(f"pool_size is {pool_size!r}", hint="use 1 or more")
        self.index = name if namespace is None else f"{name}@{namespace}"
        self.embedder = embedder
        self.mode = mode
        self._source = source
        self._ef_search = ef_search
        self._exact_below = exact_below
        self._pool = {"pool_size": pool_size, "pool_timeout_seconds": pool_timeout_seconds, "prepared": prepared}
        self._dsn = dsn
        self._database: Database | None = None
        self._session: Session | None = None
        self._search: Callable[..., Awaitable[list[ScoredDocument]]]

    @property
    def abilities(self) -> StoreAbilities:
        """Everything; a `source` of your own is searched by vector only, and never changed."""
        own = self._source is None
        return StoreAbilities(
            modes=("vector", "keyword", "hybrid") if own else ("vector",),
            exact=own and self._layout.method is None,
            writes=own,
            namespaces=own,
            tells_size=own,
        )

    async def open(self, *, create: bool, dimension: int | None = None, embedder: str | None = None) -> None:
        """Open the index, or make it; no call to the server when it is open already.

        Raises:
            NotFoundError: it is not there, and `create` is False.
            IdentityError: it was built with another dimension, embedder, distance or language.
            StoreError: the schema has a newer format.
            BackendError: no server, no right, no such database; `hint` says what to do.
        """
        from flowkit_pgvector.opening import compare
        from flowkit_pgvector.search import search

        self._search = search  # once: an import is looked up anew each time, in the middle of every search
        embedder = embedder or self.embedder
        session = self._session
        if session is not None:
            state = session.state
            known = dimension in (None, state.dimension) and embedder in (None, state.embedder)
            if known or (self._source is not None and dimension in (None, state.dimension)):
                return
            compare(self._names, state, self._layout, dimension=dimension, embedder=embedder)
            if not create:
                return
        self._session = await self._opened(create, dimension, embedder)

    async def upsert(self, rows: Sequence[EmbeddedDocument]) -> None:
        """Insert or replace by id, all or nothing; committed when it returns.

        When the connection breaks, the server is asked whether the rows are there, and only if not it is done again.
        """
        from flowkit_pgvector.write import upsert

        session = self._writable()
        await upsert(session, list(rows))
        if session.state.method == "ivfflat" and session.state.lists is None:
            from flowkit_pgvector.building import build_index, is_worth_it

            if is_worth_it(session):
                await build_index(session)

    async def search(self, query: SearchQuery) -> list[ScoredDocument]:
        """The best `query.k` rows with score ≥ `min_score`, best first."""
        session = self._opened_session()
        return await self._search(session, query, ef_search=self._ef_search, exact_below=self._exact_below)

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
        from flowkit_pgvector.fetch import fetch

        return await fetch(
            self._opened_session(), ids=ids, where=where, cursor=cursor, limit=limit, with_vectors=with_vectors
        )

    async def manifest(self, source: str | None = None) -> AsyncIterator[RowKey]:
        """The keys of all rows, or of one source's, in id order; read as they are asked for."""
        from flowkit_pgvector.fetch import manifest

        async for key in manifest(self._opened_session(), source):
            yield key

    async def delete(self, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        """Delete by exactly one selector; returns how many rows went."""
        from flowkit_pgvector.write import delete

        checked_selector(ids, where)
        return await delete(self._writable(), ids=ids, where=where)

    async def clear(self) -> None:
        """Delete every row of the namespace; the index stays."""
        from flowkit_pgvector.write import delete

        await delete(self._writable(), ids=None, where=None)

    async def stats(self) -> StoreStats:
        """Counts and types of the namespace; `size_bytes` is of the table with all namespaces and indexes."""
        from flowkit_pgvector.fetch import stats

        return await stats(self._opened_session())

    @property
    def namespace(self) -> str:
        """The one whose rows this store sees; "" is the one without a name."""
        return self._namespace

    async def namespaces(self) -> Mapping[str, int]:
        """How many rows each namespace of the index has; none for a `source` of your own."""
        from flowkit_pgvector.registry import read_namespaces

        session = self._opened_session()
        if self._source is not None:
            return {}
        what = f"look at index {self._names.index!r}"
        return await session.database.read(what, lambda connection: read_namespaces(connection, self._names))

    def creation_sql(self, *, dimension: int, embedder: str | None = None) -> str:
        """The script that makes this index, as `create_sql` gives it; nothing is connected to.

        Raises:
            UnsupportedError: a `source` of your own is never made, or more dimensions than pgvector's 16,000.
        """
        from flowkit_pgvector.ddl import script_sql

        if self._source is not None:
            raise UnsupportedError(
                f"index {self.index!r} reads a table that is not the plugin's, and makes none",
                hint="leave out source= for an index of the plugin",
            )
        return script_sql(self._names, self._layout, dimension=dimension, embedder=embedder or self.embedder)

    async def build_index(self) -> None:
        """Make the vector index anew, beside the old one, and statistics for the planner: after a big change.

        Writers wait meanwhile, readers do not. An IVFFlat index gets lists for the rows that there are now.
        """
        from flowkit_pgvector.building import build_index

        await build_index(self._writable())

    def within(self, namespace: str) -> "PgVector":
        """The same index in another namespace, over the same connections: for tenants that come and go.

        It is opened like any store; closing it closes the connections of both.
        """
        other = object.__new__(PgVector)
        other.__dict__.update(self.__dict__)
        other._namespace = checked_name(namespace, "namespace")
        other.index = f"{self._names.index}@{namespace}"
        other._database = self._connections()
        other._session = other._registry = other._actions = None
        return other

    async def aclose(self) -> None:
        """Close the connections; `open` opens them again."""
        self._session = None
        if self._database is not None:
            await self._database.aclose()

    def _connections(self) -> "Database":
        if self._database is None:
            from flowkit_pgvector.database import Database

            self._database = Database(self._dsn, **self._pool)  # type: ignore[arg-type]
        return self._database

    async def _opened(self, create: bool, dimension: int | None, embedder: str | None) -> "Session":
        from flowkit_pgvector.open_source import opened_source
        from flowkit_pgvector.opening import opened

        database = self._connections()
        if self._source is not None:
            return await opened_source(
                database, self._names, self._layout, self._source, dimension=dimension, embedder=embedder
            )
        return await opened(
            database, self._names, self._layout, self._namespace, create=create, dimension=dimension, embedder=embedder
        )

    def _opened_session(self) -> "Session":
        if self._session is None:
            raise StateError(f"index {self.index!r} is not open", hint="await store.open(create=…) first")
        return self._session

    def _writable(self) -> "Session":
        session = self._opened_session()
        if self._source is not None:
            raise UnsupportedError(
                f"index {self.index!r} reads a table that is not the plugin's, and never changes it",
                hint="write to the table itself, or leave out source= for an index of the plugin",
            )
        return session
