"""Several processes that serve the same flows on one socket; one that dies is replaced.

exit_code = serve_with_workers(place, socket, workers=4, grace_seconds=10)
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from socket import socket
from types import FrameType
from typing import Any

from flowkit.server.discover import AppPlace, load_flows
from flowkit.server.flows.serve import serve_flows

__all__ = ["serve_with_workers"]

_HEALTHY_SECONDS = 10.0
_ROUND_SECONDS = 0.5
_FAILURES = 5  # in a row, of workers that do not live long; then there is no point in going on


def serve_with_workers(
    place: AppPlace,
    listening: socket,
    *,
    workers: int,
    grace_seconds: float,
    on_ready: Callable[[], object] = lambda: None,
) -> int:
    """Serve until SIGINT or SIGTERM; returns 0, or 1 when workers die again and again."""
    return _Workers(place, listening, grace_seconds).run(workers, on_ready)


class _Workers:
    def __init__(self, place: AppPlace, listening: socket, grace_seconds: float) -> None:
        self._spawn = multiprocessing.get_context("spawn")
        self._arguments = (place, listening, grace_seconds)
        self._running: dict[BaseProcess, float] = {}
        self._failures = 0
        self._ending = False

    def run(self, workers: int, on_ready: Callable[[], object]) -> int:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._end)
        for _ in range(workers):
            self._start()
        on_ready()
        while self._running:
            # A signal does not end this wait on every system.
            wait([process.sentinel for process in self._running], timeout=_ROUND_SECONDS)
            for process in [process for process in self._running if process.exitcode is not None]:
                lived = time.monotonic() - self._running.pop(process)
                self._failures = 1 if lived > _HEALTHY_SECONDS else self._failures + 1
                if self._failures >= _FAILURES and not self._ending:
                    self._end(signal.SIGTERM, None)
                if not self._ending:
                    self._start()
        return 1 if self._failures >= _FAILURES else 0

    def _start(self) -> None:
        process = self._spawn.Process(target=_work, args=self._arguments)
        process.start()
        self._running[process] = time.monotonic()

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._ending = True
        for process in list(self._running):
            if process.pid is not None:
                try:
                    os.kill(process.pid, signal.SIGTERM)
                except ProcessLookupError:
                    continue


def _work(place: AppPlace, listening: socket, grace_seconds: float) -> None:
    """The life of one worker."""
    if sys.platform != "win32":
        os.setpgid(0, 0)  # the first process alone hears Ctrl-C, and hands it on
    threading.Thread(target=_follow_parent, daemon=True).start()
    serve_flows(load_flows(place), [listening], grace_seconds=grace_seconds)


def _follow_parent() -> None:
    """A worker does not outlive the process that looks after it, however that one ended."""
    parent: Any = multiprocessing.parent_process()
    wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
