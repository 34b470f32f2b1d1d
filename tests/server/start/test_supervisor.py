"""The supervisor alone: crash loops, programs that never show themselves, what the screen says of it all."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from flowkit.cli.start_screen import Screen
from flowkit.server.start import supervise
from flowkit.server.start.supervise import Status, Supervisor

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform == "win32", reason="processes of POSIX"),
]

# An app in a few lines: its runtime file, then its life.
APP = """
import json, os, pathlib, sys, time
folder = pathlib.Path(".genkit/runtimes")
folder.mkdir(parents=True, exist_ok=True)
about = {"id": str(os.getpid()), "pid": os.getpid(), "reflectionServerUrl": "http://127.0.0.1:1", "timestamp": "2026"}
(folder / f"{os.getpid()}.json").write_text(json.dumps(about))
"""

Start = Callable[..., tuple[Supervisor, list[Status]]]


@pytest.fixture
async def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Start]:
    for name, seconds in (("_FIRST_WAIT_SECONDS", 0.05), ("_STOOD_SECONDS", 0.1)):
        monkeypatch.setattr(supervise, name, seconds)
    running: list[tuple[Supervisor, asyncio.Task[None]]] = []

    def begin(source: str) -> tuple[Supervisor, list[Status]]:
        (tmp_path / "app.py").write_text(source)
        command = [sys.executable, "app.py"]
        supervisor = Supervisor(command, root=tmp_path, cwd=tmp_path, env=dict(os.environ))
        seen: list[Status] = []
        supervisor.subscribe(seen.append)
        running.append((supervisor, asyncio.create_task(supervisor.run())))
        return supervisor, seen

    yield begin
    for supervisor, task in running:
        supervisor.stop()
        await asyncio.wait_for(task, 20)
    assert list(tmp_path.glob(".genkit/runtimes/*.json")) == []


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(90):
        while not condition():
            await asyncio.sleep(0.02)


async def test_an_app_that_dies_again_and_again_is_started_after_longer_and_longer_waits(start: Start):
    supervisor, seen = start(APP + "time.sleep(0.3); sys.exit('out of luck')")
    await until(lambda: len([status for status in seen if status.state == "failed"]) >= 3)

    waits = [status.retry_seconds for status in seen if status.state == "failed"][:3]
    assert waits == [0.05, 0.1, 0.2]
    assert supervisor.status.error is None or supervisor.status.error.message == "out of luck"


async def test_an_app_that_never_stood_waits_for_a_change(start: Start):
    supervisor, _ = start("import sys; sys.exit(5)")
    await until(lambda: supervisor.status.state == "failed")
    assert supervisor.status.retry_seconds is None
    await asyncio.sleep(0.2)
    assert supervisor.status.restarts == 0

    supervisor.restart()
    await until(lambda: supervisor.status.state == "failed" and supervisor.status.restarts == 1)


async def test_a_program_that_does_not_show_itself_is_noticed(start: Start, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(supervise, "_SILENT_SECONDS", 0.1)
    supervisor, _ = start("import time; time.sleep(100)")
    await until(lambda: supervisor.status.silent)
    assert supervisor.status.state == "starting"


async def test_other_programs_of_the_project_are_not_taken_for_the_app(start: Start, tmp_path: Path):
    (tmp_path / ".genkit" / "runtimes").mkdir(parents=True)
    other = {"id": "x", "pid": os.getpid(), "reflectionServerUrl": "http://127.0.0.1:1", "timestamp": "2099"}
    (tmp_path / ".genkit" / "runtimes" / "other.json").write_text(json.dumps(other))
    supervisor, _ = start(APP + "time.sleep(100)")

    await until(lambda: supervisor.status.state == "running")
    assert supervisor.status.runtime is not None
    assert supervisor.status.runtime.pid == supervisor.status.pid != os.getpid()
    (tmp_path / ".genkit" / "runtimes" / "other.json").unlink()


async def test_the_screen_says_each_thing_once(start: Start, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    opened: list[str] = []
    screen = Screen("http://127.0.0.1:4100", "app.py", open_browser=opened.append)
    supervisor, _ = start(APP + "time.sleep(100)")
    supervisor.subscribe(screen.show)
    screen.ready()
    await until(lambda: supervisor.status.state == "running")
    screen.tee(b"half a line")
    (tmp_path / "app.py").write_text("x = y")
    supervisor.restart([tmp_path / name for name in ("app.py", "b.py", "c.py", "d.py")])
    await until(lambda: supervisor.status.state == "failed")
    screen.tee(b"whole line\n")
    screen.note("careful")

    lines = capfd.readouterr().err.splitlines()
    assert lines[0].startswith("✓ app.py ready in ")
    assert lines[1:] == [
        "  http://127.0.0.1:4100   Ctrl-C ends it",
        "half a line",
        "↻ app.py, b.py and 2 more changed",
        "✗ failed at app.py:1; waiting for a change",
        "whole line",
        "! careful",
    ]
    assert opened == ["http://127.0.0.1:4100"]
