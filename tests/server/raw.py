"""A real server in a thread, and a client that sends exactly the bytes it is told.

with serve(app) as port: answer = ask(port, b"GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
"""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn

SECONDS = 20.0


@contextmanager
def serve(app: Any, *, lifespan: str = "off", grace_seconds: int = 2, loops: list[Any] | None = None) -> Iterator[int]:
    """Run an ASGI app on a free port of loopback; gives the port."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app,
        http="h11",
        lifespan=lifespan,
        log_level="critical",
        timeout_graceful_shutdown=grace_seconds,
        ws="websockets-sansio",
    )
    server = uvicorn.Server(config)
    ready = threading.Event()

    async def main() -> None:
        serving = asyncio.ensure_future(server.serve(sockets=[listening]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.005)
        if loops is not None:
            loops.append(asyncio.get_running_loop())
        ready.set()
        await serving

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    assert ready.wait(SECONDS)
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(SECONDS)
        listening.close()
    assert not thread.is_alive(), "the server does not end"


@dataclass(frozen=True)
class Answer:
    """Status, headers (lower-case names; those that come twice, joined) and the body as it came."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def request(
    method: str = "GET",
    path: str = "/api/echo",
    *,
    host: str | None = "127.0.0.1",
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """The bytes of a request that asks for the connection to be closed."""
    lines = [f"{method} {path} HTTP/1.1", "Connection: close"]
    if host is not None:
        lines.append(f"Host: {host}")
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")


def ask(port: int, data: bytes, *more: bytes) -> Answer:
    """Send bytes, then read until the server closes."""
    with connect(port) as client:
        client.sendall(data)
        for piece in more:
            try:
                client.sendall(piece)
            except (BrokenPipeError, ConnectionResetError):
                break
        return read(client)


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=SECONDS)


def read(client: socket.socket) -> Answer:
    """The whole answer."""
    received = b""
    while True:
        try:
            piece = client.recv(65536)
        except ConnectionResetError:
            piece = b""
        if not piece:
            break
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        key = name.lower()
        headers[key] = f"{headers[key]}, {value.strip()}" if key in headers else value.strip()
    if headers.get("transfer-encoding") == "chunked":
        body = _unchunked(body)
    return Answer(int(first.split(" ")[1]) if first else 0, headers, body)


def _unchunked(body: bytes) -> bytes:
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16) if size else 0
        if not length:
            break
        whole, body = whole + body[:length], body[length + 2 :]
    return whole
