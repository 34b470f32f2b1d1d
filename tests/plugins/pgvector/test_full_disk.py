"""A full disk: a real file system of some megabytes, in which Postgres keeps an index."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psycopg
import pytest

from flowkit import Document
from flowkit.errors import BackendError
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit_pgvector import PgVector
from tests.plugins.pgvector.data import with_options
from tests.servers.postgres import Postgres

pytestmark = [pytest.mark.heavy, pytest.mark.requires("pg", "the store is tested against a real Postgres")]

Maker = Callable[..., PgVector]


@pytest.fixture
def tiny_disk(server: Postgres, index: str) -> Iterator[Path]:
    """A file system of 4 MB that belongs to the user whom Postgres runs as, as its tablespace "tiny"; what is in it is
    in the schema of the index's name."""
    folder = Path(tempfile.mkdtemp(prefix="flowkit-tiny-"))
    options = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    try:
        if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(options, capture_output=True).returncode != 0:
            pytest.skip("a full disk is played with a small tmpfs, which only root on Linux may mount")
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            (data,) = connection.execute("SHOW data_directory").fetchone() or ("",)
            owner = Path(data).stat()
            os.chown(folder, owner.st_uid, owner.st_gid)
            connection.execute(f"CREATE TABLESPACE tiny LOCATION '{folder}'".encode())
        yield folder
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA IF EXISTS {index} CASCADE".encode())
            connection.execute("DROP TABLESPACE tiny")
    finally:
        subprocess.run(["umount", "-l", str(folder)], capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


def rows(start: int, count: int) -> list[EmbeddedDocument]:
    vectors = np.random.default_rng(start).standard_normal((count, 64)).astype(np.float32)
    return [
        EmbeddedDocument(Document.from_text(f"dish {at} " * 20, {"n": at}, id=f"r{at:05d}"), vectors[at - start])
        for at in range(start, start + count)
    ]


async def ids(store: PgVector) -> list[str]:
    return [item.id for item in (await store.fetch(limit=100_000)).items]


async def test_a_full_disk_is_told_and_what_was_written_before_stays(
    make_store: Maker, server: Postgres, index: str, tiny_disk: Path
):
    store = make_store(dsn=with_options(server.dsn, "-c default_tablespace=tiny"), schema=index)
    await store.open(create=True, dimension=64)
    count = 0

    async def write_on() -> None:
        nonlocal count
        while True:
            await store.upsert(rows(count, 200))
            count += 200

    with pytest.raises(BackendError, match=f"^pgvector could not write to index '{index}'.*space") as caught:
        await write_on()
    assert caught.value.status == "RESOURCE_EXHAUSTED"
    assert "space" in (caught.value.hint or "")
    assert count > 200
    written = [f"r{at:05d}" for at in range(count)]
    assert await ids(store) == written, "the transaction that did not fit left nothing"
    assert (await store.stats()).count == count
    hits = await store.search(SearchQuery(vector=rows(0, 1)[0].vector, text="dish", k=3))
    assert hits[0].id == "r00000"

    subprocess.run(["mount", "-o", "remount,size=60m", str(tiny_disk)], check=True)
    await store.upsert(rows(0, count + 200))
    assert await ids(store) == [f"r{at:05d}" for at in range(count + 200)]
    assert (await store.stats()).count == count + 200
