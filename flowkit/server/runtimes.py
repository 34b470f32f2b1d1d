"""The apps that run now, as their files in `.genkit/runtimes` say.

    runtime = running(root)                # the newest that answers, or None
    for runtime in runtimes(root): print(runtime.pid, runtime.url)

The files are other programs' words: a runtime is only ever looked for on this machine.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from flowkit.server.processes import is_alive
from flowkit.server.reflection.runtime_file import runtimes_folder

__all__ = ["Runtime", "running", "runtimes", "sweep"]

_HEALTH_SECONDS = 2.0
_TEXT_CHARS = 2_000
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Runtime:
    """One app, of any framework that speaks Genkit's reflection protocol."""

    id: str
    pid: int
    name: str
    url: str
    timestamp: str
    version: str
    """`py/…` for ours, `nodejs/…` for Genkit's own."""
    file: Path

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        parts = urlsplit(self.url)
        return parts.hostname or "localhost", parts.port or 80

    def answers(self) -> bool:
        """Ask it. It may take two seconds."""
        try:
            connection = HTTPConnection(*self.address, timeout=_HEALTH_SECONDS)
            connection.request("GET", f"/api/__health?id={quote(self.id, safe='')}")
            status = connection.getresponse().status
            connection.close()
        except (OSError, HTTPException):
            return False
        return status == 200


def runtimes(root: Path) -> list[Runtime]:
    """Those that have a file, oldest first; whether they still run is not asked."""
    try:
        files = sorted(runtimes_folder(root).glob("*.json"))
    except OSError:
        return []
    found = [runtime for runtime in map(_read, files) if runtime is not None]
    return sorted(found, key=lambda runtime: runtime.timestamp)


def running(root: Path) -> Runtime | None:
    """The newest runtime that answers."""
    return next((runtime for runtime in reversed(runtimes(root)) if runtime.answers()), None)


def sweep(root: Path) -> list[Path]:
    """Remove the files of apps that were killed: no such process, and nobody answers. Returns what was removed."""
    stale = [runtime.file for runtime in runtimes(root) if not is_alive(runtime.pid) and not runtime.answers()]
    for file in stale:
        file.unlink(missing_ok=True)
    return stale


def _read(file: Path) -> Runtime | None:
    try:
        told: Any = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):  # not whole yet, or gone
        return None
    if not isinstance(told, Mapping) or not isinstance(told.get("pid"), int) or not 0 < told["pid"] < 2**31:
        return None
    texts = [told.get(key) for key in ("id", "reflectionServerUrl", "timestamp")]
    # Control characters and halves of characters can be part of no address and of no answer.
    if not all(isinstance(text, str) and text.isprintable() and len(text) <= _TEXT_CHARS for text in texts):
        return None
    if not _is_here(told["reflectionServerUrl"]):
        return None
    return Runtime(
        id=str(told["id"]),
        pid=told["pid"],
        name=_shown(told.get("name") or told["id"]),
        url=str(told["reflectionServerUrl"]).rstrip("/"),
        timestamp=str(told["timestamp"]).replace("_", ":"),
        version=_shown(told.get("genkitVersion") or ""),
        file=file,
    )


def _shown(text: Any) -> str:
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in str(text)[:_TEXT_CHARS])


def _is_here(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme == "http" and parts.hostname in _LOOPBACK and (parts.port or 80) > 0
    except ValueError:
        return False
