"""The UI's sources keep their rooms: imports point one way, files hold one idea, and nothing writes HTML."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.modules import ROOT

SOURCES = ROOT / "devui" / "src"
IMPORT = re.compile(r"""(?:from|import\()\s*"(@/|\.{1,2}/)([^"]+)\"""")
LOWER = {
    "lib": (),
    "api": ("lib",),
    "components": ("lib", "api"),
    "features": ("lib", "api", "components"),
    "app": ("lib", "api", "components", "features"),
}
"""A room → the rooms that it may know. `main.tsx` knows all."""
GENERATED = "schema.d.ts"
MOST_LINES = 300
FORBIDDEN = re.compile(r"dangerouslySetInnerHTML|\.innerHTML\b|\beval\(|new Function\(|document\.write")


def modules() -> list[Path]:
    return sorted(path for path in SOURCES.rglob("*.ts*") if path.name != GENERATED)


def imports(path: Path) -> Iterator[tuple[str, ...]]:
    """What a module imports of ours, as parts of a path below src/."""
    for mark, rest in IMPORT.findall(path.read_text(encoding="utf-8")):
        target = SOURCES / rest if mark == "@/" else path.parent / mark / rest
        yield target.resolve().relative_to(SOURCES).parts


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(SOURCES).as_posix())
def test_a_module_knows_only_what_is_below_it(path: Path):
    here = path.relative_to(SOURCES).parts
    if len(here) == 1:
        return
    for there in imports(path):
        if there[0] in ("styles", here[0]):
            continue
        assert there[0] in LOWER[here[0]], f"{'/'.join(here)} imports {'/'.join(there)}"
        if there[0] == "api" and here[:2] == ("components", "ui"):
            assert there[1] == "client", "what wraps widgets knows of the API how it fails, and nothing else"


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(SOURCES).as_posix())
def test_a_page_knows_no_other_page(path: Path):
    """But the view of a trace, and the runner, which puts the bench of a kind in its own place."""
    here = path.relative_to(SOURCES).parts
    if here[0] != "features" or here[-1] == "RunnerPage.tsx":
        return
    for there in imports(path):
        if there[0] == "features" and there[1] != here[1]:
            assert there[1] == "trace", f"{'/'.join(here)} imports {'/'.join(there)}"


def test_files_are_short():
    long = [path for path in modules() if len(path.read_text(encoding="utf-8").splitlines()) > MOST_LINES]
    assert long == []


def test_nothing_writes_html_or_runs_text():
    assert [path for path in modules() if FORBIDDEN.search(path.read_text(encoding="utf-8"))] == []
