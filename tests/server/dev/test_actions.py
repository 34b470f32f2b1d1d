"""What can be run: listed with the last run of each, validated without running, with the inputs it had before."""

import pytest

from flowkit import Flowkit
from flowkit.config import Settings
from tests.server.dev.conftest import Serve
from tests.server.dev_server import Browser, until
from tests.server.telemetry.spans import trace_data


async def run(browser: Browser, key: str, given: object) -> str:
    started = await browser.post("/api/runs", {"key": key, "input": given})
    async with browser.lines(f"/api/runs/{started['runId']}/events") as lines:
        await until(lines, type="ended")
    return str(started["traceId"])


async def test_actions_are_listed_with_counts_and_their_last_run(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)
    trace_id = await run(browser, "/flow/echo", "soup")

    listed = await browser.get("/api/actions")

    by_key = {action["key"]: action for action in listed["actions"]}
    assert listed["counts"]["flow"] == 5
    assert by_key["/flow/echo"]["description"] == "Say it again."
    assert by_key["/flow/echo"]["inputSchema"]["type"] == "string"
    assert by_key["/flow/echo"]["lastRun"]["traceId"] == trace_id
    assert by_key["/flow/echo"]["lastRun"]["status"] == "success"
    assert "lastRun" not in by_key["/flow/boom"]
    assert not listed["stale"]


@pytest.mark.parametrize("path", ["/api/actions/flow/echo", "/api/actions/%2Fflow%2Fecho"])
async def test_one_action_by_its_key(browser: Browser, ai: Flowkit, serve: Serve, path: str):
    serve(ai)

    assert (await browser.get(path))["action"]["name"] == "echo"


async def test_an_unknown_action(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)

    assert (await browser.http.get("/api/actions/flow/nothing")).status_code == 404


async def test_what_the_last_app_had_stays_when_it_is_gone(browser: Browser, ai: Flowkit, serve: Serve):
    host = serve(ai)
    await browser.get("/api/actions")

    host.request_stop()
    host.join()

    listed = await browser.get("/api/actions")
    assert listed["stale"]
    assert listed["counts"]["flow"] == 5


async def test_the_newest_app_is_asked_unless_another_is_named(
    browser: Browser, ai: Flowkit, settings: Settings, serve: Serve
):
    serve(ai)
    newer = Flowkit(settings=settings)

    @newer.flow()
    async def fresh() -> str:
        return "fresh"

    serve(newer)
    runtimes = (await browser.get("/api/runtimes"))["runtimes"]

    assert (await browser.get("/api/actions"))["counts"]["flow"] == 1
    older = await browser.post("/api/runs", {"key": "/flow/echo", "input": "x", "runtimeId": runtimes[1]["id"]})
    assert older["traceId"]
    unknown = await browser.http.post("/api/runs", json={"key": "/flow/echo", "runtimeId": "nobody"})
    assert unknown.status_code == 404


async def test_an_input_is_checked_without_running(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)
    right = {"dish": "soup", "price": 1.5}

    good = await browser.post("/api/validate", {"key": "/flow/order", "input": right})
    bad = await browser.post("/api/validate", {"key": "/flow/order", "input": {"count": "x"}})
    missing = await browser.post("/api/validate", {"key": "/flow/order"})

    assert good == {"checked": True, "valid": True, "errors": []}
    assert {error["path"] for error in bad["errors"]} == {"dish", "count", "price"}
    assert not missing["valid"]
    assert (await browser.get("/api/traces/summaries"))["traces"] == []


async def test_an_input_for_an_unknown_action(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)

    assert (await browser.http.post("/api/validate", json={"key": "/flow/nothing"})).status_code == 404


async def test_each_different_input_is_remembered_once_newest_first(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)
    for text in ("soup", "salad", "soup"):
        last = await run(browser, "/flow/echo", text)

    inputs = (await browser.get("/api/inputs", key="/flow/echo"))["inputs"]

    assert [item["input"] for item in inputs] == ["soup", "salad"]
    assert inputs[0]["traceId"] == last
    assert inputs[0]["status"] == "success"


async def test_inputs_within_other_runs_are_remembered_too_and_large_ones_only_named(browser: Browser):
    large = '"' + "x" * 300_000 + '"'
    for body in (
        trace_data("rag", genkit__input='"q"'),
        trace_data("menu", span=2, parent=1, at=1, genkit__key="/retriever/menu", genkit__input='"vegan"'),
        trace_data("menu", span=3, parent=1, at=2, genkit__key="/retriever/menu", genkit__input=large),
    ):
        await browser.http.post("/api/traces", json=body)

    big, small = (await browser.get("/api/inputs", key="/retriever/menu"))["inputs"]

    assert small["input"] == "vegan"
    assert "input" not in big
    assert big["sizeBytes"] == len(large)
    whole = await browser.http.get(f"/api/traces/{big['traceId']}/spans/{big['spanId']}/input")
    assert whole.text == large
