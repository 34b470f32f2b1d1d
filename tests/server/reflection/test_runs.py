"""Runs that come from a tool, over HTTP."""

import asyncio
import json
import threading
from contextvars import ContextVar

import pytest
from pydantic import BaseModel

from flowkit import Document, Flowkit, RunContext
from flowkit.errors import ConfigError
from tests.server.reflection.conftest import Serve

place: ContextVar[str] = ContextVar("place", default="nowhere")


class Dish(BaseModel):
    name: str
    price: float | None = None


async def test_a_flow_gives_its_result_and_the_trace_that_can_be_read_at_once(ai: Flowkit, serve: Serve):
    @ai.flow()
    async def hello(name: str) -> str:
        return f"hello {name}"

    tool = serve(ai)
    response = await tool.run("/flow/hello", "Ada")

    trace_id = response.json()["telemetry"]["traceId"]
    assert response.json() == {"result": "hello Ada", "telemetry": {"traceId": trace_id}}
    assert response.headers["x-genkit-trace-id"] == trace_id
    span = tool.trace(trace_id).spans[0]
    assert (span.span_id, span.state) == (response.headers["x-genkit-span-id"], "success")
    assert (len(trace_id), len(span.span_id)) == (32, 16)


async def test_the_ids_come_before_the_result(ai: Flowkit, serve: Serve):
    go_on = threading.Event()

    @ai.flow()
    def slow() -> str:
        go_on.wait(10)
        return "done"

    tool = serve(ai)
    async with tool.http.stream("POST", "/api/runAction", json={"key": "/flow/slow"}) as response:
        assert len(response.headers["x-genkit-trace-id"]) == 32
        go_on.set()
        assert json.loads(await response.aread())["result"] == "done"


async def test_chunks_come_in_order_one_on_a_line_in_ascii(ai: Flowkit, serve: Serve):
    @ai.flow()
    async def count(n: int):
        for i in range(n):
            yield {"i": i, "text": "日本\nsoup 🍲"}

    *chunks, last = [line async for line in serve(ai).lines("/flow/count", 300)]

    assert [json.loads(chunk)["i"] for chunk in chunks] == list(range(300))
    assert json.loads(chunks[0])["text"] == "日本\nsoup 🍲"
    assert all(line.isascii() for line in [*chunks, last])
    # Genkit's tools take what ends in a newline for a chunk.
    assert len(json.loads(last)["result"]) == 300


async def test_chunks_of_a_sync_flow_come_while_it_runs(ai: Flowkit, serve: Serve):
    seen = threading.Event()

    @ai.flow()
    def talk(ctx: RunContext) -> str:
        ctx.send_chunk("first")
        return "seen" if seen.wait(10) else "never"

    lines = serve(ai).lines("/flow/talk")
    assert await anext(lines) == b'"first"'
    seen.set()
    assert json.loads(await anext(lines))["result"] == "seen"
    await lines.aclose()


async def test_without_stream_nobody_reads_chunks(ai: Flowkit, serve: Serve):
    @ai.flow()
    async def asks(ctx: RunContext) -> bool:
        return ctx.streaming

    tool = serve(ai)
    assert (await tool.run("/flow/asks")).json()["result"] is False
    assert [json.loads(line)["result"] async for line in tool.lines("/flow/asks")] == [True]


async def test_an_error_of_a_flow_is_an_answer_with_its_stack_and_trace(ai: Flowkit, serve: Serve):
    @ai.flow()
    async def boom() -> str:
        raise ValueError("kaboom")

    tool = serve(ai)
    response = await tool.run("/flow/boom")
    error = response.json()["error"]

    assert (response.status_code, error["code"], error["message"]) == (200, 13, "kaboom")
    assert "ValueError: kaboom" in error["details"]["stack"]
    assert error["details"]["traceId"] == response.headers["x-genkit-trace-id"]
    assert [json.loads(line)["error"]["message"] async for line in tool.lines("/flow/boom")] == ["kaboom"]


async def test_an_error_after_chunks_is_the_last_frame(ai: Flowkit, serve: Serve):
    @ai.flow()
    async def half():
        yield 1
        yield 2
        raise ValueError("kaboom")

    *chunks, last = [json.loads(line) async for line in serve(ai).lines("/flow/half")]

    assert chunks == [1, 2]
    assert last["error"]["message"] == "kaboom"


async def test_a_flowkit_error_tells_its_status_and_hint(ai: Flowkit, serve: Serve):
    @ai.flow()
    async def unset() -> str:
        raise ConfigError("no key", hint="set one", details={"name": "KEY"})

    error = (await serve(ai).run("/flow/unset")).json()["error"]

    assert (error["code"], error["message"]) == (9, "no key")
    assert error["details"]["hint"] == "set one"
    assert error["details"]["name"] == "KEY"
    assert error["details"]["status"] == "FAILED_PRECONDITION"


@pytest.mark.parametrize("raised", [KeyError("dish"), RuntimeError(), SystemExit(3)])
async def test_errors_without_a_speaking_text_name_their_type(ai: Flowkit, serve: Serve, raised: BaseException):
    @ai.flow()
    async def boom() -> str:
        raise raised

    tool = serve(ai)
    message = (await tool.run("/flow/boom")).json()["error"]["message"]

    assert message in ("KeyError: 'dish'", "RuntimeError", "the action ended the process: sys.exit(3)")
    assert (await tool.run("/flow/boom")).status_code == 200, "the app lives on"


