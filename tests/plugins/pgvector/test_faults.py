"""Servers that go away, connections that break at the worst moment, and errors that say what to do."""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from flowkit.errors import BackendError, ConfigError, FlowkitError, InvalidInputError, NotFoundError, StateError
from flowkit.plugin import SearchQuery
from flowkit_pgvector import PgVector
from flowkit_pgvector.explain import explanation
from tests.plugins.pgvector.cutting import cut_at_commit
from tests.plugins.pgvector.data import ask, clustered, opened, row, until, with_options
from tests.servers.postgres import Postgres

pytestmark = [pytest.mark.heavy, pytest.mark.requires("pg", "the store is tested against a real Postgres")]

Maker = Callable[..., PgVector]


async def ids(store: PgVector) -> list[str]:
    return [item.id for item in (await store.fetch(limit=5000)).items]


async def counts(dsn: str, index: str) -> Any:
    held = await ask(dsn, "SELECT rows, words FROM flowkit.namespaces WHERE index_name = %s", (index,))
    real = await ask(dsn, f"SELECT count(*), sum(cardinality(words))::bigint FROM flowkit.index_{index}")
    assert held == real
    return real[0][0]


async def test_a_server_that_crashes_in_the_middle_of_a_write_costs_nothing_but_time(
    make_store: Maker, server: Postgres, index: str
):
    rows = clustered(800, 64)
    store = make_store(pool_timeout_seconds=60)
    await store.open(create=True, dimension=64)
    await store.upsert(rows[:100])

    writing = asyncio.create_task(store.upsert(rows))
    await until(server.dsn, "SELECT 1 FROM pg_stat_activity WHERE query LIKE %s", f"COPY%{index}%")
    await asyncio.to_thread(server.stop)
    await asyncio.to_thread(server.start)
    await writing

    assert await ids(store) == sorted(row.id for row in rows)
    assert await counts(server.dsn, index) == 800
    assert len(await store.search(SearchQuery(vector=rows[0].vector, text="row", k=5))) == 5


async def test_a_server_that_stays_away_is_said_and_one_that_comes_back_is_used(make_store: Maker, server: Postgres):
    store = await opened(make_store(pool_timeout_seconds=0.3), row("a"))
    await asyncio.to_thread(server.stop)
    with pytest.raises(BackendError, match=r"could not write to index 'menu.*no connection") as caught:
        await store.upsert([row("b")])
    assert "is the server running" in (caught.value.hint or "")
    assert isinstance(caught.value.__cause__, psycopg.Error)

    await asyncio.to_thread(server.start)
    await store.upsert([row("c")])
    assert await ids(store) == ["a", "c"]


