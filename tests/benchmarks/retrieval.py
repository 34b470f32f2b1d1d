"""How good retrieval is with default settings: nDCG@10, MRR@10 and recall@100 of a collection with judged questions.

    python -m tests.benchmarks.retrieval DIR --mode hybrid

DIR holds corpus.jsonl (`_id`, `title`, `text`), queries.jsonl (`_id`, `text`) and qrels.tsv (with a heading line). The
collection goes through `Flowkit.ingest` as it is: default splitter, local embedder, dev store. Hits are chunks; a
document stands where its best chunk does. Gain is linear; documents of grade 0 count as not judged. Embeddings stay in
the project's cache, so a second run is quick.
"""

import argparse
import asyncio
import json
import math
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from flowkit import Document, Flowkit
from flowkit_devstore import DevStore
from flowkit_local import Local

EMBEDDER = "local/all-minilm-l6-v2"
CHUNKS = 400
"""Hits that are pooled to documents; more than 100 documents' worth."""
DEPTH = 100


class Collection(NamedTuple):
    documents: list[Document]
    queries: dict[str, str]
    grades: dict[str, dict[str, int]]
    """Query → document → grade above 0."""


def read(folder: Path) -> Collection:
    documents = []
    for row in _rows(folder / "corpus.jsonl"):
        text = "\n\n".join(part for part in (row.get("title", ""), row["text"]) if part.strip())
        if text:
            documents.append(Document.from_text(text, {"source": row["_id"]}))
    grades: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if int(grade) > 0:
            grades.setdefault(query, {})[document] = int(grade)
    queries = {row["_id"]: row["text"] for row in _rows(folder / "queries.jsonl") if row["_id"] in grades}
    return Collection(documents, queries, grades)


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def ndcg(ranked: Sequence[str], grades: Mapping[str, int], depth: int = 10) -> float:
    """Linear gain, discounted by log2(rank + 1), over that of the ideal order."""
    gain = sum(grades.get(each, 0) / math.log2(rank + 1) for rank, each in enumerate(ranked[:depth], 1))
    ideal = sorted(grades.values(), reverse=True)[:depth]
    return gain / sum(grade / math.log2(rank + 1) for rank, grade in enumerate(ideal, 1))


def reciprocal_rank(ranked: Sequence[str], grades: Mapping[str, int], depth: int = 10) -> float:
    return next((1 / rank for rank, each in enumerate(ranked[:depth], 1) if each in grades), 0.0)


def recall(ranked: Sequence[str], grades: Mapping[str, int], depth: int = DEPTH) -> float:
    return len(grades.keys() & set(ranked[:depth])) / len(grades)


async def measure(folder: Path, modes: Sequence[str], every: int) -> None:
    collection = read(folder)
    with tempfile.TemporaryDirectory() as scratch:
        store = DevStore("collection", embedder=EMBEDDER, folder=Path(scratch))
        async with Flowkit(plugins=[Local(), store]) as ai:
            began = time.perf_counter()
            report = await ai.ingest("collection", collection.documents)
            took = time.perf_counter() - began
            print(
                f"{folder.name}: {len(collection.documents)} documents in {report.written} chunks, "
                f"indexed in {took:.1f} s ({report.cached} embeddings out of the cache)"
            )
            queries = list(collection.queries.items())[::every]
            for mode in modes:
                began = time.perf_counter()
                sums = [0.0, 0.0, 0.0]
                for query, text in queries:
                    hits = await ai.retrieve("collection", text, k=CHUNKS, options={"mode": mode})
                    ranked = list(dict.fromkeys(hit.source or "" for hit in hits))
                    for at, figure in enumerate((ndcg, reciprocal_rank, recall)):
                        sums[at] += figure(ranked, collection.grades[query])
                took = time.perf_counter() - began
                means = [total / len(queries) for total in sums]
                print(
                    f"{mode:8} nDCG@10 {means[0]:.4f}  MRR@10 {means[1]:.4f}  R@100 {means[2]:.4f}  "
                    f"({len(queries)} questions, {1000 * took / len(queries):.1f} ms each)"
                )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.retrieval", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="the collection")
    parser.add_argument("--mode", choices=("vector", "keyword", "hybrid"), help="default: all three")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask each Nth question only")
    given = parser.parse_args()
    if given.folder is None:
        print("retrieval needs a collection: make bench BENCH=retrieval ARGS=folder", file=sys.stderr)
        return 0
    modes = [given.mode] if given.mode else ["keyword", "vector", "hybrid"]
    asyncio.run(measure(given.folder, modes, given.every))
    return 0


if __name__ == "__main__":
    sys.exit(main())
