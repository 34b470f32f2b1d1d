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
from psycopg.pq import TransactionStatus

from flowkit_pgvector.watched import WatchedConnection

__all__ = ["Connection", "Exhausted", "Pool"]

Result = TypeVar("Result")
Connection = psycopg.AsyncConnection[tuple[Any, ...]]

_IDLE = int(TransactionStatus.IDLE)
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
        for _, connection in self._idle:
            connection.finish()

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
            connection = await self._usable()
            try:
                return await work(connection)
            finally:
                if self._closed or connection.pgconn.transaction_status != _IDLE:
                    await connection.close()
                else:
                    self._idle.append((time.monotonic(), connection))
        finally:
            self._free.release()

    async def drop_idle(self) -> None:
        """Close what is not in use: when one connection broke, so may the others have."""
        while self._idle:
            _, connection = self._idle.pop()
            await connection.close()

    async def close(self) -> None:
        """Close every connection; those in use when they come back."""
        self._closed = True
        await self.drop_idle()

    async def _wait_turn(self) -> None:
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await self._free.acquire()
        except TimeoutError:
            raise Exhausted from None

    async def _usable(self) -> WatchedConnection:
        oldest = time.monotonic() - _IDLE_SECONDS
        while self._idle:
            since, connection = self._idle.pop()
            if since >= oldest and not connection.closed:
                return connection
            await connection.close()
        return await self._connect()
