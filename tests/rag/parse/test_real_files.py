"""Real files, where there is a folder of them: the one that FLOWKIT_FILES names, or one beside the repository.

FLOWKIT_FILES=~/papers python -m pytest tests/rag/parse/test_real_files.py
"""

import contextlib
import os
import time
from pathlib import Path

import pytest

from flowkit.errors import FlowkitError
from flowkit.rag import parse, split
from tests.rag.split.texts import squeezed
from tests.support.modules import ROOT

KINDS = ("broken", "cjk", "encrypted", "office", "pdf", "scanned", "text", "web")
WITHOUT_TEXT = ("broken", "encrypted", "scanned")
PARSER = parse.auto()
MOST_SECONDS = 20


def real_files() -> list[Path]:
    named = os.environ.get("FLOWKIT_FILES")
    folders = (
        [Path(named).expanduser()] if named else [file.parent for file in ROOT.parent.glob("*/files/MANIFEST.json")]
    )
    return sorted(file for folder in folders for kind in KINDS for file in folder.glob(f"{kind}/*"))


FILES = real_files()


@pytest.mark.skipif(
    not FILES, reason="no folder of real files: set FLOWKIT_FILES to one with pdf/, office/, scanned/ …"
)
@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_real_file_gives_text_and_places_or_a_precise_error(file: Path, capfd: pytest.CaptureFixture[str]):
    problem: FlowkitError | None = None
    began = time.monotonic()
    try:
        document = PARSER(file)
    except FlowkitError as error:
        problem = error
    assert time.monotonic() - began < MOST_SECONDS
    if problem is not None:
        assert file.parent.name in WITHOUT_TEXT
        assert file.name in problem.message
        assert problem.hint
        assert "\n" not in str(problem)
    else:
        pages = document.metadata.get("pages")
        if pages is not None:
            starts = document.metadata["page_starts"]
            assert len(starts) == pages
            assert starts == sorted(starts)
            assert starts[-1] <= len(document.text)
        for chunk in split.auto(max_chars=800, overlap_chars=100)(document):
            assert pages is None or 1 <= chunk.metadata["page"] <= pages
            assert squeezed(chunk.text) == squeezed(document.text[chunk.metadata["start"] : chunk.metadata["end"]])
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(not FILES, reason="no folder of real files")
@pytest.mark.parametrize("file", [file for file in FILES if file.suffix == ".pdf"], ids=lambda file: file.name)
def test_the_other_engine_reads_a_real_file_too(file: Path):
    began = time.monotonic()
    if file.parent.name in WITHOUT_TEXT:
        with contextlib.suppress(FlowkitError):
            parse.pdf(file, engine="pypdf")
    else:
        assert parse.pdf(file, engine="pypdf").text.strip()
    assert time.monotonic() - began < MOST_SECONDS
