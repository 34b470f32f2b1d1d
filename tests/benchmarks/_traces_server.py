"""One server of the traces benchmark, in a process of its own; it prints its port, and `/__cpu` tells its CPU time.

python -m tests.benchmarks._traces_server flowkit FOLDER
"""

import asyncio
import contextlib
import signal
import sys
import time
from pathlib import Path
from typing import Any

import uvicorn

from flowkit.server.processes import listen_near


def flowkit_app(folder: Path) -> tuple[Any, Any, Any]:
    """The API as `flowkit start` serves it, guard and all; what waits until everything is written; what closes it."""
    from flowkit.server.dev.app import LIMITS, Dev, content_types, dev_app
    from flowkit.server.guard import Guard, Policy

    dev = Dev(folder)
    return (
        Guard(dev_app(dev), policy=Policy(content_types=content_types), limits=LIMITS),
        dev.traces.recorder.flush,
        dev.aclose,
    )


def main(kind: str, folder: Path) -> None:
    if kind == "flowkit":
        app, flush, close = flowkit_app(folder)
    else:
        from tests.benchmarks._traces_limit import limit_app

        app, flush, close = limit_app(folder), lambda: True, None

    async def measured(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == "/__cpu":
            flush()
            body = repr(time.process_time()).encode()
            headers = [(b"content-length", b"%d" % len(body))]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": body})
            return
        await app(scope, receive, send)

    listening = listen_near(0)
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(measured, lifespan="off", log_config=None, access_log=False, ws="none")

    async def serve() -> None:
        server = uvicorn.Server(config)
        # Uvicorn's own handling ends the process with the signal, before anything can be closed.
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign]
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: setattr(server, "should_exit", True))
        await server.serve(sockets=[listening])
        if close is not None:
            await close()

    asyncio.run(serve())


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
