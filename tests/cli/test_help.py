"""Help and version: answered at once, in one voice, for every command."""

import subprocess
import sys
from importlib import import_module

import pytest

from flowkit.cli.commands import COMMANDS
from tests.cli.conftest import Project


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_the_help_lists_every_command(project: Project, arguments: list[str]):
    run = project.run(*arguments)

    assert (run.code, run.err) == (0, "")
    for name, entry in COMMANDS.items():
        assert f"  {name} {entry.arguments}".rstrip() in run.out
        assert entry.summary in run.out
    assert max(len(line) for line in run.out.splitlines()) <= 88
    assert "\x1b" not in run.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_its_table_is_true(project: Project, name: str):
    entry = COMMANDS[name]
    command = getattr(import_module(entry.module), entry.function)

    run = project.run(name, "--help")

    assert command.name == name
    assert run.code == 0
    assert run.out.startswith(f"Usage: flowkit {name} [OPTIONS] {entry.arguments}".rstrip())
    assert project.run("help", name).out == run.out
    assert all(len(line) <= 80 for line in run.out.splitlines())


def test_the_version_is_a_line(project: Project):
    run = project.run("--version")

    assert run.code == 0
    assert run.out.startswith("flowkit ")
    assert len(run.out.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["flow:rum"], "no command 'flow:rum'"),
        (["--colour"], "no option '--colour'"),
        (["trace:list", "--limit", "0"], "0 is not in the range"),
        (["trace:list", "--status", "broken"], "'broken' is not one of"),
        (["trace:get"], "Missing argument 'ID'"),
        (["doctor", "extra"], "unexpected extra argument"),
    ],
)
def test_wrong_usage_is_one_line_and_a_hint(project: Project, arguments: list[str], said: str):
    run = project.run(*arguments)

    assert (run.code, run.out) == (2, "")
    error, hint = run.err.splitlines()
    assert error.startswith("Error: ")
    assert said in error
    assert hint.startswith("Hint:  ")
    assert "flowkit" in hint or "flow:run" in hint


@pytest.mark.heavy
@pytest.mark.parametrize("arguments", [["flow:run", "--help"], ["doctor", "--help"], ["trace:get", "--help"]])
def test_the_help_of_a_command_does_not_load_the_framework(arguments: list[str]):
    code = f"import sys\nfrom flowkit.cli.main import main\nmain({arguments!r})\nprint(*sys.modules, file=sys.stderr)"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert {"pydantic", "opentelemetry", "rich", "flowkit.app"} & set(run.stderr.split()) == set()
