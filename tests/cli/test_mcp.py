"""`flowkit mcp`: what an assistant gets, asked by the protocol's own client over stdin and stdout."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.cli.conftest import OFFLINE, Project
from tests.support.modules import ROOT, plugin_packages

mcp = pytest.importorskip("mcp")
pytestmark = pytest.mark.heavy

APP = """
from flowkit import Flowkit

print("an app may print what it likes")
ai = Flowkit()


@ai.flow
async def double(n: int) -> int:
    '''Twice a number.'''
    print("even while it runs")
    return await ai.run("times-two", lambda: 2 * n)


@ai.flow
async def boom(text: str) -> str:
    raise ValueError(f"no {text}")


@ai.flow
async def hello() -> str:
    return "hello"
"""


@asynccontextmanager
async def session(project: Project, *arguments: str) -> AsyncIterator[Any]:
    path = [str(OFFLINE), str(ROOT), *(str(package.parent) for package in plugin_packages())]
    server = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "flowkit", "mcp", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        cwd=str(project.folder),
    )
    async with mcp.Client(server) as client:
        yield client


async def call(client: Any, tool: str, /, **arguments: Any) -> Any:
    """What a tool answers, as JSON values; a text when it failed."""
    result = await client.call_tool(tool, arguments)
    texts = [part.text for part in result.content]
    if result.is_error:
        return "".join(texts)
    return [json.loads(text) for text in texts]


async def test_an_assistant_lists_flows_runs_one_and_sees_every_step(project: Project):
    project.write("app.py", APP)
    async with session(project) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"list_flows", "run_flow", "list_traces", "get_trace"}
        assert all(tool.description for tool in tools.values())

        flows = {flow["name"]: flow for flow in flat(await call(client, "list_flows"))}
        assert flows["double"]["description"] == "Twice a number."
        assert flows["double"]["inputSchema"]["type"] == "integer"

        (ran,) = await call(client, "run_flow", name="double", input=21)
        assert ran["result"] == 42
        (greeted,) = await call(client, "run_flow", name="hello")
        assert greeted["result"] == "hello"

        (trace,) = await call(client, "get_trace", trace_id=ran["traceId"])
        assert [(step["depth"], step["name"], step.get("output")) for step in trace["steps"]] == [
            (0, "double", 42),
            (1, "times-two", 42),
        ]


async def test_failures_are_told_not_raised(project: Project):
    project.write("app.py", APP)
    async with session(project) as client:
        (failed,) = await call(client, "run_flow", name="boom", input="soup")
        assert failed["error"] == "no soup"
        (wrong,) = await call(client, "run_flow", name="double", input="x")
        assert wrong["fields"]
        assert "there are: boom, double, hello" in await call(client, "run_flow", name="dubble")
        assert "no trace" in await call(client, "get_trace", trace_id="0" * 32)

        traces = flat(await call(client, "list_traces", status="error"))
        assert {trace["name"] for trace in traces} == {"boom", "double"}


def flat(values: Any) -> list[Any]:
    return [item for value in values for item in (value if isinstance(value, list) else [value])]
