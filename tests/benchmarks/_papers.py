"""A folder to index: PDF files of real prose, the descriptions of the packages that are installed.

    write_papers(folder, pages=300)

Ten pages each, the same every time on one machine.
"""

import textwrap
from collections.abc import Iterator
from importlib.metadata import distributions
from itertools import cycle, islice
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

PAGES_PER_FILE = 10
LINES = 54
COLUMNS = 92


def write_papers(folder: Path, pages: int) -> None:
    lines = cycle(_lines())
    for number in range(-(-pages // PAGES_PER_FILE)):
        canvas = Canvas(str(folder / f"paper-{number:03}.pdf"), pagesize=A4)
        for _ in range(min(PAGES_PER_FILE, pages - number * PAGES_PER_FILE)):
            text = canvas.beginText(50, 800)
            for line in islice(lines, LINES):
                text.textLine(line)
            canvas.drawText(text)
            canvas.showPage()
        canvas.save()


def _lines() -> Iterator[str]:
    for found in sorted(distributions(), key=lambda each: each.metadata["Name"] or ""):
        text = str(found.metadata.get_payload() or found.metadata.get("Description") or "")
        latin = text.encode("latin-1", "ignore").decode("latin-1")
        for line in latin.splitlines():
            yield from textwrap.wrap(line, COLUMNS) or [""]