async def test_connections_that_broke_while_idle_are_replaced_unnoticed(make_store: Maker, dsn: str):
    store = await opened(make_store(dsn=psycopg.conninfo.make_conninfo(dsn, application_name="doomed")), row("a"))
    for _ in range(2):
        await asyncio.gather(*(store.fetch() for _ in range(4)))
        await ask(dsn, "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE application_name = 'doomed'")
        hits = await store.search(SearchQuery(vector=[1, 0]))
        assert [hit.id for hit in hits] == ["a"]
    await ask(dsn, "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE application_name = 'doomed'")
    await store.upsert([row("b")])
    assert await store.delete(ids=["a"]) == 1


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short path, as those of sockets must be."""
    with tempfile.TemporaryDirectory(prefix="fk-") as name:
        yield Path(name)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_commit_without_an_answer_is_done_exactly_once(
    make_store: Maker, server: Postgres, index: str, folder: Path, when: Any
):
    async with cut_at_commit(server.dsn, folder, when=when) as door:
        store = await opened(make_store(dsn=door.dsn), row("a"), row("b"))
        for write in (
            lambda: store.upsert([row("c"), row("a", "another text")]),
            lambda: store.delete(ids=["a", "b", "nowhere"]),
        ):
            door.cuts = 1
            answer = await write()
        assert answer == 2, "both rows, whoever deleted them"
        assert door.broken == 2

        door.cuts = 2
        await store.upsert([row("d"), row("e")])
        assert door.broken == 4
        assert await ids(store) == ["c", "d", "e"]
        assert await counts(server.dsn, index) == 3
        await store.aclose()


@asynccontextmanager
async def locked(dsn: str, index: str) -> AsyncIterator[None]:
    """The table of an index is held by somebody else."""
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        await connection.execute(f"LOCK TABLE flowkit.index_{index} IN ACCESS EXCLUSIVE MODE".encode())
        yield


async def test_too_many_at_a_time_is_said_when_they_have_waited(make_store: Maker, dsn: str, index: str):
    store = await opened(make_store(pool_size=1, pool_timeout_seconds=0.2), row("a"))
    async with locked(dsn, index):
        first = asyncio.create_task(store.fetch())
        await until(dsn, "SELECT 1 FROM pg_locks WHERE NOT granted")
        with pytest.raises(BackendError, match=r"search index 'menu.*1 connections were in use for 0.2 s") as caught:
            await store.search(SearchQuery(vector=[1, 0]))
    assert caught.value.status == "RESOURCE_EXHAUSTED"
    assert "pool_size" in (caught.value.hint or "")
    assert [item.id for item in (await first).items] == ["a"]
    assert await ids(store) == ["a"], "the pool is whole again"


async def test_a_call_that_is_cancelled_gives_its_connection_back(make_store: Maker, dsn: str, index: str):
    store = await opened(make_store(pool_size=1, pool_timeout_seconds=5), row("a"))
    async with locked(dsn, index):
        writing = asyncio.create_task(store.upsert([row("b")]))
        await until(dsn, "SELECT 1 FROM pg_locks WHERE NOT granted")
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing

    assert await ids(store) == ["a"]


async def test_the_time_limit_of_the_server_is_named(make_store: Maker, dsn: str, index: str):
    store = await opened(make_store(dsn=with_options(dsn, "-c statement_timeout=100")), row("a"))
    async with locked(dsn, index):
        with pytest.raises(BackendError, match="longer than allowed") as caught:
            await store.search(SearchQuery(vector=[1, 0]))
    assert caught.value.status == "DEADLINE_EXCEEDED"
    assert "statement_timeout" in (caught.value.hint or "")


async def problem(store: PgVector) -> FlowkitError:
    """The error of opening, which names store, index and operation, and no password."""
    with pytest.raises(FlowkitError) as caught:
        await store.open(create=True, dimension=2)
    assert f"pgvector could not open index {store.index!r}" in str(caught.value)
    assert "sekret" not in str(caught.value)
    assert caught.value.hint
    return caught.value


async def test_no_server_no_entry_no_database_each_has_its_hint(make_store: Maker, server: Postgres, index: str):
    nobody = await problem(make_store(dsn="postgresql://me:sekret@127.0.0.1:1/app"))
    assert (type(nobody), nobody.status) == (BackendError, "UNAVAILABLE")
    assert "127.0.0.1:1/app" in str(nobody)

    no_socket = await problem(make_store(dsn="host=/nowhere dbname=app password=sekret"))
    assert "/nowhere/app" in str(no_socket)

    for statement in ("DROP ROLE IF EXISTS locked", "CREATE ROLE locked LOGIN PASSWORD 'right'"):
        await ask(server.dsn, statement)
    wrong = await problem(make_store(dsn=psycopg.conninfo.make_conninfo(server.dsn, user="locked", password="sekret")))
    assert wrong.status == "UNAUTHENTICATED"
    stranger = await problem(make_store(dsn=psycopg.conninfo.make_conninfo(server.dsn, user="stranger")))
    assert stranger.status == "UNAUTHENTICATED"

    elsewhere = await problem(make_store(dsn=psycopg.conninfo.make_conninfo(server.dsn, dbname="elsewhere")))
    assert elsewhere.status == "NOT_FOUND"

    await ask(server.dsn, f'CREATE ROLE "full_{index}" LOGIN CONNECTION LIMIT 0')
    full = await problem(make_store(dsn=psycopg.conninfo.make_conninfo(server.dsn, user=f"full_{index}")))
    assert full.status == "RESOURCE_EXHAUSTED"

    nonsense = await problem(make_store(dsn="postgresql//me:sekret@host"))
    assert isinstance(nonsense, InvalidInputError)


async def test_a_read_only_server_can_be_searched_and_says_so_when_written_to(make_store: Maker, dsn: str):
    await opened(make_store(), row("a"))
    store = make_store(dsn=with_options(dsn, "-c default_transaction_read_only=on"))
    await store.open(create=True, dimension=2)

    assert [hit.id for hit in await store.search(SearchQuery(text="soup", vector=[1, 0]))] == ["a"]
    with pytest.raises(BackendError, match="read-only") as caught:
        await store.upsert([row("b")])
    assert "primary" in (caught.value.hint or "")


async def test_an_index_that_was_dropped_is_missed_not_mourned(make_store: Maker, dsn: str, index: str):
    store = await opened(make_store(), row("a"))
    await ask(dsn, f"DROP TABLE flowkit.index_{index}")

    with pytest.raises(NotFoundError, match=index):
        await store.search(SearchQuery(vector=[1, 0]))
    with pytest.raises(NotFoundError, match=index):
        await store.upsert([row("b")])


def test_a_server_without_pgvector_is_told_what_to_install():
    error = psycopg.errors.UndefinedFile('extension "vector" is not available')

    explained = explanation(error, "open index 'menu'", "db:5432/app")

    assert isinstance(explained, ConfigError)
    assert "pgvector on the server" in (explained.hint or "")


async def test_an_extension_that_was_dropped_is_named(make_store: Maker, dsn: str, index: str):
    await ask(dsn, f"CREATE DATABASE {index}")
    elsewhere = psycopg.conninfo.make_conninfo(dsn, dbname=index)
    store = make_store(dsn=elsewhere, pool_timeout_seconds=0.3)
    await store.open(create=True, dimension=2)
    await ask(elsewhere, "DROP EXTENSION vector CASCADE")

    with pytest.raises(ConfigError, match="not in this database") as caught:
        await store.upsert([row("a")])
    assert "CREATE EXTENSION" in (caught.value.hint or "")


FAILING = """
import asyncio, sys
from flowkit.plugin import SearchQuery
from flowkit_pgvector import PgVector

