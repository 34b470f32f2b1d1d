"""Reflection over HTTP while an app is served: a server on a port of its own, then the file that says so.

await serve_http(served, runtime_id=None, files=files, stop=stop)
"""

import asyncio
import logging
import os
from typing import TYPE_CHECKING

from flowkit.server.processes import listen_near
from flowkit.server.reflection.http import reflection_app
from flowkit.server.reflection.runtime_file import RuntimeFile
from flowkit.server.reflection.served import Served

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from uvicorn import Server

__all__ = ["FIRST_PORT", "SERVING_THREAD", "serve_http"]

FIRST_PORT = 3100
SERVING_THREAD = "flowkit-serve"
_GRACE_SECONDS = 1  # for answers that are under way when the server is told to end


async def serve_http(served: Served, *, runtime_id: str | None, files: set[RuntimeFile], stop: asyncio.Event) -> None:
    """Listen until `stop`. The runtime file is in `files` as long as it is there."""
    socket = listen_near(FIRST_PORT)
    port = socket.getsockname()[1]
    runtime_id = runtime_id or f"{os.getpid()}-{port}"
    leave = asyncio.Event()
    server = _server(reflection_app(served, runtime_id=runtime_id), leave)
    serving = asyncio.ensure_future(server.serve(sockets=[socket]))
    try:
        while not server.started and not serving.done():  # noqa: ASYNC110  uvicorn has no event for it
            await asyncio.sleep(0.005)
        file = RuntimeFile.write(served.ai.settings.root, runtime_id=runtime_id, url=f"http://127.0.0.1:{port}")
        files.add(file)
        try:
            await stop.wait()
        finally:
            file.remove()
            files.discard(file)
    finally:
        served.runner.cancel_all()
        leave.set()
        await serving


def _server(app: "ASGIApp", leave: asyncio.Event) -> "Server":
    """A uvicorn that leaves logging alone: the app may run a uvicorn of its own, which owns those loggers."""
    import uvicorn

    class QuietConfig(uvicorn.Config):
        def configure_logging(self) -> None:
            pass

    class QuietServer(uvicorn.Server):
        async def main_loop(self) -> None:  # uvicorn's own looks ten times a second whether it is to end
            await self.on_tick(0)
            await leave.wait()

    for name in ("uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).addFilter(_is_of_another)
    config = QuietConfig(
        app,
        loop="none",
        http="h11",
        ws="none",
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    return QuietServer(config)


def _is_of_another(record: logging.LogRecord) -> bool:
    return record.threadName != SERVING_THREAD or record.levelno > logging.WARNING
