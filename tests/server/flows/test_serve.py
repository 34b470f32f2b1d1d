"""`flowkit serve` as a process: what it serves, how it ends, what it leaves behind."""

import json
import os
import signal
import socket
import sys
import time

import pytest

from tests.server.raw import connect, request
from tests.server.start.conftest import APP, Process, Project, empty, free_port, http, is_alive, project, until

__all__ = ["empty", "project"]

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]

SLOW = """

@ai.flow
async def slow() -> str:
    open("started", "w").close()
    while not os.path.exists("go"):
        await asyncio.sleep(0.01)
    return "done"


@ai.flow
async def env() -> dict[str, str]:
    return dict(os.environ)
"""
GUARDED = """
from flowkit import api_key

server = ai.asgi(["hello", "boom"], context_providers=[api_key("sek")], path_prefix="api")
"""
JSON = {"Content-Type": "application/json"}


def begun(project: Project, *arguments: str, **env: str) -> tuple[Process, str]:
    """A server that answers, and its address."""
    port = free_port()
    served = project.serve(*arguments, "--port", str(port), env=env)
    served.until_says(f"http://127.0.0.1:{port}/")
    return served, f"http://127.0.0.1:{port}"


def test_flows_are_served_and_nothing_else(project: Project):
    project.write("app.py", APP + SLOW)
    served, url = begun(project, GENKIT_ENV="dev", FLOWKIT_TRACES="0")

    answer = http("POST", f"{url}/hello", {"data": "Ada"})
    assert (answer.status, answer.json) == (200, {"result": "hello Ada"})
    assert "✓ app.py serves 7 flows" in served.err
    assert f"  POST {url}/hello\n" in served.err
    assert http("GET", f"{url}/__ready").body == b"OK"
    assert http("POST", f"{url}/boom", {"data": 1}).json == {"message": "Internal Error", "status": "INTERNAL"}
    assert "ValueError: kaboom" in served.err

    for path in (
        "/api/actions",
        "/api/__health",
        "/api/__quitquitquit",
        "/api/status",
        "/api/traces",
        "/api/runAction",
    ):
        for method, body in (("GET", None), ("POST", {"key": "/flow/hello", "input": "x"})):
            assert http(method, url + path, body).status == 404, path
    # Nothing listens for developer tools, whatever the environment says.
    assert not (project.folder / ".genkit").exists()
    assert not (project.folder / ".flowkit").exists()
    assert served.stop() == 0
    assert "Traceback (most recent call last):\n" in served.err  # of boom, and no other
    assert served.err.count("Traceback") == 1


def test_what_the_app_has_made_by_asgi_is_served_with_its_keys(project: Project):
    project.write("app.py", APP + GUARDED)
    for name in ("app.py", "app:ai", "app:server"):
        served, url = begun(project, name, GENKIT_ENV="dev")
        assert "serves 2 flows " in served.err
        assert http("POST", f"{url}/api/hello", {"data": "Ada"}).status == 401
        allowed = http("POST", f"{url}/api/hello", {"data": "Ada"}, {"Authorization": "Bearer sek"})
        assert allowed.json == {"result": "hello Ada"}
        assert http("POST", f"{url}/where", {}, {"Authorization": "sek"}).status == 404
        assert b"kaboom" not in http("POST", f"{url}/api/boom", {"data": 1}, {"Authorization": "sek"}).body
        assert served.stop(signal.SIGTERM) == 0


def test_sigterm_lets_a_call_end_and_takes_no_more(project: Project):
    project.write("app.py", APP + SLOW)
    served, url = begun(project)
    port = int(url.rpartition(":")[2])
    with connect(port) as client:
        client.sendall(request("POST", "/slow", body=b"{}", headers=JSON))
        until((project.folder / "started").exists)
        served.send(signal.SIGTERM)
        time.sleep(0.1)
        project.write("go", "")
        answered = client.recv(65536)
        while piece := client.recv(65536):
            answered += piece
    assert b'{"result":"done"}' in answered
    assert served.process.wait(20) == 0


def test_a_call_that_does_not_end_is_cancelled_and_told(project: Project):
    served, url = begun(project, "--grace-seconds", "0.2")
    with connect(int(url.rpartition(":")[2])) as client:
        stream = {**JSON, "Accept": "text/event-stream"}
        client.sendall(request("POST", "/forever", body=b"{}", headers=stream))
        until((project.folder / "started").exists)
        served.send(signal.SIGTERM)
        told = b""
        while piece := client.recv(65536):
            told += piece
    error = {"error": {"message": "the server is shutting down", "status": "UNAVAILABLE"}}
    assert f"data: {json.dumps(error, separators=(',', ':'))}\n\n".encode() in told
    assert served.process.wait(20) == 0
    assert (project.folder / "cancelled").exists()


def test_workers_share_the_port_and_are_replaced(project: Project):
    served, url = begun(project, "--workers", "2")

    def where() -> int:
        return int(http("POST", f"{url}/where", {}).json["result"])

    first = where()
    os.kill(first, signal.SIGKILL)
    assert until(lambda: (pid := where()) != first and pid)
    workers: set[int] = set()
    until(lambda: workers.add(where()) or len(workers) == 2)
    assert served.process.pid not in workers

    served.stop(signal.SIGKILL)
    until(lambda: not any(map(is_alive, workers)))


def test_what_cannot_be_served_is_said(project: Project):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        taken = project.run("serve", "--port", str(port))
        assert (taken.returncode, f"port {port} is taken by" in taken.stderr) == (1, True)
    project.write("app.py", "from flowkit import Flowkit\nai = Flowkit()\n")
    assert (project.run("serve").returncode, "no flows" in project.run("serve").stderr) == (2, True)
    project.write("app.py", "x = y\n")
    broken = project.run("serve")
    assert (broken.returncode, "NameError: name 'y' is not defined (app.py:1)" in broken.stderr) == (1, True)
