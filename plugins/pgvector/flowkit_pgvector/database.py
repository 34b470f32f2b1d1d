"""Connections to one server: a pool for each event loop, and what is done when a connection breaks.

database = Database("postgresql://localhost/app", pool_size=8, pool_timeout_seconds=10.0, prepared=True)
rows = await database.read("search index 'menu'", lambda connection: …)
"""

import asyncio
import contextvars
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from flowkit.errors import BackendError, FlowkitError, StateError
from flowkit.plugin import PerLoop
from flowkit_pgvector.explain import explanation, place

__all__ = ["Connection", "Database", "execute"]

Result = TypeVar("Result")
Connection = psycopg.AsyncConnection[tuple[Any, ...]]
Pool = AsyncConnectionPool[Connection]

_WAITS = (0.05, 0.2, 1.0, 3.0)
"""Seconds before an operation that lost its connection is tried again; long enough for a server to restart."""
_CONFLICTS = 10
"""How often a write begins anew because another one wrote the same rows."""
_CONNECT_SECONDS = 10


class Database:
    """Reads and writes; each is whole or not done at all.

    A read that loses its connection is repeated, and so is a write, when the server says that its transaction did not
    commit: nothing is done twice.
    """

    def __init__(self, dsn: str, *, pool_size: int, pool_timeout_seconds: float, prepared: bool) -> None:
        self.dsn = dsn
        self._pool_size = pool_size
        self._pool_timeout_seconds = pool_timeout_seconds
        self._prepared = prepared
        self._held: PerLoop[_Held] = PerLoop(lambda: _Held(self._make_pool))

    async def read(self, what: str, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        """Call `work` with a connection in autocommit mode; `what` completes "pgvector could not …".

        Raises:
            FlowkitError: what the database's error means.
        """
        return await self._repeated(what, work)

    async def write(self, what: str, work: Callable[[Connection], Awaitable[tuple[Result, str | None]]]) -> Result:
        """Call `work` inside a transaction.

        It gives its result, and the transaction's id (pg_current_xact_id), by which the server is asked when it did not
        answer to COMMIT. Without one, such work is done again.
        """
        done: tuple[Result, str] | None = None

        async def attempt(connection: Connection) -> Result:
            nonlocal done
            if done is not None and await _has_committed(connection, done[1]):
                return done[0]
            done = None
            async with connection.transaction():
                result, transaction = await work(connection)
                if transaction is not None:
                    done = result, transaction
            return result

        return await self._repeated(what, attempt)

    @asynccontextmanager
    async def single(self, what: str) -> AsyncIterator[Connection]:
        """A connection beside the pool, in autocommit mode, for opening and for making tables."""
        try:
            async with await psycopg.AsyncConnection.connect(self.dsn, **self._settings()) as connection:
                yield connection
        except psycopg.Error as error:
            raise explanation(error, what, place(self.dsn)) from error

    async def aclose(self) -> None:
        """Close the pools of every loop that still runs. What comes later opens new ones."""
        here = asyncio.get_running_loop()
        for loop, held in self._held.drain():
            if loop is here:
                await held.close()
            elif loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(held.close(), loop))

    def _make_pool(self) -> Pool:
        return AsyncConnectionPool(
            self.dsn,
            connection_class=psycopg.AsyncConnection[tuple[Any, ...]],
            kwargs=self._settings(),
            min_size=0,
            max_size=self._pool_size,
            timeout=self._pool_timeout_seconds,
            configure=register_vector_async,
            open=False,
            name="flowkit-pgvector",
        )

    def _settings(self) -> dict[str, Any]:
        given = conninfo_to_dict(self.dsn)
        settings: dict[str, Any] = {"autocommit": True, "prepare_threshold": 5 if self._prepared else None}
        settings["connect_timeout"] = given.get("connect_timeout") or _CONNECT_SECONDS
        settings["application_name"] = given.get("application_name") or "flowkit"
        return settings

    async def _repeated(self, what: str, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        held = self._held.get()
        waits = iter(_WAITS)
        conflicts = 0
        while True:
            pool = held.pool
            try:
                return await held.use(work)
            except psycopg.Error as error:
                if _is_conflict(error) and conflicts < _CONFLICTS:
                    conflicts += 1
                    await asyncio.sleep(random.uniform(0, 0.01 * conflicts))
                    continue
                if isinstance(error, PoolClosed) and not held.closed:
                    continue  # it has been renewed while this one was waiting for a connection
                if isinstance(error, PoolTimeout):
                    reason = await self._reason(held, what)
                    held.renew(pool)
                    if reason is not None:
                        raise reason from error
                elif not _is_lost(error):
                    raise self._explained(error, what) from error
                held.renew(pool)
                if (seconds := next(waits, None)) is None:
                    raise self._explained(error, what) from error
                await asyncio.sleep(seconds)

    async def _reason(self, held: "_Held", what: str) -> FlowkitError | None:
        """Why there was no connection in time; None when a new attempt may have one."""
        if held.in_use >= self._pool_size:
            return BackendError(
                f"pgvector could not {what}: all {self._pool_size} connections were in use for "
                f"{self._pool_timeout_seconds:g} seconds",
                status="RESOURCE_EXHAUSTED",
                hint="raise pool_size= or pool_timeout_seconds=, or do less at a time",
            )
        try:
            async with self.single(what) as connection:
                await register_vector_async(connection)
                return None
        except FlowkitError as reason:
            return reason

    def _explained(self, error: Exception, what: str) -> FlowkitError:
        if isinstance(error, PoolClosed):
            return StateError(f"pgvector could not {what}: the store was closed meanwhile", hint="open it again")
        return explanation(error, what, place(self.dsn))


class _Held:
    """The pool of one event loop. It is renewed when one of its connections breaks: the others are as suspect, and a
    pool that cannot connect waits longer and longer before it tries again."""

    def __init__(self, make: Callable[[], Pool]) -> None:
        self._make = make
        self.pool = make()
        self.in_use = 0
        self.closed = False
        self._closing: set[asyncio.Task[None]] = set()

    async def use(self, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        """Call `work` with a connection of the pool."""
        pool = self.pool
        if pool.closed and not self.closed:
            # Its tasks live as long as the pool, so they must not belong to the span of whoever came first.
            await asyncio.create_task(pool.open(), context=contextvars.Context())
        connection = await pool.getconn()
        self.in_use += 1
        try:
            return await work(connection)
        finally:
            self.in_use -= 1
            await pool.putconn(connection)  # which looks at its state: a broken one is replaced

    def renew(self, old: Pool) -> None:
        """Put a new pool in the place of `old`, unless somebody else has done so."""
        if self.pool is old and not self.closed:
            self.pool = self._make()
            self._close(old)

    async def close(self) -> None:
        self.closed = True
        self._close(self.pool)
        while self._closing:
            await asyncio.wait(self._closing)

    def _close(self, pool: Pool) -> None:
        task = asyncio.create_task(pool.close(), context=contextvars.Context())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


async def execute(
    connection: Connection,
    query: str,
    values: Mapping[str, Any] | Sequence[Any] = (),
    *,
    binary: bool = False,
    prepare: bool | None = None,
) -> psycopg.AsyncCursor[tuple[Any, ...]]:
    """Run one statement that was put together from constant text, quoted names and parameters. As there always are
    parameters, if only none, a percent sign in a name is always doubled."""
    return await connection.execute(query.encode(), values, binary=binary, prepare=prepare)


async def _has_committed(connection: Connection, transaction: str) -> bool:
    """Whether a transaction, whose answer to COMMIT was lost, is in the database."""
    while True:
        cursor = await connection.execute("SELECT pg_xact_status(%s::xid8)", (transaction,))
        (status,) = await cursor.fetchone() or (None,)
        if status != "in progress":
            return bool(status == "committed")
        await asyncio.sleep(0.05)  # the server has not noticed yet that the connection is gone


def _is_conflict(error: Exception) -> bool:
    return isinstance(error, errors.UniqueViolation | errors.DeadlockDetected | errors.SerializationFailure)


def _is_lost(error: Exception) -> bool:
    """Whether the connection broke, or the server is just restarting; not whether there never was one."""
    if isinstance(error, PoolClosed):
        return False
    if isinstance(error, errors.AdminShutdown | errors.CrashShutdown | errors.CannotConnectNow):
        return True
    return isinstance(error, psycopg.OperationalError) and (error.sqlstate is None or error.sqlstate.startswith("08"))
