"""Real PDF files, where there is a folder of them: the one that FLOWKIT_FILES names, or one beside the repository.

FLOWKIT_FILES=~/papers python -m pytest tests/rag/parse/test_real_files.py
"""

import os
from pathlib import Path

import pytest

from flowkit.errors import ParseError
from flowkit.rag import parse, split
from tests.rag.split.texts import squeezed
from tests.support.modules import ROOT

KINDS = ("pdf", "cjk", "encrypted", "scanned", "broken")
WITHOUT_TEXT = ("scanned", "broken", "encrypted")


def real_files() -> list[Path]:
    named = os.environ.get("FLOWKIT_FILES")
    folders = (
        [Path(named).expanduser()] if named else [file.parent for file in ROOT.parent.glob("*/files/MANIFEST.json")]
    )
    return sorted(file for folder in folders for kind in KINDS for file in folder.glob(f"{kind}/*"))


FILES = real_files()


@pytest.mark.skipif(not FILES, reason="no folder of real files: set FLOWKIT_FILES to one with pdf/, cjk/, scanned/ …")
@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_real_file_gives_text_and_pages_or_a_precise_error(file: Path, capfd: pytest.CaptureFixture[str]):
    try:
        document = parse.pdf(file)
    except ParseError as error:
        problem = error
    else:
        starts, pages = document.metadata["page_starts"], document.metadata["pages"]
        assert len(starts) == pages
        assert starts == sorted(starts)
        assert starts[-1] <= len(document.text)
        for chunk in split.recursive(max_chars=800, overlap_chars=100)(document):
            assert 1 <= chunk.metadata["page"] <= pages
            assert squeezed(chunk.text) == squeezed(document.text[chunk.metadata["start"] : chunk.metadata["end"]])
        problem = None
    if problem is not None:
        assert file.parent.name in WITHOUT_TEXT
        assert file.name in problem.message
        assert problem.hint
        assert "\n" not in str(problem)
    assert capfd.readouterr() == ("", "")
