"""`trace:list` and `trace:get`: what ran, and every step of it."""

import json
import sqlite3

import pytest

from tests.cli.conftest import Project

RAG = """
from flowkit import Document, Flowkit
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.testing import FakeEmbedder, FakeModel

ai = Flowkit(plugins=[FakeModel(["The soup."]), FakeEmbedder()], model="fake-model")
ai.vector_store(InMemoryStore("menu"), name="menu", embedder="fake-embedder")


@ai.flow("menuQA")
async def menu_qa(question: str) -> str:
    await ai.index("menu", [Document.from_text("vegan soup"), Document.from_text("beef")])
    docs = await ai.run("find-größe", find, question)
    return (await ai.generate(question, docs=docs)).text


async def find(question):
    if question == "fail":
        raise ValueError("nothing \\x1b[31mfound\\nat all")
    return await ai.retrieve("menu", question, k=1)


@ai.flow
async def deep(n: int) -> int:
    return await deep(n - 1) if n else 0
"""


@pytest.fixture
def rag(project: Project) -> Project:
    project.write("app.py", RAG)
    return project


def trace_id(err: str) -> str:
    return err.rpartition("Trace ID: ")[2].strip()


def test_a_run_tells_its_trace_id(project: Project):
    run = project.run("flow:run", "say", "soup")

    assert len(trace_id(run.err)) == 32
    assert project.run("trace:get", trace_id(run.err)[:8]).out.splitlines()[0].startswith("✓ say  success in ")


def test_runs_are_listed_newest_first(project: Project):
    project.run("flow:run", "say", "Käse 以上")
    project.run("flow:run", "count", '{"n": 3}')
    project.run("flow:run", "soup", "{}")

    heading, *rows = project.run("trace:list").out.splitlines()

    assert heading.split() == ["ID", "Name", "Kind", "Took", "Started", "Input", "or", "error"]
    assert [row.split()[0] for row in rows] == ["✗", "✓", "✓"]
    assert [row.split()[2] for row in rows] == ["soup", "count", "say"]
    assert rows[0].endswith("KeyError: 'soup'")
    assert rows[1].endswith('{"n":3}')
    assert rows[2].endswith("Käse 以上")


def test_lists_are_filtered_and_cut(project: Project):
    for number in range(3):
        project.run("flow:run", "say", f"text {number}")
    project.run("flow:run", "soup", "{}")

    def names(*options: str) -> list[str]:
        return [item["name"] for item in json.loads(project.run("trace:list", "--json", *options).out)]

    assert names() == ["soup", "say", "say", "say"]
    assert names("--status", "error") == ["soup"]
    assert names("--status", "success", "--limit", "2") == ["say", "say"]
    assert names("--name", "say") == names("--name", "/flow/say") == ["say"] * 3
    assert names("--kind", "flow", "-l", "1") == ["soup"]
    assert names("--kind", "model") == []
    assert "there are more" in project.run("trace:list", "--limit", "2").err
    assert "no runs like that" in project.run("trace:list", "--kind", "model").err


def test_no_runs_are_no_error(project: Project):
    run = project.run("trace:list")

    assert (run.code, run.out) == (0, "")
    assert "no runs yet" in run.err
    assert project.run("trace:list", "--json").out == "[]\n"


def test_a_trace_is_an_outline_of_its_steps(rag: Project):
    rag.run("flow:run", "menuQA", "vegan?")

    lines = rag.run("trace:get", "latest").out.splitlines()

    assert lines[0].startswith("✓ menuQA  success in ")
    assert "tokens in" in lines[0]
    assert [line.rsplit(None, 2)[0].rstrip() for line in lines[3:]] == [
        "menuQA               flow",
        "├ menu               indexer",
        "│ └ fake-embedder    embedder",
        "├ find-größe         step",
        "│ └ menu             retriever",
        "│   └ fake-embedder  embedder",
        "└ fake-model         model",
    ]


def test_an_error_is_told_where_it_began(rag: Project):
    rag.run("flow:run", "menuQA", "fail")

    out = rag.run("trace:get", "latest").out

    (line,) = (line for line in out.splitlines() if "ValueError" in line)
    assert line.startswith("└ find-größe")
    assert line.endswith("✗ ValueError: nothing found at all")
    assert "\x1b" not in out


