"""`flowkit flow:run` in the app that runs already: answers, errors and exit codes as in a process of its own."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from flowkit.cli.main import main
from tests.server.start.conftest import APP, Project, until

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
]

MORE = """
from flowkit import FlowkitError, GenerateResponseChunk, RunContext
from flowkit.schema.parts import TextPart


@ai.flow
async def who(ctx: RunContext) -> str:
    return ctx.auth["uid"]


@ai.flow
async def refuse() -> None:
    raise FlowkitError("no way", hint="ask Ada", status="PERMISSION_DENIED")


@ai.flow
async def order(*, n: int) -> int:
    return n


@ai.flow
async def picky(n: int) -> int:
    return await order("soup")


@ai.flow
async def speak():
    for word in ("vegan ", "soup"):
        yield GenerateResponseChunk(role="model", index=0, content=[TextPart(text=word)])
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The app of a project, running."""
    project = Project(tmp_path_factory.mktemp("running"))
    project.write("app.py", APP + MORE)
    started = project.start()
    started.wait_for("running")
    yield project
    project.end()


@dataclass(frozen=True)
class Ran:
    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Ran]


@pytest.fixture
def command(app: Project, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """A command in the project's folder, in this process: the flow runs elsewhere."""
    monkeypatch.chdir(app.folder)

    def run(*arguments: str) -> Ran:
        capfd.readouterr()
        return Ran(main(list(arguments)), *capfd.readouterr())

    return run


def test_a_flow_runs_in_the_running_app(app: Project, command: Command):
    here = command("flow:run", "where")

    assert here.returncode == 0
    assert int(here.stdout) == app.about()["pid"]
    assert f"in the running app (process {app.about()['pid']})" in here.stderr
    assert "Trace ID: " in here.stderr
    trace = here.stderr.split("Trace ID: ")[1].strip()
    assert "where" in command("trace:get", trace).stdout


def test_it_can_be_told_not_to(app: Project):
    for arguments in (("--in-process",), ("--app", "app.py")):
        ran = app.run("flow:run", "where", *arguments)
        assert ran.returncode == 0
        assert int(ran.stdout) != app.about()["pid"]
        assert "running app" not in ran.stderr


def test_inputs_context_and_results_are_the_same(app: Project, command: Command):
    assert command("flow:run", "hello", "Ada").stdout == "hello Ada\n"
    assert command("flow:run", "who", "-c", '{"auth": {"uid": "ada"}}').stdout == "ada\n"
    assert command("flow:run", "/flow/words", "3", "--stream").stdout == "word0 word1 word2 \n"
    assert command("flow:run", "speak", "-s").stdout.startswith("vegan soup\n")

    ran = command("flow:run", "order", '{"n": 0}', "--output", "out.json")
    assert (ran.returncode, ran.stdout) == (0, "0\n")
    assert (app.folder / "out.json").read_text() == "0\n"


def test_errors_are_told_in_the_users_lines(app: Project, command: Command):
    line = APP.splitlines().index('    raise ValueError("kaboom")') + 1
    ran = command("flow:run", "boom", "1")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert f"Error: kaboom (app.py:{line})" in ran.stderr
    assert "ValueError: kaboom" in command("flow:run", "boom", "1", "-v").stderr

    refused = command("flow:run", "refuse")
    assert refused.returncode == 1
    assert "Error: no way" in refused.stderr
    assert "ask Ada" in refused.stderr


def test_a_bad_input_is_the_callers_and_a_bad_call_is_the_flows(app: Project, command: Command):
    bad = command("flow:run", "order", '{"n": "x"}')
    assert (bad.returncode, "n" in bad.stderr) == (2, True)
    missing = command("flow:run", "hello")
    assert missing.returncode == 2
    assert "for instance: flowkit flow:run hello" in missing.stderr
    unknown = command("flow:run", "helo")
    assert (unknown.returncode, "did you mean hello?" in unknown.stderr) == (2, True)

    assert command("flow:run", "picky", "1").returncode == 1


def test_ctrl_c_cancels_it_in_the_app(app: Project):
    for name in ("started", "cancelled"):
        (app.folder / name).unlink(missing_ok=True)
    running = subprocess.Popen(
        [sys.executable, "-m", "flowkit", "flow:run", "forever"],
        cwd=app.folder,
        env=app.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until(lambda: (app.folder / "started").exists())
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=30)

    assert running.returncode == 130
    assert "interrupted" in err
    until(lambda: (app.folder / "cancelled").exists())


def test_a_file_of_an_app_that_is_gone_leads_nowhere(project: Project):
    for url in ("http://127.0.0.1:1", "http://evil.example:80"):
        dead = f'{{"id":"1","pid":1,"reflectionServerUrl":"{url}","timestamp":"2026-01-01T00:00:00Z"}}'
        project.write(".genkit/runtimes/dead.json", dead)
        ran = project.run("flow:run", "hello", "Ada")
        assert (ran.returncode, ran.stdout) == (0, "hello Ada\n")
        assert "running app" not in ran.stderr
    assert [file.name for file in project.runtimes] == ["dead.json"]
