"""Every store beside the reference in memory: the same operations at random, the same answers and the same errors.

`make soak` runs 2,000 documents and 500 questions for each store; the tests 100 and 50.
"""

import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from flowkit.plugin import VectorStore
from flowkit_chroma import Chroma
from flowkit_devstore import DevStore
from flowkit_pgvector import PgVector
from flowkit_pinecone import Pinecone
from samples.lance_store.lance_store import Lance
from samples.qdrant_store.qdrant_store import Qdrant
from tests.conftest import require
from tests.plugins.differential import Comparison
from tests.servers.chroma import ChromaServer
from tests.servers.pinecone import PineconeServer
from tests.servers.postgres import Postgres

pytestmark = pytest.mark.heavy

# So that Postgres uses the vector index on the smallest table.
BY_INDEX = "-c enable_seqscan=off -c enable_sort=off -c enable_bitmapscan=off"
Made = Callable[[str], Any]


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    require("pg", "the store is compared on a real Postgres")
    if "FLOWKIT_TEST_PG_DSN" in os.environ:
        yield os.environ["FLOWKIT_TEST_PG_DSN"]
        return
    with Postgres.started() as server:
        yield server.dsn


@asynccontextmanager
async def made(kind: str, folder: Path, request: pytest.FixtureRequest) -> AsyncIterator[tuple[VectorStore, bool]]:
    """A new store, and whether its search by vector is exact."""
    index = f"diff_{os.getpid()}_{folder.name}"[-60:]
    match kind:
        case "devstore":
            yield DevStore("menu", folder=folder), True
        case "pgvector":
            yield PgVector(index, dsn=request.getfixturevalue("dsn"), index=None), True
        case "pgvector-hnsw":
            dsn = make_conninfo(request.getfixturevalue("dsn"), options=BY_INDEX)
            yield PgVector(index, dsn=dsn, exact_below=0), False
        case "chroma":
            require("chroma", "the store is compared on the real Chroma")
            yield Chroma("menu", path=folder), False
        case "chroma-server":
            require("chroma", "the store is compared on the real Chroma")
            with ChromaServer.started(folder) as server:
                yield Chroma("menu", host="127.0.0.1", port=server.port), False
        case "pinecone":
            with PineconeServer() as emulated:
                emulated.delay_seconds = 0.001
                yield Pinecone("menu", api_key="k", host=emulated.url), True
        case "qdrant":
            yield Qdrant("menu", path=folder), True
        case "lance":
            yield Lance("menu", path=folder), True


@pytest.fixture
def folder() -> Iterator[Path]:
    memory = Path("/dev/shm")
    where = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="flowkit-diff-", dir=where, ignore_cleanup_errors=True) as name:
        yield Path(name)


QUICK = ["devstore", "pgvector", "pgvector-hnsw", "chroma", "pinecone", "qdrant", "lance"]


@pytest.fixture(autouse=True)
def _without_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each client of Pinecone would read all of the system's, and the test's server has none."""
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))


@pytest.mark.parametrize("kind", QUICK)
async def test_it_answers_as_the_reference_does(kind: str, folder: Path, request: pytest.FixtureRequest):
    async with made(kind, folder, request) as (store, exact):
        await Comparison(store, seed=20261130, exact=exact).run(documents=100, questions=50)


@pytest.mark.soak
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("kind", [*QUICK, "chroma-server"])
async def test_it_answers_as_the_reference_does_for_long(
    kind: str, seed: int, folder: Path, request: pytest.FixtureRequest
):
    async with made(kind, folder, request) as (store, exact):
        await Comparison(store, seed=seed, exact=exact).run(documents=2_000, questions=500)


@pytest.mark.soak
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("kind", ["pgvector-hnsw", "chroma", "chroma-server", "pinecone", "qdrant"])
async def test_an_index_finds_nearly_all_of_the_best_with_narrow_filters(
    kind: str, folder: Path, request: pytest.FixtureRequest
):
    async with made(kind, folder, request) as (store, _):
        compared = Comparison(store, seed=3)
        await compared.fill(5_000)
        for percent in (1, 10, 50):
            assert await compared.recall(percent, questions=50) >= 0.95, percent
        await store.aclose()
