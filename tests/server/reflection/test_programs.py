"""How long programs live that are served, and what they serve: each a process as a developer starts it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from flowkit.tracing.store import TraceStore
from tests.server.reflection.scripts import FLOWS, Script, environment, free_port

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")]

SERVER = """
import uvicorn
from contextlib import asynccontextmanager
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def home(request):
    return JSONResponse(await where())

app = Starlette(routes=[Route("/", home)])
"""


def test_a_script_that_only_defines_flows_stays_and_serves(tmp_path: Path):
    with Script(tmp_path, FLOWS + "print('defined')\n") as script:
        (about,) = script.abouts()
        assert about["id"] == f"{script.process.pid}-{about['reflectionServerUrl'].rpartition(':')[2]}"
        assert about["reflectionApiSpecVersion"] == 1
        assert script.run("where")["pid"] == script.process.pid
        # Python's thread pools must still take work, and with them name look-ups.
        assert script.run("shout", "soup") == "SOUP"

        assert script.stop() == 0
        assert script.out == "defined\n"
        assert script.files == []


def test_ctrl_c_ends_it_without_a_traceback(tmp_path: Path):
    with Script(tmp_path, FLOWS) as script:
        script.abouts()
        script.run("where")

        assert script.stop(signal.SIGINT) == 0
        assert script.out == ""
        assert script.files == []


def test_a_tool_may_end_it(tmp_path: Path):
    with Script(tmp_path, FLOWS) as script:
        assert script.request("/api/__quitquitquit").text == "OK"
        assert script.wait() == 0
        assert script.files == []


def test_sigterm_ends_a_program_that_is_at_work(tmp_path: Path):
    closing = """
@ai.flow()
async def forever() -> None:
    await asyncio.sleep(100)

class Pool:
    name = "pool"
    async def setup(self, registry): ...
    async def resolve(self, kind, name):
        return None
    def list(self):
        return []
    async def aclose(self):
        print("closed", flush=True)

import time
ai.registry.add_plugin(pool := Pool())
try:
    ai.run_sync(ai.registry.get("/flow/pool/x"))
except LookupError:
    pass
print("ready", flush=True)
while True:
    time.sleep(0.01)
"""
    with Script(tmp_path, FLOWS + closing) as script:
        url = script.abouts()[0]["reflectionServerUrl"] + "/api/runAction"
        with httpx.stream("POST", url, json={"key": "/flow/forever"}, trust_env=False, timeout=20) as running:
            assert script.stop() == -signal.SIGTERM
            assert json.loads(running.read())["error"]["code"] == 1
        assert script.out == "ready\nclosed\n"
        assert script.files == []
    trace = TraceStore(tmp_path / ".flowkit" / "traces.db").get(running.headers["x-genkit-trace-id"])
    assert trace.summary.status == "cancelled"


def test_a_crash_ends_it_with_its_traceback(tmp_path: Path):
    with Script(tmp_path, FLOWS + "import time; time.sleep(0.2); 1 / 0\n") as script:
        assert script.wait() == 1
        assert "ZeroDivisionError" in script.out
        assert script.files == []


def test_an_interactive_session_ends_as_always(tmp_path: Path):
    with Script(tmp_path, FLOWS, "-i", "app.py") as script:
        script.abouts()
        assert script.run("shout", "soup") == "SOUP"
        script.out, _ = script.process.communicate("exit()\n", timeout=20)

        assert script.process.returncode == 0
        assert script.files == []


def test_outside_dev_nothing_is_served_or_written(tmp_path: Path):
    with Script(tmp_path, FLOWS + "print(ai.run_sync(shout, 'soup'))\n", env=environment(GENKIT_ENV="prod")) as script:
        assert (script.wait(), script.out) == (0, "SOUP\n")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["app.py", "pyproject.toml"]


def test_several_apps_of_a_process_are_served_side_by_side(tmp_path: Path):
    two = """
from flowkit import Flowkit
for name in ("first", "second"):
    ai = Flowkit()
    ai.flow(name)(lambda name=name: name)
"""
    with Script(tmp_path, two) as script:
        abouts = script.abouts(2)
        assert len({about["id"] for about in abouts}) == 2
        found = {about["id"]: sorted(script.request("/api/actions", about).json()) for about in abouts}
        assert sorted(keys[0] for keys in found.values()) == ["/flow/first", "/flow/second"]
        assert script.stop() == 0
        assert script.files == []


def test_an_app_that_is_closed_is_served_no_longer_and_the_script_ends(tmp_path: Path):
    closing = """
import asyncio, glob, time
async def main():
    async with ai:
        while not glob.glob(".genkit/runtimes/*.json"):
            await asyncio.sleep(0.01)
    print(glob.glob(".genkit/runtimes/*.json"))
asyncio.run(main())
"""
    with Script(tmp_path, FLOWS + closing) as script:
        assert (script.wait(), script.out) == (0, "[]\n")


def test_run_main_keeps_its_loop_for_outside_runs(tmp_path: Path):
    main = """
async def main():
    print(id(asyncio.get_running_loop()))
    return "result"
