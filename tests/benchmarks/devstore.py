"""What the dev store costs, against bare numpy over a mapped file (`_devstore_limit.py`), on one BLAS thread.

    python -m tests.benchmarks.devstore                 # 1,000 and 10,000 chunks
    python -m tests.benchmarks.devstore 5000 --full     # 5,000 and 100,000 chunks

Store and limit take turns, so that a slow moment of the machine hits both; a ratio is the median of the ratios of
neighbours. Both return ids, texts and metadata. Every filtered query has a filter of its own; the limit is given the
matching rows.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy: the limit is a one-thread limit

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from flowkit import Document, F, Filter
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit_devstore import DevStore
from tests.benchmarks._devstore_limit import Limit

DIMENSION = 384
K = 10
BATCH = 1000
APPENDED = 100
# What is measured → size → at most so many times the limit.
BARS = {
    "query": {1_000: 2.5, 10_000: 2.5, 100_000: 1.3},
    "query, 1 % filter": {1_000: 5, 10_000: 5, 100_000: 5},
    "query, 25 % filter": {1_000: 5, 10_000: 5, 100_000: 5},
    "open + first query": {1_000: 3, 10_000: 3, 100_000: 3},
    "disk without indexes / raw": {1_000: 1.25, 10_000: 1.25, 100_000: 1.25},
}
OPEN_MS = 5.0
GROWTH = 1.5
"""How much longer an append may take at the largest size than at the smallest."""

Result = TypeVar("Result")
Pair = tuple[float, float]


class Row(NamedTuple):
    id: str
    text: str
    metadata: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {"id": self.id, "text": self.text, "metadata": self.metadata}

    def as_document(self) -> Document:
        return Document.from_text(self.text, self.metadata, id=self.id)


def make_rows(count: int, seed: int) -> tuple[list[Row], np.ndarray]:
    """Texts of about 490 characters, three metadata keys, random unit vectors."""
    random = np.random.default_rng(seed)
    spelling = np.random.default_rng(0)
    words = [
        "".join(spelling.choice(list("abcdefghijklmnopqrstuvwxyz"), spelling.integers(2, 10))) for _ in range(5_000)
    ]
    picks = random.zipf(1.3, (count, 76)) % len(words)
    vectors = random.standard_normal((count, DIMENSION), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = [
        Row(
            f"{seed}-{at:08d}",
            " ".join(words[pick] for pick in picks[at])[:490],
            {"source": f"docs/file{at // 20}.md", "group": int(random.integers(100)), "index": at % 20},
        )
        for at in range(count)
    ]
    return rows, vectors


async def timed(call: Awaitable[Result]) -> tuple[float, Result]:
    begun = time.perf_counter()
    result = await call
    return time.perf_counter() - begun, result


class Bench:
    def __init__(self, size: int, folder: Path) -> None:
        self.size = size
        self.rows, self.vectors = make_rows(size, seed=size)
        self.store = DevStore("bench", folder=folder / "store")
        self.limit = Limit(folder / "limit")
        self.random = np.random.default_rng(7)
        self.results: list[tuple[str, str, str, str, str]] = []
        groups = np.array([row.metadata["group"] for row in self.rows])
        self.slots_of = {(low, high): np.flatnonzero((groups >= low) & (groups <= high)) for low, high in RANGES}
        self.appended = 0
        self.missed = 0
        self.asked = 0

    async def run(self, rounds: int) -> None:
        await self.build()
        self.disk()
        await self.queries("query", rounds, ranges=None)
        await self.queries("query, 1 % filter", rounds, ranges=[(low, low) for low in range(100)])
        await self.queries("query, 25 % filter", rounds, ranges=[(low, low + 24) for low in range(76)])
        self.note("recall@10", f"{1 - self.missed / self.asked:.3f}", "", "1.000", self.missed == 0)
        await self.opening(rounds=max(5, rounds // 10))
        await self.appending(rounds=max(5, rounds // 10))

    async def build(self) -> None:
        await self.store.open(create=True, dimension=DIMENSION)
        documents = [
            EmbeddedDocument(row.as_document(), vector) for row, vector in zip(self.rows, self.vectors, strict=True)
        ]

        async def build() -> None:
            for at in range(0, self.size, BATCH):
                await self.store.upsert(documents[at : at + BATCH])

        seconds, _ = await timed(build())
        begun = time.perf_counter()
        self.limit.build((row.as_json() for row in self.rows), self.vectors)
        self.pairs("build", [(seconds, time.perf_counter() - begun)])
        self.limit.open(DIMENSION)
        await self.store.aclose()
        await self.store.open(create=False)

    async def queries(self, what: str, rounds: int, *, ranges: list[tuple[int, int]] | None) -> None:
        pairs: list[Pair] = []
        for at in range(rounds + 3):
            query = self.random.standard_normal(DIMENSION, dtype=np.float32)
            query /= np.linalg.norm(query)
            where: Filter | None = None
            slots = None
            if ranges is not None:
                low, high = ranges[at % len(ranges)]
                where = F("group") == low if low == high else F("group").between(low, high)
                slots = self.slots_of[low, high]
                if len(slots) < K:
                    continue
            seconds, hits = await timed(self.store.search(SearchQuery(vector=query, k=K, where=where)))
            begun = time.perf_counter()
            found = self.limit.search(query, k=K, slots=slots)
            pairs.append((seconds, time.perf_counter() - begun))
            self.missed += len({row["id"] for _, row in found} - {hit.id for hit in hits})
            self.asked += K
        self.pairs(what, pairs[3:])

    async def opening(self, rounds: int) -> None:
        """In this process, so without the imports; the files are in the page cache, the mapping is new each time."""
        opened: list[float] = []
        pairs: list[Pair] = []
        for at in range(rounds):
            await self.store.aclose()
            query = self.vectors[at]
            seconds, _ = await timed(self.store.open(create=False))
            opened.append(seconds)
            more, _ = await timed(self.store.search(SearchQuery(vector=query, k=K)))
            limit = Limit(self.limit.folder)
            begun = time.perf_counter()
            limit.open(DIMENSION)
            limit.search(query, k=K)
            pairs.append((seconds + more, time.perf_counter() - begun))
        took = statistics.median(opened) * 1000
        self.note("open", f"{took:.2f} ms", "", f"{OPEN_MS:g} ms", took <= OPEN_MS)
        self.pairs("open + first query", pairs)

    async def appending(self, rounds: int) -> None:
        pairs: list[Pair] = []
        for _ in range(rounds):
            seconds, rows, vectors = await self.append()
            begun = time.perf_counter()
            self.limit.append((row.as_json() for row in rows), vectors)
            pairs.append((seconds, time.perf_counter() - begun))
        self.pairs("append 100, durable", pairs)

    async def append(self) -> tuple[float, list[Row], np.ndarray]:
        self.appended += 1
        rows, vectors = make_rows(APPENDED, seed=1_000_000 + self.appended)
        documents = [EmbeddedDocument(row.as_document(), vector) for row, vector in zip(rows, vectors, strict=True)]
        seconds, _ = await timed(self.store.upsert(documents))
        return seconds, rows, vectors

    def disk(self) -> None:
        raw = self.vectors.nbytes + sum(
            len(row.text.encode()) + len(json.dumps(row.metadata, ensure_ascii=False).encode()) for row in self.rows
        )
        files = {path.name: path.stat().st_size for path in self.store.path.iterdir()}
        indexes = index_bytes(self.store.path / "index.db")
        ratio = (sum(files.values()) - sum(indexes.values())) / raw
        bar = BARS["disk without indexes / raw"].get(self.size)
        self.note("disk without indexes / raw", f"{ratio:.3f}", "1", f"{bar:g}" if bar else "", not bar or ratio <= bar)
        for name, size in indexes.items():
            self.note(f"  index {name} / raw", f"{size / raw:.3f}", "", "", True)

    def pairs(self, what: str, pairs: list[Pair]) -> None:
        mine, limit = (statistics.median(side) * 1000 for side in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        bar = BARS.get(what, {}).get(self.size)
        self.note(what, f"{mine:.3f} ms", f"{limit:.3f} ms", f"{ratio:.2f}x" + (f" of {bar:g}x" if bar else ""),
                  bar is None or ratio <= bar)  # fmt: skip

    def note(self, what: str, mine: str, limit: str, bar: str, met: bool) -> None:
        self.results.append((what, mine, limit, bar, "" if met else "over"))


RANGES = [(low, low) for low in range(100)] + [(low, low + 24) for low in range(76)]


def index_bytes(database: Path) -> dict[str, int]:
    """Bytes of each index in the SQLite file; empty where SQLite was built without dbstat."""
    import sqlite3

    kinds = {"ids": ("sqlite_autoindex_rows_1",), "metadata": ("entries",), "words": ("words_%",)}
    with sqlite3.connect(database) as connection:
        try:
            return {
                kind: sum(
                    connection.execute("SELECT sum(pgsize) FROM dbstat WHERE name LIKE ?", (name,)).fetchone()[0] or 0
                    for name in names
                )
                for kind, names in kinds.items()
            }
        except sqlite3.OperationalError:
            return {}


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, help="numbers of chunks; default 1000 10000")
    parser.add_argument("--full", action="store_true", help="100,000 chunks as well")
    parser.add_argument("--rounds", type=int, default=100, help="queries of each kind (default 100)")
    parser.add_argument("--folder", type=Path, help="where to build (default: a temporary folder)")
    given = parser.parse_args()
    sizes = sorted({*(given.sizes or [1_000, 10_000]), *([100_000] if given.full else [])})
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        benches = [Bench(size, Path(folder, str(size))) for size in sizes]
        for bench in benches:
            await bench.run(given.rounds)
            print(f"\n{bench.size:,} chunks × {DIMENSION}")
            for what, mine, limit, bar, met in [("", "store", "limit", "ratio", ""), *bench.results]:
                print(f"{what:32}{mine:>14}{limit:>14}{bar:>18}  {met}")
        if len(benches) > 1:
            print(f"\n{await growth(benches[0], benches[-1], rounds=max(10, given.rounds // 5))}")
        for bench in benches:
            await bench.store.aclose()


async def growth(small: Bench, large: Bench, rounds: int) -> str:
    pairs = [((await large.append())[0], (await small.append())[0]) for _ in range(rounds)]
    ratio = statistics.median(a / b for a, b in pairs)
    over = "over" if ratio > GROWTH else ""
    return f"append {APPENDED} to {large.size:,} / to {small.size:,}: {ratio:.2f}x of {GROWTH:g}x  {over}"


if __name__ == "__main__":
    asyncio.run(main())
