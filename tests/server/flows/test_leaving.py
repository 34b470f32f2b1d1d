"""Callers that leave, send too much, read too slowly; flows that take too long; servers that end. Over real sockets."""

import asyncio
import json
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from flowkit import Flowkit, FlowLimits, RunContext
from flowkit.testing import FakeModel, MemorySink
from tests.server.flows.conftest import Served, frames
from tests.server.raw import ask, connect, read, request, serve

pytestmark = pytest.mark.heavy

JSON = {"Content-Type": "application/json"}
STREAM = {**JSON, "Accept": "text/event-stream"}


def post(path: str, data: Any = None, headers: dict[str, str] = JSON) -> bytes:
    return request("POST", path, body=json.dumps({"data": data}).encode(), headers=headers)


def until(condition: Callable[[], object], seconds: float = 10.0) -> float:
    """How long it took until something was so."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, "it does not come true"
        time.sleep(0.005)
    return time.monotonic() - began


@pytest.fixture
def model() -> FakeModel:
    return FakeModel(replies=["word"] * 1000)


@pytest.fixture
def chat(flows: Served, model: FakeModel) -> Served:
    flows.ai.registry.add_plugin(model)

    @flows.ai.flow
    async def chat() -> Any:
        try:
            for number in range(1000):
                if number % 5 == 4:
                    await flows.ai.generate("go on", model="fake-model")
                yield {"number": number}
                await asyncio.sleep(0.02)
        finally:
            flows.seen.append("closed")

    return flows


def test_a_reader_who_leaves_stops_the_flow_and_its_model_calls(chat: Served, model: FakeModel, sink: MemorySink):
    with serve(chat.ai.asgi()) as port:
        with connect(port) as client:
            client.sendall(post("/chat", headers=STREAM))
            received = b""
            while received.count(b"data:") < 2:
                received += client.recv(65536)
        assert until(lambda: chat.seen == ["closed"]) < 5
        calls = len(model.requests)
        until(lambda: [span for span in sink.spans if span.name == "chat"])
        time.sleep(0.2)
        assert len(model.requests) == calls
    (span,) = [span for span in sink.spans if span.name == "chat"]
    assert span.state == "cancelled"


def test_a_caller_who_leaves_before_the_result_stops_the_flow(flows: Served, sink: MemorySink):
    with serve(flows.ai.asgi()) as port:
        with connect(port) as client:
            client.sendall(post("/forever"))
            until(lambda: flows.seen == ["started"])
        until(lambda: flows.seen == ["started", "ended"])
        until(lambda: sink.spans)
        assert [span.state for span in sink.spans] == ["cancelled"]
        assert ask(port, post("/hello", "Ada")).json == {"result": "hello Ada"}


def test_a_caller_who_leaves_half_way_through_the_request_calls_nothing(flows: Served):
    with serve(flows.ai.asgi()) as port:
        with connect(port) as client:
            client.sendall(post("/nothing")[:-3])
        assert ask(port, post("/hello", "Ada")).status == 200
    assert flows.seen == []


async def test_a_caller_who_left_before_the_flow_began_leaves_nothing_running(flows: Served):
    """A server may tell of it before the first chunk is asked for."""
    messages = [{"type": "http.request", "body": b'{"data": null}'}, {"type": "http.disconnect"}]
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    for query in (b"stream=true", b""):
        messages = [{"type": "http.request", "body": b'{"data": null}'}, {"type": "http.disconnect"}]
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/forever",
            "query_string": query,
            "headers": [(b"content-type", b"application/json")],
        }
        async with asyncio.timeout(10):
            await flows.ai.asgi()(scope, receive, send)  # type: ignore[arg-type]
    assert flows.seen == ["started", "ended"] * 2
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


def test_a_flow_that_takes_too_long_is_cancelled(flows: Served):
    with serve(flows.ai.asgi(limits=FlowLimits(run_seconds=0.1))) as port:
        answer = ask(port, post("/forever"))
        assert (answer.status, answer.json["status"]) == (504, "DEADLINE_EXCEEDED")
        assert answer.json["message"] == "the flow took longer than 0.1 seconds"
        (frame,) = frames(ask(port, post("/forever", headers=STREAM)).body.decode())
        assert frame["error"]["status"] == "DEADLINE_EXCEEDED"
    assert flows.seen == ["started", "ended"] * 2


def test_a_time_out_of_the_flows_own_is_an_error_like_any_other(flows: Served):
    @flows.ai.flow
    async def hasty() -> None:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(10)

    with serve(flows.ai.asgi()) as port:
        assert ask(port, post("/hasty")).json == {"message": "Internal Error", "status": "INTERNAL"}


def test_bodies_have_a_limit(flows: Served):
    with serve(flows.ai.asgi(limits=FlowLimits(body_bytes=100))) as port:
        said = request("POST", "/hello", headers={**JSON, "Content-Length": "101"})
        assert ask(port, said).status == 413
        assert ask(port, post("/hello", "a" * 80)).status == 200
        head = request("POST", "/hello", headers={**JSON, "Transfer-Encoding": "chunked"})
        unsaid = ask(port, head, b"80\r\n" + b" " * 0x80 + b"\r\n0\r\n\r\n")
        assert (unsaid.status, unsaid.json["status"]) == (413, "INVALID_ARGUMENT")


def test_a_body_that_does_not_come_is_not_waited_for(flows: Served):
    with serve(flows.ai.asgi(limits=FlowLimits(body_seconds=0.1))) as port:
        answer = ask(port, request("POST", "/hello", headers={**JSON, "Content-Length": "10"}))
    assert (answer.status, answer.json["status"]) == (408, "DEADLINE_EXCEEDED")


@pytest.fixture
def flood(flows: Served) -> Served:
    @flows.ai.flow
    async def flood(ctx: RunContext) -> str:
        flows.seen.append("started")
        try:
            while True:
                ctx.send_chunk("x" * 100_000)
                await asyncio.sleep(0)
        finally:
            flows.seen.append("ended")

    return flows


def test_what_a_slow_reader_leaves_lying_has_a_limit(flood: Served):
    with (
        serve(flood.ai.asgi(limits=FlowLimits(unread_bytes=1_000_000, write_seconds=5))) as port,
        connect(port) as client,
    ):
        client.sendall(post("/flood", headers=STREAM))
        until(lambda: flood.seen == ["started", "ended"])
        answer = read(client)
    last = frames(answer.body.decode())[-1]
    assert last["error"]["status"] == "RESOURCE_EXHAUSTED"


def test_a_reader_who_does_not_read_is_left(flood: Served):
    limits = FlowLimits(unread_bytes=1_000_000_000, write_seconds=0.2)
    with serve(flood.ai.asgi(limits=limits)) as port, connect(port) as client:
        client.sendall(post("/flood", headers=STREAM))
        until(lambda: flood.seen == ["started", "ended"])


def test_a_server_that_ends_gives_every_stream_its_last_frame(flows: Served):
    """Genkit's client waits for ever for a stream that merely stops."""

    @flows.ai.flow
    async def drip() -> Any:
        try:
            while True:
                yield "drop"
                await asyncio.sleep(0.01)
        finally:
            flows.seen.append("closed")

    with serve(flows.ai.asgi(), lifespan="on", grace_seconds=1) as port:
        client = connect(port)
        client.sendall(post("/drip", headers=STREAM))
        received = client.recv(65536)
        while b"drop" not in received:
            received += client.recv(65536)
    rest = b""
    while piece := client.recv(65536):
        rest += piece
    client.close()
    assert flows.seen == ["closed"]
    assert b'data: {"error":{"message":"the server is shutting down","status":"UNAVAILABLE"}}\n\n' in rest


