"""The supervisor: keeps the app running, starts it anew when its files change, and knows why it does not run.

    supervisor = Supervisor(command, root=root, cwd=Path.cwd(), env=env)
    supervisor.subscribe(print)                        # told of every change
    await supervisor.run()                             # until `stop`
    supervisor.status.state                            # "running"

An app that fails at its start waits for a change of its files. One that was ready for two seconds and then died is
started again, after 0.5, 1, 2, 4 … 30 seconds.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path
from typing import Any, Literal

from flowkit.errors import ConfigError
from flowkit.server.runtimes import Runtime, runtimes, sweep
from flowkit.server.start.child import Child
from flowkit.server.start.crash import Crash, read_crash

__all__ = ["IMPORT_FAILED", "State", "Status", "Supervisor"]

IMPORT_FAILED = 78
"""The exit code by which the program that imports an app says that this has failed: it will not be better next time."""

State = Literal["starting", "running", "failed", "ended", "stopping"]
"""`failed`: it could not start, or died; `ended`: it has ended by itself, with exit code 0."""

_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 0.5, 30.0
_HEALTHY_SECONDS = 10.0  # after so long a run, the next crash is a first one
_STOOD_SECONDS = 2.0  # what dies sooner could not start
_SILENT_SECONDS = 10.0
_LOOK_SECONDS, _LOOK_READY_SECONDS = 0.05, 0.5


@dataclass(frozen=True, slots=True)
class Status:
    """What is known of the app now. It is never changed, only replaced."""

    state: State = "starting"
    pid: int | None = None
    started_at: float = 0.0
    """Seconds since the epoch, of this run."""
    ready_seconds: float | None = None
    """From the start to the moment when its actions could be called."""
    runtime: Runtime | None = None
    restarts: int = 0
    changed: tuple[str, ...] = ()
    """The files, relative to the project, because of which it was started."""
    error: Crash | None = None
    retry_seconds: float | None = None
    """When it failed: after how long it is started again; None waits for a change."""
    silent: bool = False
    """It runs, but has not made itself known for ten seconds."""

    def to_wire(self) -> dict[str, Any]:
        runtime = self.runtime
        return {
            "state": self.state,
            "pid": self.pid,
            "startedAt": round(self.started_at * 1000),
            "readySeconds": self.ready_seconds,
            "runtime": None if runtime is None else {"id": runtime.id, "pid": runtime.pid, "url": runtime.url},
            "restarts": self.restarts,
            "changed": list(self.changed),
            "error": None if self.error is None else self.error.to_wire(),
            "retrySeconds": self.retry_seconds,
            "silent": self.silent,
        }


Listener = Callable[[Status], object]


class Supervisor:
    """One app. Everything happens on the loop of `run`."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        root: Path,
        cwd: Path,
        env: Mapping[str, str],
        on_error_output: Callable[[bytes], None] = lambda data: None,
    ) -> None:
        self.command = tuple(command)
        self.root = root
        self.status = Status()
        self._cwd = cwd
        self._env = env
        self._on_error_output = on_error_output
        self._listeners: list[Listener] = []
        self._wanted = asyncio.Event()
        self._stopping = False
        self._changed: set[Path] = set()
        self._child: Child | None = None

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` called with each new status; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def restart(self, changed: Collection[Path] = ()) -> None:
        """End the app and start it again, or start it when it does not run."""
        self._changed.update(changed)
        self._wanted.set()

    def stop(self) -> None:
        """End the app; `run` returns when nothing of it is left. A second call does not let it end in order."""
        if self._stopping and self._child is not None:
            self._child.hurry()
        self._stopping = True
        self._wanted.set()

    async def run(self) -> None:
        await asyncio.to_thread(sweep, self.root)
        failures = restarts = 0
        while not self._stopping:
            self._wanted.clear()
            changed, self._changed = self._changed, set()
            began = time.monotonic()
            names = tuple(sorted(map(self._name, changed)))
            self._set(Status(started_at=time.time(), restarts=restarts, changed=names))
            crash = await self._run_once()
            if crash is None or self._stopping:
                failures = 0
            else:
                lasted, ready = time.monotonic() - began, self.status.ready_seconds
                failures = 1 if lasted > _HEALTHY_SECONDS else failures + 1
                stood = ready is not None and lasted - ready > _STOOD_SECONDS
                retries = stood and crash.exit_code not in (0, IMPORT_FAILED)
                await self._wait_after(crash, failures if retries else None)
            _forget_bytecode(self._changed)
            restarts += 1

    async def _run_once(self) -> Crash | None:
        """Run it until it ends, or until something is wanted of us; then nothing of it is left. None: it was ended."""
        try:
            child = self._child = await Child.start(
                self.command, cwd=self._cwd, env=self._env, on_error_output=self._on_error_output
            )
        except (ConfigError, OSError) as error:
            return Crash(str(error), 127)
        self._set(replace(self.status, pid=child.pid))
        looking = asyncio.create_task(self._look(child))
        exited = asyncio.create_task(child.exited())
        wanted = asyncio.create_task(self._wanted.wait())
        try:
            await asyncio.wait([exited, wanted], return_when=asyncio.FIRST_COMPLETED)
            ended_by_itself = exited.done()
            if not ended_by_itself:
                self._set(replace(self.status, state="stopping"))
        finally:
            for task in (looking, wanted):
                task.cancel()
            await child.stop()
            self._child = None
        await asyncio.to_thread(sweep, self.root)
        code = await exited
        return read_crash(child.error_output, exit_code=code, root=self.root) if ended_by_itself else None

    async def _wait_after(self, crash: Crash, failures: int | None) -> None:
        """Wait for a change, or for as long as the number of failures in a row says."""
        wait = None
        if failures is not None:
            wait = min(_FIRST_WAIT_SECONDS * 2.0 ** (failures - 1), _LONGEST_WAIT_SECONDS)
        state: State = "failed" if crash.exit_code else "ended"
        error = crash if crash.exit_code else None
        self._set(replace(self.status, state=state, pid=None, runtime=None, error=error, retry_seconds=wait))
        try:
            async with asyncio.timeout(wait):
                await self._wanted.wait()
        except TimeoutError:
            return

    async def _look(self, child: Child) -> None:
        """Follow the runtime file of the app: it may come late, and a reloading server may change it."""
        began = time.monotonic()
        while True:
            runtime = next((each for each in reversed(runtimes(self.root)) if child.owns(each.pid)), None)
            status = self.status
            if runtime != status.runtime:
                ready = status.ready_seconds
                if ready is None and runtime is not None:
                    ready = round(time.monotonic() - began, 3)
                state: State = "starting" if runtime is None else "running"
                self._set(replace(status, state=state, runtime=runtime, ready_seconds=ready, silent=False))
            elif runtime is None and not status.silent and time.monotonic() - began > _SILENT_SECONDS:
                self._set(replace(status, silent=True))
            await asyncio.sleep(_LOOK_SECONDS if runtime is None else _LOOK_READY_SECONDS)

    def _set(self, status: Status) -> None:
        self.status = status
        for listener in list(self._listeners):
            listener(status)

    def _name(self, path: Path) -> str:
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            return str(path)


def _forget_bytecode(changed: Collection[Path]) -> None:
    """Python takes a file that changes twice in a second, and keeps its size, for unchanged."""
    for path in changed:
        if path.suffix == ".py":
            for cached in path.parent.glob(f"__pycache__/{escape(path.stem)}.*.pyc"):
                cached.unlink(missing_ok=True)
