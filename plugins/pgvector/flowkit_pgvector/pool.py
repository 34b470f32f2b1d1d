"""Connections of one event loop: made when they are needed, lent, and given back.

pool = Pool(connect, size=8, timeout_seconds=10.0)
found = await pool.use(lambda connection: …)

It has no tasks of its own (those of psycopg_pool swallow cancellation). So nothing of it goes on when a program ends or
is interrupted, and connecting belongs to the call that needs it, with its error.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import psycopg
from psycopg.pq import PipelineStatus, TransactionStatus

from flowkit_pgvector.watched import WatchedConnection

__all__ = ["Connection", "Exhausted", "Pool"]

Result = TypeVar("Result")
Connection = psycopg.AsyncConnection[tuple[Any, ...]]

_IDLE, _NO_PIPELINE = int(TransactionStatus.IDLE), int(PipelineStatus.OFF)
_IDLE_SECONDS = 600.0
"""A connection that nobody needed for so long is closed when the next one is asked for."""


class Exhausted(Exception):
    """All connections were in use for as long as one may wait."""


class Pool:
    """At most `size` connections. Those lent are closed when they come back broken, or in the middle of something."""

    def __init__(
        self, connect: Callable[[], Awaitable[WatchedConnection]], *, size: int, timeout_seconds: float
    ) -> None:
        self._connect = connect
        self._timeout_seconds = timeout_seconds
        self._free = asyncio.Semaphore(size)
        self._idle: list[tuple[float, WatchedConnection]] = []  # the one used last is used next
        self._closed = False

    def __del__(self) -> None:
        # The loop is gone, and nobody has closed the store: the server should hear of it all the same.
        self.close()

    async def use(self, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        """Call `work` with a connection.

        Raises:
            Exhausted: none came back in time.
        """
        if self._free.locked():
            await self._wait_turn()
        else:
            await self._free.acquire()
        try:
            connection = self._waiting() or await self._connect()
            try:
                return await work(connection)
            finally:
                # A call that was cancelled may leave a pipeline open, in which nothing can be copied any more.
                quiet = (
                    connection.pgconn.transaction_status == _IDLE and connection.pgconn.pipeline_status == _NO_PIPELINE
                )
                if quiet and not self._closed:
                    self._idle.append((time.monotonic(), connection))
                else:
                    connection.finish()
        finally:
            self._free.release()

    def drop_idle(self) -> None:
        """Close what is not in use: when one connection broke, so may the others have."""
        while self._idle:
            _, connection = self._idle.pop()
            connection.finish()

    def close(self) -> None:
        """Close every connection; those in use when they come back. In the loop's own thread, or when it has ended."""
        self._closed = True
        self.drop_idle()

    async def _wait_turn(self) -> None:
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await self._free.acquire()
        except TimeoutError:
            raise Exhausted from None

    def _waiting(self) -> WatchedConnection | None:
        oldest = time.monotonic() - _IDLE_SECONDS
        while self._idle:
            since, connection = self._idle.pop()
            if since >= oldest and not connection.closed:
                return connection
            connection.finish()
        return None
