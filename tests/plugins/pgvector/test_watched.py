"""A socket that the loop watches is left in time: before its number is another's, and when nobody reads from it."""

import asyncio
from collections.abc import AsyncIterator, Generator
from typing import Any

import psycopg
import pytest
from psycopg import errors

from flowkit_pgvector.watched import WatchedConnection
from tests.plugins.pgvector.data import ask

pytestmark = [pytest.mark.heavy, pytest.mark.requires("pg", "the store is tested against a real Postgres")]


@pytest.fixture
async def connection(dsn: str) -> AsyncIterator[WatchedConnection]:
    connection = await WatchedConnection.connect(dsn, autocommit=True)
    yield connection
    await connection.close()


async def one(connection: WatchedConnection, query: str = "SELECT 1") -> object:
    found = await (await connection.execute(query.encode())).fetchone()
    assert found is not None
    return found[0]


def is_watched(socket: int) -> bool:
    """Whether the loop watched it; it does not any more."""
    return asyncio.get_running_loop().remove_reader(socket)


async def test_it_is_watched_between_queries(connection: WatchedConnection):
    assert [await one(connection) for _ in range(3)] == [1, 1, 1]
    assert is_watched(connection.fileno())


@pytest.mark.parametrize("way", ["close", "finish"])
async def test_not_when_it_is_closed(connection: WatchedConnection, way: str):
    await one(connection)
    socket = connection.fileno()
    if way == "close":
        await connection.close()
    else:
        connection.finish()
    assert connection.closed
    assert not is_watched(socket)


async def test_not_when_the_server_ends_it_in_a_query(connection: WatchedConnection):
    await one(connection)
    socket = connection.fileno()
    with pytest.raises(errors.AdminShutdown):
        await one(connection, "SELECT pg_terminate_backend(pg_backend_pid())")
    assert not is_watched(socket)


async def test_not_when_the_server_ends_it_while_idle(connection: WatchedConnection, dsn: str):
    await one(connection)
    socket = connection.fileno()
    await ask(dsn, "SELECT pg_terminate_backend(%s, 1000)", (connection.info.backend_pid,))
    await asyncio.sleep(0.01)
    assert not is_watched(socket)  # its end stays unread: a loop that looked for it would find it again and again
    with pytest.raises(errors.AdminShutdown):
        await one(connection)


async def test_what_comes_unasked_is_read_with_the_next_answer(connection: WatchedConnection, dsn: str):
    told: list[str] = []
    connection.add_notify_handler(lambda notify: told.append(notify.payload))
    await connection.execute("LISTEN news")
    socket = connection.fileno()
    await ask(dsn, "SELECT 1 FROM (SELECT pg_notify('news', 'soup')) AS sent")
    await asyncio.sleep(0.01)
    assert not is_watched(socket)
    assert await one(connection) == 1
    assert told == ["soup"]
    assert is_watched(socket)


async def test_a_query_that_is_cancelled_leaves_it_usable(connection: WatchedConnection):
    await one(connection)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await one(connection, "SELECT pg_sleep(60)")
    assert await one(connection) == 1


async def test_who_waits_hears_that_it_was_closed(connection: WatchedConnection):
    waiting = asyncio.create_task(one(connection, "SELECT pg_sleep(60)"))
    await asyncio.sleep(0.05)
    await connection.close()
    with pytest.raises(psycopg.OperationalError):
        await waiting


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
async def test_a_program_that_ends_in_the_middle_ends(connection: WatchedConnection, error: type[BaseException]):
    def broken() -> Generator[Any, Any, None]:
        raise error
        yield

    with pytest.raises(error):
        await connection.wait(broken())
    assert await one(connection) == 1


async def test_much_is_written_and_read(connection: WatchedConnection):
    text = "soup " * 2_000_000
    cursor = await connection.execute("SELECT %s::text", (text,))
    assert await cursor.fetchone() == (text,)
    async with connection.cursor() as cursor, cursor.copy("COPY (SELECT generate_series(1, 100000)) TO STDOUT") as copy:
        assert len([row async for row in copy]) == 100_000
    assert await one(connection) == 1


async def test_others_get_their_turn_while_it_writes(connection: WatchedConnection):
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counting = asyncio.create_task(count())
    await connection.execute("CREATE TEMPORARY TABLE written (at int)")
    turns = 0
    async with connection.cursor() as cursor, cursor.copy("COPY written FROM STDIN") as copy:
        for at in range(200_000):
            await copy.write_row((at,))
        found = turns
    counting.cancel()
    assert found > 3
    assert await one(connection, "SELECT count(*) FROM written") == 200_000
