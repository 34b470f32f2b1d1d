"""A web server in the hands of its process: given sockets, it serves until it is told to end, and ends at once.

    server = WebServer(app)
    await server.serve([socket], stop)              # until the event `stop` is set

Uvicorn's own way would take the signals, wait for streams that have no end, and configure the process's logging.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from socket import socket
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from uvicorn import Server

__all__ = ["WebServer"]


class WebServer:
    """Serves an app over HTTP and WebSocket.

    Args:
        strict: Take the strict HTTP parser, also where another package has brought the quicker one: that lets broken
            heads pass, and what listens in development stands alone before every web page.
        lifespan: Whether the app is told of start-up and shut-down (ASGI's lifespan).
        grace_seconds: How long answers may go on after the end; streams that wait for more are told at once.
        before_end: Awaited when it is to end, while connections are still open.
    """

    def __init__(
        self,
        app: "ASGIApp",
        *,
        strict: bool = True,
        lifespan: Literal["on", "off"] = "off",
        grace_seconds: int = 1,
        before_end: Callable[[], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        self._app = app
        self._strict = strict
        self._lifespan: Literal["on", "off"] = lifespan
        self._grace_seconds = grace_seconds
        self._before_end = before_end

    async def serve(
        self, sockets: Sequence[socket], stop: asyncio.Event, *, started: Callable[[], object] = lambda: None
    ) -> None:
        """Serve until `stop` is set. `started` is called when requests are answered."""
        closing = asyncio.Event()

        async def end() -> None:
            await stop.wait()
            if self._before_end is not None:
                await self._before_end()
            closing.set()

        server = self._server(_ending(self._app, closing), started, end)
        await server.serve(sockets=list(sockets))

    def _server(
        self, app: "ASGIApp", started: Callable[[], object], end: Callable[[], Coroutine[Any, Any, None]]
    ) -> "Server":
        import uvicorn

        class OurServer(uvicorn.Server):
            async def main_loop(self) -> None:  # uvicorn's own looks ten times a second whether it is to end
                await self.on_tick(0)
                started()
                await end()

            @contextlib.contextmanager
            def capture_signals(self) -> Iterator[None]:
                yield

        for name in ("uvicorn.error", "uvicorn.asgi"):
            logging.getLogger(name).addFilter(_is_news)
        return OurServer(
            uvicorn.Config(
                app,
                http="h11" if self._strict else "auto",
                lifespan=self._lifespan,
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=self._grace_seconds,
                ws="websockets-sansio",
            )
        )


def _ending(app: "ASGIApp", closing: asyncio.Event) -> "ASGIApp":
    """Streams that wait for their client to leave hear that it has, as soon as the server ends."""

    async def ending(scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        websocket = scope["type"] == "websocket"
        last = {"type": "websocket.disconnect", "code": 1012} if websocket else {"type": "http.disconnect"}
        ended = asyncio.ensure_future(closing.wait())
        started = complete = False

        async def receive_or_end() -> "Message":
            if ended.done():
                return last
            receiving: asyncio.Future[Message] = asyncio.ensure_future(receive())
            waiting: list[asyncio.Future[Any]] = [receiving, ended]
            try:
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                return receiving.result() if receiving.done() else last
            finally:
                receiving.cancel()

        async def noting(message: "Message") -> None:
            nonlocal started, complete
            started = started or message["type"] == "http.response.start"
            complete = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        try:
            await app(scope, receive_or_end, noting)
            if closing.is_set() and started and not complete:
                await send({"type": "http.response.body", "body": b""})  # whoever left did not leave by itself
        finally:
            ended.cancel()

    return ending


def _is_news(record: logging.LogRecord) -> bool:
    """What it says of its own start and end is not, nor that connections were cut at the end."""
    if record.levelno < logging.WARNING or "graceful shutdown exceeded" in record.getMessage():
        return False
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