async def test_bad_input_is_refused_in_a_trace_of_its_own(ai: Flowkit, serve: Serve):
    @ai.flow()
    async def price(dish: Dish) -> float:
        return dish.price or 0.0

    tool = serve(ai)
    error = (await tool.run("/flow/price", {"name": "soup", "price": "much"})).json()["error"]

    assert error["code"] == 3
    assert error["details"]["errors"][0]["path"] == "price"
    assert tool.trace(error["details"]["traceId"]).summary.status == "error"


async def test_an_unknown_action_is_not_found(ai: Flowkit, serve: Serve):
    @ai.flow()
    async def hello() -> str:
        return "hello"

    tool = serve(ai)
    for key in ("/flow/helo", "/nonsense", "/tool.v2/hello"):
        response = await tool.run(key)
        assert response.status_code == 404
        assert response.text.startswith(f"action {key} not found")
    assert "did you mean 'hello'?" in (await tool.run("/flow/helo")).text


async def test_a_flow_that_returns_nothing_has_no_result(ai: Flowkit, serve: Serve):
    @ai.flow()
    async def quiet() -> None:
        return None

    assert (await serve(ai).run("/flow/quiet")).json().keys() == {"telemetry"}


async def test_results_have_their_wire_form(ai: Flowkit, serve: Serve):
    @ai.retriever("menu")
    async def menu(query: str):
        return [Document.from_text("vegan soup", {"price": 7})]

    @ai.flow()
    async def dish() -> Dish:
        return Dish(name="soup")

    tool = serve(ai)
    hits = (await tool.run("/retriever/menu", {"query": {"content": [{"text": "soup"}]}})).json()["result"]

    assert hits["documents"][0]["content"] == [{"text": "vegan soup"}]
    assert None not in hits["documents"][0].values()
    assert (await tool.run("/flow/dish")).json()["result"] == {"name": "soup", "price": None}


async def test_the_second_form_of_a_tool_wraps_its_output(ai: Flowkit, serve: Serve):
    @ai.tool()
    async def weather(city: str) -> str:
        return f"sunny in {city}"

    tool = serve(ai)
    assert (await tool.run("/tool.v2/weather", "Oslo")).json()["result"] == {"output": "sunny in Oslo"}
    assert (await tool.run("/tool/weather", "Oslo")).json()["result"] == "sunny in Oslo"


async def test_context_and_labels_reach_the_run(ai: Flowkit, serve: Serve):
    @ai.flow()
    async def who(ctx: RunContext) -> str:
        return str(ctx.auth["uid"])

    tool = serve(ai)
    response = await tool.run(
        "/flow/who", context={"auth": {"uid": "u1"}}, telemetryLabels={"batchRun": "L1"}, runtimeId="x", unknown=[1]
    )

    assert response.json()["result"] == "u1"
    trace = tool.trace(response.json()["telemetry"]["traceId"])
    assert trace.spans[0].attributes["batchRun"] == "L1"


async def test_a_run_sees_nothing_of_the_server_or_of_other_runs(ai: Flowkit, serve: Serve):
    @ai.flow()
    async def where(name: str) -> str:
        before = place.get()
        place.set(name)
        return before

    tool = serve(ai)
    assert [(await tool.run("/flow/where", name)).json()["result"] for name in "ab"] == ["nowhere", "nowhere"]


async def test_runs_use_the_loop_that_the_app_has_shown(ai: Flowkit, serve: Serve):
    loops: list[asyncio.AbstractEventLoop] = []

    @ai.flow()
    async def note() -> None:
        loops.append(asyncio.get_running_loop())

    tool = serve(ai)
    await tool.run("/flow/note")
    ai.attach()
    await tool.run("/flow/note")

    assert loops[0] is not loops[1]
    assert loops[1] is asyncio.get_running_loop()


async def test_a_large_result_arrives_whole(ai: Flowkit, serve: Serve):
    @ai.flow()
    def big(size: int) -> str:
        return "é" * size

    assert (await serve(ai).run("/flow/big", 5_000_000)).json()["result"] == "é" * 5_000_000


async def test_what_is_no_request_is_refused_with_a_reason(ai: Flowkit, serve: Serve):
    tool = serve(ai)
    json_type = {"content-type": "application/json"}
    for body in (b"not json", b"[1]", b"{}", b'{"key": "/flow/x", "context": 3}', b"[" * 100_000):
        response = await tool.http.post("/api/runAction", content=body, headers=json_type)
        assert (response.status_code, response.json()["error"]["code"]) == (400, 3), body[:50]
    reader, writer = await asyncio.open_connection("127.0.0.1", tool.http.base_url.port)
    writer.write(
        b"POST /api/runAction HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 30000001\r\n\r\n"
    )
    assert b" 413 " in await reader.readline()
    writer.close()


async def test_without_a_trace_store_runs_still_have_ids(settings, serve: Serve, tmp_path):
    from dataclasses import replace

    ai = Flowkit(settings=replace(settings, traces=False))

    @ai.flow()
    async def hello() -> str:
        return "hello"

    tool = serve(ai)
    answer = (await tool.run("/flow/hello")).json()

    assert len(answer["telemetry"]["traceId"]) == 32
    assert not (tmp_path / ".flowkit").exists()
