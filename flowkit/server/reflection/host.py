"""The thread that serves this process's apps to developer tools, as long as the process is theirs.

    serve(ai)                 # every Flowkit of a process that serves comes here
    await release(ai)         # and leaves when it is closed

There is one thread for all apps of the process; each has its own port, or its own connection, and its own runtime id.
It is no daemon, so a script that only defines flows does not end: program.py says when the process does.
"""

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flowkit.core.loops import run_on
from flowkit.core.threads import run_in_thread
from flowkit.errors import StateError
from flowkit.server.reflection.listen import SERVING_THREAD, serve_http
from flowkit.server.reflection.program import Program
from flowkit.server.reflection.role import leave_role
from flowkit.server.reflection.runtime_file import RuntimeFile
from flowkit.server.reflection.served import Served
from flowkit.server.reflection.socket import serve_socket

if TYPE_CHECKING:
    from flowkit.app import Flowkit

__all__ = ["Host", "current_host", "release", "serve"]

_log = logging.getLogger("flowkit.server")

_STOP_SECONDS = 3.0
_CLOSE_SECONDS = 1.0
_FLUSH_SECONDS = 1.0
_SAMPLE_SECONDS = 0.1


@dataclass(eq=False)
class _Entry:
    served: Served
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    transport: "asyncio.Task[None] | None" = None


class Host:
    """The thread and what it serves. `request_stop` and `withdraw` may be called anywhere, also by signal handlers."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.loop = asyncio.new_event_loop()
        self.ended = threading.Event()
        self.files: set[RuntimeFile] = set()
        self.program = Program(self)
        self._entries: dict[int, _Entry] = {}
        self._entering = threading.Lock()
        self._closed = False
        self._names = 0
        self._stop = asyncio.Event()
        self._close_apps = False
        self._then: list[Callable[[], None]] = []
        self._thread = threading.Thread(target=self._run, name=SERVING_THREAD, daemon=False)
        self._thread.start()

    @property
    def apps(self) -> "list[Flowkit]":
        return [entry.served.ai for entry in list(self._entries.values())]

    def add(self, ai: "Flowkit") -> bool:
        """Serve an app; False when the thread is about to end. Its spans are followed from now on, its server comes a
        moment later."""
        with self._entering:
            if self._closed:
                return False
            entry = _Entry(Served(ai, end=self.program.end))
            self._entries[id(ai)] = entry
            self._names += 1
            self.loop.call_soon_threadsafe(self._open, entry, self._names)
        return True

    async def remove(self, ai: "Flowkit") -> None:
        """Serve it no longer; with its last app the thread ends. On the host's loop."""
        with self._entering:
            entry = self._entries.pop(id(ai), None)
            self._closed = self._closed or not self._entries
        if entry is not None:
            await self._end(entry)
        if self._closed:
            self._stop.set()

    def request_stop(self, *, close_apps: bool = False, then: Callable[[], None] | None = None) -> None:
        """End the thread, in at most a few seconds.

        Args:
            close_apps: Close their plugins, too.
            then: Called in the thread when all is done.
        """
        self._closed = True
        self._close_apps = self._close_apps or close_apps
        if then is not None:
            self._then.append(then)
        try:
            self.loop.call_soon_threadsafe(self._stop.set)
        except RuntimeError:  # it has ended
            if then is not None:
                then()

    def withdraw(self) -> None:
        """Remove the files by which tools find this process, at once."""
        for file in list(self.files):
            file.remove()
        leave_role()

    def join(self) -> None:
        self._thread.join()

    def _run(self) -> None:
        try:
            self.loop.run_until_complete(self._serve())
        finally:
            self.withdraw()
            self.loop.close()
            self.ended.set()
            for call in self._then:
                call()

    async def _serve(self) -> None:
        watch = asyncio.create_task(self._watch())
        await self._stop.wait()
        watch.cancel()
        with self._entering:
            self._closed = True
            entries, self._entries = list(self._entries.values()), {}
        await asyncio.gather(*(self._shut(entry) for entry in entries))
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _watch(self) -> None:
        while self.program.goes_on():  # noqa: ASYNC110  nothing tells when a signal's handler is replaced
            await asyncio.sleep(_SAMPLE_SECONDS)
        self.request_stop(close_apps=True)

    def _open(self, entry: _Entry, number: int) -> None:
        if not entry.stop.is_set():
            entry.transport = asyncio.create_task(self._transport(entry, number))

    async def _transport(self, entry: _Entry, number: int) -> None:
        settings = entry.served.ai.settings
        name = settings.runtime_id
        if name is not None and number > 1:
            name = f"{name}-{number}"
        try:
            if settings.reflection_v2_url is not None:
                named = name or (str(self.pid) if number == 1 else f"{self.pid}-{number}")
                await serve_socket(entry.served, settings.reflection_v2_url, runtime_id=named, stop=entry.stop)
            else:
                await serve_http(entry.served, runtime_id=name, files=self.files, stop=entry.stop)
        except OSError as error:
            _log.warning("developer tools cannot reach this app: %s", error)

    async def _shut(self, entry: _Entry) -> None:
        await self._end(entry)
        if self._close_apps:
            ai = entry.served.ai
            try:
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await asyncio.wrap_future(run_on(ai.runtime.loop(), ai.aclose))
            except TimeoutError:
                _log.warning("a plugin was not closed within %.0f second", _CLOSE_SECONDS)
            except Exception as error:  # noqa: BLE001  one plugin's failure must not keep the others open
                _log.warning("a plugin could not be closed: %s", error)

    async def _end(self, entry: _Entry) -> None:
        entry.stop.set()
        if entry.transport is not None:
            await asyncio.wait([entry.transport], timeout=_STOP_SECONDS)
        await run_in_thread(entry.served.flush, (_FLUSH_SECONDS,))
        entry.served.close()


_host: Host | None = None
_lock = threading.Lock()


def current_host() -> Host | None:
    """The host of this process, if it has one that goes on."""
    host = _host
    return host if host is not None and host.pid == os.getpid() and not host.ended.is_set() else None


def serve(ai: "Flowkit") -> None:
    """Serve an app from now on."""
    global _host
    with _lock:
        host = current_host()
        if host is None or not host.add(ai):
            host = _host = Host()
            host.program.begin()
            host.add(ai)


async def release(ai: "Flowkit") -> None:
    """Serve an app no longer; nothing happens when it is not served."""
    host = current_host()
    if host is None or ai not in host.apps:
        return
    try:
        await asyncio.wrap_future(run_on(host.loop, lambda: host.remove(ai)))
    except StateError:  # it has ended meanwhile
        return
