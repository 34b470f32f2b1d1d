"""Runs that are ended from outside: by a tool's word, because the client has left, or with the process."""

import asyncio
import contextlib
import json
import threading

import httpx
import pytest

from flowkit import Flowkit
from tests.server.reflection.conftest import Serve, until


async def test_a_run_is_cancelled_by_its_trace_id(ai: Flowkit, serve: Serve, reports: list[str]):
    @ai.flow()
    async def forever(name: str) -> str:
        try:
            await asyncio.sleep(100)
        finally:
            reports.append(name)
        return name

    tool = serve(ai)
    async with contextlib.AsyncExitStack() as stack:
        responses = [
            await stack.enter_async_context(
                tool.http.stream("POST", "/api/runAction", json={"key": "/flow/forever", "input": name})
            )
            for name in "ab"
        ]
        first, second = (response.headers["x-genkit-trace-id"] for response in responses)
        answer = await tool.http.post("/api/cancelAction", json={"traceId": first})
        error = json.loads(await responses[0].aread())["error"]

        assert answer.json() == {"message": "Action cancelled"}
        assert (error["code"], error["message"]) == (1, "Action was cancelled")
        assert reports == ["a"], "the other one runs on"
        assert tool.trace(first).summary.status == "cancelled"
        assert (await tool.http.post("/api/cancelAction", json={"traceId": first})).status_code == 404
        assert (await tool.http.post("/api/cancelAction", json={"traceId": second})).status_code == 200
    assert (await tool.http.post("/api/cancelAction", json={})).json() == {"error": "traceId is required"}


async def test_a_sync_flow_that_is_cancelled_is_not_waited_for(ai: Flowkit, serve: Serve):
    go_on = threading.Event()

    @ai.flow()
    def stuck() -> str:
        go_on.wait(10)
        return "late"

    tool = serve(ai)
    async with tool.http.stream("POST", "/api/runAction", json={"key": "/flow/stuck"}) as response:
        await tool.http.post("/api/cancelAction", json={"traceId": response.headers["x-genkit-trace-id"]})
        assert json.loads(await response.aread())["error"]["code"] == 1
    go_on.set()


@pytest.mark.parametrize("query", ["", "?stream=true"])
async def test_a_client_that_leaves_cancels_its_run(ai: Flowkit, serve: Serve, reports: list[str], query: str):
    @ai.flow()
    async def forever():
        try:
            for i in range(10_000):
                yield i
                await asyncio.sleep(0.05)
        finally:
            reports.append("left")

    tool = serve(ai)
    async with tool.http.stream("POST", f"/api/runAction{query}", json={"key": "/flow/forever"}) as response:
        trace_id = response.headers["x-genkit-trace-id"]
    await until(lambda: reports, seconds=1)
    await until(lambda: tool.status(trace_id) == "cancelled", seconds=2)


async def test_the_end_of_the_host_ends_runs(ai: Flowkit, serve: Serve, reports: list[str]):
    @ai.flow()
    async def forever() -> None:
        try:
            await asyncio.sleep(100)
        finally:
            reports.append("ended")

    tool = serve(ai)
    async with tool.http.stream("POST", "/api/runAction", json={"key": "/flow/forever"}) as response:
        tool.host.request_stop()
        assert json.loads(await response.aread())["error"]["code"] == 1
    assert reports == ["ended"]
    await asyncio.to_thread(tool.host.join)
    with contextlib.suppress(httpx.ConnectError):  # the port is free, so another process may have taken it
        answer = await tool.http.get("/api/__health", params={"id": tool.about["id"]})
        assert answer.status_code == 503
