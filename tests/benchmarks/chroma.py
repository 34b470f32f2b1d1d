"""What the Chroma plugin costs, against Chroma's own client that does the same batches and the same queries.

    python -m tests.benchmarks.chroma                  # in a folder: 10,000 chunks, 300 queries
    python -m tests.benchmarks.chroma 20000 --via async     # through HTTP; or --via threads

The bare client is the one that the store uses. One that blocks is called on threads, as the store does not block. Both
take turns, so that a slow moment of the machine hits both; a ratio is the median of the ratios of neighbours.
"""

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from functools import partial
from inspect import isawaitable
from pathlib import Path
from typing import Any

import numpy as np

from flowkit import Document, F
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit_chroma import Chroma
from tests.benchmarks._turns import pair
from tests.servers.chroma import ChromaServer

DIMENSION = 384
BATCH = 500
K = 10
BAR = 0.9
"""At least so much of the bare client's throughput."""


async def ratio(ours: Callable[[], Awaitable[Any]], theirs: Callable[[], Awaitable[Any]], *, at: int) -> float:
    """The bare client's time over ours."""
    found = await pair(ours, theirs, at=at)
    return found.theirs / found.ours


async def measure(store: Chroma, client: Any, count: int, queries: int) -> dict[str, float]:
    made = (await client if isawaitable(client) else client).create_collection(
        "bare", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    bare = await made if isawaitable(made) else made

    def call(method: str, **arguments: Any) -> Callable[[], Awaitable[Any]]:
        theirs = partial(getattr(bare, method), **arguments)
        return theirs if bare is not made else partial(asyncio.to_thread, theirs)

    numbers = np.random.default_rng(3)
    vectors = numbers.normal(size=(count, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = [f"Chunk {at}: " + "soup of the day with bread and basil " * 12 for at in range(count)]
    metadata: list[dict[str, Any]] = [
        {"source": f"file{at // 40}.md", "index": at, "group": at % 10} for at in range(count)
    ]
    ids = [f"chunk-{at:07d}" for at in range(count)]
    ratios: dict[str, list[float]] = {"upsert": [], "query": [], "query, 10 % filter": []}
    await store.open(create=True, dimension=DIMENSION)
    for at in range(0, count, BATCH):
        some = slice(at, at + BATCH)
        rows = [
            EmbeddedDocument(Document.from_text(text, entry, id=id), vector)
            for id, text, entry, vector in zip(ids[some], texts[some], metadata[some], vectors[some], strict=True)
        ]
        ratios["upsert"].append(
            await ratio(
                partial(store.upsert, rows),
                call(
                    "upsert",
                    ids=ids[some],
                    embeddings=list(vectors[some]),
                    documents=texts[some],
                    metadatas=metadata[some],
                ),
                at=at // BATCH,
            )
        )
    include = ["documents", "metadatas", "distances"]
    for at in range(queries):
        query = vectors[at % count] + numbers.normal(size=DIMENSION).astype(np.float32) * 0.02
        for name, where, asked in (
            ("query", None, None),
            ("query, 10 % filter", F("group") == at % 10, {"group": at % 10}),
        ):
            ratios[name].append(
                await ratio(
                    partial(store.search, SearchQuery(vector=query, k=K, where=where)),
                    call("query", query_embeddings=[query], n_results=K, where=asked, include=include),
                    at=at,
                )
            )
    await store.aclose()
    return {name: statistics.median(found) for name, found in ratios.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=10_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--via", choices=["async", "threads"], help="a server, by Chroma's async client or on threads")
    options = parser.parse_args()

    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if options.via:
            address: Any = {"host": "127.0.0.1", "port": stack.enter_context(ChromaServer.started(folder)).port}
            store = Chroma("menu", **address, transport=options.via)
            made = chromadb.AsyncHttpClient if options.via == "async" else chromadb.HttpClient
            client: Any = made(**address, settings=settings)
        else:
            client = chromadb.PersistentClient(str(folder / "bare"), settings=settings)
            store = Chroma("menu", path=folder / "ours")
        found = asyncio.run(measure(store, client, options.count, options.queries))
    for name, ratio in found.items():
        print(f"{name:20} {ratio:5.2f} of the bare client's throughput{'' if ratio >= BAR else f'  (bar: {BAR})'}")
    raise SystemExit(any(ratio < BAR for ratio in found.values()))


if __name__ == "__main__":
    main()
