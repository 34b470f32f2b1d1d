"""`flow:run`: what goes to stdout, what to stderr, what into the file, and how errors are told."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Project

FAILING = '''
from flowkit import Flowkit, FlowkitError
from flowkit.errors import ConfigError
ai = Flowkit()

@ai.flow
async def soup() -> int:
    """Look for soup."""
    return await ai.run("look", look, {})

def look(menu):
    return menu["soup"]

@ai.flow
async def key():
    raise ConfigError("no API key for 'cloud/large'", hint="set CLOUD_API_KEY")

@ai.flow
async def inner():
    return await count("x")

@ai.flow
async def count(n: int) -> int:
    return n

@ai.flow
async def leave():
    raise SystemExit(3)

@ai.flow
async def lines():
    raise ValueError("first line\\nsecond \\x1b[31mline")

@ai.flow
async def several():
    raise ExceptionGroup("all failed", [KeyError("a"), ValueError("b")])

@ai.flow
async def wrong() -> int:
    return "no number"
'''


@pytest.mark.parametrize("value", [0, False, "", None, [], {}, 1.5, {"gericht": "Käse 以上 😀"}, "text\n", "\\u3053"])
def test_the_output_file_always_holds_the_json_value(project: Project, value: object):
    run = project.run("flow:run", "echo", json.dumps(value), "--output", "out.json")

    assert run.code == 0
    written = (project.folder / "out.json").read_text(encoding="utf-8")
    assert json.loads(written) == value
    assert run.out == (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)) + "\n"


@pytest.mark.parametrize("text", ["こんにちは", "以上", "한국어", "naïve façade café", "😀", "literal \\u3053 text"])
def test_characters_stay_what_they_are(project: Project, text: str):
    run = project.run("flow:run", "echo", json.dumps({"text": text}), "--output", "out.json")

    for written in (run.out.encode(), (project.folder / "out.json").read_bytes()):
        assert json.dumps(text, ensure_ascii=False).encode() in written
        assert json.loads(written) == {"text": text}


def test_a_folder_that_is_missing_is_noticed_before_the_flow_runs(project: Project):
    run = project.run("flow:run", "echo", "1", "--output", "nowhere/out.json")

    assert (run.code, run.out) == (2, "")
    assert "there is no folder nowhere" in run.err


def test_an_unknown_flow_lists_the_known_ones(project: Project):
    run = project.run("flow:run", "noSuchFlow", "1")

    assert run.code == 2
    assert "no flow 'noSuchFlow'" in run.err
    assert "count, echo, hello, indexMenu, say, soup, who, words" in run.err


def test_a_misspelt_flow_is_corrected(project: Project):
    assert "did you mean indexMenu?" in project.run("flow:run", "indexmenu", "x").err


def test_the_key_of_a_flow_is_a_name_of_it(project: Project):
    assert project.run("flow:run", "/flow/hello").out == "hello\n"


def test_an_unknown_option_is_no_input(project: Project):
    run = project.run("flow:run", "say", "--stram")

    assert run.code == 2
    assert "--stram" in run.err
    assert "flowkit flow:run --help" in run.err
    assert "behind --: say -- --stram" in run.err


def test_text_that_looks_like_an_option_goes_behind_two_dashes(project: Project):
    assert project.run("flow:run", "say", "--", "--stram").out == "--stram\n"


def test_chunks_of_text_are_printed_once(project: Project):
    run = project.run("flow:run", "words", "a b", "--stream")

    assert run.out == "a b \n"


def test_other_chunks_are_lines_of_json_before_the_result(project: Project):
    project.write(
        "app.py",
        """
from flowkit import Flowkit, GenerateResponseChunk, RunContext
ai = Flowkit()

@ai.flow
async def steps(ctx: RunContext) -> str:
    ctx.send_chunk({"schritt": "größe"})
    ctx.send_chunk("half a line")
    ctx.send_chunk([1, 2])
    ctx.send_chunk(GenerateResponseChunk.of_text("from a model"))
    return "the end"

@ai.flow
async def numbers():
    yield 1
    yield 2
