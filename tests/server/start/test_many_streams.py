"""Many runs stream at once, each with a page that follows it: nobody misses anything, and every trace is kept."""

import asyncio
import json
import resource
import sys
from typing import Any

import httpx
import pytest

from tests.server.start.conftest import Project, Started

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]

CHUNKS = 20
APP = """
import asyncio

from flowkit import Flowkit

ai = Flowkit()
there, all_there = 0, asyncio.Event()


@ai.flow
async def words(n: int, together: int):
    global there
    there += 1
    if there % together == 0:
        all_there.set()
    await all_there.wait()  # all of them stream at the same time
    for i in range(20):
        yield f"{n}: スープ {i}"
        await asyncio.sleep(0)
"""


async def run_and_follow(http: httpx.AsyncClient, number: int, together: int) -> tuple[Any, list[Any]]:
    """One page: it starts a run and reads to its end."""
    given = {"key": "/flow/words", "input": {"n": number, "together": together}}
    response = await http.post("/api/runs", json=given)
    assert response.status_code == 200, response.text
    run = response.json()
    async with http.stream("GET", f"/api/runs/{run['runId']}/events") as stream:
        assert stream.status_code == 200, await stream.aread()
        events = [json.loads(line) async for line in stream.aiter_lines()]
    return run, [event for event in events if event["type"] != "ping"]


async def watch(http: httpx.AsyncClient, ended: dict[str, str], ready: asyncio.Event) -> int:
    """Another page, which looks at everything; gives how much it has missed."""
    missed = 0
    async with http.stream("GET", "/api/events?topics=runs") as stream:
        async for line in stream.aiter_lines():
            event = json.loads(line)
            ready.set()
            missed += event["count"] if event["type"] == "missed" else 0
            if event["type"] == "run" and event["run"]["status"] != "running":
                ended[event["run"]["runId"]] = event["run"]["status"]
    return missed


async def summaries(http: httpx.AsyncClient) -> list[Any]:
    found, cursor = [], None
    while True:
        query = {"action": "words", "limit": 1000} | ({} if cursor is None else {"cursor": cursor})
        page = (await http.get("/api/traces/summaries", params=query)).json()
        found += page["traces"]
        cursor = page.get("cursor")
        if cursor is None:
            return found


async def nothing_is_lost(started: Started, count: int) -> None:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    headers = {"X-Flowkit-UI": "1"}
    async with httpx.AsyncClient(
        base_url=started.url, trust_env=False, timeout=300, limits=limits, headers=headers
    ) as http:
        seen: dict[str, str] = {}
        ready = asyncio.Event()
        watching = asyncio.ensure_future(watch(http, seen, ready))
        await ready.wait()
        pages = await asyncio.gather(*(run_and_follow(http, number, count) for number in range(count)))

        for number, (run, events) in enumerate(pages):
            assert [event["n"] for event in events] == list(range(CHUNKS + 2))
            assert [event["chunk"] for event in events[1:-1]] == [f"{number}: スープ {i}" for i in range(CHUNKS)]
            assert events[-1]["run"]["status"] == "success"
            # On a machine that is very busy the first answer may come before the run has one.
            assert run.get("traceId") in (events[-1]["run"]["traceId"], None)
        traces = await summaries(http)
        assert {trace["traceId"] for trace in traces} == {events[-1]["run"]["traceId"] for _, events in pages}
        assert {trace["status"] for trace in traces} == {"success"}
        async with asyncio.timeout(60):
            while len(seen) < count:
                await asyncio.sleep(0.05)
        assert seen == {run["runId"]: "success" for run, _ in pages}
        watching.cancel()


def many(project: Project, count: int) -> None:
    project.write("app.py", APP)
    started = project.start()
    started.wait_for("running")

    asyncio.run(nothing_is_lost(started, count))


def test_a_hundred_streams_lose_nothing(project: Project):
    many(project, 100)


@pytest.mark.soak
@pytest.mark.skipif(sys.platform == "win32", reason="has no limits to raise")
def test_a_thousand_streams_lose_nothing(project: Project):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard > 0 else soft, hard))
    try:
        many(project, 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
