"""`doctor`: what is in place, and what to do where it is not."""

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Project


def lines_of(out: str) -> dict[str, str]:
    """Each finding by what was looked at."""
    found = {}
    for line in out.splitlines():
        if line[2:3] in ("✓", "✗", "–"):
            what, _, rest = line[4:].partition("  ")
            found[what] = f"{line[2]} {rest.strip()}"
    return found


def test_a_sound_project_is_fine(project: Project):
    project.write(
        "app.py",
        "from flowkit import Flowkit\nfrom flowkit_local import Local\nfrom flowkit_devstore import DevStore\n"
        'ai = Flowkit(plugins=[Local(), DevStore("menu")])\n@ai.flow\ndef hello() -> str:\n    return "hello"\n',
    )
    project.run("flow:run", "hello")

    run = project.run("doctor")
    found = lines_of(run.out)

    assert run.code == 0
    assert "✗" not in run.out
    assert found["Python"].startswith("✓ 3.")
    assert found["root"] == f"✓ {project.folder} (pyproject.toml)"
    assert found["app"] == "✓ 1 flow; local, devstore/menu"
    assert found["flowkit-local"].endswith("used by the app")
    assert "all-minilm-l6-v2" in found["model files"]
    assert found["data folder"].startswith("✓")
    assert found["traces"].startswith("✓ 1 run, ")
    assert found["disk"].endswith("free")


def test_plugins_that_the_app_does_not_use_are_named(project: Project):
    found = lines_of(project.run("doctor").out)

    assert found["flowkit-local"].startswith("–")
    assert found["flowkit-local"].endswith("not used by the app")


def test_a_folder_without_an_app_is_not_broken(project: Project):
    (project.folder / "app.py").unlink()

    run = project.run("doctor")

    assert run.code == 0
    assert lines_of(run.out)["app"].startswith("– no app found")
    assert "→ name it with --app module:ai" in run.out


def test_an_app_that_cannot_be_imported_is_broken(project: Project):
    project.write("app.py", "import flowkit\nimport no_such_package\n")

    run = project.run("doctor")

    assert run.code == 1
    assert lines_of(run.out)["app"].startswith(
        "✗ app.py cannot be imported: No module named 'no_such_package' (app.py:2)"
    )


def test_a_named_app_that_is_missing_is_broken(project: Project):
    assert project.run("doctor", "--app", "nowhere.py").code == 1


def test_a_damaged_trace_store_is_broken(project: Project):
    project.write(".flowkit/traces.db", b"no database at all" * 1000)

    run = project.run("doctor")

    assert run.code == 1
    assert lines_of(run.out)["traces"].startswith("✗")
    assert "→" in run.out


def test_a_damaged_index_is_broken(project: Project):
    project.write(".flowkit/indexes/menu/index.db", b"no database at all" * 1000)

    run = project.run("doctor")

    assert run.code == 1
    assert lines_of(run.out)["index menu"].startswith("✗")
    assert "index again" in run.out


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_data_folder_that_others_can_read_is_noted(project: Project):
    folder = project.folder / ".flowkit"
    folder.mkdir()
    folder.chmod(0o755)

    run = project.run("doctor")

    assert run.code == 0
    assert f"chmod 700 {folder}" in run.out


def test_a_data_folder_that_is_a_file_is_broken(project: Project):
    project.write(".flowkit", "")

    run = project.run("doctor")

    assert run.code == 1
    assert lines_of(run.out)["data folder"].startswith("✗")


def test_the_report_fits_a_terminal(project: Project):
    report = [line for line in project.run("doctor").out.splitlines() if str(Path.cwd()) not in line]

    assert all("\x1b" not in line for line in report)


def test_a_root_that_is_not_there_yet_is_no_file(project: Project, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FLOWKIT_ROOT", str(project.folder / "no" / "such"))

    run = project.run("doctor")

    assert lines_of(run.out)["data folder"].endswith("is made by the first run")
    assert lines_of(run.out)["disk"].endswith("free")
