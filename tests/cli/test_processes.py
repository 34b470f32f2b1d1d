"""The command as a process: pipes, signals, encodings, and two of them at once."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Project

pytestmark = pytest.mark.heavy

SLOW = """
import asyncio, sys, time
from flowkit import Flowkit
ai = Flowkit()

@ai.flow
async def wait() -> str:
    print("started", flush=True)
    try:
        await asyncio.sleep(60)
    finally:
        print("cleaned up", flush=True)
    return "never"

@ai.flow
def block() -> str:
    print("started", flush=True)
    time.sleep(60)
    return "never"

@ai.flow
async def stubborn() -> str:
    print("started", flush=True)
    time.sleep(60)
    return "never"

@ai.flow
async def worker() -> str:
    print("started", flush=True)
    await asyncio.to_thread(time.sleep, 60)
    return "never"

@ai.flow
async def tell():
    try:
        for number in range(1000):
            yield f"line {number}\\n"
            await asyncio.sleep(0.01)
    finally:
        print("stopped telling", flush=True)
"""


def test_what_the_app_prints_goes_to_stderr(project: Project):
    project.write(
        "app.py",
        """
import os, subprocess
from flowkit import Flowkit
print("imported")
ai = Flowkit()

@ai.flow
def talk() -> str:
    print("talking")
    os.write(1, b"to the descriptor\\n")
    subprocess.run(["echo", "from a subprocess"], check=True)
    return "result"
""",
    )
    run = project.process("flow:run", "talk")

    assert run.out == "result\n"
    for said in ("imported", "talking", "to the descriptor", "from a subprocess"):
        assert said in run.err


@pytest.mark.parametrize("flow", ["wait", "block", "worker"])
def test_ctrl_c_cancels_the_flow(project: Project, flow: str):
    project.write("app.py", SLOW)
    process = project.start("flow:run", flow)
    assert process.stderr is not None
    assert process.stderr.readline() == "started\n"

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)

    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert "interrupted" in err
    assert ("cleaned up" in err) == (flow == "wait")


def test_a_second_ctrl_c_ends_a_flow_that_blocks_its_loop(project: Project):
    project.write("app.py", SLOW)
    process = project.start("flow:run", "stubborn")
    assert process.stderr is not None
    assert process.stderr.readline() == "started\n"

    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == "still stopping; Ctrl-C again ends it at once\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)

    assert (process.returncode, out, err) == (130, "", "")


def test_sigterm_cancels_the_flow(project: Project):
    project.write("app.py", SLOW)
    process = project.start("flow:run", "wait")
    assert process.stderr is not None
    assert process.stderr.readline() == "started\n"

    process.terminate()
    _, err = process.communicate(timeout=20)

    assert process.returncode == 143
    assert "cleaned up" in err


def test_a_reader_that_leaves_stops_the_stream(project: Project):
    project.write("app.py", SLOW)
    process = project.start("flow:run", "tell", "--stream")
    assert process.stdout is not None
    assert process.stdout.readline() == "line 0\n"

    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=20)

    assert process.returncode == 130
    assert "stopped telling" in err
    assert "Broken" not in err


def test_a_reader_that_has_left_does_not_fail_the_run(project: Project):
    process = project.start("flow:run", "echo", "-", "--output", "out.json")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None

    _, err = process.communicate(json.dumps("x" * 500_000), timeout=60)

    assert process.returncode == 0
    assert "Broken" not in err
    assert json.loads((project.folder / "out.json").read_text()) == "x" * 500_000


def test_a_batch_stops_when_nobody_reads_its_rows(project: Project):
    project.write("in.jsonl", '"a"\n' * 50)
    process = project.start("flow:batchRun", "echo", "in.jsonl")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None

    _, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert err.startswith("stopped after ")
    assert "Broken" not in err


def test_a_report_of_an_indexing_may_be_cut_off(project: Project):
    project.write("docs/menu.md", "# Menu\n\nTomato soup.\n")
    process = project.start("rag:index", "docs")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None

    _, err = process.communicate(timeout=120)

    assert process.returncode == 0
    assert "ReaderLeft" not in err
    assert "Broken" not in err


def test_lists_may_be_cut_off(project: Project):
    process = project.start("flow:list", "--json")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None

    _, err = process.communicate(timeout=60)

    assert (process.returncode, err) == (0, "")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_pipes_are_utf_8_in_any_locale(project: Project, encoding: str):
    run = project.process("flow:run", "echo", '{"gericht": "Käse 以上 😀"}', env={"PYTHONIOENCODING": encoding})

    assert json.loads(run.out) == {"gericht": "Käse 以上 😀"}
    assert "以上" in run.out


def test_chunks_come_at_once(project: Project):
    project.write(
        "app.py",
        """
