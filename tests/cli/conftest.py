"""A project in a folder of its own, and the command in it.

def test_a_flow_runs(project): assert project.run("flow:run", "echo", "soup").out == "soup\\n"
"""

import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from flowkit.cli.main import main
from tests.support.modules import ROOT, plugin_packages

OFFLINE = ROOT / "tests" / "support" / "offline"

APP = '''
"""The app of the tests."""
import asyncio
from pathlib import Path

from pydantic import BaseModel

from flowkit import Flowkit, RunContext

ai = Flowkit()


@ai.flow("indexMenu")
async def index_menu(path: Path) -> str:
    """Index a menu."""
    return path.as_posix()


@ai.flow
async def echo(value):
    return value


@ai.flow
async def say(text: str) -> str:
    return text


@ai.flow
async def count(*, n: int) -> int:
    return n


@ai.flow
async def hello() -> str:
    return "hello"


@ai.flow
async def soup(menu: dict[str, int] = {}) -> int:
    return menu["soup"]


@ai.flow
async def words(text: str):
    for word in text.split(" "):
        yield word + " "


@ai.flow
async def who(ctx: RunContext) -> str:
    return ctx.auth["uid"]
'''


@dataclass(frozen=True)
class Run:
    """What a command did: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    def __post_init__(self) -> None:
        assert self.code in (1, 130, 143) or "Traceback" not in self.err, self.err


class Project:
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        self._capfd = capfd
        self._started: list[subprocess.Popen[str]] = []

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def run(self, *arguments: str, stdin: str | bytes = b"") -> Run:
        """The command in this process."""
        patch = self._monkeypatch
        patch.chdir(self.folder)
        patch.setattr(sys, "path", [*sys.path])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode() if isinstance(stdin, str) else stdin)))
        for name, value in (("FLOWKIT_ENV", "dev"), ("FLOWKIT_TRACES", "1"), ("FLOWKIT_SERVED_BY", "")):
            patch.setenv(name, value)
        self._capfd.readouterr()
        before = set(sys.modules)
        code = main(list(arguments))
        for name in set(sys.modules) - before:
            module = sys.modules[name]
            if str(self.folder) in f"{getattr(module, '__file__', '')}{getattr(module, '__path__', '')}":
                del sys.modules[name]
        return Run(code, *self._capfd.readouterr())

    def start(
        self, *arguments: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> "subprocess.Popen[str]":
        """The command as a process of its own, with pipes in text mode."""
        path = [str(OFFLINE), str(ROOT), *(str(package.parent) for package in plugin_packages())]
        given = {**os.environ, "PYTHONPATH": os.pathsep.join(path), **(env or {})}
        process = subprocess.Popen(
            [sys.executable, "-m", "flowkit", *arguments],
            cwd=cwd or self.folder,
            env=given,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._started.append(process)
        return process

    def stop(self) -> None:
        """End what a failed test has left running."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
            process.wait()

    def process(self, *arguments: str, stdin: str = "", env: Mapping[str, str] | None = None) -> Run:
        """The command as a process of its own, to its end."""
        process = self.start(*arguments, env=env)
        out, err = process.communicate(stdin, timeout=60)
        return Run(process.returncode, out, err)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Project]:
    made = Project(tmp_path, monkeypatch, capfd)
    made.write("pyproject.toml", '[project]\nname = "menu"\n')
    made.write("app.py", APP)
    yield made
    made.stop()