def test_values_are_shown_when_they_are_asked_for(rag: Project):
    rag.run("flow:run", "menuQA", "vegan?")

    assert "vegan" not in rag.run("trace:get", "latest").out
    out = rag.run("trace:get", "latest", "--values").out
    assert '│ in  "vegan?"' in out
    assert '│ out "The soup."' in out
    assert '{"text": "vegan soup"}' in out
    assert ", … 64 numbers]" in out


def test_long_values_are_cut_and_whole_in_json(project: Project):
    project.run("flow:run", "say", json.dumps("ü" * 5_000))

    out = project.run("trace:get", "latest", "--values").out
    assert "(10 kB; --json shows all of it)" in out

    trace = json.loads(project.run("trace:get", "latest", "--json").out)
    (span,) = trace["spans"].values()
    assert json.loads(span["attributes"]["genkit:output"]) == "ü" * 5_000


def test_json_has_real_characters(project: Project):
    project.run("flow:run", "say", "こんにちは literal \\u3053")

    out = project.run("trace:get", "latest", "--json").out
    assert "こんにちは" in out
    assert "こんにちは" in project.run("trace:list", "--json").out


def test_a_trace_a_thousand_steps_deep_is_shown(rag: Project):
    rag.run("flow:run", "deep", "150")

    lines = rag.run("trace:get", "latest").out.splitlines()

    assert len(lines) == 3 + 151
    assert max(map(len, lines)) < 80


@pytest.mark.parametrize(("given", "said"), [("ffff", "no trace 'ffff'"), ("", "no trace ''"), ("../x", "no trace")])
def test_an_unknown_trace_is_wrong_input(project: Project, given: str, said: str):
    project.run("flow:run", "hello")

    run = project.run("trace:get", given)

    assert (run.code, run.out) == (2, "")
    assert said in run.err
    assert "flowkit trace:list" in run.err


def test_latest_of_nothing_says_so(project: Project):
    run = project.run("trace:get", "latest")

    assert run.code == 2
    assert "there are no runs" in run.err


def test_a_damaged_trace_store_is_told_in_one_line(project: Project):
    project.write(".flowkit/traces.db", b"no database at all" * 1000)

    run = project.run("trace:list")

    assert run.code == 1
    assert run.err.startswith("Error: ")
    assert "traces.db" in run.err


def test_an_unreadable_trace_does_not_hide_the_others(project: Project):
    project.run("flow:run", "say", "one")
    project.run("flow:run", "say", "two")
    with sqlite3.connect(project.folder / ".flowkit" / "traces.db") as db:
        db.execute("UPDATE traces SET labels = x'ff00', name = x'ff' WHERE id = 1")
    db.close()

    run = project.run("trace:list")

    assert run.code == 0
    assert "two" in run.out
    assert "1 trace in" in run.err
    assert "cannot be read" in run.err


def test_rejected_input_is_a_trace_too(project: Project):
    assert project.run("flow:run", "count", '{"n": "x"}').code == 2

    (listed,) = json.loads(project.run("trace:list", "--json").out)
    assert (listed["name"], listed["status"]) == ("count", "error")


def test_traces_can_be_turned_off(project: Project, monkeypatch: pytest.MonkeyPatch):
    run = project.process("flow:run", "hello", env={"FLOWKIT_TRACES": "0"})

    assert run.out == "hello\n"
    assert "Trace ID" not in run.err
    assert not (project.folder / ".flowkit").exists()


def test_spans_of_libraries_are_part_of_the_trace(project: Project):
    project.write(
        "app.py",
        """
from opentelemetry import trace
from flowkit import Flowkit
ai = Flowkit()
tracer = trace.get_tracer("some-library")

@ai.flow
async def ask() -> str:
    with tracer.start_as_current_span("GET /menu"):
        return "soup"
""",
    )
    project.process("flow:run", "ask")

    lines = project.run("trace:get", "latest").out.splitlines()

    assert [line.split()[:3] for line in lines[3:]] == [["ask", "flow", lines[3].split()[2]], ["└", "GET", "/menu"]]
