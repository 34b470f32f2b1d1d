"""What indexing a folder costs beside embedding its chunks, and what it costs again when nothing has changed.

    python -m tests.benchmarks.indexing [FOLDER] [--pages 300]

Without a folder it makes one of PDF files, ten pages each. Processor time of this process and those it starts, imports
counted apart. Everything but embedding (reading, parsing, cutting, comparing, storing) is measured directly: by a run
with an embedder that costs nothing. What the real one takes is measured on some of the chunks, and reckoned for all.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

import psutil

from flowkit import EmbedderInfo, Embedding, EmbedRequest, EmbedResponse, Flowkit
from flowkit.config import Settings
from flowkit.rag.ingest import IngestReport, default_splitter
from flowkit_devstore import DevStore
from flowkit_local import Local
from tests.benchmarks._papers import write_papers

T = TypeVar("T")

EMBEDDER = "local/all-minilm-l6-v2"
SAMPLE = 48
DIMENSIONS = 384
VECTOR = (1.0, *(0.0,) * (DIMENSIONS - 1))
REST_BAR = 0.05
AGAIN_BAR = 50


class Spent(NamedTuple):
    wall: float
    cpu: float


def cpu_seconds() -> float:
    """Of this process and all that it started, also those that have ended."""
    process = psutil.Process()
    times = process.cpu_times()
    total = times.user + times.system + times.children_user + times.children_system
    for child in process.children(recursive=True):
        try:
            spent = child.cpu_times()
            total += spent.user + spent.system
        except psutil.NoSuchProcess:
            continue
    return float(total)


async def timed(what: Callable[[], Awaitable[T]]) -> tuple[T, Spent]:
    wall, cpu = time.perf_counter(), cpu_seconds()
    result = await what()
    return result, Spent(time.perf_counter() - wall, cpu_seconds() - cpu)


async def measure(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        store = DevStore("papers", embedder="free", folder=Path(scratch, "indexes"))
        settings = Settings(root=Path(scratch), embedding_cache=False)
        async with Flowkit(plugins=[Local(), store], settings=settings) as ai:
            ai.embedder("free", info=EmbedderInfo(label="free", dimensions=DIMENSIONS))(free)
            splitter = await default_splitter(ai.registry, EMBEDDER)

            async def ingest(what: Path) -> IngestReport:
                return await ai.ingest("papers", what, splitter=splitter, sync="full")

            # Models, parsers and splitters are loaded, and their processes started.
            first_file = min(file for file in folder.rglob("*") if file.is_file())
            await ingest(first_file)
            await ai.embed_many(EMBEDDER, ["A text."] * 4)
            await ai.delete("papers", source=folder.name + "/" + first_file.relative_to(folder).as_posix())
            await ai.delete("papers", source=first_file.name)

            report, rest = await timed(lambda: ingest(folder))
            again, unchanged = await timed(lambda: ingest(folder))
            page = await store.fetch(limit=1_000_000)
            texts = [row.document.text for row in page.items]
            some = texts[:: max(1, len(texts) // SAMPLE)]
            _, sample = await timed(lambda: ai.embed_many(EMBEDDER, some))

    scale = len(texts) / len(some)
    embedding = Spent(sample.wall * scale, sample.cpu * scale)
    share = rest.cpu / (rest.cpu + embedding.cpu)
    ratio = (rest.wall + embedding.wall) / unchanged.wall
    print(f"{report.documents} documents, {len(texts)} chunks, {sum(map(len, texts)) / 1e6:.2f} MB of text")
    print(f"{'':40}{'wall s':>9}{'cpu s':>9}")
    for name, spent in (
        ("everything but embedding", rest),
        (f"embedding, reckoned from {len(some)} chunks", embedding),
        ("second run, nothing changed", unchanged),
    ):
        print(f"{name:40}{spent.wall:>9.2f}{spent.cpu:>9.2f}")
    print(f"{'ok' if share <= REST_BAR else 'ABOVE':6}everything but embedding ≤ {REST_BAR:.0%} of CPU: {share:.1%}")
    print(f"{'ok' if ratio >= AGAIN_BAR else 'BELOW':6}second run ≥ {AGAIN_BAR} × faster: {ratio:.0f} ×")
    if again.written:
        raise SystemExit(f"the second run wrote {again.written} chunks")


async def free(request: EmbedRequest) -> EmbedResponse:
    """A vector for nothing."""
    return EmbedResponse(embeddings=(Embedding(vector=VECTOR),) * len(request.input))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.indexing", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--pages", type=int, default=300)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = given.folder or Path(made)
        if given.folder is None:
            write_papers(folder, given.pages)
        asyncio.run(measure(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
