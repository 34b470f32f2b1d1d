"""From a folder of PDF files to an index, the whole job, beside LangChain and Haystack with the same model.

    python -m tests.benchmarks.pipelines [FOLDER] [--pages 300] [--rounds 3] [--peers PYTHON]

Every run is a process of its own; imports and the loading of the model are not counted, parsers' processes are. The
peers (`_pipelines_peers.py`) need langchain-community, langchain-text-splitters, langchain-chroma, pypdf, haystack-ai,
chroma-haystack, onnxruntime and tokenizers in the Python that `--peers` names; one that is missing is left out, and
said. All cut at 700 characters with an overlap of 70. Times are on the clock: a busy machine shows.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from flowkit import Flowkit
from flowkit.config import Settings
from flowkit.rag import split
from flowkit_devstore import DevStore
from flowkit_local import Local
from flowkit_local.weights import minilm_files
from tests.benchmarks._papers import write_papers
from tests.benchmarks._pipelines_peers import CHARS, OVERLAP, PEERS
from tests.benchmarks.indexing import timed
from tests.support.modules import ROOT

BARS = {"langchain": 1.6, "haystack": 1.6, "limit": 1 / 1.1}
"""Their wall clock over ours: at least that."""


async def ours(folder: Path) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as scratch:
        store = DevStore("papers", embedder="local/all-minilm-l6-v2", folder=Path(scratch, "indexes"))
        settings = Settings(root=Path(scratch), embedding_cache=False)
        async with Flowkit(plugins=[Local(), store], settings=settings) as ai:
            await ai.embed("local/all-minilm-l6-v2", "A text, so that the session is warm.")
            splitter = split.recursive(max_chars=CHARS, overlap_chars=OVERLAP)
            report, spent = await timed(lambda: ai.ingest("papers", folder, splitter=splitter))
    if report.skipped:
        raise SystemExit(f"skipped: {report.skipped[0]}")
    return {"wall": spent.wall, "cpu": spent.cpu, "pages": 0, "chunks": report.written}


def run(name: str, folder: Path, peers: str) -> dict[str, Any] | None:
    if name == "flowkit":
        command = [sys.executable, "-m", "tests.benchmarks.pipelines", str(folder), "--only-ours"]
    else:
        python = sys.executable if name == "limit" else peers
        command = [python, "-m", "tests.benchmarks._pipelines_peers", name, str(folder), *map(str, minilm_files())]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if found.returncode:
        why = [line for line in found.stderr.splitlines() if "Error" in line][-1:]
        print(f"{name} is left out: {''.join(why)}")
        return None
    told: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return told


def compare(folder: Path, rounds: int, peers: str) -> None:
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in ("flowkit", *PEERS)}
    for _ in range(rounds):
        for name in list(runs):
            told = run(name, folder, peers)
            if told is None:
                del runs[name]
            else:
                runs[name].append(told)
    print(f"{'':12}{'wall s':>9}{'cpu s':>9}{'chunks':>9}{'theirs / ours, wall':>22}{'cpu':>8}{'bar':>8}")
    for name, found in runs.items():
        wall, busy = (statistics.median(each[what] for each in found) for what in ("wall", "cpu"))
        line = f"{name:12}{wall:>9.2f}{busy:>9.2f}{found[0]['chunks']:>9}"
        if name in BARS:
            pairs = list(zip(found, runs["flowkit"], strict=True))
            ratios = [
                statistics.median(theirs[what] / mine[what] for theirs, mine in pairs) for what in ("wall", "cpu")
            ]
            line += f"{ratios[0]:>22.2f}{ratios[1]:>8.2f}{BARS[name]:>8.2f}"
            line += "" if ratios[0] >= BARS[name] else "  BELOW"
        print(line)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.pipelines", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default=sys.executable, help="a Python that has them")
    parser.add_argument("--only-ours", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only_ours:
        print(json.dumps(asyncio.run(ours(given.folder))))
        return 0
    with tempfile.TemporaryDirectory() as made:
        folder = (given.folder or Path(made)).resolve()
        if given.folder is None:
            write_papers(folder, given.pages)
        compare(folder, given.rounds, given.peers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
