"""A Postgres server for the tests of the plugin: one for the whole run, an index of its own for each test."""

import itertools
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from flowkit_pgvector import PgVector
from tests.conftest import required
from tests.servers.postgres import Postgres

NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def own_server() -> Iterator[Postgres | None]:
    """A server that a test may stop; None where FLOWKIT_TEST_PG_DSN names another one."""
    if "FLOWKIT_TEST_PG_DSN" in os.environ:
        yield None
        return
    try:
        started = Postgres.started()
        server = started.__enter__()
    except (ImportError, OSError, RuntimeError, subprocess.SubprocessError) as error:
        if "pg" in required():
            raise
        pytest.skip(f"Postgres does not start on this machine: {error}")
    try:
        yield server
    finally:
        started.__exit__(None, None, None)


@pytest.fixture(scope="session")
def dsn(own_server: Postgres | None) -> str:
    return own_server.dsn if own_server is not None else os.environ["FLOWKIT_TEST_PG_DSN"]


@pytest.fixture
def server(own_server: Postgres | None) -> Iterator[Postgres]:
    """The server, to be stopped and started by the test."""
    if own_server is None:
        pytest.skip("the server that FLOWKIT_TEST_PG_DSN names is not the tests' to stop")
    yield own_server
    own_server.start()


@pytest.fixture
def index() -> str:
    """The name of an index that nobody else uses."""
    return f"menu_{os.getpid()}_{next(NUMBERS)}"


@pytest.fixture
async def make_store(dsn: str, index: str) -> AsyncIterator[Callable[..., PgVector]]:
    """Makes stores of this test's index (or of another), closed when the test ends."""
    made: list[PgVector] = []

    def make(name: str = index, **options: Any) -> PgVector:
        store = PgVector(name, **{"dsn": dsn, **options})
        made.append(store)
        return store

    yield make
    for store in made:
        await store.aclose()
