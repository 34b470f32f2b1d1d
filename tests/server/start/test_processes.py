"""Processes and ports: what is started, who holds what, and that nothing is left behind however it ends."""

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from tests.server.raw import connect, request
from tests.server.start.conftest import APP, Project, free_port, http, is_alive, until

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]

# A shell that does not care about SIGTERM, with children in sessions of their own.
STUBBORN = """
trap '' TERM
setsid sh -c 'trap "" TERM; echo $$ > far; while :; do sleep 1; done' &
sh -c 'trap "" TERM; echo $$ > near; while :; do sleep 1; done' &
echo $$ > own
wait
"""


def pids(project: Project, *names: str) -> list[int]:
    def there() -> bool:
        return all((project.folder / name).exists() and (project.folder / name).read_text() for name in names)

    until(there, names)
    return [int((project.folder / name).read_text()) for name in names]


def test_ctrl_c_ends_everything_while_streams_are_open(project: Project):
    project.write("app.py", APP + "\nimport subprocess\nsubprocess.Popen(['sleep', '1000'])\n")
    started = project.start()
    runtime = started.wait_for("running")["runtime"]
    processes = started.processes()
    assert len(processes) >= 3
    port = int(runtime["url"].rpartition(":")[2])
    own = int(started.url.rpartition(":")[2])
    with connect(port) as running, connect(own) as idle, connect(own) as events:
        body = b'{"key":"/flow/forever"}'
        running.sendall(
            request("POST", "/api/runAction?stream=true", body=body, headers={"Content-Type": "application/json"})
        )
        until(lambda: (project.folder / "started").exists())
        idle.sendall(b"GET /api/status HTTP/1.1\r\n")
        events.sendall(request(path="/api/events"))
        assert events.recv(100).startswith(b"HTTP/1.1 200")

        assert started.stop(seconds=10) == 0
    assert [pid for pid in processes if is_alive(pid)] == []
    assert (project.folder / "cancelled").exists()
    assert project.runtimes == []
    # Nothing is said of streams that were cut, nor of anything else.
    assert started.err.splitlines()[-1].endswith("Ctrl-C ends it")


def test_nothing_is_left_when_the_parent_is_killed(project: Project):
    started = project.start()
    started.wait_for("running")
    processes = started.processes()

    started.stop(signal.SIGKILL)
    until(lambda: not any(map(is_alive, processes)), lambda: [pid for pid in processes if is_alive(pid)])
    assert project.runtimes == []


def test_nothing_is_left_of_commands_that_defend_themselves(empty: Project):
    empty.write("run.sh", STUBBORN)
    started = empty.start("--", "sh", "run.sh")
    processes = pids(empty, "far", "near", "own")
    assert all(map(is_alive, processes))

    started.stop(signal.SIGKILL)
    until(lambda: not any(map(is_alive, processes)), lambda: [pid for pid in processes if is_alive(pid)])


def test_a_restart_ends_all_of_them_too_and_a_second_ctrl_c_does_not_wait(empty: Project):
    script = empty.write("run.sh", STUBBORN)
    started = empty.start("--", "sh", "run.sh")
    before = pids(empty, "far", "near", "own")
    for name in ("far", "near", "own"):
        (empty.folder / name).unlink()

    script.write_text(STUBBORN + "\n")  # it is named by the command, so it is watched
    after = pids(empty, "far", "near", "own")
    assert not any(map(is_alive, before))

    started.send()
    started.send()
    assert started.process.wait(20) == 0
    assert not any(map(is_alive, after))


def test_a_guardian_that_is_killed_leaves_nothing_and_the_app_comes_back(project: Project):
    started = project.start()
    pid = started.wait_for("running")["pid"]
    (guardian,) = [each for each in started.processes() if each == os.getsid(pid)]

    os.kill(guardian, signal.SIGKILL)
    until(lambda: not is_alive(pid))
    assert started.wait_for("failed")["error"]["message"] == "it was ended by SIGKILL"
    project.write("app.py", APP + "\n")
    assert started.wait_for("running", 1)["pid"] != pid


