"""What the pgvector store costs, against bare psycopg that sends the same batches and queries to an equal table.

    python -m tests.benchmarks.pgvector                 # 5,000 chunks
    python -m tests.benchmarks.pgvector 20000 --rounds 300

Store and psycopg take turns, so that a slow moment of the machine hits both; throughput is the median of the ratios of
neighbours. psycopg is given what the store works out itself: the SQL of a search, and vectors of length 1. It writes by
binary COPY to tables with the same indexes, and makes the same columns of each document (search terms, hashes, JSON),
except in the line "tuples", where they are there already. It has one connection, and never has to ask for it. There
is no bar without a vector index: then most of the price of a row is what Python does for it, and the ratio says little.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import psycopg
from pgvector.psycopg import register_vector_async
from psycopg.types.json import Jsonb

from flowkit import Document, F, Filter
from flowkit.plugin import EmbeddedDocument, SearchQuery, metadata_hash, text_hash
from flowkit.rag.keyword import terms
from flowkit_pgvector import PgVector
from flowkit_pgvector.relation import Relation
from flowkit_pgvector.statements import index_settings, vector_sql
from flowkit_pgvector.where import condition
from tests.servers.postgres import Postgres

DIMENSION = 384
K = 10
BATCH = 100
BAR = 0.9
COLUMNS = "namespace, id, text, metadata, source, text_hash, metadata_hash, words, embedding"
TYPES = ["text", "text", "text", "jsonb", "text", "bytea", "bytea", "text[]", "vector"]


def make_rows(count: int, seed: int) -> list[EmbeddedDocument]:
    """Texts of about 490 characters, three metadata keys, unit vectors in clusters."""
    random = np.random.default_rng(seed)
    spelling = np.random.default_rng(0)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    words = ["".join(spelling.choice(letters, spelling.integers(2, 10))) for _ in range(5_000)]
    centers = spelling.standard_normal((50, DIMENSION))
    picks = random.zipf(1.3, (count, 76)) % len(words)
    vectors = centers[random.integers(50, size=count)] + random.standard_normal((count, DIMENSION)) * 0.7
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return [
        EmbeddedDocument(
            Document.from_text(
                " ".join(words[pick] for pick in picks[at])[:490],
                {"source": f"docs/file{at // 20}.md", "group": int(random.integers(100)), "index": at % 20},
                id=f"{seed}-{at:08d}",
            ),
            vectors[at],
        )
        for at in range(count)
    ]


def as_tuple(row: EmbeddedDocument) -> tuple[Any, ...]:
    document = row.document
    return (
        "",
        row.id,
        document.text,
        Jsonb(dict(document.metadata)),
        document.source,
        bytes.fromhex(text_hash(document.text)),
        bytes.fromhex(metadata_hash(document.metadata)),
        terms(document.text),
        row.vector,
    )


class Bare:
    """What one would write by hand."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self._connection: psycopg.AsyncConnection[Any] | None = None

    async def connection(self) -> psycopg.AsyncConnection[Any]:
        if self._connection is None:
            self._connection = await psycopg.AsyncConnection.connect(self.dsn, autocommit=True)
            await register_vector_async(self._connection)
        return self._connection

    async def close(self) -> None:
        await (await self.connection()).close()

    async def write(self, rows: list[tuple[Any, ...]]) -> None:
        connection = await self.connection()
        copying = f"COPY flowkit.index_bare ({COLUMNS}) FROM STDIN (FORMAT BINARY)".encode()
        async with connection.transaction(), connection.cursor() as cursor, cursor.copy(copying) as copy:
            copy.set_types(TYPES)
            for row in rows:
                await copy.write_row(row)

    async def read(self, query: str, values: dict[str, Any], *, prepare: bool | None) -> list[Any]:
        connection = await self.connection()
        return await (await connection.execute(query.encode(), values, binary=True, prepare=prepare)).fetchall()


async def timed(call: Callable[[], Awaitable[Any]]) -> float:
    begun = time.perf_counter()
    await call()
    return time.perf_counter() - begun


