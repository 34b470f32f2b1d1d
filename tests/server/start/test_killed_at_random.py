"""`flowkit start` whose app, parent, or both are killed at any moment: no trace is lost, no store broken, no orphan."""

import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from flowkit.tracing.store import TraceStore
from tests.server.start.conftest import Project, Started, is_alive
from tests.server.start.conftest import until as until_within

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]

APP = """
import asyncio
import os
import time

from flowkit import Flowkit, RunContext

ai = Flowkit()


@ai.flow
async def dish(n: int, ctx: RunContext) -> str:
    await ai.run("cook", str, n)
    return ctx.trace_id


async def main() -> None:
    # Each run is told when it has ended; a process that is killed does not take back what the system was given.
    with open("ended.log", "a") as log:
        for n in range(100_000):
            trace_id = await dish(n)
            print(trace_id, os.getpid(), time.time(), file=log, flush=True)
            await asyncio.sleep(0.005)


ai.run_main(main())
"""

LOSS_SECONDS = 0.2
"""What ended longer before a kill than this is on disk."""


def until(condition: Callable[[], object], what: object = "") -> None:
    """Wait for long: `make soak` has patience, and a machine may be busy."""
    until_within(condition, what, seconds=300)


class Kitchen:
    """An app that runs flows by itself, under `flowkit start`."""

    def __init__(self, project: Project, seed: int) -> None:
        self.project = project
        self.numbers = random.Random(seed)
        self.started: Started | None = None
        self.checked: set[str] = set()
        self.killed_at: dict[int, float] = {}
        self.changes = 0
        self.path = project.folder / ".flowkit" / "traces.db"
        project.write("app.py", APP)

    def running(self) -> Started:
        """It, started again when it was killed."""
        if self.started is None or self.started.process.poll() is not None:
            self.started = self.project.start("--", "python", "app.py")
        return self.started

    def wait(self) -> None:
        """Until a moment to kill at: while it starts, or when it has been running for a while."""
        if self.numbers.random() < 0.25:
            time.sleep(self.numbers.uniform(0, 0.2))
            return
        started = self.running()
        enough = len(self.ended()) + self.numbers.randint(20, 300)

        def ran() -> bool:
            assert started.process.poll() is None, f"it ended with {started.process.returncode}: {started.err}"
            return len(self.ended()) > enough

        until(ran, lambda: started.err)

    def ended(self) -> list[tuple[str, int, float]]:
        """Runs that have ended, in which process, and when."""
        log = self.project.folder / "ended.log"
        lines = log.read_text().splitlines(keepends=True) if log.exists() else []
        words = [line.split() for line in lines if line.endswith("\n")]
        return [(trace_id, int(pid), float(at)) for trace_id, pid, at in words]

    def kill(self) -> None:
        """Kill the app, the parent, or both."""
        started = self.running()
        family = _family(started.process.pid)
        apps = [pid for pid in family if "guardian" not in _command(pid) and "app.py" in _command(pid)]
        what = self.numbers.choice(["app", "parent", "both"] if apps else ["parent"])
        self.killed_at |= dict.fromkeys(apps, time.time())
        for pid in apps if what != "parent" else []:
            _kill(pid)
        if what == "app":
            until(lambda: not any(map(is_alive, apps)), apps)
            until(lambda: self._goes_on(started, apps), lambda: started.err)
            return
        started.process.kill()
        started.process.wait()
        until(lambda: not any(map(is_alive, family)), lambda: [_command(pid) for pid in family if is_alive(pid)])

    def _goes_on(self, started: Started, killed: list[int]) -> bool:
        """One that was running is started again by itself, one that was starting waits for a change."""
        status = started.status
        if status["state"] == "failed" and status.get("retrySeconds") is None:
            self.changes += 1
            self.project.write("app.py", APP + "\n" * self.changes)
        return status["state"] == "running" and status["pid"] not in killed

    def check(self, margin_seconds: float) -> None:
        """Whatever ended in time is there, whole; and the file is sound."""
        store = TraceStore(self.path)
        try:
            for trace_id, pid, at in self.ended():
                early = self.killed_at.get(pid, 0.0) - at
                if early > margin_seconds and trace_id not in self.checked:
                    summary = store.get(trace_id).summary
                    assert (summary.status, summary.spans) == ("success", 2), f"{early:.3f} seconds before"
                    self.checked.add(trace_id)
            if self.path.exists():
                assert store.list(limit=1000, internal=True).skipped == 0
        finally:
            store.close()
        if self.path.exists():
            connection = sqlite3.connect(self.path)
            assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
            connection.close()


def _family(parent: int) -> list[int]:
    """The processes that descend from one."""
    parents: dict[int, int] = {}
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = [parent]
    for pid in found:
        found += [child for child, its in parents.items() if its == pid]
    return found[1:]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def killed_again_and_again(project: Project, *, times: int, seed: int, margin_seconds: float) -> None:
    kitchen = Kitchen(project, seed)
    for _ in range(times):
        kitchen.running()
        kitchen.wait()
        kitchen.kill()
        kitchen.check(margin_seconds)
    assert kitchen.checked, "it has run"
    last = kitchen.running()
    before = len(kitchen.ended())
    until(lambda: len(kitchen.ended()) > before, lambda: last.err)
    last.wait_for("running")
    assert len(project.runtimes) == 1, "what killed apps have left is cleared away"
    assert last.stop() == 0
    assert project.runtimes == []


def test_five_kills_lose_nothing(project: Project):
    killed_again_and_again(project, times=5, seed=4, margin_seconds=LOSS_SECONDS)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2))
def test_fifty_kills_lose_nothing(project: Project, seed: int):
    killed_again_and_again(project, times=25, seed=seed, margin_seconds=LOSS_SECONDS)