def test_a_python_program_runs_as_it_is(project: Project):
    project.write("main.py", APP + "\nprint('main', __name__)\n")
    started = project.start("--", "python", "main.py")

    status = started.wait_for("running")
    assert status["app"] == "python main.py"
    assert started.run("hello", "Ada") == "hello Ada"
    assert started.out == "main __main__\n"
    project.write("main.py", "raise SystemExit('no database')\n")
    error = started.wait_for("failed", 1)["error"]
    assert (error["message"], error["exitCode"]) == ("no database", 1)
    project.write("main.py", "print('done')\n")
    assert started.wait_for("ended", 2)["error"] is None
    assert "– python main.py has ended; waiting for a change" in started.err


def test_a_server_that_reloads_itself_runs_too(project: Project):
    server = """
async def app(scope, receive, send):
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"own server"})
"""
    project.write("app.py", APP + server)
    port = free_port()
    command = ("python", "-m", "uvicorn", "app:app", "--lifespan", "off", "--reload", "--port", str(port))
    started = project.start("--", *command)
    first = started.wait_for("running")
    assert first["pid"] != first["runtime"]["pid"]
    assert http("GET", f"http://127.0.0.1:{port}/").body == b"own server"

    project.write("app.py", APP.replace("hello {name}", "bonjour {name}") + server)
    started.wait_for("running", 1)
    assert started.run("hello", "Ada") == "bonjour Ada"
    processes = started.processes()
    assert started.stop() == 0
    assert not any(map(is_alive, processes))


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_program_in_another_language_shows_its_own_words(empty: Project):
    empty.write("app.js", "console.error('env', process.env.GENKIT_ENV); process.exit(3)\n")
    started = empty.start("--", "node", "app.js")

    error = started.wait_for("failed")["error"]
    assert (error["exitCode"], error["message"], error["file"]) == (3, "env dev", None)
    empty.write("app.js", "setTimeout(() => {}, 100000)\n")
    started.wait_for("starting", 1)


def test_a_command_that_does_not_exist_is_said_and_waited_for(empty: Project):
    started = empty.start("--", "no-such-program")

    assert "no-such-program: No such file" in started.wait_for("failed")["error"]["message"]
    ran = empty.run("start", "--")
    assert (ran.returncode, "no command after --" in ran.stderr) == (2, True)
    ran = empty.run("start", "app.py", "--", "python", "app.py")
    assert ran.returncode == 2


def test_ports_are_bound_before_they_are_told(project: Project):
    """The first free one by default; the one that was asked for, or an error that says who has it."""
    first = project.start()
    port = int(first.url.rpartition(":")[2])
    second = project.start()
    assert second.url != first.url
    assert int(second.url.rpartition(":")[2]) >= 4100  # one that was taken may be free again

    taken = project.run("start", "--port", str(port))
    assert taken.returncode == 1
    assert f"port {port} is taken by flowkit start -n (process {first.process.pid} in" in taken.stderr
    assert "--port" in taken.stderr


def test_files_of_killed_apps_are_cleared_away(project: Project):
    dead = (
        '{"id":"999999-1","pid":999999,"reflectionServerUrl":"http://127.0.0.1:1","timestamp":"2026-01-01T00:00:00Z"}'
    )
    project.write(".genkit/runtimes/dead.json", dead)
    project.write(".genkit/runtimes/mine.txt", "not a runtime file")
    started = project.start()
    started.wait_for("running")

    assert [file.name for file in project.runtimes] == [Path(project.runtimes[0]).name]
    assert "999999" not in project.runtimes[0].name
    assert (project.folder / ".genkit/runtimes/mine.txt").exists()


