"""The docs are true and complete: every block is followed, and every command, setting and error is described.

How a page is followed: tests/support/page.py. In what a page shows, `…` stands for anything.
"""

import ast
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import flowkit.errors
from flowkit.cli.commands import COMMANDS
from tests.support.modules import ROOT, Module, flowkit_modules, modules_of, plugin_packages
from tests.support.page import Page, PageError

PAGES = sorted(
    path for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")] if path.exists()
)
OFFLINE = ROOT / "tests" / "support" / "offline"
SETTING = re.compile(r"FLOWKIT_[A-Z0-9_]+")
ERRORS = sorted(
    name
    for name in flowkit.errors.__all__
    if isinstance(getattr(flowkit.errors, name), type) and issubclass(getattr(flowkit.errors, name), Exception)
)


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def environment(home: Path) -> dict[str, str]:
    """A newcomer's shell: the virtual environment is active, nothing is set, and there is no network."""
    sources = [OFFLINE, ROOT, *(package.parent for package in plugin_packages())]
    return {
        "COLUMNS": "100",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "NO_PROXY": "localhost,127.0.0.1,::1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(map(str, sources)),
        "TERM": "dumb",
    }


def menus(folder: Path) -> Path:
    """A project folder with the sample menus in it; menu.pdf is the dinner menu."""
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "bistro"\nversion = "1"\n', encoding="utf-8")
    for pdf in (ROOT / "samples" / "menu").glob("*.pdf"):
        shutil.copy(pdf, folder)
    shutil.copy(folder / "dinner.pdf", folder / "menu.pdf")
    return folder


def words_of_the_docs() -> str:
    """What the reader can find. Decisions (docs/design) are written for the project's own people, and do not count."""
    return "\n".join(path.read_text(encoding="utf-8") for path in PAGES if "design" not in path.parts)


def settings_read() -> list[str]:
    """The FLOWKIT_ variables that the sources name."""
    modules: list[Module] = [
        *flowkit_modules(),
        *(each for package in plugin_packages() for each in modules_of(package)),
    ]
    return sorted(
        {
            node.value
            for module in modules
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and SETTING.fullmatch(node.value)
        }
    )


@pytest.mark.heavy
@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", PAGES, ids=place)
def test_a_page_does_what_it_shows(path: Path, tmp_path: Path, require: Callable[[str, str], None]):
    home = tmp_path / "home"
    home.mkdir()
    try:
        with Page(path, menus(tmp_path / "project"), environment(home), require) as page:
            page.run()
    except PageError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_described(name: str):
    described = f"## flowkit {name}\n" in words_of_the_docs()
    assert described, f"docs/reference/cli.md has no section of flowkit {name}"


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_is_described(name: str):
    described = f"`{name}`" in words_of_the_docs()
    assert described, f"docs/reference/errors.md says nothing of {name}"


@pytest.mark.parametrize("name", settings_read())
def test_every_setting_is_described(name: str):
    described = re.search(rf"`{name}\b", words_of_the_docs()) is not None
    assert described, f"docs/reference/settings.md says nothing of {name}"
