"""The app as the client of a tool that started it: JSON-RPC over WebSocket."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from flowkit import Flowkit
from flowkit.config import Settings
from flowkit.server.reflection.host import Host
from tests.server.reflection.conftest import until


class Manager:
    """The tool's side: what it gets, and requests of its own."""

    def __init__(self) -> None:
        self.connections: asyncio.Queue[ServerConnection] = asyncio.Queue()
        self.registered: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.notes: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.texts: list[str] = []
        self._answers: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._ids = 0
        self.app: ServerConnection | None = None

    async def take(self, socket: ServerConnection) -> None:
        self.app = socket
        async for text in socket:
            assert isinstance(text, str)
            self.texts.append(text)
            message = json.loads(text)
            if message.get("method") == "register":
                about = {"telemetryServerUrl": "http://localhost:1"}
                await socket.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": about}))
                self.registered.put_nowait(message["params"])
            elif "method" in message:
                self.notes.put_nowait(message)
            else:
                self._answers.pop(message["id"]).set_result(message)

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return await (await self.send(method, **params))

    async def send(self, method: str, **params: Any) -> "asyncio.Future[dict[str, Any]]":
        assert self.app is not None
        self._ids += 1
        answer = self._answers[str(self._ids)] = asyncio.get_running_loop().create_future()
        await self.app.send(json.dumps({"jsonrpc": "2.0", "id": str(self._ids), "method": method, "params": params}))
        return answer


@pytest.fixture
async def manager() -> AsyncIterator[Manager]:
    manager = Manager()
    async with serve(manager.take, "127.0.0.1", 0, max_size=None) as server:
        manager.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"  # type: ignore[attr-defined]
        yield manager


@pytest.fixture
async def ai(settings: Settings, manager: Manager) -> AsyncIterator[Flowkit]:
    ai = Flowkit(settings=replace(settings, reflection_v2_url=manager.url), model="fake/echo")  # type: ignore[attr-defined]
    host = Host()
    host.add(ai)
    yield ai
    host.request_stop(close_apps=True)
    await asyncio.to_thread(host.join)


async def test_an_app_registers_itself_and_lists_its_actions(ai: Flowkit, manager: Manager, settings: Settings):
    @ai.tool()
    async def weather(city: str) -> str:
        return city

    about = await manager.registered.get()
    actions = (await manager.ask("listActions"))["result"]["actions"]

    assert isinstance(about["pid"], int)
    assert about["id"] == str(about["pid"])
    assert about["reflectionApiSpecVersion"] == 1
    assert about["genkitVersion"].startswith("py/")
    assert {"/tool/weather", "/tool.v2/weather", "/util/generate"} <= actions.keys()
    assert (await manager.ask("listValues", type="defaultModel"))["result"] == {
        "values": {"defaultModel": {"name": "fake/echo"}}
    }
    assert not list(settings.root.glob(".genkit/runtimes/*")), "the tool knows it already"


async def test_a_run_sends_its_trace_then_chunks_then_its_result(ai: Flowkit, manager: Manager):
    @ai.flow()
    async def count(n: int):
        for i in range(n):
            yield {"i": i, "jp": "日本語"}

    await manager.registered.get()
    answer = await manager.ask("runAction", key="/flow/count", input=2, stream=True, streamInput=False)
    state, *chunks = [manager.notes.get_nowait() for _ in range(3)]

    assert state["method"] == "runActionState"
    assert state["params"] == {"requestId": "1", "state": {"traceId": answer["result"]["telemetry"]["traceId"]}}
    assert [chunk["params"] for chunk in chunks] == [
        {"requestId": "1", "chunk": {"i": i, "jp": "日本語"}} for i in range(2)
    ]
    assert answer["result"]["result"] == [{"i": 0, "jp": "日本語"}, {"i": 1, "jp": "日本語"}]
    assert all(text.isascii() for text in manager.texts)


async def test_errors_tell_what_went_wrong(ai: Flowkit, manager: Manager):
    @ai.flow()
    async def boom() -> str:
        raise ValueError("kaboom")

    await manager.registered.get()
    error = (await manager.ask("runAction", key="/flow/boom", stream=True))["error"]

    assert (error["code"], error["message"], error["data"]["code"]) == (-32000, "kaboom", 13)
    assert error["data"]["details"]["traceId"] == manager.notes.get_nowait()["params"]["state"]["traceId"]
    for code, method, params in (
        (-32601, "fly", {}),
        (-32602, "runAction", {"key": "/flow/none"}),
        (-32602, "runAction", {}),
        (-32602, "listValues", {"type": "x"}),
        (-32602, "cancelAction", {"traceId": "x"}),
    ):
        assert (await manager.ask(method, **params))["error"]["code"] == code


async def test_a_run_is_cancelled(ai: Flowkit, manager: Manager):
    @ai.flow()
    async def forever() -> None:
        await asyncio.sleep(100)

    await manager.registered.get()
    running = await manager.send("runAction", key="/flow/forever")
    trace_id = (await manager.notes.get())["params"]["state"]["traceId"]

    assert (await manager.ask("cancelAction", traceId=trace_id))["result"] == {"message": "Action cancelled"}
    assert (await running)["error"]["data"]["code"] == 1


async def test_an_app_comes_back_when_the_connection_is_lost(ai: Flowkit, manager: Manager, reports: list[str]):
    @ai.flow()
    async def forever() -> None:
        try:
            await asyncio.sleep(100)
        finally:
            reports.append("ended")

    await manager.registered.get()
    await manager.send("runAction", key="/flow/forever")
    await manager.notes.get()
    assert manager.app is not None
    await manager.app.close()

    await until(lambda: reports, seconds=1)
    assert await manager.registered.get()
    assert (await manager.ask("listActions"))["result"]["actions"]


async def test_what_is_no_request_is_passed_over(ai: Flowkit, manager: Manager):
    await manager.registered.get()
    assert manager.app is not None
    for text in ("no json", "[]", '{"method":"sendInputStreamChunk","params":{}}', '{"method":"configure"}'):
        await manager.app.send(text)

    assert "result" in await manager.ask("listActions")


async def test_ten_megabytes_pass(ai: Flowkit, manager: Manager):
    @ai.flow()
    async def echo(text: str) -> str:
        return text

    await manager.registered.get()
    text = "soup " * 2_000_000

    assert (await manager.ask("runAction", key="/flow/echo", input=text))["result"]["result"] == text
