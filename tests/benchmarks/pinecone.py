"""What the Pinecone plugin costs, against Pinecone's own client that does the same batches and the same queries.

    python -m tests.benchmarks.pinecone                  # 4,000 chunks, 300 queries
    python -m tests.benchmarks.pinecone 20000 --queries 500

Both go through HTTP to the server of the tests, in a process of its own, which answers as fast as it can: the service
itself takes far longer. They take turns, so that a slow moment of the machine hits both; a ratio is the median of the
ratios of neighbours.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from flowkit import Document, F
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit_pinecone import Pinecone
from tests.benchmarks._turns import Pair, pair

DIMENSION = 384
BATCH = 100
"""Chunks in one request, as Pinecone recommends."""
K = 10
BAR = 0.9
"""At least so much of the bare client's throughput."""
SERVE = """
import collections, sys
from tests.servers import openapi, pinecone
openapi.OpenApi.of = classmethod(lambda cls, name: None)  # checking messages is the tests' business
with pinecone.PineconeServer() as server:
    server.requests = collections.deque(maxlen=0)  # as is looking at them
    print(server.url, flush=True)
    sys.stdin.read()
"""


@contextmanager
def served() -> Iterator[str]:
    """The address of a server that runs until then."""
    process = subprocess.Popen([sys.executable, "-c", SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait(10)


async def measure(url: str, count: int, queries: int) -> dict[str, list[Pair]]:
    from pinecone import AsyncPinecone

    numbers = np.random.default_rng(3)
    vectors = numbers.normal(size=(count, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = [f"Chunk {at}: " + "soup of the day with bread and basil " * 12 for at in range(count)]
    metadata: list[dict[str, Any]] = [
        {"source": f"file{at // 40}.md", "index": at, "group": at % 10} for at in range(count)
    ]
    ids = [f"chunk-{at:07d}" for at in range(count)]
    store = Pinecone("ours", api_key="k", host=url)
    await store.open(create=True, dimension=DIMENSION)
    api = AsyncPinecone(api_key="k", host=url)
    await api.indexes.create(
        name="bare", dimension=DIMENSION, metric="cosine", spec={"serverless": {"cloud": "aws", "region": "us-east-1"}}
    )
    bare = await api.index(host=f"{url}/data/bare")

    async def their_upsert(some: slice) -> None:
        await bare.upsert(
            vectors=[
                {"id": id, "values": vector.tolist(), "metadata": {**entry, "text": text}}
                for id, text, entry, vector in zip(ids[some], texts[some], metadata[some], vectors[some], strict=True)
            ]
        )

    async def their_query(query: Any, where: dict[str, Any] | None) -> None:
        await bare.query(vector=query.tolist(), top_k=K, filter=where, include_metadata=True)

    found: dict[str, list[Pair]] = {"upsert": [], "query": [], "query, 10 % filter": []}
    for at in range(0, count, BATCH):
        some = slice(at, at + BATCH)
        rows = [
            EmbeddedDocument(Document.from_text(text, entry, id=id), vector)
            for id, text, entry, vector in zip(ids[some], texts[some], metadata[some], vectors[some], strict=True)
        ]
        found["upsert"].append(await pair(partial(store.upsert, rows), partial(their_upsert, some), at=at // BATCH))
    await store.wait_until_searchable()
    for at in range(queries):
        query = vectors[at % count] + numbers.normal(size=DIMENSION).astype(np.float32) * 0.02
        for name, where, asked in (
            ("query", None, None),
            ("query, 10 % filter", F("group") == at % 10, {"group": {"$eq": at % 10}}),
        ):
            ours = partial(store.search, SearchQuery(vector=query, k=K, where=where))
            found[name].append(await pair(ours, partial(their_query, query, asked), at=at))
    await store.aclose()
    await bare.close()
    await api.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=4_000)
    parser.add_argument("--queries", type=int, default=300)
    options = parser.parse_args()

    with served() as url:
        found = asyncio.run(measure(url, options.count, options.queries))
    ratios = {name: statistics.median(each.theirs / each.ours for each in pairs) for name, pairs in found.items()}
    for name, ratio in ratios.items():
        ours, theirs = (statistics.median(seconds) * 1_000 for seconds in zip(*found[name], strict=True))
        print(
            f"{name:20} {ratio:5.2f} of the bare client's throughput, {ours:.1f} ms to {theirs:.1f}"
            f"{'' if ratio >= BAR else f'  (bar: {BAR})'}"
        )
    raise SystemExit(any(ratio < BAR for ratio in ratios.values()))


if __name__ == "__main__":
    main()
