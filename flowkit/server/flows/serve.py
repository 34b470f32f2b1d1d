"""Serving flows as a process: one web server on one socket, which ends in order when it is told to.

    serve_flows(app, socket, grace_seconds=10, on_ready=print)

SIGTERM lets calls that run end for `grace_seconds`, takes no new ones, and cancels what is left; streams get their last
frame. Ctrl-C waits two seconds only. The second signal does not wait at all.
"""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from socket import socket

from flowkit.server.flows.app import FlowApp
from flowkit.server.web import WebServer

__all__ = ["serve_flows"]

_INTERRUPT_SECONDS = 2.0


def serve_flows(
    app: FlowApp, listening: Sequence[socket], *, grace_seconds: float, on_ready: Callable[[], object] = lambda: None
) -> None:
    """Serve until SIGINT or SIGTERM, then close the app.

    The event loop is uvloop's, and the parser httptools', where they are installed.
    """
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(app, listening, grace_seconds, on_ready))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        uvloop = import_module("uvloop")
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


async def _serve(
    app: FlowApp, listening: Sequence[socket], grace_seconds: float, on_ready: Callable[[], object]
) -> None:
    stop, hurry = asyncio.Event(), asyncio.Event()
    patience = grace_seconds

    def end(number: int) -> None:
        nonlocal patience
        if stop.is_set():
            hurry.set()
        if number == signal.SIGINT:
            patience = min(grace_seconds, _INTERRUPT_SECONDS)
        stop.set()

    async def drain() -> None:
        draining = asyncio.ensure_future(app.drain(patience))
        hurrying = asyncio.ensure_future(hurry.wait())
        await asyncio.wait([draining, hurrying], return_when=asyncio.FIRST_COMPLETED)
        hurrying.cancel()
        if not draining.done():
            draining.cancel()
            await app.drain(0)

    server = WebServer(app, strict=False, lifespan="on", before_end=drain)
    with _signals(end):
        await server.serve(listening, stop, started=on_ready)


@contextlib.contextmanager
def _signals(end: Callable[[int], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)
    if sys.platform == "win32":
        before = {
            number: signal.signal(number, lambda got, frame: loop.call_soon_threadsafe(end, got)) for number in numbers
        }
    else:
        for number in numbers:
            loop.add_signal_handler(number, end, number)
    try:
        yield
    finally:
        if sys.platform == "win32":
            for number, handler in before.items():
                signal.signal(number, handler)
        else:
            for number in numbers:
                loop.remove_signal_handler(number)