async def test_draining_waits_for_calls_and_takes_no_more(flows: Served):
    import httpx

    go = asyncio.Event()

    @flows.ai.flow
    async def patient() -> str:
        flows.seen.append("begun")
        await go.wait()
        return "done"

    app: Any = flows.ai.asgi()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server") as client:
        calling = asyncio.ensure_future(client.post("/patient", json={}))
        while not flows.seen:
            await asyncio.sleep(0.01)
        assert (await client.get("/__ready")).status_code == 200
        draining = asyncio.ensure_future(app.drain(30))
        await asyncio.sleep(0)
        for refused in (await client.post("/hello", json={"data": "Ada"}), await client.get("/__ready")):
            assert (refused.status_code, refused.json()["status"]) == (503, "UNAVAILABLE")
        assert (await client.get("/__health")).status_code == 200
        go.set()
        assert (await calling).json() == {"result": "done"}
        await draining


async def test_draining_has_an_end(flows: Served):
    import httpx

    app: Any = flows.ai.asgi()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server") as client:
        calling = asyncio.ensure_future(client.post("/forever", json={}))
        while not flows.seen:
            await asyncio.sleep(0.01)
        await app.drain(0.05)
        assert flows.seen == ["started", "ended"]
        with pytest.raises(asyncio.CancelledError):
            await calling


