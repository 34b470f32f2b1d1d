"""A connection whose socket the event loop goes on watching between queries.

connection = await WatchedConnection.connect(dsn, autocommit=True)
await connection.execute("SELECT 1")

psycopg hands its socket to the loop and takes it back each time that it waits: a twentieth of a search that takes a
millisecond. All other waiting (to write, with a time limit, when a query is cancelled) is left to psycopg.
"""

import asyncio
import os
from collections.abc import Generator
from typing import Any

import psycopg
from psycopg.pq import ConnStatus
from psycopg.waiting import Ready, Wait

__all__ = ["WatchedConnection"]

_READ, _READABLE, _OK = int(Wait.R), int(Ready.R), int(ConnStatus.OK)  # to look one up takes longer than to compare
_INTERRUPTED = (asyncio.CancelledError, KeyboardInterrupt, SystemExit)
_INTERVAL_SECONDS = 0.1  # psycopg's


class WatchedConnection(psycopg.AsyncConnection[tuple[Any, ...]]):
    """Belongs to the loop that it is used in. To be closed by `close` or `finish`, or the loop keeps a dead socket."""

    _watching: tuple[asyncio.AbstractEventLoop, int] | None = None
    """The loop, and the number of the socket."""
    _waiter: asyncio.Future[None] | None = None
    _unasked = 0

    def __init__(self, *args: Any, **arguments: Any) -> None:
        super().__init__(*args, **arguments)
        self._process = os.getpid()

    async def wait(self, gen: Any, interval: float = _INTERVAL_SECONDS, timeout: float | None = None) -> Any:
        """psycopg's: drive what it does with the connection, and wait in between as it says."""
        socket = self.pgconn.socket  # first, as it fails when the connection is closed
        state: Any = _READ
        waited = settled = False
        try:
            state = next(gen)
            while state == _READ and timeout is None:
                waited = True
                self._waiter = self._watched(socket).create_future()
                try:
                    await self._waiter
                finally:
                    self._waiter = None
                state = gen.send(_READABLE)
        except StopIteration as end:
            settled = self.pgconn.status == _OK  # else libpq has closed the socket
            if settled and not waited:  # psycopg sees to it that the loop gets its turn in between
                await super().wait(_ended(), interval, timeout)
            return end.value
        except _INTERRUPTED as error:
            rest = _Rest(gen, state, error)  # psycopg cancels the query, and raises the error
        else:
            rest = _Rest(gen, state)
        finally:
            if not settled:
                self.unwatch()
        return await super().wait(rest, interval, timeout)

    async def close(self) -> None:
        self.unwatch()
        await super().close()

    def finish(self) -> None:
        """Close at once, also when the loop has ended. A copy in a forked process has nothing to close: the socket, and
        how the loop watches it, belong to the process that opened it."""
        self.unwatch()
        if self._process == os.getpid():
            self.pgconn.finish()

    def unwatch(self) -> None:
        """For before the socket is closed, or right after libpq has closed it: its number will be another's."""
        if self._watching is None:
            return
        loop, socket = self._watching
        self._watching = None
        if not loop.is_closed() and self._process == os.getpid():
            loop.remove_reader(socket)
        if self._waiter is not None:
            self._wake()  # to find the connection closed

    def _watched(self, socket: int) -> asyncio.AbstractEventLoop:
        """The loop, which watches the socket."""
        self._unasked = 0
        if self._watching is None:
            loop = asyncio.get_running_loop()
            loop.add_reader(socket, self._wake)
            self._watching = loop, socket
        return self._watching[0]

    def _wake(self) -> None:
        if self._waiter is not None:
            if not self._waiter.done():
                self._waiter.set_result(None)
            return
        # The loop may have looked once more before the answer was read. Whatever stays unread while nobody waits (the
        # server says that it ends) would have the loop look for ever.
        self._unasked += 1
        if self._unasked > 1:
            self.unwatch()


class _Rest(Generator[Any, Any, Any]):
    """What is left of a generator that has said `state`; `error` is raised first, as if it had come while waiting."""

    def __init__(self, gen: Generator[Any, Any, Any], state: Any, error: BaseException | None = None) -> None:
        self._gen = gen
        self._state = state
        self._error = error

    def __next__(self) -> Any:
        error, self._error = self._error, None
        if error is not None:
            raise error
        return self._state

    def send(self, ready: Any) -> Any:
        return self._gen.send(ready)

    def throw(self, *error: Any) -> Any:
        return self._gen.throw(*error)


def _ended() -> Generator[Any, Any, None]:
    return
    yield
