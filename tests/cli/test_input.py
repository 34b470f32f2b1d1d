"""How the command line reads a flow's input: JSON first, text where the flow takes text, and advice about shells."""

import json

import pytest

from tests.cli.conftest import Project


@pytest.mark.parametrize(
    ("argument", "result"),
    [('"menu.pdf"', "menu.pdf"), ("menu.pdf", "menu.pdf"), ("メニュー 2.pdf", "メニュー 2.pdf")],
)
def test_a_flow_of_text_takes_json_and_plain_text(project: Project, argument: str, result: str):
    run = project.run("flow:run", "indexMenu", argument)

    assert (run.code, run.out) == (0, result + "\n")
    assert ("treated as text" in run.err) == (argument != '"menu.pdf"')


@pytest.mark.parametrize("argument", ["42", "true", "null", '{"a": 1}', "NaN", "", "'quoted'", "{a:1}"])
def test_what_is_no_json_string_is_text_for_a_flow_that_takes_only_text(project: Project, argument: str):
    run = project.run("flow:run", "say", argument)

    assert (run.code, run.out) == (0, argument + "\n")
    assert "treated as text" in run.err


@pytest.mark.parametrize("argument", ["-5", "-0.5", "null", "[1, 2]", '{"a": {"b": null}}'])
def test_a_flow_that_takes_anything_gets_the_json_value(project: Project, argument: str):
    run = project.run("flow:run", "echo", argument)

    assert run.code == 0
    assert json.loads(run.out) == json.loads(argument)


def test_a_file_may_begin_with_a_byte_order_mark(project: Project):
    project.write("in.json", '\ufeff"menu.pdf"')

    assert project.run("flow:run", "indexMenu", "@in.json").out == "menu.pdf\n"


def test_a_file_of_powershell_is_read(project: Project):
    project.write("in.json", '"menü.pdf"\r\n'.encode("utf-16"))

    assert project.run("flow:run", "indexMenu", "@in.json").out == "menü.pdf\n"


@pytest.mark.parametrize("stdin", ['"menu.pdf"\r\n', "menu.pdf\n", "menu.pdf\r\n"])
def test_a_dash_reads_stdin(project: Project, stdin: str):
    assert project.run("flow:run", "indexMenu", "-", stdin=stdin).out == "menu.pdf\n"


def test_lines_of_a_text_file_are_kept(project: Project):
    project.write("notes.txt", "one\n\ntwo\n")

    assert project.run("flow:run", "say", "@notes.txt").out == "one\n\ntwo\n"


def test_a_missing_input_is_asked_for(project: Project):
    run = project.run("flow:run", "indexMenu")

    assert run.code == 2
    assert "flow 'indexMenu' needs an input" in run.err
    assert 'flowkit flow:run indexMenu "…"' in run.err


def test_a_missing_object_is_asked_for_with_an_example(project: Project):
    run = project.run("flow:run", "count")

    assert run.code == 2
    assert "flow 'count' needs an input" in run.err
    assert """flowkit flow:run count '{"n": 1}'""" in run.err


def test_a_flow_without_input_refuses_one(project: Project):
    assert project.run("flow:run", "hello").out == "hello\n"

    for argument in ("there", '"there"', "1"):
        run = project.run("flow:run", "hello", argument)
        assert run.code == 2
        assert "flow 'hello' takes no input" in run.err


def test_an_object_goes_in(project: Project):
    assert project.run("flow:run", "count", '{"n":3}').out == "3\n"


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("{n:3}", "the shell may have taken its quotes"),
        ("'{\"n\":3}'", "single quotes around it came through (cmd.exe keeps them)"),
        ("menu.pdf", "the shell may have taken its quotes"),
    ],
)
def test_advice_about_shells_is_one_line(project: Project, argument: str, said: str):
    run = project.run("flow:run", "count", argument)

    assert run.code == 2
    (line,) = (line for line in run.err.splitlines() if line.startswith("Error:"))
    assert said in line
    assert "@file.json" in line
    assert "- for stdin" in line
    assert '"n' in line.replace("\\", "") or "'{\"n\": 1}'" in line


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ('{"n":NaN}', "NaN is no JSON number"),
        ('{"n":-Infinity}', "-Infinity is no JSON number"),
        ('{"n":1e999}', "1e999 is beyond"),
        ("[" * 100_000, "nested too deeply"),
        ('{"n":"x"}', "n: Input should be a valid integer"),
        ('{"n":1,"m":2}', "m: "),
        ("{}", "n: Field required"),
        ("3", "bad input for flow 'count'"),
    ],
)
def test_a_bad_value_is_named(project: Project, argument: str, said: str):
    run = project.run("flow:run", "count", argument)

    assert run.code == 2
    assert said in run.err
    assert "shell" not in run.err
    assert run.out == ""


def test_a_missing_file_is_named(project: Project):
    run = project.run("flow:run", "say", "@nobody")

    assert run.code == 2
    assert "there is no file 'nobody'" in run.err
    assert "goes as JSON" in run.err


def test_a_file_that_is_no_text_is_refused(project: Project):
    project.write("menu.pdf", b"%PDF-1.7\n\xff\xfe\xfa")

    run = project.run("flow:run", "say", "@menu.pdf")

    assert run.code == 2
    assert "menu.pdf is no UTF-8 text (byte 9)" in run.err


def test_the_context_reaches_the_flow(project: Project):
    assert project.run("flow:run", "who", "-c", '{"auth": {"uid": "ada"}}').out == "ada\n"

    project.write("who.json", '{"auth": {"uid": "bob"}}')
    assert project.run("flow:run", "who", "--context", "@who.json").out == "bob\n"


@pytest.mark.parametrize(("context", "said"), [("[1]", "not an object"), ("{auth}", "not JSON")])
def test_a_bad_context_is_refused(project: Project, context: str, said: str):
    run = project.run("flow:run", "who", "-c", context)

    assert run.code == 2
    assert "--context" in run.err
    assert said in run.err


def test_an_object_where_the_value_alone_belongs_is_explained(project: Project):
    project.write("app.py", "import flowkit\nai = flowkit.Flowkit()\n@ai.flow\nasync def one(n: int = 3): ...\n")

    run = project.run("flow:run", "one", '{"n": 4}')

    assert run.code == 2
    assert "it takes n: int = 3, alone: flowkit flow:run one 4" in run.err


def test_an_at_sign_alone_names_no_file(project: Project):
    run = project.run("flow:run", "echo", "@")

    assert (run.code, run.out) == (2, "")
    assert "there is no file name after @" in run.err