""",
    )
    assert project.run("flow:run", "steps", "-s").out.splitlines() == [
        '{"schritt": "größe"}',
        "half a line",
        "[1, 2]",
        "from a model",
        "the end",
    ]
    assert project.run("flow:run", "numbers", "-s").out == "1\n2\n"
    assert json.loads(project.run("flow:run", "numbers").out) == [1, 2]


@pytest.mark.parametrize(
    ("flow", "message", "hint"),
    [
        ("soup", "KeyError: 'soup' (app.py:12)", "-v shows where"),
        ("key", "no API key for 'cloud/large' (app.py:16)", "set CLOUD_API_KEY"),
        ("inner", "bad input for flow 'count'", "-v shows where"),
        ("leave", "ended the process with exit code 3 (app.py:28)", "-v shows where"),
        ("lines", "ValueError: first line second line (app.py:32)", "-v shows where"),
        ("several", "KeyError: 'a' (and 1 more)", "-v shows where"),
        ("wrong", "flow 'wrong' returned what its annotation forbids", "the annotated type"),
    ],
)
def test_a_flow_that_fails_is_told_in_one_line(project: Project, flow: str, message: str, hint: str):
    project.write("app.py", FAILING)

    run = project.run("flow:run", flow)

    assert (run.code, run.out) == (1, "")
    error, hinted, *_ = run.err.splitlines()
    assert error.startswith("Error: ")
    assert message in error
    assert hinted.startswith("Hint:  ")
    assert hint in hinted
    assert "Traceback" not in run.err


def test_verbose_shows_the_users_own_frames(project: Project):
    project.write("app.py", FAILING)

    run = project.run("flow:run", "soup", "-v")

    assert run.code == 1
    assert "Traceback (most recent call last):" in run.err
    assert 'return await ai.run("look", look, {})' in run.err
    assert 'return menu["soup"]' in run.err
    assert "flowkit/" not in run.err
    assert "threading" not in run.err


def test_the_app_is_closed_after_the_run(project: Project):
    project.write(
        "app.py",
        """
from flowkit import Flowkit
from flowkit.testing import FakeModel

class Closing(FakeModel):
    async def aclose(self):
        open("closed", "w").close()

ai = Flowkit(plugins=[Closing(["Soup."])], model="fake-model")

@ai.flow
async def ask() -> str:
    return (await ai.generate("What?")).text
""",
    )
    assert project.run("flow:run", "ask").out == "Soup.\n"
    assert (project.folder / "closed").exists()


def test_a_plugin_that_cannot_be_closed_does_not_fail_the_run(project: Project):
    project.write(
        "app.py",
        """
from flowkit import Flowkit
from flowkit.testing import FakeModel

class Broken(FakeModel):
    async def aclose(self):
        raise OSError("gone")

ai = Flowkit(plugins=[Broken(["Soup."])], model="fake-model")

@ai.flow
async def ask() -> str:
    return (await ai.generate("What?")).text
""",
    )
    run = project.run("flow:run", "ask")

    assert (run.code, run.out) == (0, "Soup.\n")
    assert "a plugin could not be closed: OSError: gone" in run.err


def test_flows_are_listed_with_what_they_take(project: Project):
    run = project.run("flow:list")

    assert run.code == 0
    lines = [line.split() for line in run.out.splitlines()]
    assert lines[0] == ["Flow", "Input", "Description"]
    assert ["indexMenu", "path:", "Path", "Index", "a", "menu."] in lines
    assert ["hello", "–"] in lines
    assert "menu: dict[str, int] = {}" in run.out


def test_flows_are_listed_as_json(project: Project):
    listed = json.loads(project.run("flow:list", "--json").out)

    assert {"name": "count", "input": "n: int", "description": None}.items() <= listed[0].items()
    assert listed[0]["inputSchema"]["required"] == ["n"]


def test_an_app_without_flows_says_so(project: Project):
    project.write("app.py", "from flowkit import Flowkit\nai = Flowkit()\n")

    assert project.run("flow:list").code == 0
    assert "no flows" in project.run("flow:list").err
    assert "the app has no flows" in project.run("flow:run", "x").err


def test_output_of_a_stream_is_written_too(project: Project):
    project.run("flow:run", "words", "a b", "-s", "--output", "out.json")

    assert json.loads(Path(project.folder / "out.json").read_text()) == "a b "
