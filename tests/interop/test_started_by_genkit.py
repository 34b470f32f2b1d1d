"""`genkit flow:run … -- python app.py`: the command starts the app for itself, and talks to it over WebSocket."""

import json

import pytest

from tests.interop.conftest import REASON, Genkit, Project

pytestmark = [pytest.mark.heavy, pytest.mark.requires("npm", REASON)]


def test_a_flow_runs(project: Project, genkit: Genkit):
    out = genkit("flow:run", "hello", '"Ada"', "--", *project.command)

    assert "Result:\nhello Ada\n" in out
    trace_id = out.rpartition("Trace ID: ")[2].strip()
    spans = json.loads(project.traces()[-1].read_text())["spans"]
    assert project.traces()[-1].name == trace_id
    assert [span["displayName"] for span in spans.values()] == ["hello"]


def test_a_stream_is_shown_as_it_is(project: Project, genkit: Genkit):
    out = genkit("flow:run", "count", "3", "-s", "--", *project.command)

    assert out.count("日本語のスープ" * 100) == 6, "three chunks, and the result with them again"
    assert "\ufffd" not in out


def test_an_error_tells_code_message_and_trace(project: Project, genkit: Genkit):
    out = genkit("flow:run", "boom", "1", "-s", "--", *project.command)

    assert "Code: 13" in out
    assert "Message: kaboom" in out
    assert f"Trace ID: {project.traces()[-1].name}" in out


def test_ten_megabytes_pass(project: Project, genkit: Genkit):
    genkit("flow:run", "big", "5000000", "--output", "big.json", "--", *project.command)

    assert json.loads((project.folder / "big.json").read_text()) == "é" * 5_000_000


def test_an_evaluator_judges_what_is_given(project: Project, genkit: Genkit):
    rows = [{"testCaseId": f"case{i}", "input": "q", "output": output} for i, output in enumerate(("soup", "s" * 11))]
    arguments = ("--evaluators", "short", "--output", "out.csv", "--output-format", "csv", "--force")
    genkit("eval:run", project.write("rows.json", rows), *arguments, "--", *project.command)

    header, *lines = (project.folder / "out.csv").read_text().splitlines()
    score = header.split(",").index("/evaluator/short_score")
    assert [line.split(",")[score] for line in lines] == ["true", "false"]
