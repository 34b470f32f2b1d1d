"""Rows in clusters, as embeddings are, and a plain connection to look into the database.

rows = clustered(2_000, 32)
assert await scans(dsn, f"index_{index}_embedding") > 0
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import psycopg

from flowkit import Document
from flowkit.plugin import EmbeddedDocument
from flowkit_pgvector import PgVector

__all__ = ["BY_INDEX", "ask", "clustered", "opened", "queries", "row", "scans", "until", "with_options"]

BY_INDEX = "-c enable_seqscan=off -c enable_sort=off -c enable_bitmapscan=off"
"""Server settings that make Postgres use a vector index where it can, on the smallest table."""
CENTERS = 40


def clustered(count: int, dimension: int, *, seed: int = 0) -> list[EmbeddedDocument]:
    """Rows with `n`, and `percent` 0…99."""
    random = np.random.default_rng(seed)
    vectors = queries(count, dimension, seed=seed)
    percents = random.permutation(count) % 100
    return [
        EmbeddedDocument(
            Document.from_text(f"row {at}", {"n": at, "percent": int(percents[at])}, id=f"r{at:05d}"), vector
        )
        for at, vector in enumerate(vectors)
    ]


def queries(count: int, dimension: int, *, seed: int) -> Any:
    random = np.random.default_rng(seed)
    centers = np.random.default_rng(99).standard_normal((CENTERS, dimension))
    spread = random.standard_normal((count, dimension)) * 0.7
    return (centers[random.integers(CENTERS, size=count)] + spread).astype(np.float32)


def with_options(dsn: str, options: str) -> str:
    return psycopg.conninfo.make_conninfo(dsn, options=options)


async def ask(dsn: str, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """Run one statement; a percent sign is doubled only when there are values."""
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        cursor = await connection.execute(query.encode(), values or None)
        return await cursor.fetchall() if cursor.description else []


async def scans(dsn: str, index: str) -> int:
    """How often an index was used, by connections that are closed."""
    rows = await ask(dsn, "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = %s", (index,))
    return int(rows[0][0]) if rows else -1


def row(id: str, text: str = "tomato soup") -> EmbeddedDocument:
    return EmbeddedDocument(Document.from_text(text, id=id), [1, 0])


async def opened(store: PgVector, *rows: EmbeddedDocument) -> PgVector:
    await store.open(create=True, dimension=2)
    await store.upsert(rows)
    return store


async def until(dsn: str, query: str, *values: object) -> None:
    """Wait until a query of the administrator finds something."""
    end = time.monotonic() + 30
    while not await ask(dsn, query, values):
        assert time.monotonic() < end, query
        await asyncio.sleep(0.01)
