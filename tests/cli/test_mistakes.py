"""Mistakes on the command line end with 2 before anything is done; what fails ends with 1. Hints can be followed."""

import json

import pytest

from tests.cli.conftest import Project

CHOOSY_APP = """
from flowkit import Flowkit
from flowkit.errors import InvalidInputError
from flowkit.testing import FakeEmbedder
from flowkit_devstore import DevStore

ai = Flowkit(plugins=[FakeEmbedder(16), DevStore("menu", embedder="fake-embedder")])


@ai.model("choosy")
async def choosy(request):
    raise InvalidInputError("soup again?")
"""


# That there is no such module is found out by the app's process, which `flowkit start` keeps watching.
@pytest.mark.parametrize(
    ("command", "app"),
    [
        ("start", "no.py"),
        ("start", "no/such:ai"),
        ("serve", "no.py"),
        ("serve", "nosuch:ai"),
        ("mcp", "no.py"),
        ("mcp", "nosuch:ai"),
    ],
)
def test_a_command_whose_app_is_an_argument_says_so(project: Project, command: str, app: str):
    run = project.run(command, app)

    assert (run.code, run.out) == (2, "")
    assert "Hint:  name it as module:ai or file.py, or write [tool.flowkit]" in run.err
    assert "--app" not in run.err


def test_a_command_with_the_option_says_so(project: Project):
    run = project.run("flow:run", "hello", "--app", "no.py")

    assert (run.code, run.out) == (2, "")
    assert "Hint:  name it with --app module:ai or --app file.py, or" in run.err


def test_of_several_flowkits_the_argument_chooses(project: Project):
    project.write("app.py", "from flowkit import Flowkit\nfirst, second = Flowkit(), Flowkit()\n")

    run = project.run("serve")

    assert run.code == 2
    assert "Hint:  choose: app.py:first" in run.err


def test_a_file_of_another_kind_is_no_app(project: Project):
    project.write("docs/menu.md", "# Menu\n")

    for arguments in (("flow:list", "--app", "docs/menu.md"), ("serve", "docs/menu.md")):
        run = project.run(*arguments)
        assert run.code == 2
        assert "docs/menu.md is no Python file" in run.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("flow:run", "say", "soup", "--output", "{}"),
        ("flow:batchRun", "say", "in.json", "--output", "{}"),
        ("eval:extractData", "say", "--output", "{}"),
        ("trace:export", "latest", "{}"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_place_for_no_file_is_refused_before_the_work(project: Project, arguments: tuple[str, ...]):
    project.run("flow:run", "say", "first")
    project.write("in.json", '["soup"]')
    project.write("taken/file.txt", "")
    before = project.run("trace:list", "--json").out

    for place, said in (("nowhere/x.json", "there is no folder nowhere"), ("taken", "taken")):
        run = project.run(*(word.format(place) for word in arguments))
        assert (run.code, run.out) == (2, ""), place
        assert said in run.err
        assert "draft" not in run.err
    assert json.loads(project.run("trace:list", "--json").out) == json.loads(before), "nothing has run"


@pytest.mark.parametrize("arguments", [("flow:run", "say", "soup", "--output"), ("trace:export", "latest", "-f")])
def test_a_file_that_cannot_be_written_is_named_as_it_was_given(project: Project, arguments: tuple[str, ...]):
    """A name that is too long for the disk is found out when it is written, whoever runs this."""
    project.run("flow:run", "say", "first")
    name = "x" * 300 + ".json"

    run = project.run(*arguments, name)

    assert run.code == 1
    assert name in run.err
    assert "draft" not in run.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("trace:get", "0123"), "no trace '0123'"),
        (("trace:export", "0123", "run.json"), "no trace '0123'"),
        (("log:list", "--trace-id", "0123"), "no trace '0123'"),
        (("rag:ask", "Soup?", "--index", "none"), "there is no index 'none'"),
        (("rag:index", "ftp://shop.test/"), "no loader knows ftp://"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_what_is_not_there_or_cannot_be_meant_is_a_mistake(project: Project, arguments: tuple[str, ...], said: str):
    run = project.run(*arguments)

    assert (run.code, run.out) == (2, "")
    assert said in run.err


def test_what_the_apps_own_code_refuses_is_a_failure(project: Project):
    project.write("choosy_app.py", CHOOSY_APP)
    project.write("docs/menu.md", "# Menu\n\nSoup costs 4 EUR.\n")
    assert project.run("rag:index", "docs", "--app", "choosy_app.py").code == 0

    run = project.run("rag:ask", "Soup?", "--app", "choosy_app.py", "--model", "choosy")
    unknown = project.run("rag:ask", "Soup?", "--app", "choosy_app.py", "--model", "chosy")

    assert (run.code, "soup again?" in run.err) == (1, True)
    assert (unknown.code, "choosy" in unknown.err) == (2, True)


def test_a_variable_that_is_no_limit_is_named(project: Project, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FLOWKIT_MAX_TRACES", "many")

    for arguments in (("trace:list",), ("start",)):
        run = project.run(*arguments)
        assert (run.code, run.out) == (2, "")
        assert "FLOWKIT_MAX_TRACES is 'many'" in run.err
