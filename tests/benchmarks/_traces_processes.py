"""The servers of the traces benchmark, each a process of its own with one kept connection to it.

with servers(folder) as asked: asked["limit"].ask("GET", "/api/traces?limit=10")

Genkit's own telemetry server is the third, where its packages can be had and the kernel tells what its threads used.
"""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.support.modules import ROOT
from tests.support.npm import installed

__all__ = ["Genkit", "Server", "servers"]

# As Genkit's command line starts it.
_GENKIT = """
const packages = require('node:module').createRequire(process.argv[1] + '/package.json');
const server = packages('@genkit-ai/telemetry-server');
const roots = { storeRoot: process.argv[2], indexRoot: process.argv[2] };
server.startTelemetryServer({
  port: Number(process.argv[3]),
  traceStore: new server.LocalFileTraceStore(roots),
  logStore: new server.LocalFileLogStore(roots),
});
"""
_START_SECONDS = 30


class Server:
    """Ours, or the limit."""

    def __init__(self, kind: str, folder: Path) -> None:
        command = [sys.executable, "-m", "tests.benchmarks._traces_server", kind, str(folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self._connect(int(self.process.stdout.readline()))

    def _connect(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        headers = {"Content-Type": "application/json"} if body else {}
        try:
            self.connection.request(method, path, body, headers)
            response = self.connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):  # it was idle for too long
            self.connection.close()
            self.connection.request(method, path, body, headers)
            response = self.connection.getresponse()
        answer = response.read()
        assert response.status == 200, answer
        return answer

    def cpu(self) -> float:
        """Seconds of all its threads, once everything is written."""
        return float(self.ask("GET", "/__cpu"))

    def stop(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


class Genkit(Server):
    """Genkit's telemetry server with its store of local files. It answers a POST when that is written."""

    def __init__(self, packages: Path, folder: Path) -> None:
        folder.mkdir()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        env = {**os.environ, "HOME": str(folder), "NO_COLOR": "1"}
        command = ["node", "-e", _GENKIT, str(packages), str(folder), str(port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, text=True, env=env)
        self._connect(port)

    def wait(self) -> None:
        """Until it answers."""
        until = time.monotonic() + _START_SECONDS
        while True:
            try:
                self.connection.connect()
                return
            except ConnectionError:
                if self.process.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.05)

    def cpu(self) -> float:
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(each.read_text().split()[0]) for each in threads) / 1e9

    def stop(self) -> None:
        self.process.kill()  # asked to end, it would wait for whoever is connected
        super().stop()


@contextmanager
def servers(folder: Path) -> Iterator[dict[str, Server]]:
    """All that there are, by name, as long as it is open."""
    with ExitStack() as running:
        found: dict[str, Server] = {}
        for kind in ("flowkit", "limit"):
            found[kind] = Server(kind, folder / kind)
            running.callback(found[kind].stop)
        packages = _packages()
        if packages is not None:
            found["genkit"] = genkit = Genkit(packages, folder / "genkit")
            running.callback(genkit.stop)
            genkit.wait()
        yield found


def _packages() -> Path | None:
    """The folder with Genkit's packages, that of the tests that use its command line; or None, and why."""
    if not Path("/proc/self/schedstat").exists():
        print("without Genkit's telemetry server: this system does not tell what its threads used")
        return None
    try:
        return installed(ROOT / "tests" / "interop", "Genkit's telemetry server comes from npm")
    except pytest.skip.Exception as why:
        print(f"without Genkit's telemetry server: {why}")
        return None