class Bench:
    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.bare = Bare(dsn)
        self.met = True

    async def run(self, size: int, rounds: int) -> None:
        print(f"\n{f'{size:,} chunks × {DIMENSION}':40}{'store':>12}{'psycopg':>12}{'throughput':>14}")
        await self.writes("write 100, HNSW", size=size, index="hnsw")
        await self.store.build_index()
        await self.administer("ANALYZE flowkit.index_bare")
        await self.queries("query", rounds, lambda at: None)
        await self.queries("query, 25 % filter", rounds, lambda at: F("group") < 25)
        await self.queries("query, 1 % filter", rounds, lambda at: F("group") == at % 100)
        await self.drop()
        await self.writes("write 100, no vector index", size=size, index=None)
        await self.drop()
        await self.writes("write 100, no vector index, tuples", size=size, index=None, tuples=True)
        await self.drop()
        await self.bare.close()

    async def writes(self, what: str, *, size: int, index: Any, tuples: bool = False) -> None:
        self.store = PgVector("store", dsn=self.dsn, index=index, exact_below=0)
        await self.store.open(create=True, dimension=DIMENSION)
        other = PgVector("bare", dsn=self.dsn, index=index)
        await other.open(create=True, dimension=DIMENSION)
        await other.aclose()
        pairs: list[tuple[float, float]] = []
        rows = make_rows(size, seed=size)
        for at in range(0, size, BATCH):
            batch = rows[at : at + BATCH]
            ready = [as_tuple(row) for row in batch] if tuples else None

            async def mine(batch: list[EmbeddedDocument] = batch) -> None:
                await self.store.upsert(batch)

            async def bare(batch: list[EmbeddedDocument] = batch, ready: Any = ready) -> None:
                await self.bare.write(ready or [as_tuple(row) for row in batch])

            pairs.append(await self.turn([mine, bare], first=at // BATCH % 2))
        self.note(what, pairs[3:], bar=BAR if index else None)

    async def queries(self, what: str, rounds: int, filter_of: Callable[[int], Filter | None]) -> None:
        pairs: list[tuple[float, float]] = []
        own = Relation(
            rows="flowkit.index_store",
            scope="r.namespace = %(flowkit_namespace)s::text",
            operator="<#>",
            values={"flowkit_namespace": ""},
            own=True,
            method="hnsw",
        )
        for at, row in enumerate(make_rows(rounds, seed=7)):
            where = filter_of(at)
            sql, values = condition(where, {}) if where is not None else ("TRUE", {})
            sql = vector_sql(own, sql, scan="index", settings=index_settings(own, iterative=True))
            values |= {"flowkit_namespace": "", "flowkit_vector": row.vector, "flowkit_limit": K, "flowkit_ef": 100}

            async def mine(row: EmbeddedDocument = row, where: Filter | None = where) -> None:
                await self.store.search(SearchQuery(vector=row.vector, k=K, where=where))

            async def bare(sql: str = sql, values: dict[str, Any] = values) -> None:
                # As the store does: a plan for one filter can be a bad one for the next.
                found = await self.bare.read(sql, values, prepare=None if "flowkit_0" not in values else False)
                self.last = [{"id": id, "text": text, **json.loads(held), "d": d} for id, text, _, held, d in found]

            pairs.append(await self.turn([mine, bare], first=at % 2))
        self.note(what, pairs[10:], bar=BAR)

    async def turn(self, turns: list[Callable[[], Awaitable[Any]]], *, first: int) -> tuple[float, float]:
        """Both, in the order that changes from turn to turn; the store's seconds first."""
        seconds = [0.0, 0.0]
        for which in (first, 1 - first):
            seconds[which] = await timed(turns[which])
        return seconds[0], seconds[1]

    def note(self, what: str, pairs: list[tuple[float, float]], *, bar: float | None) -> None:
        mine, bare = (statistics.median(side) * 1000 for side in zip(*pairs, strict=True))
        ratio = statistics.median(b / a for a, b in pairs)
        met = bar is None or ratio >= bar
        self.met = self.met and met
        shown = "" if bar is None else f" of {bar:g}x{'' if met else '  under'}"
        print(f"{what:40}{mine:>9.2f} ms{bare:>9.2f} ms{ratio:>9.2f}x{shown}")

    async def drop(self) -> None:
        await self.store.aclose()
        await self.administer("DROP SCHEMA flowkit CASCADE")

    async def administer(self, statement: str) -> None:
        async with await psycopg.AsyncConnection.connect(self.dsn, autocommit=True) as connection:
            await connection.execute(statement.encode())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, help="numbers of chunks; default 5000")
    parser.add_argument("--rounds", type=int, default=200, help="queries of each kind (default 200)")
    given = parser.parse_args()
    met = True
    with Postgres.started() as server:
        for size in given.sizes or [5_000]:
            bench = Bench(server.dsn)
            asyncio.run(bench.run(size, given.rounds))
            met = met and bench.met
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
