"""The parent process of `flowkit start`: server, supervisor and file watching in one loop, until Ctrl-C.

    serve_parent(plan, listener=screen.show)

The app is started first and the server's modules are loaded meanwhile: neither waits for the other.
"""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Any

from flowkit.config import child_environment
from flowkit.server.guard import Limits, Policy
from flowkit.server.start.parent import About, parent_app, write_only
from flowkit.server.start.supervise import Status, Supervisor
from flowkit.server.start.watch import SUFFIXES, Seen, changes, scan
from flowkit.server.web import WebServer

if TYPE_CHECKING:
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp

__all__ = ["Additions", "Plan", "serve_parent"]

_LAUNCH_SECONDS = 1.0
_CLOSE_SECONDS = 1.0
_BODY_BYTES = 110_000_000  # of traces, Genkit's own limit and a little more; other routes have lower ones of their own


async def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Additions:
    """What else answers on the parent's port: the developer API, the telemetry API."""

    routes: "Sequence[BaseRoute]" = ()
    content_types: Callable[[str], Collection[str]] = lambda path: ("application/json",)
    """The media types that a path takes in a body."""
    bare_errors: Callable[[str, str], bool] = lambda method, path: False
    """Where errors have Genkit's form; as in the guard's policy."""
    aclose: Callable[[], Coroutine[Any, Any, None]] = _nothing
    """Awaited when the parent ends, while its connections are still open."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to run, and where it is to answer."""

    command: Sequence[str]
    about: About
    listening: socket
    policy: Policy = field(default_factory=Policy)
    """Of the guard; its content types and forms of errors come from the additions."""
    folders: Sequence[Path] = ()
    """Watched, with all that is in them."""
    spans_listening: socket | None = None
    """A port of loopback for the spans of other frameworks' runtimes: they have no token, if there is one."""
    add: Callable[[Supervisor, About], Additions] = lambda supervisor, about: Additions()


def serve_parent(
    plan: Plan,
    *,
    on_status: Callable[[Status], object],
    on_error_output: Callable[[bytes], None],
    on_ready: Callable[[], object] = lambda: None,
    say: Callable[[str], object] = lambda text: None,
) -> None:
    """Serve until SIGINT or SIGTERM; then nothing of the app is left. The second one does not wait.

    Args:
        on_status: Told of every change of the app's state.
        on_error_output: Gets what the app writes to stderr.
        on_ready: Called once, when the port answers.
        say: Called with a sentence for the person at the terminal.
    """
    asyncio.run(_Parent(plan, on_status, on_error_output, on_ready, say).run())


class _Parent:
    def __init__(
        self,
        plan: Plan,
        on_status: Callable[[Status], object],
        on_error_output: Callable[[bytes], None],
        on_ready: Callable[[], object],
        say: Callable[[str], object],
    ) -> None:
        self._plan = plan
        self._on_ready = on_ready
        self._say = say
        self._stop = asyncio.Event()
        spans = plan.spans_listening or plan.listening
        self.supervisor = Supervisor(
            plan.command,
            root=plan.about.root,
            cwd=Path.cwd(),
            env=child_environment(telemetry_url=f"http://127.0.0.1:{spans.getsockname()[1]}"),
            on_error_output=on_error_output,
        )
        self.supervisor.subscribe(on_status)

    async def run(self) -> None:
        folders, suffixes = _watched(self._plan)
        before = scan(folders, suffixes)  # what changes while the app starts is a change, too
        with self._signals():
            tasks = [asyncio.create_task(self.supervisor.run())]
            await self._launched()
            tasks += [asyncio.create_task(serve) for serve in self._servers()]
            watching = asyncio.create_task(self._watch(before, folders, suffixes))
            stopped = asyncio.create_task(self._stop.wait())
            try:
                await asyncio.wait([*tasks, watching, stopped], return_when=asyncio.FIRST_COMPLETED)
            finally:
                self._stop.set()
                self.supervisor.stop()
                watching.cancel()
                ended = await asyncio.gather(*tasks, watching, return_exceptions=True)
        for outcome in ended:
            if isinstance(outcome, Exception):
                raise outcome

    async def _launched(self) -> None:
        """Wait until the app's process is there: importing the web server takes as long as importing the app."""
        launched = asyncio.Event()
        forget = self.supervisor.subscribe(lambda status: launched.set() if status.pid or status.error else None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAUNCH_SECONDS):
                await launched.wait()
        forget()

    def _servers(self) -> list[Coroutine[Any, Any, None]]:
        plan = self._plan
        additions = plan.add(self.supervisor, plan.about)

        def app(policy: Policy) -> "ASGIApp":
            policy = replace(policy, content_types=additions.content_types, bare_errors=additions.bare_errors)
            limits = Limits(body_bytes=_BODY_BYTES)
            return parent_app(self.supervisor, about=plan.about, routes=additions.routes, policy=policy, limits=limits)

        async def close() -> None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await additions.aclose()

        server = WebServer(app(plan.policy), before_end=close)
        serving = [server.serve([plan.listening], self._stop, started=self._on_ready)]
        if plan.spans_listening is not None:
            spans = WebServer(write_only(app(Policy())))
            serving.append(spans.serve([plan.spans_listening], self._stop))
        return serving

    async def _watch(self, before: Seen, folders: Collection[Path], suffixes: Collection[str]) -> None:
        async for changed in changes(before, folders, suffixes, tell=self._say):
            self.supervisor.restart(changed)

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """While this is open, SIGINT and SIGTERM end the parent in order; the second ends the app at once."""
        loop = asyncio.get_running_loop()

        def end() -> None:
            if self._stop.is_set():
                self.supervisor.stop()
            self._stop.set()

        numbers = [signal.SIGINT, signal.SIGTERM]
        if sys.platform == "win32":
            before = {number: signal.signal(number, lambda *_: loop.call_soon_threadsafe(end)) for number in numbers}
        else:
            numbers.append(signal.SIGHUP)
            for number in numbers:
                loop.add_signal_handler(number, end)
        try:
            yield
        finally:
            if sys.platform == "win32":
                for number, handler in before.items():
                    signal.signal(number, handler)
            else:
                for number in numbers:
                    loop.remove_signal_handler(number)


def _watched(plan: Plan) -> tuple[list[Path], frozenset[str]]:
    """Folders and kinds of files. A program that is named by its file is watched, whatever its language is."""
    folders: list[Path] = []
    for folder in (*plan.folders, Path.cwd()):
        if not any(folder.is_relative_to(known) for known in folders):
            folders.append(folder)
    named = {Path(word).suffix for word in plan.command[1:] if Path(word).is_file()}
    return folders, SUFFIXES | (named - {""})