def test_others_are_let_in_with_a_token_only(project: Project):
    refused = project.run("start", "--host", "0.0.0.0")
    assert (refused.returncode, "add --token" in refused.stderr) == (2, True)
    nameless = project.run("start", "--host", "0.0.0.0", "--token")
    assert (nameless.returncode, "--allow-host" in nameless.stderr) == (2, True)

    project.write("app.py", APP + "\nai.flow('env')(lambda: dict(os.environ))\n")
    started = project.start("--host", "0.0.0.0", "--token", "--allow-host", "box.test")
    until(lambda: "#token=" in started.err, lambda: started.err)
    shown = next(line for line in started.err.splitlines() if "#token=" in line).split()[0]
    address, _, token = shown.partition("#token=")
    assert address.startswith("http://box.test:")
    assert len(token) >= 20
    assert "whoever reaches 0.0.0.0 and has the token" in started.err

    here = f"http://127.0.0.1:{address.rstrip('/').rpartition(':')[2]}"
    assert http("GET", f"{here}/").status == 200
    assert http("GET", f"{here}/api/status").status == 403
    assert http("GET", f"{here}/api/status", headers={"X-Flowkit-Token": token + "x"}).status == 403
    status = http("GET", f"{here}/api/status", headers={"X-Flowkit-Token": token})
    assert status.status == 200
    assert token not in status.body.decode()

    # Runtimes of other frameworks have no token: they have a port of their own, for writing only.
    until(lambda: project.runtimes)
    url = project.about()["reflectionServerUrl"]
    spans = http("POST", f"{url}/api/runAction", {"key": "/flow/env"}).json["result"]["GENKIT_TELEMETRY_SERVER"]
    assert spans != here
    assert http("GET", f"{spans}/api/__health").body == b"OK"
    for path in ("/api/status", "/api/traces", "/"):
        assert http("GET", spans + path).body == b"spans can be sent here, and nothing else"


def test_errors_have_the_form_of_the_address(project: Project):
    """Ours in `error`, those of Genkit's routes bare; from the guard as from whoever answers."""
    started = project.start()
    started.wait_for("running")
    page = {"Origin": "https://evil.example"}

    unknown, ours = started.get("/api/nothing"), started.get("/api/actions", page)
    theirs, missing = started.get("/api/traces", page), started.get(f"/api/traces/{1:032x}")
    other = [http("PUT", started.url + path, {}) for path in ("/api/runs", "/api/status")]

    assert [each.status for each in (unknown, ours, theirs, missing, *other)] == [404, 403, 403, 404, 405, 405]
    forms = [{key: type(value) for key, value in each.json["error"].items()} for each in (unknown, ours, *other)]
    assert forms == [{"code": int, "status": str, "message": str, "details": dict}] * 4
    assert [each.headers["allow"] for each in other] == ["GET, HEAD, POST", "GET, HEAD"]
    assert "/api/openapi.json" in unknown.json["error"]["details"]["hint"]
    assert "--allow-origin" in ours.json["error"]["details"]["hint"]
    assert [*theirs.json] == [*missing.json] == ["code", "message", "details"]
    assert (theirs.json["code"], missing.json["code"]) == (7, 5)


def test_the_app_and_its_parent_hold_the_same_limit_of_traces(project: Project):
    started = project.start(env={"FLOWKIT_MAX_TRACES": "5"})
    for n in range(20):
        started.run("hello", str(n))
    span = {
        "startTime": 1_796_014_088_705,
        "endTime": 1_796_014_088_706,
        "attributes": {"genkit:type": "action"},
        "displayName": "posted",
    }
    for n in range(1, 21):
        trace, name = f"{n:032x}", f"{n:016x}"
        body = {"traceId": trace, "spans": {name: {**span, "traceId": trace, "spanId": name}}}
        assert http("POST", f"{started.url}/api/traces", body).status == 200

    assert started.get("/api/settings").json["retention"]["maxTraces"] == 5
    until(lambda: len(started.get("/api/traces/summaries").json["traces"]) == 5)
