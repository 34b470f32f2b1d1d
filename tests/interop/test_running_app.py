"""An app that runs already: Genkit's command line finds it by its file, and talks to it over HTTP."""

import json

import pytest

from tests.interop.conftest import REASON, Genkit, Project

pytestmark = [pytest.mark.heavy, pytest.mark.requires("npm", REASON)]


def test_a_flow_runs_with_its_context(running: Project, genkit: Genkit):
    out = genkit("flow:run", "who", "-c", '{"auth": {"uid": "u1"}}')

    assert "Result:\nu1\n" in out
    # The command has told the app where it wants the trace, and reads it there.
    assert f"Trace ID: {running.traces()[-1].name}" in out


def test_a_stream_is_shown_as_it_is(running: Project, genkit: Genkit):
    out = genkit("flow:run", "count", "3", "-s")

    assert out.count("日本語のスープ" * 100) == 6
    assert "\ufffd" not in out


@pytest.mark.parametrize("stream", [(), ("-s",)])
def test_an_error_tells_code_message_and_trace(running: Project, genkit: Genkit, stream: tuple[str, ...]):
    out = genkit("flow:run", "boom", "1", *stream)

    assert "Code: 13" in out
    assert "Message: kaboom" in out
    assert f"Trace ID: {running.traces()[-1].name}" in out


def test_what_is_wrong_with_an_input_is_told(running: Project, genkit: Genkit):
    out = genkit("flow:run", "hello", "5")

    assert "Code: 3" in out
    assert "bad input for flow 'hello'" in out


def test_ten_megabytes_pass(running: Project, genkit: Genkit):
    genkit("flow:run", "big", "5000000", "--output", "big.json")

    assert json.loads((running.folder / "big.json").read_text()) == "é" * 5_000_000


def test_a_batch_becomes_a_data_set(running: Project, genkit: Genkit):
    genkit("flow:batchRun", "hello", running.write("in.json", ["Ada", "Bo"]), "--output", "out.json", "--label", "L1")
    assert json.loads((running.folder / "out.json").read_text()) == [
        {"input": "Ada", "output": "hello Ada"},
        {"input": "Bo", "output": "hello Bo"},
    ]

    genkit("eval:extractData", "hello", "--label", "L1", "--output", "data.json")
    rows = json.loads((running.folder / "data.json").read_text())
    assert sorted((row["input"], row["output"]) for row in rows) == [("Ada", "hello Ada"), ("Bo", "hello Bo")]


def test_a_flow_is_evaluated_with_what_it_retrieved(running: Project, genkit: Genkit):
    cases = running.write("cases.json", [{"testCaseId": "case1", "input": "what is vegan?"}])
    genkit("eval:flow", "ask", "--input", cases, "--evaluators", "short", "--output", "eval.json", "--force")

    (row,) = json.loads((running.folder / "eval.json").read_text())
    assert (row["input"], row["output"]) == ("what is vegan?", "soup")
    assert row["context"] == ["vegan soup", "日本 salad"]
    (metric,) = row["metrics"]
    assert (metric["evaluator"], metric["score"]) == ("/evaluator/short", True)
    assert len(metric["traceId"]) == 32


def test_traces_are_listed_and_shown(running: Project, genkit: Genkit):
    genkit("flow:run", "ask", '"soup?"')
    newest = running.traces()[-1].name

    assert newest in genkit("trace:list", "-l", "1")
    shown = genkit("trace:get", newest)
    for line in ("ask (flow)", "menu (retriever)", "fake/echo (model)"):
        assert line in shown
