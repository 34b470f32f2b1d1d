"""An app whose flows are called over HTTP: in this process, without a server, unless a test says otherwise.

async def test_a_flow_is_called(ai, call): assert (await call("/hello", "Ada")).json() == {"result": "hello Ada"}
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from pydantic import BaseModel, Field

from flowkit import Flowkit, FlowkitError, RunContext
from flowkit.config import Settings
from flowkit.testing import MemorySink

NOTHING: Any = object()


class Order(BaseModel):
    n: int = Field(ge=1)
    note: str | None = None


class Served:
    """The flows of an app, and what they left behind in `seen`."""

    def __init__(self, ai: Flowkit) -> None:
        self.ai = ai
        self.seen: list[str] = []


@pytest.fixture
def ai() -> Flowkit:
    return Flowkit(settings=Settings())


@pytest.fixture
def sink(ai: Flowkit) -> MemorySink:
    sink = MemorySink()
    ai.runtime.tracing.sink = sink
    return sink


@pytest.fixture
def flows(ai: Flowkit) -> Served:
    served = Served(ai)

    @ai.flow
    async def hello(name: str) -> str:
        """Say hello."""
        return f"hello {name}"

    @ai.flow
    async def nothing() -> None:
        served.seen.append("nothing")

    @ai.flow
    async def order(order: Order) -> dict[str, Any]:
        return {"total": order.n * 2}

    @ai.flow
    async def several(a: int, b: int = 3) -> int:
        return a + b

    @ai.flow
    def slow_sum(n: int) -> int:
        return sum(range(n))

    @ai.flow
    async def count(n: int) -> AsyncIterator[dict[str, Any]]:
        for i in range(n):
            yield {"i": i, "jp": "日本語\u2028"}

    @ai.flow
    async def boom(n: int) -> str:
        raise ValueError("the password is hunter2")

    @ai.flow
    async def breaks() -> AsyncIterator[str]:
        yield "a"
        yield "b"
        raise ValueError("the password is hunter2")

    @ai.flow
    async def refuse(status: str) -> str:
        raise FlowkitError("no way", status=status, details={"why": "because"})  # type: ignore[arg-type]

    @ai.flow
    async def who(ctx: RunContext) -> Any:
        return {"auth": ctx.auth, "values": dict(ctx.values), "trace": ctx.trace_id}

    @ai.flow
    async def forever() -> str:
        served.seen.append("started")
        try:
            await asyncio.sleep(100)
        finally:
            served.seen.append("ended")
        return "never"

    return served


Call = Callable[..., Any]


@pytest.fixture
async def call(flows: Served) -> AsyncIterator[Call]:
    """POST to a flow: `await call("/hello", "Ada")`; more goes to httpx, `app` is another app than all flows."""
    clients: list[httpx.AsyncClient] = []

    async def post(path: str, data: Any = NOTHING, *, app: Any = None, method: str = "POST", **more: Any) -> Any:
        transport = httpx.ASGITransport(app or flows.ai.asgi())
        client = httpx.AsyncClient(transport=transport, base_url="http://server")
        clients.append(client)
        if "content" not in more and method == "POST":
            more["json"] = {} if data is NOTHING else {"data": data}
        return await client.request(method, path, **more)

    yield post
    for client in clients:
        await client.aclose()


def frames(text: str) -> list[Any]:
    """The frames of a stream, read as Genkit's client does: six characters off, the rest is JSON."""
    assert text.endswith("\n\n")
    return [json.loads(part[6:]) for part in text.split("\n\n")[:-1]]
