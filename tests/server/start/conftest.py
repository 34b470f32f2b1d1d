"""`flowkit start` and `flowkit serve` as a developer runs them: processes in a project folder, with their terminal.

def test_it_runs(project): assert project.start().wait_for("running")["restarts"] == 0
"""

import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.server.raw import Answer, ask, request
from tests.support.modules import ROOT, plugin_packages

OFFLINE = ROOT / "tests" / "support" / "offline"
SECONDS = 90.0  # a machine that is busy with other tests is slow

APP = """
import asyncio
import os

from flowkit import Flowkit

ai = Flowkit()


@ai.flow
async def hello(name: str) -> str:
    return f"hello {name}"


@ai.flow
async def where() -> int:
    return os.getpid()


@ai.flow
async def boom(n: int) -> str:
    raise ValueError("kaboom")


@ai.flow
async def forever() -> str:
    open("started", "w").close()
    try:
        await asyncio.sleep(100)
    finally:
        open("cancelled", "w").close()


@ai.flow
async def words(n: int):
    for i in range(n):
        yield f"word{i} "
        await asyncio.sleep(0.01)
"""


LOUD = """
import sys

print("to stdout")
print("to stderr", file=sys.stderr)
ai.flow("env")(lambda: dict(os.environ))
"""


def until(condition: Callable[[], object], what: object = "", seconds: float = SECONDS) -> Any:
    """Wait until something is so; gives what the condition gave."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"it does not come true: {what() if callable(what) else what}"
        time.sleep(0.05)
    return found


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    return port


def is_alive(pid: int) -> bool:
    """Zombies do not count."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def http(method: str, url: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
    """One request. A client library would take longer to set up than the rest of a test."""
    parts = urlsplit(url)
    sent = None if body is None else json.dumps(body).encode()
    more = {} if sent is None else {"Content-Type": "application/json"}
    return ask(
        parts.port or 80, request(method, parts.path, host=parts.netloc, body=sent, headers={**more, **(headers or {})})
    )


def _end_with_the_tests() -> None:
    """A run of the tests that is killed leaves nothing behind."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGTERM)


class Process:
    """A command of flowkit. `out` and `err` have what it has written so far."""

    def __init__(self, folder: Path, *arguments: str, env: dict[str, str]) -> None:
        self.folder = folder
        name = f".{time.monotonic_ns()}"
        self._out, self._err = folder / f"{name}.out", folder / f"{name}.err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "flowkit", *arguments],
                cwd=folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                preexec_fn=_end_with_the_tests if sys.platform == "linux" else None,
            )

    @property
    def out(self) -> str:
        return self._out.read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        return self._err.read_text(encoding="utf-8")

    def send(self, number: int = signal.SIGINT) -> None:
        self.process.send_signal(number)

    def stop(self, number: int = signal.SIGINT, seconds: float = SECONDS) -> int:
        self.send(number)
        return self.process.wait(seconds)

    def until_says(self, text: str) -> None:
        def said() -> bool:
            assert text in self.err or self.process.poll() is None, f"it ended: {self.err}"
            return text in self.err

        until(said, lambda: f"{text!r} in {self.err}")


class Started(Process):
    """`flowkit start`."""

    token: str | None = None

    @property
    def url(self) -> str:
        """The address, when it is shown."""

        def shown() -> "re.Match[str] | None":
            assert self.process.poll() is None, f"it ended with {self.process.returncode}: {self.err}"
            return re.search(r"(http://[^\s#/]+)\S*   Ctrl-C ends it", self.err)

        found: str = until(shown, lambda: self.err)[1]
        return found.replace("0.0.0.0", "127.0.0.1")

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        return http("GET", self.url + path, headers=headers)

    @property
    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.get("/api/status", {"X-Flowkit-Token": self.token or ""}).json
        return found

    def wait_for(self, state: str, restarts: int | None = None) -> dict[str, Any]:
        """The status, when the app is in that state (after so many restarts, or more)."""

        def there() -> dict[str, Any] | None:
            status = self.status
            return status if status["state"] == state and status["restarts"] >= (restarts or 0) else None

        found: dict[str, Any] = until(there, lambda: f"{state}: {self.status} {self.err}")
        return found

    def run(self, flow: str, *input: Any) -> Any:
        """The result of a flow, asked as tools ask."""
        body = {"key": f"/flow/{flow}", **({"input": input[0]} if input else {})}
        url = self.wait_for("running")["runtime"]["url"]
        answer = http("POST", f"{url}/api/runAction", body)
        assert answer.status == 200, answer.body
        return answer.json.get("result")

    def processes(self) -> list[int]:
        """The app's processes and their guardian."""
        pid = self.status["pid"]
        session = os.getsid(pid)
        return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal() and _sid(each) == session]


def _sid(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[3])
    except OSError:
        return 0


class Project:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._processes: list[Process] = []
        self.write("pyproject.toml", "")

    @property
    def env(self) -> dict[str, str]:
        dropped = ("FLOWKIT_", "GENKIT_", "PYTEST_", "OTEL_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        path = [OFFLINE, ROOT, *(package.parent for package in plugin_packages())]
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return {**kept, "PATH": programs, "PYTHONPATH": os.pathsep.join(map(str, path)), "CI": "1"}

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def start(self, *arguments: str, env: dict[str, str] | None = None) -> Started:
        started = Started(self.folder, "start", "-n", *arguments, env={**self.env, **(env or {})})
        self._processes.append(started)
        return started

    def serve(self, *arguments: str, env: dict[str, str] | None = None) -> Process:
        served = Process(self.folder, "serve", *arguments, env={**self.env, **(env or {})})
        self._processes.append(served)
        return served

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """A command of flowkit to its end."""
        return subprocess.run(
            [sys.executable, "-m", "flowkit", *arguments],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    @property
    def runtimes(self) -> list[Path]:
        return sorted((self.folder / ".genkit" / "runtimes").glob("*.json"))

    def about(self) -> Any:
        return json.loads(self.runtimes[-1].read_text())

    def end(self) -> None:
        for process in self._processes:
            if process.process.poll() is None:
                process.send(signal.SIGTERM)
        for process in self._processes:
            try:
                process.process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.process.pid, signal.SIGKILL)
                process.process.wait()


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Project]:
    """A project without an app."""
    project = Project(tmp_path)
    yield project
    project.end()


@pytest.fixture
def project(empty: Project) -> Project:
    empty.write("app.py", APP)
    return empty


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, Started]]:
    """A project whose app runs, for tests that leave it as it is."""
    project = Project(tmp_path_factory.mktemp("shared"))
    project.write("app.py", APP + LOUD)
    yield project, project.start(env={"GENKIT_RUNTIME_ID": "x", "GENKIT_REFLECTION_V2_SERVER": "ws://127.0.0.1:1"})
    project.end()
