"""Runs from a page: the ids at once, every event in order, cancelling, and what is said without an app."""

import asyncio
import logging
from typing import Any

import pytest

from flowkit import Flowkit
from flowkit.config import Settings
from flowkit.server.dev import runs as runs_module
from tests.server.dev.conftest import Serve
from tests.server.dev_server import Browser, until


async def events(browser: Browser, run: dict[str, Any], **query: Any) -> list[Any]:
    async with browser.lines(f"/api/runs/{run['runId']}/events", **query) as lines:
        return [line async for line in lines if line["type"] != "ping"]


async def test_the_answer_has_the_ids_while_the_action_still_runs(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)

    run = await browser.post("/api/runs", {"key": "/flow/sleep"})

    assert run["status"] == "running"
    assert len(run["traceId"]) == 32
    assert len(run["spanId"]) == 16
    assert (await browser.get(f"/api/runs/{run['runId']}"))["traceId"] == run["traceId"]
    await browser.post(f"/api/runs/{run['runId']}/cancel", {})


async def test_chunks_then_the_result(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)

    run = await browser.post("/api/runs", {"key": "/flow/count", "input": 3})
    started, *chunks, ended = await events(browser, run)

    assert started["run"]["traceId"] == run["traceId"]
    assert [event["chunk"] for event in chunks] == [0, 1, 2]
    assert ended["run"]["status"] == "success"
    assert [event["n"] for event in (started, *chunks, ended)] == [0, 1, 2, 3, 4]
    trace = await browser.get(f"/api/traces/{run['traceId']}")
    assert trace["displayName"] == "count"


async def test_a_page_that_was_reloaded_sees_what_it_has_missed(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)
    run = await browser.post("/api/runs", {"key": "/flow/count", "input": 3})
    whole = await events(browser, run)

    assert await events(browser, run) == whole
    assert await events(browser, run, after=2) == whole[3:]
    assert [listed["runId"] for listed in (await browser.get("/api/runs"))["runs"]] == [run["runId"]]


async def test_real_characters_come_through(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)
    run = await browser.post("/api/runs", {"key": "/flow/echo", "input": "寿司 🍣"})

    assert (await events(browser, run))[-1]["result"] == "寿司 🍣"


async def test_a_flow_that_fails(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)
    run = await browser.post("/api/runs", {"key": "/flow/boom", "input": "soup"})
    ended = (await events(browser, run))[-1]

    assert ended["run"]["status"] == "error"
    assert ended["error"]["message"] == "no soup"
    assert "ValueError" in ended["error"]["details"]["stack"]
    outline = await browser.get(f"/api/traces/{run['traceId']}/outline")
    assert outline["summary"]["status"] == "error"


async def test_input_that_is_refused_is_a_run_with_the_wrong_fields(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)
    run = await browser.post("/api/runs", {"key": "/flow/order", "input": {"dish": "soup", "price": "x"}})
    ended = (await events(browser, run))[-1]

    assert ended["error"]["details"]["errors"][0]["path"] == "price"
    assert (await browser.get(f"/api/traces/{run['traceId']}/outline"))["summary"]["status"] == "error"


async def test_cancelling_ends_the_run_and_its_trace(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)
    run = await browser.post("/api/runs", {"key": "/flow/sleep"})

    assert await browser.post(f"/api/runs/{run['runId']}/cancel", {}) == {"cancelled": True}

    assert (await events(browser, run))[-1]["run"]["status"] == "cancelled"
    assert (await browser.get(f"/api/traces/{run['traceId']}/outline"))["summary"]["status"] == "cancelled"
    assert await browser.post(f"/api/runs/{run['runId']}/cancel", {}) == {"cancelled": False}


async def test_context_and_labels_reach_the_run(browser: Browser, ai: Flowkit, serve: Serve):
    from flowkit import RunContext

    @ai.flow()
    async def who(ctx: RunContext) -> str:
        return str(ctx.auth["uid"])

    serve(ai)
    run = await browser.post(
        "/api/runs", {"key": "/flow/who", "context": {"auth": {"uid": "ada"}}, "labels": {"table": "4"}}
    )

    assert (await events(browser, run))[-1]["result"] == "ada"
    found = await browser.get("/api/traces/summaries", label="table=4")
    assert [trace["traceId"] for trace in found["traces"]] == [run["traceId"]]


async def test_an_unknown_action_is_not_found_and_leaves_no_run(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)
    response = await browser.http.post("/api/runs", json={"key": "/flow/nothing"})

    assert response.status_code == 404
    assert response.json()["error"]["status"] == "NOT_FOUND"
    assert (await browser.get("/api/runs"))["runs"] == []


async def test_without_an_app_it_says_so(browser: Browser):
    response = await browser.http.post("/api/runs", json={"key": "/flow/echo"})

    assert response.status_code == 503
    assert response.json()["error"]["message"] == "no app is running"


async def test_an_app_that_ends_in_the_middle_ends_the_run(browser: Browser, ai: Flowkit, serve: Serve):
    host = serve(ai)
    run = await browser.post("/api/runs", {"key": "/flow/sleep"})

    host.request_stop()
    await asyncio.to_thread(host.join)

    assert (await events(browser, run))[-1]["run"]["status"] in ("cancelled", "error")


async def test_many_chunks_are_not_all_kept(
    browser: Browser, ai: Flowkit, serve: Serve, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(runs_module, "_KEPT_EVENTS", 4)
    serve(ai)
    run = await browser.post("/api/runs", {"key": "/flow/count", "input": 20})
    async with browser.lines(f"/api/runs/{run['runId']}/events") as lines:
        await until(lines, type="ended")

    kept = await events(browser, run)

    assert kept[0]["type"] == "started"
    assert kept[1]["type"] == "dropped"
    assert [event["chunk"] for event in kept if event["type"] == "chunk"] == [18, 19]


@pytest.mark.parametrize("run_id", ["0" * 16, "x", "..%2Fx"])
async def test_an_unknown_run(browser: Browser, run_id: str):
    assert (await browser.http.get(f"/api/runs/{run_id}/events")).status_code in (400, 404)


async def test_what_a_run_logs_is_with_its_trace_when_it_ends(browser: Browser, ai: Flowkit, serve: Serve):
    logger = logging.getLogger("kitchen")

    @ai.flow()
    async def chatty() -> None:
        logger.warning("the oven is cold")

    serve(ai)
    run = await browser.post("/api/runs", {"key": "/flow/chatty"})
    await events(browser, run)

    (log,) = (await browser.get(f"/api/traces/{run['traceId']}/logs"))["logs"]
    assert (log["body"], log["spanId"]) == ("the oven is cold", run["spanId"])


async def test_two_apps_of_one_process_keep_a_line_once(
    browser: Browser, ai: Flowkit, settings: Settings, serve: Serve
):
    host = serve(ai)
    host.add(Flowkit(settings=settings))
    logging.getLogger("kitchen").warning("once")

    async with asyncio.timeout(5):
        while not (logs := (await browser.get("/api/logs"))["logs"]):
            await asyncio.sleep(0.02)
    assert [log["body"] for log in logs] == ["once"]
