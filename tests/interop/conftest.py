"""Genkit's own command line and client, from npm, and an app of ours that they drive.

def test_a_flow(project, genkit): assert "hello x" in genkit("flow:run", "hello", '"x"', "--", *project.command)
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.modules import ROOT
from tests.support.npm import installed

HERE = Path(__file__).parent
OFFLINE = ROOT / "tests" / "support" / "offline"
REASON = "Genkit's command line comes from npm"

Genkit = Callable[..., str]

APP = '''
import asyncio

from flowkit import Document, EvalCase, Flowkit, GenerateRequest, RunContext, Score

ai = Flowkit(model="fake/echo")


@ai.model("fake/echo")
async def echo(request: GenerateRequest):
    yield "echo: "
    yield request.messages[-1].text


@ai.retriever("menu")
async def menu(query: str, *, k: int = 3):
    return [Document.from_text("vegan soup", {"price": 7}), Document.from_text("日本 salad")][:k]


@ai.tool()
async def weather(city: str) -> str:
    """The weather of today."""
    return f"sunny in {city}"


@ai.evaluator("short", display_name="Short", definition="at most ten characters")
async def short(case: EvalCase) -> Score:
    return Score(score=len(str(case.output)) <= 10)


@ai.flow()
async def hello(name: str) -> str:
    """Say hello."""
    return f"hello {name}"


@ai.flow()
async def who(ctx: RunContext) -> str:
    return ctx.auth["uid"]


@ai.flow()
async def count(n: int):
    for i in range(n):
        yield {"i": i, "text": "日本語のスープ" * 100}


@ai.flow()
async def boom(x: int) -> str:
    raise ValueError("kaboom")


@ai.flow()
async def ask(question: str) -> str:
    docs = await ai.retrieve("menu", question, k=2)
    await ai.generate(question, docs=docs)
    return "soup"


@ai.flow()
async def forever() -> None:
    try:
        await asyncio.sleep(100)
    finally:
        print("forever has ended", flush=True)


@ai.flow()
def big(size: int) -> str:
    return "é" * size
'''


@pytest.fixture(scope="session")
def packages() -> Path:
    """The folder in which they are installed."""
    return installed(HERE, REASON)


@pytest.fixture(scope="session")
def cli(packages: Path) -> Path:
    """The command line."""
    return packages / "node_modules" / "genkit-cli" / "dist" / "bin" / "genkit.js"


class Project:
    """A folder with the app in it, and a developer's shell there."""

    command = (sys.executable, "app.py")

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.home = folder / "home"
        self.folder.mkdir()
        (self.folder / "pyproject.toml").write_text('[project]\nname = "bistro"\nversion = "1"\n')
        (self.folder / "app.py").write_text(APP, encoding="utf-8")
        # Genkit's command line tells nobody of these runs.
        settings = self.home / ".config" / "configstore" / "@genkit-ai" / "tools-common.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps({"userSettings": {"analyticsOptOut": True, "updateNotificationsOptOut": True}}))

    @property
    def env(self) -> dict[str, str]:
        dropped = ("FLOWKIT_", "GENKIT_", "PYTEST_", "XDG_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        return {
            **kept,
            "HOME": str(self.home),
            "PYTHONPATH": os.pathsep.join([str(OFFLINE), str(ROOT)]),
            "GENKIT_CLI_DISABLE_UPDATE_NOTIFICATIONS": "true",
            "NO_COLOR": "1",
        }

    def write(self, name: str, value: object) -> str:
        (self.folder / name).write_text(json.dumps(value), encoding="utf-8")
        return name

    def start(self, *command: str, dev: bool = False) -> "subprocess.Popen[str]":
        """A process of the project; `end` ends it and its children."""
        with (self.folder / "out.txt").open("w") as out:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env={**self.env, **({"GENKIT_ENV": "dev"} if dev else {})},
                stdout=out,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )

    def end(self, process: "subprocess.Popen[str]") -> None:
        try:
            os.killpg(process.pid, signal.SIGTERM)
        except ProcessLookupError:
            return
        try:
            process.wait(10)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    @property
    def out(self) -> str:
        return (self.folder / "out.txt").read_text(encoding="utf-8")

    def traces(self) -> list[Path]:
        """Genkit's own trace files, newest last."""
        return sorted(self.folder.glob(".genkit/traces/*"), key=lambda path: path.stat().st_mtime_ns)

    def wait_for_runtime(self) -> None:
        until = time.monotonic() + 30
        while not list(self.folder.glob(".genkit/runtimes/*.json")):
            assert time.monotonic() < until, f"the app is not there: {self.out}"
            time.sleep(0.05)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("interop"))


@pytest.fixture(scope="module")
def genkit(cli: Path, project: Project) -> Genkit:
    """Runs a command of Genkit in the project and gives what it prints. It exits with 0 even when a flow fails."""

    def run(*arguments: str, seconds: float = 60) -> str:
        ran = subprocess.run(
            ["node", str(cli), "--non-interactive", *arguments],
            cwd=project.folder,
            env=project.env,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr

    return run


@pytest.fixture(scope="module")
def running(project: Project, cli: Path) -> Iterator[Project]:
    """The app runs already, as a developer has started it."""
    process = project.start(*project.command, dev=True)
    try:
        project.wait_for_runtime()
        yield project
    finally:
        project.end(process)
    assert not list(project.folder.glob(".genkit/runtimes/*.json")), "it leaves no file behind"