async def main():
    store = PgVector(sys.argv[2], dsn=sys.argv[1])
    await store.open(create=True, dimension=2)
    searches = [asyncio.create_task(store.search(SearchQuery(vector=[1, 0]))) for _ in range(5)]
    await asyncio.sleep(0)
    raise SystemExit(3)

asyncio.run(main())
"""


def test_a_program_that_fails_while_it_connects_ends(dsn: str, index: str):
    command = [sys.executable, "-c", FAILING, dsn, index]

    assert subprocess.run(command, timeout=120).returncode == 3


def test_a_store_is_used_by_several_loops_and_closed_by_one(dsn: str, index: str):
    store = PgVector(index, dsn=dsn)

    async def use(id: str) -> list[str]:
        await store.open(create=True, dimension=2)
        await store.upsert([row(id)])
        return await ids(store)

    async def in_threads() -> None:
        await use("a")
        await asyncio.gather(*(asyncio.to_thread(asyncio.run, use(f"t{at}")) for at in range(3)))
        assert await ids(store) == ["a", "t0", "t1", "t2"]
        await store.aclose()
        with pytest.raises(StateError):
            await store.fetch()
        left = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'flowkit' AND query LIKE %s"
        assert await ask(dsn, left, (f"%{index}%",)) == []

    asyncio.run(in_threads())
