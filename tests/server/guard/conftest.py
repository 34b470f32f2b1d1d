"""An app behind the guard that tells what reached it.

def test_a_page_is_refused(guarded): assert guarded(headers={"Origin": "https://evil.example"}).status == 403
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route, Router, WebSocketRoute
from starlette.websockets import WebSocket

from flowkit.server.guard import Guard, Limits, Policy
from tests.server.raw import Answer, ask, request, serve


class Guarded:
    """A guarded server. `reached` has what got through: method and path."""

    def __init__(self, port: int, reached: list[str]) -> None:
        self.port = port
        self.reached = reached

    def __call__(self, method: str = "GET", path: str = "/api/echo", **about: Any) -> Answer:
        return ask(self.port, request(method, path, **about))

    def post(self, data: Any = b"{}", path: str = "/api/echo", **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self("POST", path, body=data, headers={"Content-Type": "application/json", **named})


Start = Callable[..., Guarded]


@pytest.fixture
def start() -> Iterator[Start]:
    servers: list[Any] = []

    def begin(policy: Policy | None = None, limits: Limits | None = None) -> Guarded:
        reached: list[str] = []
        running = serve(Guard(_app(reached), policy=policy, limits=limits))
        port = running.__enter__()
        servers.append(running)
        return Guarded(port, reached)

    yield begin
    for running in servers:
        running.__exit__(None, None, None)


@pytest.fixture(scope="session")
def _plain() -> Iterator[Guarded]:
    reached: list[str] = []
    with serve(Guard(_app(reached))) as port:
        yield Guarded(port, reached)


@pytest.fixture
def guarded(_plain: Guarded) -> Guarded:
    """One that admits nobody but this machine."""
    _plain.reached.clear()
    return _plain


def _app(reached: list[str]) -> Router:
    async def echo(request: Request) -> JSONResponse:
        reached.append(f"{request.method} {request.url.path}")
        # What a careless route would answer.
        return JSONResponse({"bytes": len(await request.body())}, headers={"Access-Control-Allow-Origin": "*"})

    async def page(request: Request) -> HTMLResponse:
        reached.append(f"{request.method} {request.url.path}")
        return HTMLResponse("<h1>page</h1>")

    async def socket(websocket: WebSocket) -> None:
        reached.append("WEBSOCKET")
        await websocket.accept()
        await websocket.send_text("hello")
        await websocket.close()

    methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
    return Router(
        [
            Route("/api/echo", echo, methods=methods),
            Route("/api/upload", echo, methods=methods),
            Route("/api/traces/{trace_id:path}", echo, methods=methods),
            Route("/", page),
            WebSocketRoute("/api/live", socket),
        ]
    )
