"""The repository can be handed on: nothing in it points at one machine or one registry, and versions are pinned."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support.modules import ROOT, plugin_packages

# Put together here, so that this file does not name them either.
REGISTRIES = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("files", "pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("registry", "yarnpkg", "com"),
        ("deb", "debian", "org"),
        ("security", "debian", "org"),
        ("npmmirror", "com"),
    )
)
MACHINE_PATHS = re.compile(
    r"(?<![\w.~}/])/(?:work|root|home/\w+|Users/\w+|opt/\w+)/|[A-Z]:\\\\?Users\\|(?<![\w./])/tmp/\w"
)
LOCK_FILES = {"Pipfile.lock", "pdm.lock", "pnpm-lock.yaml", "poetry.lock", "uv.lock", "yarn.lock"}
TEXT_BYTES = 2_000_000
# What a virtual environment is born with.
SEEDS = {"pip", "setuptools", "wheel"}


def repository_files() -> list[Path]:
    """What git holds or would take; without git, everything that is no build product."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        skipped = {".venv", ".git", "node_modules", "__pycache__", "dist", "build"}
        paths = [path for path in ROOT.rglob("*") if not skipped & set(path.relative_to(ROOT).parts)]
    return sorted(path for path in paths if path.is_file())


def texts() -> list[tuple[str, str]]:
    """Name and text of every text file."""
    found = []
    for path in repository_files():
        data = path.read_bytes()
        if b"\0" not in data[:8000] and len(data) < TEXT_BYTES:
            found.append((path.relative_to(ROOT).as_posix(), data.decode("utf-8", "replace")))
    return found


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def projects() -> list[dict[str, object]]:
    paths = [ROOT / "pyproject.toml", *sorted(ROOT.glob("plugins/*/pyproject.toml"))]
    return [tomllib.loads(path.read_text(encoding="utf-8"))["project"] for path in paths]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_no_file_names_a_registry():
    wrong = [f"{name} names {host}" for name, text in texts() for host in REGISTRIES if host in text]
    assert not wrong, "\n".join(wrong)


def test_no_file_holds_a_path_of_one_machine():
    wrong = [
        f"{name}:{text.count(chr(10), 0, hit.start()) + 1}: {hit.group()}"
        for name, text in texts()
        if name != "tests/test_house.py"
        for hit in MACHINE_PATHS.finditer(text)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_lock_file_holds_download_addresses():
    wrong = [path.name for path in repository_files() if path.name in LOCK_FILES]
    for path in repository_files():
        if path.name in ("package-lock.json", "npm-shrinkwrap.json"):
            packages = json.loads(path.read_text(encoding="utf-8")).get("packages", {})
            if any("resolved" in package and "://" in package["resolved"] for package in packages.values()):
                wrong.append(str(path.relative_to(ROOT)))
    assert not wrong, f"lock files with addresses: {', '.join(wrong)}"


def test_no_private_file_is_handed_on():
    wrong = [path for path in repository_files() if re.search(r"\.(env|pem|key|db|sqlite3?)$", path.name)]
    assert wrong == []


@pytest.mark.parametrize("package", [ROOT / "flowkit", *plugin_packages()], ids=lambda path: path.name)
def test_a_package_says_that_it_is_typed(package: Path):
    assert (package / "py.typed").is_file()


@pytest.mark.parametrize("package", plugin_packages(), ids=lambda path: path.name)
def test_a_plugin_names_itself_as_its_folder_does(package: Path):
    project = tomllib.loads((package.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["name"] == package.name.replace("_", "-")
    assert package.name == f"flowkit_{package.parent.name}"
    assert package.name in project["entry-points"]["flowkit.plugins"][package.parent.name]


@pytest.mark.heavy
@pytest.mark.parametrize(
    "folder",
    [ROOT, *(package.parent for package in plugin_packages())],
    ids=lambda path: "core" if path == ROOT else path.name,
)
def test_a_wheel_holds_one_package_and_nothing_else(folder: Path, tmp_path: Path):
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=folder, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = ZipFile(wheel).namelist()

    package = "flowkit" if folder == ROOT else f"flowkit_{folder.name}"
    packages = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert packages == {package}
    assert f"{package}/py.typed" in names
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name]


def test_all_distributions_agree_on_licence_and_python():
    for project in projects():
        assert (project["license"], project["requires-python"]) == ("Apache-2.0", ">=3.11"), project["name"]


def test_constraints_are_names_and_versions():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()

    assert [line for line in lines if not re.fullmatch(r"[a-z0-9-]+==[A-Za-z0-9.+!]+", line)] == []
    assert lines == sorted(set(lines), key=lambda line: line.split("==")[0])


def test_constraints_pin_what_the_projects_ask_for():
    pinned = pins()
    own = {str(project["name"]) for project in projects()}
    for project in projects():
        extras = project.get("optional-dependencies", {})
        assert isinstance(extras, dict)
        asked = [*project.get("dependencies", ()), *(each for names in extras.values() for each in names)]  # type: ignore[misc]
        names = {normal(re.split(r"[\[<>=!~ ;]", each)[0]) for each in asked}
        assert names - own - pinned.keys() == set(), f"run `make constraints` for {project['name']}"


def test_constraints_pin_what_is_installed():
    """In the virtual environment that make builds; elsewhere the versions are the user's own."""
    if not (Path(sys.prefix) / ".ready").exists():
        return
    own = {str(project["name"]) for project in projects()}
    installed = {
        normal(dist.name): dist.version for dist in distributions(path=[str(path) for path in _site_packages()])
    }
    pinned = pins()
    wrong = [
        f"{name} {version} is installed, {pinned.get(name, 'nothing')} is pinned"
        for name, version in sorted(installed.items())
        if name not in own | SEEDS and pinned.get(name) != version
    ]
    assert not wrong, "\n".join(wrong)


def test_make_lists_every_target_that_is_for_people():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    shown = set(re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE))
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)

    assert shown == set(phony.split())


def test_the_script_of_ci_is_executable():
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def _site_packages() -> list[Path]:
    return [Path(place) for place in sys.path if Path(place).name == "site-packages" and place.startswith(sys.prefix)]