import asyncio
from flowkit import Flowkit
ai = Flowkit()

@ai.flow
async def tell():
    yield "first"
    await asyncio.Event().wait()
""",
    )
    process = project.start("flow:run", "tell", "-s")
    assert process.stdout is not None

    assert process.stdout.read(5) == "first"

    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, "\n")


def test_two_processes_run_at_once(project: Project):
    processes = [project.start("flow:run", "say", f"text {number}") for number in range(2)]

    outcomes = [process.communicate(timeout=60)[0] for process in processes]

    assert outcomes == ["text 0\n", "text 1\n"]
    assert [process.returncode for process in processes] == [0, 0]


def test_stdin_is_left_alone_when_it_is_not_asked_for(project: Project):
    process = project.start("flow:run", "say", "text")
    assert process.stdout is not None

    assert process.stdout.read() == "text\n"

    process.communicate(timeout=20)
    assert process.returncode == 0


def test_a_process_that_the_flow_starts_gets_the_same_stderr(project: Project):
    """And the flow's own threads may print while the result is written."""
    project.write(
        "app.py",
        """
import threading
from flowkit import Flowkit
ai = Flowkit()

@ai.flow
def talk() -> str:
    threads = [threading.Thread(target=print, args=("noise",)) for _ in range(20)]
    for thread in threads:
        thread.start()
    return "result"
""",
    )
    run = project.process("flow:run", "talk")

    assert run.out == "result\n"
    assert run.err.count("noise") == 20


def test_the_command_serves_nobody(project: Project):
    """Nor does a program that the flow starts: it ends when it ends."""
    project.write(
        "app.py",
        """
import subprocess, sys
from pathlib import Path
from flowkit import Flowkit
ai = Flowkit()

@ai.flow
def start() -> list[str]:
    subprocess.run([sys.executable, __file__], check=True, timeout=30)
    return [path.name for path in Path(".genkit").rglob("*.json")]
""",
    )
    run = project.process("flow:run", "start")

    assert (run.code, run.out) == (0, "[]\n")


def test_ctrl_c_while_the_app_is_imported_is_quiet(project: Project):
    project.write("app.py", "import sys, time, flowkit\nprint('importing', flush=True)\ntime.sleep(60)\n")
    process = project.start("flow:run", "hello")
    assert process.stderr is not None
    assert process.stderr.readline() == "importing\n"

    process.send_signal(signal.SIGINT)

    assert process.communicate(timeout=20) == ("", "\ninterrupted\n")
    assert process.returncode == 130


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_a_full_disk_does_not_swallow_the_result(project: Project):
    run = project.run("flow:run", "say", "text", "--output", "/dev/full")

    assert (run.code, run.out) == (1, "text\n")
    assert "--output: No space left on device: /dev/full" in run.err


@pytest.mark.skipif(os.name != "posix", reason="descriptors of POSIX")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_stream_is_no_error(project: Project, closed: str):
    code = f'"{sys.executable}" -m flowkit flow:run say text --output out.json {closed}'

    assert subprocess.run(["sh", "-c", code], cwd=project.folder, capture_output=True).returncode == 0
    assert json.loads((project.folder / "out.json").read_text()) == "text"


def in_terminal(project: Project, *arguments: str, env: dict[str, str] | None = None) -> str:
    """What a command shows in a terminal of 80 columns."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    given = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    given |= {"TERM": "xterm-256color", **(env or {})}
    command = [sys.executable, "-m", "flowkit", *arguments]
    process = subprocess.Popen(command, cwd=project.folder, env=given, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 65536):
            shown += block
    except OSError:  # how Linux says that the other side has gone
        pass
    os.close(ours)
    process.wait(20)
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
def test_lists_fit_a_terminal_of_80_columns(project: Project):
    project.run("flow:run", "say", "a long question " * 20)
    project.run("flow:run", "soup", json.dumps({"x" * 60: 1}))

    for command in ("trace:list", "flow:list", "--help"):
        shown = in_terminal(project, command, env={"NO_COLOR": "1"})
        assert "\x1b[3" not in shown  # no colours
        assert max(len(line) for line in shown.splitlines()) <= 80, shown
    assert "…" in in_terminal(project, "trace:list", env={"NO_COLOR": "1"})


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
def test_a_terminal_has_colours_and_a_pipe_has_none(project: Project):
    project.run("flow:run", "say", "text")

    assert "\x1b[38;5;31m" in in_terminal(project, "trace:list")
    assert "\x1b[38;5;167mError:" in in_terminal(project, "flow:run", "nope")
    assert "\x1b" not in in_terminal(project, "--help", env={"TERM": "dumb"})
    assert "\x1b" not in project.run("trace:list").out
    assert project.run("flow:run", "say", "text").out == "text\n"
