"""A Chroma server for the tests; it ends with the process that started it.

with ChromaServer.started(folder) as server: server.port
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

__all__ = ["ChromaServer"]

# Runs the server, and ends it when its own standard input is closed, as it is when the tests are gone.
WATCHMAN = """
import subprocess, sys, threading
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
def watch():
    if sys.stdin.readline() == "kill\\n":
        server.kill()
    else:
        server.terminate()
threading.Thread(target=watch, daemon=True).start()
server.wait()
"""

# What the command `chroma` comes to, without importing the rest of the package first.
RUN = "import sys, chromadb_rust_bindings; chromadb_rust_bindings.cli(sys.argv[1:])"


class ChromaServer:
    """One server on a port of its own, which it keeps when it is started again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._watchman: subprocess.Popen[str] | None = None

    @classmethod
    @contextmanager
    def started(cls, folder: Path) -> Iterator["ChromaServer"]:
        server = cls(folder)
        server.start()
        try:
            yield server
        finally:
            server.stop()

    def start(self) -> None:
        """Until it answers."""
        if self._watchman is not None:
            return
        command = [sys.executable, "-c", RUN, "chroma", "run", "--path", str(self._folder)]
        self._watchman = subprocess.Popen(
            [sys.executable, "-c", WATCHMAN, *command, "--host", "127.0.0.1", "--port", str(self.port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if self._watchman.poll() is not None:
                break
            try:
                httpx.get(f"http://127.0.0.1:{self.port}/api/v2/heartbeat", trust_env=False).raise_for_status()
                return
            except httpx.HTTPError:
                time.sleep(0.05)
        self.stop()
        raise RuntimeError("chroma run does not answer")

    def stop(self) -> None:
        self._end("stop\n")

    def kill(self) -> None:
        """As if the power went."""
        self._end("kill\n")

    def _end(self, how: str) -> None:
        watchman, self._watchman = self._watchman, None
        if watchman is not None:
            try:
                watchman.communicate(how, timeout=30)
            except subprocess.TimeoutExpired:
                watchman.kill()
                watchman.communicate()
