"""Genkit's own JavaScript client, `genkit/beta/client`, calls flows that are served by `ai.asgi()`."""

import asyncio
import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flowkit import Flowkit, FlowkitError, RunContext, api_key
from flowkit.config import Settings
from tests.interop.conftest import REASON
from tests.server.raw import serve

pytestmark = [pytest.mark.heavy, pytest.mark.requires("npm", REASON)]

# Runs what it is given on stdin, and prints what came of it: a result, chunks, or the error's message.
DRIVER = """
import { runFlow, streamFlow } from 'genkit/beta/client';
// The client rejects a promise of its own that nobody can wait for when an error is the first thing that comes.
process.on('unhandledRejection', () => {});
const calls = JSON.parse(process.argv[1]);
const told = [];
for (const { url, input, headers, stream, leaveAfter } of calls) {
  const chunks = [];
  try {
    if (!stream) {
      told.push({ result: await runFlow({ url, input, headers }) ?? null });
      continue;
    }
    const leaving = new AbortController();
    const running = streamFlow({ url, input, headers, abortSignal: leaving.signal });
    running.output.catch(() => {});
    for await (const chunk of running.stream) {
      chunks.push(chunk);
      if (chunks.length === leaveAfter) leaving.abort();
    }
    told.push({ chunks, result: await running.output });
  } catch (error) {
    told.push({ chunks, error: String(error.message ?? error) });
  }
}
console.log(JSON.stringify(told));
"""


class Client:
    def __init__(self, packages: Path, url: str, ended: list[str]) -> None:
        self._packages = packages
        self._url = url
        self.ended = ended

    def __call__(self, *calls: dict[str, Any]) -> list[Any]:
        asked = [{**call, "url": self._url + call["flow"]} for call in calls]
        ran = subprocess.run(
            ["node", "--input-type=module", "-e", DRIVER, json.dumps(asked)],
            cwd=self._packages,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert ran.returncode == 0, ran.stderr
        told: list[Any] = json.loads(ran.stdout)
        return told


@pytest.fixture(scope="module")
def client(packages: Path) -> Iterator[Client]:
    ai = Flowkit(settings=Settings())
    ended: list[str] = []

    @ai.flow
    async def hello(name: str) -> str:
        return f"hello {name}"

    @ai.flow
    async def nothing() -> None: ...

    @ai.flow
    async def count(n: int):
        for i in range(n):
            yield {"i": i, "text": "日本語のスープ\u2028" * 50}

    @ai.flow
    async def breaks():
        yield "a"
        yield "b"
        raise ValueError("the password is hunter2")

    @ai.flow
    async def refuse() -> None:
        raise FlowkitError("no way", status="PERMISSION_DENIED", details="ask Ada")

    @ai.flow
    async def forever(ctx: RunContext) -> None:
        try:
            while True:
                ctx.send_chunk("drop")
                await asyncio.sleep(0.01)
        finally:
            ended.append("forever")

    @ai.flow
    async def who(ctx: RunContext) -> Any:
        return ctx.auth

    open_app, guarded = ai.asgi(), ai.asgi(["who"], context_providers=[api_key("sek")], path_prefix="guarded")

    async def both(scope: Any, receive: Any, send: Any) -> None:
        await (guarded if scope["path"].startswith("/guarded") else open_app)(scope, receive, send)

    with serve(both) as port:
        yield Client(packages, f"http://127.0.0.1:{port}/", ended)


def test_flows_are_called(client: Client):
    assert client(
        {"flow": "hello", "input": "こんにちは"},
        {"flow": "nothing"},
        {"flow": "count", "input": 2},
    ) == [
        {"result": "hello こんにちは"},
        {"result": None},
        {"result": [{"i": i, "text": "日本語のスープ\u2028" * 50} for i in range(2)]},
    ]


def test_streams_arrive_whole(client: Client):
    """Also where a packet ends inside a character: there are none of several bytes."""
    (told,) = client({"flow": "count", "input": 300, "stream": True})

    assert [chunk["i"] for chunk in told["chunks"]] == list(range(300))
    assert told["chunks"] == told["result"]
    assert {chunk["text"] for chunk in told["chunks"]} == {"日本語のスープ\u2028" * 50}


def test_errors_are_thrown(client: Client):
    called, streamed, broken, refused, invalid, missing = client(
        {"flow": "breaks"},
        {"flow": "breaks", "stream": True},
        {"flow": "refuse"},
        {"flow": "refuse", "stream": True},
        {"flow": "hello", "input": 3},
        {"flow": "nope"},
    )

    assert called["error"] == 'Server returned: 500: {"message":"Internal Error","status":"INTERNAL"}'
    # The client drops what is not read yet when the error arrives; the last chunk may come in one packet with it.
    assert streamed["chunks"] == ["a", "b"][: len(streamed["chunks"])]
    assert streamed["error"].startswith("INTERNAL: Internal Error")
    assert broken["error"].startswith("Server returned: 403: ")
    assert refused["error"].startswith("PERMISSION_DENIED: no way\nask Ada")
    assert '"INVALID_ARGUMENT"' in invalid["error"]
    assert missing["error"].startswith("Server returned: 404: ")


def test_keys_are_sent_as_headers(client: Client):
    none, wrong, right = client(
        {"flow": "guarded/who"},
        {"flow": "guarded/who", "headers": {"authorization": "nope"}},
        {"flow": "guarded/who", "headers": {"authorization": "sek"}},
    )

    assert none["error"].startswith("Server returned: 401: ")
    assert wrong["error"].startswith("Server returned: 403: ")
    assert right == {"result": {"apiKey": "sek"}}


def test_a_client_that_leaves_stops_the_flow(client: Client):
    (told,) = client({"flow": "forever", "stream": True, "leaveAfter": 3})

    assert "abort" in told["error"]
    end = time.monotonic() + 20
    while not client.ended and time.monotonic() < end:
        time.sleep(0.01)
    assert client.ended == ["forever"]
