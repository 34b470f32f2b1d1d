"""Reads and writes over the connections to one server, each whole or not done at all.

database = Database("postgresql://localhost/app", pool_size=8, pool_timeout_seconds=10.0, prepared=True)
rows = await database.read("search index 'menu'", lambda connection: …)
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from flowkit.errors import BackendError
from flowkit.plugin import PerLoop
from flowkit_pgvector.explain import explanation, place
from flowkit_pgvector.pool import Connection, Exhausted, Pool
from flowkit_pgvector.vectors import register_arrays
from flowkit_pgvector.watched import WatchedConnection

__all__ = ["Connection", "Database", "Statement", "execute"]

Result = TypeVar("Result")
Statement = tuple[str, Mapping[str, Any] | Sequence[Any]]
"""SQL, and its values."""

_CONFLICTS = 10
"""How often a write begins anew because another one wrote the same rows."""
_CONNECT_SECONDS = 10
_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 0.05, 1.0


class Database:
    """A pool for each event loop, and what is done when a connection breaks.

    A read that loses its connection is repeated, and so is a write, when the server says that its transaction did not
    commit: nothing is done twice. Only of a server that has ended meanwhile nothing can be learned, and a write is done
    again there: as rows go by id, they are the same. This goes on for `pool_timeout_seconds`, in which it can restart.
    """

    def __init__(self, dsn: str, *, pool_size: int, pool_timeout_seconds: float, prepared: bool) -> None:
        self.dsn = dsn
        self._pool_size = pool_size
        self._pool_timeout_seconds = pool_timeout_seconds
        self._prepared = prepared
        self._pools = PerLoop(lambda: Pool(self._connect, size=pool_size, timeout_seconds=pool_timeout_seconds))

    def read(self, what: str, work: Callable[[Connection], Awaitable[Result]]) -> Awaitable[Result]:
        """Call `work` with a connection in autocommit mode; `what` completes "pgvector could not …".

        Raises:
            FlowkitError: what the database's error means.
        """
        return self._repeated(what, work)

    async def write(
        self,
        what: str,
        work: Callable[[Connection, list[Any]], Awaitable[tuple[Result, Statement | None]]],
        *,
        first: Statement | None = None,
    ) -> Result:
        """Call `work` inside a transaction.

        It is given the rows of the statement `first`, which travels with the transaction's beginning, and gives its
        result and a last statement, which travels with the end: each saves the way to the server and back. The
        transaction has a number, by which the server is asked when it did not answer to COMMIT.
        """
        done: tuple[Result, _Transaction] | None = None

        async def attempt(connection: Connection) -> Result:
            nonlocal done
            if done is not None and await _has_committed(connection, done[1]):
                return done[0]
            done = None
            try:
                transaction, rows = await _begin(connection, first)
                result, last = await work(connection, rows)
                done = result, transaction
                async with connection.pipeline():
                    if last is not None:
                        await execute(connection, *last)
                    await connection.execute("COMMIT")
            except BaseException:  # cancellations, too: the connection goes back to the pool
                if connection.pgconn.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
                    await connection.rollback()
                raise
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
        """Close the pools of every loop. What comes later opens new ones."""
        await self._pools.close(Pool.close, anywhere=True)

    async def _connect(self) -> WatchedConnection:
        connection = await WatchedConnection.connect(self.dsn, **self._settings())
        try:
            await register_vector_async(connection)
            register_arrays(connection)
        except BaseException:  # failed or cancelled, it is nobody's then
            await connection.close()
            raise
        return connection

    def _settings(self) -> dict[str, Any]:
        given = conninfo_to_dict(self.dsn)
        settings: dict[str, Any] = {"autocommit": True, "prepare_threshold": 5 if self._prepared else None}
        settings["connect_timeout"] = given.get("connect_timeout") or _CONNECT_SECONDS
        settings["application_name"] = given.get("application_name") or "flowkit"
        return settings

    async def _repeated(self, what: str, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        pool = self._pools.get()
        conflicts = 0
        wait_seconds = _FIRST_WAIT_SECONDS
        end: float | None = None
        while True:
            try:
                return await pool.use(work)
            except Exhausted as error:
                raise BackendError(
                    f"pgvector could not {what}: all {self._pool_size} connections were in use for "
                    f"{self._pool_timeout_seconds:g} seconds",
                    status="RESOURCE_EXHAUSTED",
                    hint="raise pool_size= or pool_timeout_seconds=, or do less at a time",
                ) from error
            except psycopg.Error as error:
                if _is_conflict(error) and conflicts < _CONFLICTS:
                    conflicts += 1
                    await asyncio.sleep(random.uniform(0, 0.01 * conflicts))
                    continue
                end = end or time.monotonic() + self._pool_timeout_seconds
                if not _is_lost(error) or time.monotonic() + wait_seconds > end:
                    raise explanation(error, what, place(self.dsn)) from error
            pool.drop_idle()
            await asyncio.sleep(wait_seconds)
            wait_seconds = min(2 * wait_seconds, _LONGEST_WAIT_SECONDS)


def execute(
    connection: Connection,
    query: str,
    values: Mapping[str, Any] | Sequence[Any] = (),
    *,
    binary: bool = False,
    prepare: bool | None = None,
) -> Awaitable[psycopg.AsyncCursor[tuple[Any, ...]]]:
    """Run one statement that was put together from constant text, quoted names and parameters. As there always are
    parameters, if only none, a percent sign in a name is always doubled."""
    return connection.execute(query.encode(), values, binary=binary, prepare=prepare)


class _Transaction(NamedTuple):
    """`life` is the server's: another one after it has ended, or lost what it had in memory. Transactions that had not
    reached its journal by then are forgotten, and their numbers given once more."""

    number: str
    life: str


_LIFE = "pg_postmaster_start_time()::text || ' ' || coalesce((SELECT stats_reset::text FROM pg_stat_bgwriter), '')"


async def _begin(connection: Connection, first: Statement | None) -> tuple[_Transaction, list[Any]]:
    """A new transaction, and what its first statement gives."""
    found = None
    async with connection.pipeline():
        await connection.execute("BEGIN")
        begun = await connection.execute(f"SELECT pg_current_xact_id()::text, {_LIFE}")
        if first is not None:
            found = await execute(connection, *first)
    number, life = await begun.fetchone() or ("", "")
    return _Transaction(str(number), str(life)), [] if found is None else await found.fetchall()


async def _has_committed(connection: Connection, transaction: _Transaction) -> bool:
    """Whether a transaction, whose answer to COMMIT was lost, is in the database for sure."""
    sql = f"SELECT CASE WHEN {_LIFE} = %s THEN pg_xact_status(%s::xid8) END"
    while True:
        cursor = await execute(connection, sql, (transaction.life, transaction.number))
        (status,) = await cursor.fetchone() or (None,)
        if status != "in progress":
            return bool(status == "committed")
        await asyncio.sleep(0.05)  # the server has not noticed yet that the connection is gone


def _is_conflict(error: Exception) -> bool:
    return isinstance(error, errors.UniqueViolation | errors.DeadlockDetected | errors.SerializationFailure)


def _is_lost(error: psycopg.Error) -> bool:
    """Whether the connection broke, or the server is away or just restarting."""
    if isinstance(error, errors.AdminShutdown | errors.CrashShutdown | errors.CannotConnectNow):
        return True
    return isinstance(error, psycopg.OperationalError) and (error.sqlstate is None or error.sqlstate.startswith("08"))
