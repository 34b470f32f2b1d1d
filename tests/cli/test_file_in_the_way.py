"""A file that is named `.flowkit`: every command that needs the folder says so, instead of "nothing there yet"."""

import pytest

from tests.cli.conftest import Project


@pytest.mark.parametrize(
    "command",
    [
        ("trace:list",),
        ("trace:get", "latest"),
        ("log:list",),
        ("store:list",),
        ("eval:extractData", "hello"),
        ("start", "-n"),
    ],
    ids=lambda command: command[0],
)
def test_it_is_named_with_what_to_do(project: Project, command: tuple[str, ...]):
    project.write(".flowkit", "")

    run = project.run(*command)

    assert run.code in (1, 2)
    assert f"a file is in the way of the folder {project.folder / '.flowkit'}" in run.err
    assert "move it away" in run.err


def test_doctor_says_it_too(project: Project):
    project.write(".flowkit", "")

    run = project.run("doctor")

    assert run.code == 1
    assert f"✗ data folder       {project.folder / '.flowkit'} is a file" in run.out
    assert "no runs yet" not in run.out


def test_a_flow_runs_all_the_same_and_its_trace_is_missed_with_words(project: Project):
    project.write(
        "app.py", "from flowkit import Flowkit\nai = Flowkit()\n@ai.flow\ndef hello() -> str:\n    return 'hi'\n"
    )
    project.write(".flowkit", "")

    process = project.start("flow:run", "hello", "--in-process")
    out, err = process.communicate(timeout=60)

    assert (process.returncode, out) == (0, "hi\n")
    assert "a file is in the way" in err
