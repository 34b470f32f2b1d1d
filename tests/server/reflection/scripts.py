"""Programs with an app in them, run as a developer runs them, in processes of their own.

with Script(tmp_path, "app.py", SOURCE) as script: script.run("hello")
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from tests.support.modules import ROOT

OFFLINE = ROOT / "tests" / "support" / "offline"

FLOWS = """
import asyncio, os, threading
from flowkit import Flowkit

ai = Flowkit()

@ai.flow()
async def where() -> dict:
    return {"pid": os.getpid(), "thread": threading.current_thread().name, "loop": id(asyncio.get_running_loop())}

@ai.flow()
async def shout(text: str) -> str:
    return await asyncio.to_thread(str.upper, text)
"""


def free_port() -> str:
    """A port that was free a moment ago."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def environment(**more: str) -> dict[str, str]:
    """A developer's shell in dev mode, without network."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("FLOWKIT_", "GENKIT_", "PYTEST_"))
    }
    path = os.pathsep.join([str(OFFLINE), str(ROOT)])
    return {**kept, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "GENKIT_ENV": "dev", **more}


class Script:
    """A program, started in its project folder. Its output is in `out` after `wait`."""

    def __init__(self, folder: Path, source: str, *arguments: str, env: dict[str, str] | None = None) -> None:
        (folder / "pyproject.toml").touch()
        (folder / "app.py").write_text(source, encoding="utf-8")
        self.folder = folder
        self.out = ""
        self.port = (env or {}).get("PORT", "")
        self.process = subprocess.Popen(
            [sys.executable, *(arguments or ("app.py",))],
            cwd=folder,
            env=env or environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.communicate()

    @property
    def files(self) -> list[Path]:
        """The runtime files of the project."""
        return sorted((self.folder / ".genkit" / "runtimes").glob("*.json"))

    def abouts(self, count: int = 1) -> list[dict[str, Any]]:
        """What the runtime files say, as soon as there are so many."""
        until = time.monotonic() + 20
        while len(self.files) < count:
            if self.process.poll() is not None:
                raise AssertionError(f"it ended with {self.process.returncode}:\n{self.process.communicate()[0]}")
            assert time.monotonic() < until, "it is not served within 20 seconds"
            time.sleep(0.02)
        return [json.loads(file.read_text()) for file in self.files]

    def request(self, path: str, about: dict[str, Any] | None = None, **body: Any) -> httpx.Response:
        url = (about or self.abouts()[0])["reflectionServerUrl"] + path
        with httpx.Client(trust_env=False, timeout=20) as client:
            return client.post(url, json=body) if body else client.get(url)

    def run(self, flow: str, *input: Any, about: dict[str, Any] | None = None) -> Any:
        """The result of a flow, asked for as a tool does."""
        body = {"key": f"/flow/{flow}", **({"input": input[0]} if input else {})}
        answer = self.request("/api/runAction", about, **body)
        assert answer.status_code == 200, answer.text
        return answer.json().get("result", answer.json().get("error"))

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal; the exit code, negative when the signal itself ended it."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self, seconds: float = 20) -> int:
        self.out, _ = self.process.communicate(timeout=seconds)
        return self.process.returncode
