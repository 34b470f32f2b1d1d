"""`genkit start -- python app.py`: what Genkit's developer UI does, by the API behind its pages."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.interop.conftest import REASON, Project
from tests.server.reflection.scripts import free_port

pytestmark = [pytest.mark.heavy, pytest.mark.requires("npm", REASON)]


@pytest.fixture(scope="module")
def tools(project: Project, cli: Path) -> Iterator[httpx.Client]:
    """The API that Genkit's developer UI uses."""
    port = free_port()
    command = ("node", str(cli), "--non-interactive", "start", "--port", port, "--", *project.command)
    process = project.start(*command)
    try:
        project.wait_for_runtime()
        with httpx.Client(base_url=f"http://localhost:{port}", trust_env=False, timeout=30) as client:
            until = time.monotonic() + 30
            while not _lists(client):
                assert time.monotonic() < until, project.out
                time.sleep(0.1)
            yield client
    finally:
        project.end(process)


def _lists(client: httpx.Client) -> bool:
    try:
        return "/flow/hello" in client.get("/api/listActions").text
    except httpx.ConnectError:
        return False


def run(tools: httpx.Client, key: str, input: Any) -> Any:
    return tools.post("/api/runAction", json={"key": key, "input": input}).json()


def test_every_kind_of_action_is_listed_and_runs(tools: httpx.Client):
    actions = tools.get("/api/listActions").json()["result"]["data"]

    assert {"/tool/weather", "/tool.v2/weather", "/retriever/menu", "/model/fake/echo", "/util/generate"} <= set(
        actions
    )
    assert run(tools, "/flow/hello", "Ada")["result"] == "hello Ada"
    assert run(tools, "/tool.v2/weather", "Oslo")["result"] == {"output": "sunny in Oslo"}
    query = {"query": {"content": [{"text": "soup"}]}, "options": {"k": 1}}
    hits = run(tools, "/retriever/menu", query)["result"]["documents"]
    assert [hit["content"] for hit in hits] == [[{"text": "vegan soup"}]]


def test_a_model_is_tried_out_with_its_stream(tools: httpx.Client):
    question = {"messages": [{"role": "user", "content": [{"text": "yo"}]}], "model": "fake/echo"}
    answer = tools.post("/api/streamAction", json={"key": "/util/generate", "input": question})

    *chunks, last = [json.loads(line) for line in answer.text.splitlines() if line]
    assert [chunk["content"][0]["text"] for chunk in chunks] == ["echo: ", "yo"]
    assert last["result"]["message"]["content"] == [{"text": "echo: yo"}]


def test_a_run_is_seen_while_it_runs_and_can_be_cancelled(tools: httpx.Client, project: Project):
    with tools.stream("POST", "/api/streamAction", json={"key": "/flow/forever"}) as running:
        trace_id = running.headers["x-genkit-trace-id"]
        live = wait_for_span(project, trace_id)
        assert live["endTime"] == 0

        answer = tools.post("/api/cancelAction", json={"traceId": trace_id})
        assert answer.status_code == 200, answer.text
        error = json.loads(running.read())["error"]

    assert error["code"] == 1
    assert "forever has ended" in project.out
    assert wait_for_span(project, trace_id)["endTime"] > 0


def wait_for_span(project: Project, trace_id: str) -> Any:
    """The only span of a trace, as Genkit has it."""
    file = project.folder / ".genkit" / "traces" / trace_id
    until = time.monotonic() + 10
    while not file.exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    (span,) = json.loads(file.read_text())["spans"].values()
    return span
