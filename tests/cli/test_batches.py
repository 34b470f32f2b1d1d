"""`flow:batchRun` and `eval:extractData`: a flow over a file of inputs, and its runs as a dataset."""

import json
import signal
import time
from typing import Any

import pytest

from tests.cli.conftest import Project

RAG = """
import asyncio
from pathlib import Path
from flowkit import Document, Flowkit
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.testing import FakeEmbedder

ai = Flowkit(plugins=[FakeEmbedder()])
ai.vector_store(InMemoryStore("menu"), name="menu", embedder="fake-embedder")


@ai.flow
async def ask(question: str) -> str:
    await ai.index("menu", [Document.from_text("vegan soup"), Document.from_text("beef")])
    docs = await ai.retrieve("menu", question, k=2)
    if question == "fail":
        raise ValueError("no answer")
    return docs[0].text


@ai.flow
async def slow(n: int) -> int:
    if n == 0 or Path("quick").exists():
        return n
    Path("began").touch()
    await asyncio.sleep(60)
    return n
"""


@pytest.fixture
def rag(project: Project) -> Project:
    project.write("app.py", RAG)
    return project


def lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.split("\n") if line]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", '["a", "b", "c"]'),
        ("a.jsonl", '"a"\n\n"b"\n"c"\n'),
        ("a.json", '[{"input": "a"}, {"input": "b", "testCaseId": "2"}, {"input": "c"}]'),
        ("a.jsonl", '{"input": "a"}\n{"input": "b"}\n{"input": "c"}'),
    ],
)
def test_every_input_of_a_file_in_order(project: Project, name: str, content: str):
    project.write(name, content)

    run = project.run("flow:batchRun", "say", name, "--concurrency", "3")

    assert run.code == 0
    assert [(row["input"], row["output"]) for row in lines(run.out)] == [("a", "a"), ("b", "b"), ("c", "c")]
    assert run.err == "3 of 3 succeeded\n"


def test_the_output_is_genkits(project: Project):
    project.write("in.json", '["a", "Käse"]')

    project.run("flow:batchRun", "say", "in.json", "--output", "out.json")
    project.run("flow:batchRun", "say", "in.json", "--output", "out.jsonl")

    array = json.loads((project.folder / "out.json").read_text(encoding="utf-8"))
    assert [{key: row[key] for key in ("input", "output")} for row in array] == [
        {"input": "a", "output": "a"},
        {"input": "Käse", "output": "Käse"},
    ]
    assert [row["output"] for row in lines((project.folder / "out.jsonl").read_text(encoding="utf-8"))] == ["a", "Käse"]
    assert "Käse" in (project.folder / "out.json").read_text(encoding="utf-8")
    assert [file.name for file in project.folder.glob(".out*")] == []


def test_a_failure_is_told_and_only_it_runs_again(project: Project):
    app = "from flowkit import Flowkit\nai = Flowkit()\n@ai.flow\nasync def f(n: int) -> int:\n    {}\n    return n\n"
    project.write("app.py", app.format("assert n != 2, 'two'; print('ran', n)"))
    project.write("in.json", "[1, 2, 3]")

    first = project.run("flow:batchRun", "f", "in.json", "--output", "out.json")
    rows = json.loads((project.folder / "out.json").read_text())
    project.write("app.py", app.format("print('ran', n)"))
    second = project.run("flow:batchRun", "f", "in.json", "--output", "out.json")

    assert first.code == 1
    assert "✗ 2: AssertionError: two (app.py:5)" in first.err
    assert "Error: 1 of 3 inputs failed" in first.err
    assert [row.get("output") for row in rows] == [1, None, 3]
    assert rows[1]["error"].startswith("AssertionError")
    assert second.code == 0
    assert "2 of 3 were done before" in second.err
    assert second.err.count("ran ") == 1
    assert [row["output"] for row in json.loads((project.folder / "out.json").read_text())] == [1, 2, 3]


def test_other_inputs_begin_anew(project: Project):
    project.write("in.json", '["a", 5]')
    project.run("flow:batchRun", "say", "in.json", "--output", "out.json")
    project.write("in.json", '["b", "c"]')

    run = project.run("flow:batchRun", "say", "in.json", "--output", "out.json")

    assert "before" not in run.err
    assert [row["output"] for row in json.loads((project.folder / "out.json").read_text())] == ["b", "c"]


