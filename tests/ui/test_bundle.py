"""What is shipped: the bundle is that of the sources, its types are those of the server, and the wheel holds it."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.modules import ROOT
from tests.ui.bundle import DEVUI, STATIC, source_hash
from tests.ui.openapi import document

HASH = """
import { sourceHash } from "./build/info.ts"
console.log(sourceHash("./"))
"""


def test_the_bundle_is_that_of_the_sources():
    info = STATIC / "build-info.json"
    assert info.is_file(), "there is no bundle: run `make ui`"
    assert json.loads(info.read_text()) == {"sources": source_hash()}, "devui/ has changed: run `make ui`"


def test_the_page_names_only_files_that_are_there_and_nothing_of_another_host():
    page = (STATIC / "index.html").read_text()
    names = [part.split('"')[0] for part in page.split('="/')[1:]]
    assert names
    assert all((STATIC / name).is_file() for name in names)
    assert "://" not in page.replace("http://www.w3.org", "")


def test_every_package_in_the_bundle_is_named_with_its_licence():
    licences = (STATIC / "licences.txt").read_text(encoding="utf-8")
    for name in json.loads((DEVUI / "package.json").read_text())["dependencies"]:
        assert f"{name} " in licences, name
    assert "MIT" in licences


def test_the_types_of_the_ui_are_made_of_the_server_as_it_is():
    assert (DEVUI / "openapi.json").read_text(encoding="utf-8") == document(), "run `make api`"


@pytest.mark.heavy
@pytest.mark.requires("npm", "the bundle is built with vite")
def test_building_again_gives_the_same_files(tmp_path: Path):
    if not (DEVUI / "node_modules").is_dir():
        pytest.skip("the packages of devui/ are not installed: run `npm ci` there")
    npx = shutil.which("npx")
    assert npx is not None
    subprocess.run([npx, "vite", "build", "--outDir", str(tmp_path), "--logLevel", "warn"], cwd=DEVUI, check=True)
    assert _files(tmp_path) == _files(STATIC), "run `make ui`"


def _files(folder: Path) -> dict[str, str]:
    """Digests by name: to tell how megabytes differ takes pytest minutes."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.heavy
def test_a_wheel_holds_the_ui_and_is_not_made_without_it(tmp_path: Path):
    """The sources are copied, so that the page can be left out."""
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "hatch_build.py"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "flowkit", source / "flowkit", ignore=shutil.ignore_patterns("__pycache__"))

    _build(source, tmp_path / "whole").check_returncode()
    (wheel,) = (tmp_path / "whole").glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"flowkit/server/static/index.html", "flowkit/server/static/licences.txt"} <= names
    assert any(name.startswith("flowkit/server/static/assets/") and name.endswith(".js") for name in names)

    (source / "flowkit" / "server" / "static" / "index.html").unlink()
    refused = _build(source, tmp_path / "none")
    assert refused.returncode != 0
    assert "the developer UI is missing" in refused.stderr + refused.stdout
    assert "make ui" in refused.stderr + refused.stdout
    assert not list((tmp_path / "none").glob("*.whl"))


def _build(source: Path, folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, cwd=source, env=env, capture_output=True, text=True, timeout=120)
