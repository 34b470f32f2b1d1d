"""PDF files that are made to take all time or memory are text or an error, and the files beside them are read."""

import json
import subprocess
import sys
from typing import Any, NamedTuple

import pytest

from tests.rag.parse.bombs import BOMBS
from tests.rag.parse.papers import paper

pytestmark = [pytest.mark.heavy(seconds=30), pytest.mark.timeout(300)]

PROGRAM = """
import asyncio, json, resource, sys, time
from flowkit.rag import load, parse
from flowkit.rag.parse import workers

folder, engine = sys.argv[1:]
seconds = {}

def timed(path, source_name):
    began = time.monotonic()
    try:
        return parse.pdf(path, source_name=source_name, engine=engine)
    finally:
        seconds[source_name] = time.monotonic() - began

async def read():
    return [item async for item in load.directory(folder, parser=timed, root=folder)]

items = asyncio.run(read())
workers._pool.end()
told = {each.source: [getattr(each, name, None) for name in ("text", "reason", "hint")] for each in items}
print(json.dumps([told, seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024]))
"""


class Run(NamedTuple):
    told: dict[str, list[str | None]]
    """Text, or reason and hint."""
    seconds: dict[str, float]
    megabytes: float


@pytest.fixture(scope="module", params=["pypdf", "pdfium"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """All bombs and a good file, read with the limits that nobody has to set."""
    folder = tmp_path_factory.mktemp("bombs")
    for name, made in BOMBS.items():
        (folder / f"{name}.pdf").write_bytes(made())
        assert (folder / f"{name}.pdf").stat().st_size < 2_000_000
    (folder / "zz good.pdf").write_bytes(paper("Plum cake"))
    arguments = [sys.executable, "-W", "error", "-c", PROGRAM, str(folder), request.param]
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.stderr == ""
    found: Any = json.loads(done.stdout)
    return Run(*found)


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_text_or_a_precise_error(run: Run, name: str):
    text, reason, hint = run.told[f"{name}.pdf"]

    if text is not None:
        assert text.startswith("Tomato soup")
    else:
        assert reason is not None
        assert f"{name}.pdf" in reason
        assert "\n" not in reason
        assert any(each in reason for each in ("is a broken PDF", "memory", "no text layer", "took longer"))
        assert hint


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_no_longer_than_20_seconds(run: Run, name: str):
    assert run.seconds[f"{name}.pdf"] < 20


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to its memory")
def test_no_process_takes_more_than_512_megabytes(run: Run):
    assert 0 < run.megabytes <= 512


def test_the_file_beside_them_is_read(run: Run):
    assert run.told["zz good.pdf"] == ["Plum cake", None, None]
