"""What reading PDF files costs, in pages per second of processor time, beside pypdfium2 and pypdf alone.

    python -m tests.benchmarks.parsing                   # 300 pages in 30 files; --rounds 5

Ours reads in a process of its own, with limits; its time counts, and so does what the caller pays. The bare readers
take the text of every page and nothing else. All take turns; figures are medians, ratios those of one round.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from flowkit.rag import parse
from tests.benchmarks._papers import write_papers
from tests.benchmarks.indexing import cpu_seconds

BARS = {"pdfium": 0.9}
"""Ours over the bare engine: at least that."""


def bare_pdfium(files: list[Path]) -> None:
    import pypdfium2

    for file in files:
        with pypdfium2.PdfDocument(file) as document:
            for number in range(len(document)):
                page = document[number]
                text = page.get_textpage()
                text.get_text_range()
                text.close()
                page.close()


def bare_pypdf(files: list[Path]) -> None:
    import pypdf

    for file in files:
        for page in pypdf.PdfReader(file).pages:
            page.extract_text()


def ours(engine: str) -> Callable[[list[Path]], None]:
    def read(files: list[Path]) -> None:
        for file in files:
            parse.pdf(file, engine=engine)

    return read


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.parsing", description=__doc__)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    readers = {
        "bare pdfium": bare_pdfium,
        "ours, pdfium": ours("pdfium"),
        "bare pypdf": bare_pypdf,
        "ours, pypdf": ours("pypdf"),
    }
    spent: dict[str, list[float]] = {name: [] for name in readers}
    with tempfile.TemporaryDirectory() as folder:
        write_papers(Path(folder), given.pages)
        files = sorted(Path(folder).iterdir())
        for read in readers.values():  # libraries are loaded, and the process is started
            read(files[:1])
        for _ in range(given.rounds):
            for name, read in readers.items():
                before = cpu_seconds()
                read(files)
                spent[name].append(cpu_seconds() - before)
    for name, seconds in spent.items():
        print(f"{name:16}{given.pages / statistics.median(seconds):>9.0f} pages per CPU second")
    for engine in ("pdfium", "pypdf"):
        pairs = zip(spent[f"bare {engine}"], spent[f"ours, {engine}"], strict=True)
        ratio = statistics.median(bare / mine for bare, mine in pairs)
        bar = BARS.get(engine)
        verdict = "" if bar is None or ratio >= bar else "  BELOW"
        print(f"ours over bare {engine}: {ratio:.2f}{'' if bar is None else f' (bar {bar})'}{verdict}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
