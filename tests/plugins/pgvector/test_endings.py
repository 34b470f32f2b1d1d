"""A server, a process, a loop or a task that ends in the middle of something leaves the others whole."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import psycopg
import pytest

from flowkit_pgvector import PgVector
from flowkit_pgvector.database import Database
from tests.plugins.pgvector.data import ask, opened, row, until
from tests.servers.postgres import Postgres

pytestmark = [pytest.mark.heavy, pytest.mark.requires("pg", "the store is tested against a real Postgres")]

Maker = Callable[..., PgVector]


def run_and_close(work: Coroutine[Any, Any, None]) -> None:
    loop = asyncio.new_event_loop()
    loop.run_until_complete(work)
    loop.close()


async def end_server(server: Postgres) -> None:
    await asyncio.to_thread(server.stop)
    await asyncio.to_thread(server.start)


async def kill_backend(server: Postgres) -> None:
    """One process of the server dies, so that it ends all others, and forgets what was in memory."""
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        before = connection.execute(STATISTICS_SINCE).fetchone()
        os.kill(connection.info.backend_pid, signal.SIGKILL)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT pg_sleep(10)")
    end = time.monotonic() + 20
    # Until the server notices the death, it answers as if nothing had happened.
    while await asyncio.to_thread(answer, server.dsn, STATISTICS_SINCE) in (before, None):
        assert time.monotonic() < end
        await asyncio.sleep(0.05)


STATISTICS_SINCE = "SELECT stats_reset FROM pg_stat_bgwriter"


def answer(dsn: str, query: str) -> Any:
    """A row, or None of a server that is not there."""
    try:
        with psycopg.connect(dsn) as connection:
            return connection.execute(query.encode()).fetchone()
    except psycopg.OperationalError:
        return None


@pytest.mark.parametrize("crash", [end_server, kill_backend])
@pytest.mark.parametrize("reused", [True, False], ids=["its number is another's", "nobody has its number"])
async def test_a_transaction_that_a_crash_has_undone_is_not_taken_for_another_with_its_number(
    server: Postgres, crash: Callable[[Postgres], Awaitable[None]], reused: bool
):
    await ask(server.dsn, "DROP TABLE IF EXISTS written")
    await ask(server.dsn, "CREATE TABLE written (at int)")
    await ask(server.dsn, "CREATE EXTENSION IF NOT EXISTS vector")
    await ask(server.dsn, "CHECKPOINT")
    database = Database(server.dsn, pool_size=1, pool_timeout_seconds=20, prepared=True)
    lasting = iter(["SELECT pg_sleep(60)"])  # the first time: it ends by the crash

    async def insert(connection: Any, _: Any) -> Any:
        await connection.execute("INSERT INTO written VALUES (1)")
        return None, (next(lasting, "SELECT 1"), ())

    writing = asyncio.create_task(database.write("write", insert))
    await until(server.dsn, "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(60%'")
    await crash(server)
    if reused:
        for _ in range(3):
            await ask(server.dsn, "INSERT INTO written SELECT 2 WHERE false RETURNING pg_current_xact_id()")
            await ask(server.dsn, "SELECT pg_current_xact_id()")
            await ask(server.dsn, "CREATE TABLE IF NOT EXISTS written_elsewhere (at int)")
    await writing
    assert await ask(server.dsn, "SELECT at FROM written") == [(1,)]
    await database.aclose()
    await ask(server.dsn, "DROP TABLE IF EXISTS written, written_elsewhere")


async def test_a_write_that_is_cancelled_at_its_first_step_leaves_the_connection_usable(make_store: Maker):
    store = await opened(make_store(pool_size=1), row("a"))
    for turns in range(6):
        writing = asyncio.create_task(store.upsert([row("a")]))
        for _ in range(turns):
            await asyncio.sleep(0)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        await store.upsert([row(f"{turns}-{at}") for at in range(300)])
    assert (await store.stats()).count == 1 + 6 * 300


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.parametrize("how", ["drops it", "uses it"])
async def test_a_forked_process_leaves_the_connections_of_its_parent_alone(dsn: str, index: str, how: str):
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", FORKS, dsn, index, how], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == (["a"] if how == "uses it" else []) + ["0", "a", "a"], done.stderr
    assert done.stderr == ""


FORKS = """
import asyncio, gc, os, sys
from flowkit import Document
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit_pgvector import PgVector

dsn, index, how = sys.argv[1:]
store = PgVector(index, dsn=dsn, pool_size=1)

async def search():
    async with asyncio.timeout(20):
        print(*[hit.id for hit in await store.search(SearchQuery(vector=[1, 0]))], flush=True)

async def child():
    await search()
    await store.aclose()

async def main():
    global store
    await store.open(create=True, dimension=2)
    await store.upsert([EmbeddedDocument(Document.from_text("soup", id="a"), [1, 0])])
    pid = os.fork()
    if pid == 0:
        try:
            if how == "drops it":
                store = None
                gc.collect()
            else:
                asyncio._set_running_loop(None)
                asyncio.run(child())
        finally:
            os._exit(0)
    print(os.waitpid(pid, 0)[1], flush=True)
    await search()
    await search()
    await store.aclose()

asyncio.run(main())
"""


@pytest.mark.parametrize("run", [asyncio.run, run_and_close], ids=["cancels what is left", "just closes"])
async def test_closing_does_not_wait_for_a_loop_of_another_thread_that_ends(
    make_store: Maker, run: Callable[[Any], None]
):
    store, busy = make_store(), threading.Event()

    async def last() -> None:
        await opened(store, row("a"))
        busy.set()
        time.sleep(0.3)  # the last thing that this loop does

    thread = threading.Thread(target=run, args=(last(),))
    thread.start()
    await asyncio.to_thread(busy.wait)
    async with asyncio.timeout(10):
        await store.aclose()
    await asyncio.to_thread(thread.join)
