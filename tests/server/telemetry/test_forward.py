"""Spans on their way to the telemetry servers of tools."""

import asyncio
import json
import logging
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from flowkit import Flowkit
from flowkit.config import Settings
from flowkit.server.telemetry.forward import Forwarder, follow, unfollow


class Telemetry:
    """A telemetry server that keeps what it gets."""

    def __init__(self) -> None:
        self.posts: list[dict[str, Any]] = []
        self.hold = threading.Event()
        self.hold.set()
        posts, hold = self.posts, self.hold

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                hold.wait(10)
                assert self.path == "/api/traces"
                posts.append(json.loads(body))
                self.send_response(200)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"OK")

            def log_message(self, *args: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def spans(self) -> dict[str, Any]:
        """By name, as a tool has them after all posts."""
        merged: dict[str, Any] = {}
        for post in self.posts:
            merged.update(post["spans"])
        return {span["displayName"]: span for span in merged.values()}


@pytest.fixture
def telemetry() -> Iterator[Telemetry]:
    telemetry = Telemetry()
    yield telemetry
    telemetry.hold.set()
    telemetry.server.shutdown()
    telemetry.server.server_close()


@pytest.fixture
def ai(tmp_path: Path) -> Flowkit:
    ai = Flowkit(settings=Settings(traces=True, root=tmp_path))

    @ai.flow()
    async def outer(text: str) -> str:
        return await ai.run("inner-step", inner, text)

    @ai.flow()
    async def inner(text: str) -> str:
        if text == "boom":
            raise ValueError("kaboom")
        return text

    return ai


@pytest.fixture
def forward(ai: Flowkit) -> Iterator[Forwarder]:
    forward = Forwarder()
    forward.flush_all = follow(ai.runtime.tracing, forward)  # type: ignore[attr-defined]
    yield forward
    unfollow(ai.runtime.tracing, forward)
    assert ai.runtime.tracing.sink is not forward


async def run(ai: Flowkit, key: str, value: Any) -> Any:
    return await (await ai.action(key)).run(value)


def nulls(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(nulls, value.values()))
    return any(map(nulls, value)) if isinstance(value, list) else value is None


async def test_a_trace_arrives_in_genkits_form(ai: Flowkit, forward: Forwarder, telemetry: Telemetry):
    forward.add(telemetry.url)
    await run(ai, "/flow/outer", "soup")
    forward.flush_all(5.0)  # type: ignore[attr-defined]

    spans = telemetry.spans()
    root, step, leaf = (spans[name] for name in ("outer", "inner-step", "inner"))
    assert "parentSpanId" not in root
    assert (step["parentSpanId"], leaf["parentSpanId"]) == (root["spanId"], step["spanId"])
    assert root["attributes"]["genkit:isRoot"] is True
    assert root["attributes"]["genkit:input"] == '"soup"'
    assert leaf["attributes"]["genkit:path"] == "/{outer,t:flow}/{inner-step,t:flowStep}/{inner,t:flow}"
    assert root["endTime"] >= root["startTime"] > 1.5e12
    assert root["instrumentationLibrary"] == {"name": "genkit-tracer", "version": "v1"}
    assert not nulls(telemetry.posts)
    last = [post for post in telemetry.posts if root["spanId"] in post["spans"]][-1]
    assert (last["displayName"], last["endTime"]) == ("outer", root["endTime"])


async def test_a_span_is_shown_while_it_runs(ai: Flowkit, forward: Forwarder, telemetry: Telemetry):
    forward.add(telemetry.url)
    release = asyncio.Event()

    @ai.flow()
    async def waiting() -> None:
        await release.wait()

    running = asyncio.ensure_future(waiting())
    await asyncio.sleep(0)
    await asyncio.to_thread(forward.flush, 5.0)
    assert telemetry.spans()["waiting"]["endTime"] == 0
    assert telemetry.posts[0]["displayName"] == "waiting"

    release.set()
    await running
    await asyncio.to_thread(forward.flush, 5.0)
    assert telemetry.spans()["waiting"]["endTime"] > 0


async def test_errors_have_what_tools_show_of_them(ai: Flowkit, forward: Forwarder, telemetry: Telemetry):
    forward.add(telemetry.url)
    with pytest.raises(ValueError, match="kaboom"):
        await run(ai, "/flow/outer", "boom")
    forward.flush(5.0)

    span = telemetry.spans()["inner"]
    assert span["status"] == {"code": 2, "message": "kaboom"}
    assert span["attributes"]["genkit:state"] == "error"
    assert span["timeEvents"]["timeEvent"][0]["annotation"]["attributes"]["exception.message"] == "kaboom"


async def test_secrets_do_not_leave(ai: Flowkit, forward: Forwarder, telemetry: Telemetry):
    @ai.flow()
    async def login(form: dict) -> str:
        return "in"

    forward.add(telemetry.url)
    await login({"user": "ada", "password": "hunter2"})
    forward.flush(5.0)

    assert "ada" in json.dumps(telemetry.posts)
    assert "hunter2" not in json.dumps(telemetry.posts)


async def test_a_slow_server_slows_no_run(ai: Flowkit, forward: Forwarder, telemetry: Telemetry):
    forward.add(telemetry.url)
    telemetry.hold.clear()
    for _ in range(50):
        await run(ai, "/flow/inner", "soup")

    assert telemetry.posts == [], "all runs have ended before the server has answered once"
    assert forward.flush(0.05) is False
    telemetry.hold.set()
    assert forward.flush(10.0)
    assert "inner" in telemetry.spans()


async def test_a_server_that_is_gone_is_forgotten_without_a_word(
    ai: Flowkit, forward: Forwarder, telemetry: Telemetry, caplog: pytest.LogCaptureFixture
):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{unused.getsockname()[1]}"
    forward.add(dead)
    forward.add(telemetry.url + "/", keep=True)
    caplog.set_level(logging.INFO)
    await run(ai, "/flow/inner", "soup")

    assert forward.flush(5.0)
    assert forward.urls == [telemetry.url]
    assert "inner" in telemetry.spans()
    assert caplog.records == []
    forward.add(dead)
    assert dead in forward.urls, "a tool may come back"


async def test_one_that_is_to_be_kept_is_asked_again_later(ai: Flowkit, forward: Forwarder):
    forward.add("http://127.0.0.1:1", keep=True)
    forward.add("http://127.0.0.1:1")
    await run(ai, "/flow/inner", "soup")

    assert forward.flush(5.0)
    assert forward.urls == ["http://127.0.0.1:1"]


async def test_without_an_address_nothing_waits(ai: Flowkit, forward: Forwarder):
    await run(ai, "/flow/outer", "soup")

    assert forward.flush(0)
    assert [thread.name for thread in threading.enumerate() if thread.name == "flowkit-telemetry"] == []


async def test_traces_are_kept_at_home_as_well(ai: Flowkit, forward: Forwarder, telemetry: Telemetry, tmp_path: Path):
    from flowkit.tracing.store import TraceStore

    forward.add(telemetry.url)
    await run(ai, "/flow/outer", "soup")
    forward.flush_all(5.0)  # type: ignore[attr-defined]

    trace_id = telemetry.posts[0]["traceId"]
    assert len(TraceStore(tmp_path / ".flowkit" / "traces.db").get(trace_id).spans) == 3


async def test_what_a_forked_child_runs_arrives_too(ai: Flowkit, forward: Forwarder, telemetry: Telemetry):
    import os

    forward.add(telemetry.url)
    await run(ai, "/flow/inner", "parent")
    assert forward.flush(5.0)
    child = os.fork()
    if child == 0:
        ai.run_sync("/flow/outer", "child")
        os._exit(0 if forward.flush(5.0) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert telemetry.spans()["outer"]["attributes"]["genkit:output"] == '"child"'