print(ai.run_main(main()))
"""
    with Script(tmp_path, FLOWS + main) as script:
        ran = script.run("where")
        assert ran["thread"] == "MainThread"
        assert script.stop(signal.SIGINT) == 0
        assert script.out == f"{ran['loop']}\nresult\n"
        assert script.files == []


def test_sigterm_stops_what_run_main_runs(tmp_path: Path):
    main = """
async def main():
    try:
        await asyncio.sleep(100)
    finally:
        print("cleaned")
ai.run_main(main())
"""
    with Script(tmp_path, FLOWS + main) as script:
        script.run("where")
        assert script.stop() == 128 + signal.SIGTERM
        assert script.out == "cleaned\n"


def test_run_main_outside_dev_is_just_a_run(tmp_path: Path):
    main = "print(ai.run_main(shout('soup')))\n"
    with Script(tmp_path, FLOWS + main, env=environment(GENKIT_ENV="prod")) as script:
        assert (script.wait(), script.out) == (0, "SOUP\n")


def test_processes_that_it_starts_stand_down(tmp_path: Path):
    children = """
import multiprocessing, subprocess, sys
if __name__ == "__main__":
    subprocess.run([sys.executable, "app.py", "child"] if len(sys.argv) == 1 else ["true"], check=True)
    if len(sys.argv) == 1:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.apply(os.getpid) != os.getpid(), flush=True)
        if os.fork() == 0:
            Flowkit()
            raise SystemExit(3)
        print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
        print("all started", flush=True)
"""
    with Script(tmp_path, FLOWS + children) as script:
        assert script.process.stdout is not None
        assert [script.process.stdout.readline() for _ in range(3)] == ["True\n", "3\n", "all started\n"]
        assert [about["pid"] for about in script.abouts()] == [script.process.pid]
        # Whether it has run to its end by now is open.
        assert script.stop() in (0, -signal.SIGTERM)


def test_runs_use_the_loop_of_the_apps_own_server(tmp_path: Path):
    serving = SERVER + "uvicorn.run(app, port=int(os.environ['PORT']), log_level='info')\n"
    with Script(tmp_path, FLOWS + serving, env=environment(PORT=free_port())) as script:
        script.abouts()
        port = wait_for_port(script)
        own = script.request("/", {"reflectionServerUrl": f"http://127.0.0.1:{port}"}).json()
        assert script.run("where") == own
        assert own["thread"] == "MainThread"

        assert script.stop(signal.SIGINT) == 0
        # The server's own words, and none of the reflection's.
        assert script.out.count("Uvicorn running") == script.out.count("HTTP/1.1") == 1
        assert script.files == []


def test_of_a_servers_workers_one_is_served(tmp_path: Path):
    command = ("-m", "uvicorn", "app:app", "--workers", "2", "--port", port := free_port())
    with Script(tmp_path, FLOWS + SERVER, *command, env=environment(PORT=port)) as script:
        wait_for_port(script)
        (about,) = script.abouts()
        assert script.run("where")["pid"] == about["pid"]
        # The supervisor replaces a worker that dies, and the new one is served; tools remove the file of the old one.
        os.kill(about["pid"], signal.SIGKILL)
        script.files[0].unlink()
        (after,) = script.abouts()
        assert script.run("where")["pid"] == after["pid"] != about["pid"]

        assert script.stop() in (0, -signal.SIGTERM)
        assert script.files == []


def test_a_server_that_reloads_is_served_in_its_new_process(tmp_path: Path):
    command = ("-m", "uvicorn", "app:app", "--reload", "--port", free_port())
    with Script(tmp_path, FLOWS + SERVER, *command) as script:
        (before,) = script.abouts()
        (file,) = script.files
        time.sleep(0.2)
        (tmp_path / "app.py").write_text(FLOWS + SERVER + "# changed\n")
        until = time.monotonic() + 20
        while script.files[:1] == [file] and time.monotonic() < until:
            time.sleep(0.02)
        (after,) = script.abouts()
        assert after["pid"] != before["pid"]
        assert script.run("shout", "soup", about=after) == "SOUP"

        assert script.stop() in (0, -signal.SIGTERM)
        assert script.files == []


def test_a_command_that_runs_a_flow_serves_nobody(tmp_path: Path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "app.py").write_text(FLOWS)
    ran = subprocess.run(
        [sys.executable, "-m", "flowkit", "flow:run", "shout", "soup"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (ran.returncode, ran.stdout) == (0, "SOUP\n")
    assert not (tmp_path / ".genkit").exists()


def test_pytest_serves_nobody(tmp_path: Path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "app.py").write_text(FLOWS)
    (tmp_path / "test_app.py").write_text(
        "from app import ai, shout\n\ndef test(): assert ai.run_sync(shout, 'a') == 'A'\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_app.py"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stdout
    assert not (tmp_path / ".genkit").exists()


def wait_for_port(script: Script) -> str:
    """The port of the app's own server, when it answers."""
    port = script.port
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", int(port))).close()
        except OSError:
            time.sleep(0.02)
        else:
            return port
    raise AssertionError("the app's server does not answer")
