"""One stream of everything that happens: how it stands, then apps, actions, runs, traces and logs as they come."""

import asyncio
from typing import Any

import pytest

from flowkit import Flowkit
from flowkit.config import Settings
from flowkit.server.dev import hub as hub_module
from flowkit.server.dev.hub import Hub
from tests.server.dev.conftest import Serve
from tests.server.dev_server import Browser, until
from tests.server.telemetry.spans import trace_data


async def test_it_begins_with_how_everything_stands(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)
    run = await browser.post("/api/runs", {"key": "/flow/echo", "input": "x"})

    async with browser.lines("/api/events") as lines:
        hello = await anext(lines)

    assert hello["type"] == "hello"
    assert hello["app"]["state"] == "running"
    assert len(hello["runtimes"]) == 1
    assert hello["runs"][0]["runId"] == run["runId"]


async def test_runs_and_traces_are_told_as_they_happen(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)
    async with browser.lines("/api/events") as lines:
        await anext(lines)
        run = await browser.post("/api/runs", {"key": "/flow/echo", "input": "x"})

        seen: dict[str, Any] = {}
        async with asyncio.timeout(10):
            async for event in lines:
                if event["type"] == "run":
                    seen["run"] = event["run"]
                if event["type"] == "trace":
                    seen["trace"] = event["trace"]
                if len(seen) == 2 and all(each["status"] == "success" for each in seen.values()):
                    break

    assert seen["run"]["runId"] == run["runId"]
    assert seen["trace"]["traceId"] == run["traceId"]


async def test_traces_of_other_programs_are_told(browser: Browser):
    async with browser.lines("/api/events", topics="traces") as lines:
        await anext(lines)
        await browser.http.post("/api/traces", json=trace_data(took=None))
        assert (await until(lines, type="trace"))["trace"]["status"] == "running"

        await browser.http.post("/api/traces", json=trace_data(took=5))
        assert (await until(lines, type="trace"))["trace"]["status"] == "success"


async def test_log_records_are_told(browser: Browser):
    record = {"timeUnixNano": "1796014088705000000", "body": {"stringValue": "cold"}}
    async with browser.lines("/api/events", topics="logs") as lines:
        await anext(lines)
        await browser.http.post("/v1/logs", json={"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]})

        assert (await until(lines, type="log"))["log"]["body"] == "cold"


async def test_an_app_that_comes_with_other_actions_is_told(
    browser: Browser, ai: Flowkit, settings: Settings, serve: Serve
):
    host = serve(ai)
    async with browser.lines("/api/events", topics="app,actions") as lines:
        await anext(lines)
        async with asyncio.timeout(5):
            while browser.dev._pump._seen is None:
                await asyncio.sleep(0.01)
        host.request_stop()
        await asyncio.to_thread(host.join)
        assert (await until(lines, type="runtimes"))["runtimes"] == []

        after = Flowkit(settings=settings)

        @after.flow()
        async def echo(text: str, times: int = 1) -> str:
            return text * times

        @after.flow()
        async def fresh() -> None: ...

        await asyncio.to_thread(serve, after)
        actions = await until(lines, type="actions")

    assert actions["added"] == ["/flow/fresh"]
    assert actions["changed"] == ["/flow/echo"]
    assert "/flow/boom" in actions["removed"]


async def test_what_the_supervisor_says_is_told_at_once(browser: Browser):
    error = {"message": "ValueError: no", "exitCode": 1, "file": "app.py", "line": 3, "traceback": "…"}
    async with browser.lines("/api/events", topics="app") as lines:
        await anext(lines)
        browser.dev.set_app({"state": "failed", "pid": 7, "error": error, "retrySeconds": None, "unknown": 1})

        told = (await until(lines, type="app"))["app"]

    assert (told["state"], told["error"]["line"]) == ("failed", 3)
    assert (await browser.get("/api/runtimes"))["app"]["state"] == "failed"


async def test_an_unknown_topic_is_refused(browser: Browser):
    response = await browser.http.get("/api/events", params={"topics": "runs,weather"})

    assert response.status_code == 400
    assert "weather" in response.text


async def test_nothing_is_asked_while_nobody_looks(browser: Browser):
    async with browser.lines("/api/events") as lines:
        await anext(lines)
        async with asyncio.timeout(5):
            while not browser.dev.traces.changes.polls:
                await asyncio.sleep(0.01)

    async with asyncio.timeout(5):
        while browser.dev.traces.changes.polls or browser.dev._pump._tasks:
            await asyncio.sleep(0.01)


async def test_a_page_that_does_not_keep_up_is_told_how_much_it_has_missed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hub_module, "_QUEUE", 3)
    hub = Hub()
    with hub.follow(["runs"]) as follower:
        for n in range(5):
            hub.publish("runs", {"type": "run", "n": n})
        seen = [await follower.get(1) for _ in range(4)]

    assert [event["n"] for event in seen[:3] if event] == [0, 1, 2]
    assert seen[3] == {"type": "missed", "count": 2}