def test_the_apps_plugins_are_closed_with_the_server(flows: Served):
    class Pool:
        name = "pool"

        async def setup(self, registry: Any) -> None:
            flows.seen.append("set up")

        async def resolve(self, kind: str, name: str) -> None:
            return None

        def list(self) -> list[Any]:
            return []

        async def aclose(self) -> None:
            flows.seen.append("closed")

    flows.ai.registry.add_plugin(Pool())  # type: ignore[arg-type]

    @flows.ai.flow
    async def ask_pool() -> None:
        try:
            await flows.ai.action("/tool/pool/x")
        except LookupError:
            pass

    with serve(flows.ai.asgi(), lifespan="on") as port:
        assert ask(port, post("/ask_pool")).status == 200
        assert flows.seen == ["set up"]
    assert flows.seen == ["set up", "closed"]


user: ContextVar[str] = ContextVar("user", default="nobody")


def test_flows_see_what_the_users_middleware_has_set(flows: Served):
    @flows.ai.flow
    async def who_asks() -> str:
        return user.get()

    @flows.ai.flow
    def who_asks_in_a_thread() -> str:
        return user.get()

    mounted = Starlette(routes=[Mount("/ai", flows.ai.asgi())])

    async def middleware(scope: Any, receive: Any, send: Any) -> None:
        token = user.set("ada")
        try:
            await mounted(scope, receive, send)
        finally:
            user.reset(token)

    with serve(middleware) as port:
        for path in ("/ai/who_asks", "/ai/who_asks_in_a_thread"):
            assert ask(port, post(path)).json == {"result": "ada"}
            assert frames(ask(port, post(path, headers=STREAM)).body.decode()) == [{"result": "ada"}]
        assert ask(port, request(path="/ai/__health")).body == b"OK"
        assert "/hello" in ask(port, request(path="/ai/openapi.json")).json["paths"]
        assert ask(port, post("/who_asks")).status == 404


def test_runs_from_outside_use_the_loop_that_serves(flows: Served):
    loops: list[asyncio.AbstractEventLoop] = []
    with serve(flows.ai.asgi(), loops=loops) as port:
        ask(port, request(path="/__health"))
        assert flows.ai.runtime.loop() is loops[0]


@pytest.fixture
def other() -> Flowkit:
    from flowkit.config import Settings

    return Flowkit(settings=Settings())


def test_two_apps_in_one_process_do_not_meet(flows: Served, other: Flowkit):
    @other.flow
    async def hello(name: str) -> str:
        return f"other {name}"

    both = Starlette(routes=[Mount("/one", flows.ai.asgi()), Mount("/two", other.asgi())])
    with serve(both) as port:
        assert ask(port, post("/one/hello", "Ada")).json == {"result": "hello Ada"}
        assert ask(port, post("/two/hello", "Ada")).json == {"result": "other Ada"}
        assert ask(port, post("/two/nothing")).status == 404


def test_many_calls_at_once_keep_their_answers_apart(flows: Served, sink: MemorySink):
    @flows.ai.flow
    async def echo(n: int, ctx: RunContext) -> Any:
        await asyncio.sleep(0.01)
        return {"n": n, "trace": ctx.trace_id}

    with serve(flows.ai.asgi()) as port:
        clients = [connect(port) for _ in range(40)]
        for number, client in enumerate(clients):
            client.sendall(post("/echo", number))
        answers = [read(client) for client in clients]
        for client in clients:
            client.close()
    assert [answer.json["result"]["n"] for answer in answers] == list(range(40))
    for answer in answers:
        assert answer.json["result"]["trace"] == answer.headers["x-genkit-trace-id"]
    assert len({answer.headers["x-genkit-trace-id"] for answer in answers}) == 40


def test_a_socket_is_refused(flows: Served):
    upgrade = {
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    }
    with serve(flows.ai.asgi()) as port:
        data = request("GET", "/hello", headers=upgrade).replace(b"Connection: close", b"Connection: Upgrade")
        assert ask(port, data).status == 403
