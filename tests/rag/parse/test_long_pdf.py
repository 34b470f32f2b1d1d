"""Long PDF files: pages arrive one by one, and neither process grows with their number.

python -m pytest tests/rag/parse/test_long_pdf.py -m soak
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rag.parse.papers import paper

LINE = "The soup of the day is made of tomatoes, basil and bread; it is served with water."

PROGRAM = """
import json, resource, sys
from pathlib import Path
from flowkit.rag import parse, split
from flowkit.rag.parse import workers
document = parse.pdf(Path(sys.argv[1]), engine=sys.argv[2])
workers._pool.end()
chunks = split.line(max_chars=2500)(document)
reader = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
# Not ru_maxrss: its value outlives exec, and would be that of the process which runs the tests.
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
caller = int(status["VmHWM"].split()[0]) / 1024
print(json.dumps([document.metadata["pages"], chunks[-1].metadata["page"], reader, caller]))
"""


def read_long(folder: Path, pages: int, engine: str) -> tuple[int, int, float, float]:
    """Pages, the page of the last chunk, and the most megabytes that the reader and its caller took."""
    file = folder / "long.pdf"
    file.write_bytes(paper(*("\n".join([f"Page {number}", *[LINE] * 30]) for number in range(1, pages + 1))))
    run = subprocess.run([sys.executable, "-c", PROGRAM, str(file), engine], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    found = run.stdout.strip("[]\n").split(",")
    return int(found[0]), int(found[1]), float(found[2]), float(found[3])


@pytest.mark.heavy
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
@pytest.mark.parametrize("engine", ["pypdf", "pdfium"])
def test_a_file_of_100_pages_is_read_in_little_memory(tmp_path: Path, engine: str):
    pages, last, reader, caller = read_long(tmp_path, 100, engine)

    assert (pages, last) == (100, 100)
    assert reader < 150
    assert caller < 200


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
@pytest.mark.parametrize("engine", ["pypdf", "pdfium"])
def test_a_file_of_5000_pages_is_read_in_flat_memory(tmp_path: Path, engine: str):
    pages, last, reader, caller = read_long(tmp_path, 5000, engine)
    print(f"{engine}: reader {reader:.0f} MB, caller {caller:.0f} MB, {os.cpu_count()} cores")

    assert (pages, last) == (5000, 5000)
    assert reader < 300
    assert caller < 400