@pytest.mark.heavy
def test_a_batch_that_was_interrupted_goes_on(rag: Project):
    rag.write("in.json", "[0, 1, 2]")
    process = rag.start("flow:batchRun", "slow", "in.json", "--output", "out.json")
    until = time.monotonic() + 30
    while not (rag.folder / "began").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)

    assert process.returncode == 130
    assert "1 of 3 are done" in err
    assert not (rag.folder / "out.json").exists()
    rag.write("quick", "")
    again = rag.run("flow:batchRun", "slow", "in.json", "--output", "out.json")
    assert again.code == 0
    assert "1 of 3 were done before" in again.err
    assert [row["output"] for row in json.loads((rag.folder / "out.json").read_text())] == [0, 1, 2]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("in.json", "[", "in.json is no JSON"),
        ("in.json", "[]", "has no inputs"),
        ("in.jsonl", "1\n{", "line 2"),
        ("in.json", '[{"input": 1}, 2]', "number 2 has no input"),
    ],
)
def test_a_file_that_is_wrong_runs_nothing(project: Project, name: str, content: str, said: str):
    project.write(name, content)

    run = project.run("flow:batchRun", "say", name)

    assert run.code == 2
    assert said in run.err
    assert "no runs yet" in project.run("trace:list").err


def test_no_such_flow_or_file(project: Project):
    project.write("in.json", "[1]")

    assert "did you mean say?" in project.run("flow:batchRun", "sai", "in.json").err
    assert "there is no file 'nothing.json'" in project.run("flow:batchRun", "say", "nothing.json").err


def test_a_context_for_every_run(project: Project):
    project.write("in.json", "[null]")

    run = project.run("flow:batchRun", "who", "in.json", "--context", '{"auth": {"uid": "ada"}}')

    assert lines(run.out)[0].get("output") == "ada" or "takes no input" in lines(run.out)[0]["error"]


def test_labelled_runs_become_a_dataset_with_what_was_retrieved(rag: Project):
    rag.write("in.json", '["soup", "beef", "fail"]')
    rag.run("flow:run", "ask", "before")
    rag.run("flow:batchRun", "ask", "in.json", "--label", "monday")

    run = rag.run("eval:extractData", "ask", "--label", "monday")

    rows = {row["input"]: row for row in json.loads(run.out)}
    assert set(rows) == {"soup", "beef", "fail"}
    assert sorted(rows["soup"]["context"]) == ["beef", "vegan soup"]
    assert rows["soup"]["output"] in ("vegan soup", "beef")
    assert "no answer" in rows["fail"]["error"]
    assert "output" not in rows["fail"]
    assert len(rows["beef"]["traceIds"][0]) == 32
    assert run.err == "3 runs, 3 with retrieved documents\n"


def test_all_runs_of_a_flow_up_to_a_number_go_to_a_file(rag: Project):
    for text in ("a", "b", "c"):
        rag.run("flow:run", "ask", text)

    run = rag.run("eval:extractData", "/flow/ask", "--maxRows", "2", "--output", "rows.jsonl")

    assert run.out == ""
    rows = lines((rag.folder / "rows.jsonl").read_text(encoding="utf-8"))
    assert [row["input"] for row in rows] == ["c", "b"]


def test_a_dataset_of_nothing(project: Project):
    run = project.run("eval:extractData", "say", "--label", "x")

    assert run.code == 2
    assert "no run of flow 'say' with the label 'x'" in run.err


def test_only_a_newline_ends_a_line(project: Project):
    odd = ["one\u2028line", "one\x85line", "half \ud83d of a pair"]
    project.write("in.jsonl", "".join(json.dumps(text, ensure_ascii="half" in text) + "\r\n" for text in odd))

    run = project.run("flow:batchRun", "echo", "in.jsonl", "--output", "out.jsonl")

    assert run.code == 0
    rows = lines((project.folder / "out.jsonl").read_text(encoding="utf-8"))
    assert [row["input"] for row in rows] == odd
    assert [row["output"] for row in rows[:2]] == odd[:2]


def test_what_a_killed_run_wrote_by_halves_costs_no_more_than_that(project: Project):
    project.write("in.json", '["a\u2028", "b", 5]')
    project.run("flow:batchRun", "say", "in.json", "--output", "out.json")
    journal = project.folder / ".out.json.journal"
    journal.write_bytes(journal.read_bytes() + b'{"number": 2, "inp')
    twice = [project.run("flow:batchRun", "say", "in.json", "--output", "out.json") for _ in range(2)]

    assert ["2 of 3 were done before" in run.err for run in twice] == [True, True]
    journal.write_bytes(b"\xff\n[]\n5")
    assert project.run("flow:batchRun", "say", "in.json", "--output", "out.json").err.count("before") == 0


def test_the_output_takes_the_place_of_no_inputs_and_of_no_device(project: Project):
    project.write("in.json", '["a"]')

    same = project.run("flow:batchRun", "say", "in.json", "--output", "./in.json")
    device = project.run("flow:batchRun", "say", "in.json", "--output", "/dev/null")

    assert (same.code, device.code) == (2, 2)
    assert "in.json holds the inputs" in same.err
    assert "/dev/null is no file" in device.err
    assert (project.folder / "in.json").read_text() == '["a"]'


@pytest.mark.parametrize("name", ["nothing.json", "~nobody-of-that-name/in.json", "."])
def test_inputs_that_cannot_be_read_are_named(project: Project, name: str):
    run = project.run("flow:batchRun", "say", name)

    assert run.code == 2
    assert name in run.err
    assert "begins with @" not in run.err
