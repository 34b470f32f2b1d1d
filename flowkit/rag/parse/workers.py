"""The processes that read files for this one: started when they are needed, used again, and replaced when they end.

found = read_apart("pdf", given, {"password": ""}, limits)
found.pages, found.metadata, found.warnings
"""

import atexit
import json
import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, cast

from flowkit.errors import ConfigError, FlowkitError, ParseError, UnsupportedError
from flowkit.rag.parse.files import Given
from flowkit.rag.parse.limits import Limits
from flowkit.rag.parse.pieces import Job, Page
from flowkit.rag.parse.worker import COUNT, EXIT_MEMORY, PATIENCE, reader_of, receive, send

__all__ = ["Reading", "read_apart"]

_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from flowkit.rag.parse.worker import main; main()"
# How a process ends that has used up its processor time.
_OVERTIME = -signal.SIGPROF if hasattr(signal, "SIGPROF") else None
_KINDS: dict[str, type[FlowkitError]] = {"ConfigError": ConfigError, "UnsupportedError": UnsupportedError}


@dataclass(slots=True)
class Reading:
    """What was read of a file."""

    pages: list[str] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


class _Gone(Exception):
    """The process had ended before it began with the job."""


class _Worker:
    def __init__(self) -> None:
        arguments = [sys.executable, "-c", _PROGRAM, json.dumps([str(Path(each).absolute()) for each in sys.path])]
        with TemporaryFile() as shared:
            shared.write(bytes(COUNT.size))
            shared.flush()
            self._count = mmap.mmap(shared.fileno(), COUNT.size)
            self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=shared)
        self._to, self._from = cast(BinaryIO, self.process.stdin), cast(BinaryIO, self.process.stdout)
        self.served = 0
        self.busy = False

    def read(self, kind: str, given: Given, options: dict[str, Any], limits: Limits) -> Reading:
        """
        Raises:
            ParseError: what the process says, or that it ended.
            _Gone: it had ended before.
        """
        found = Reading()
        began = last = time.monotonic()
        characters = 0
        COUNT.pack_into(self._count, 0, 0)
        self.busy = True
        path = str(given.path.absolute()) if given.path is not None else None
        data = given.data if path is None else None
        job = {"kind": kind, "name": given.name, "path": path, "options": options, "limits": asdict(limits)}
        try:
            send(self._to, {**job, "size": len(data) if data is not None else None}, data)
        except OSError:
            raise _Gone from None
        while (frame := receive(self._from)) is not None:
            last = time.monotonic()
            is_done = "pages" not in frame or "metadata" in frame
            if is_done:
                self._free()
            if "error" in frame:
                raise _KINDS.get(frame["error"], ParseError)(frame["message"], hint=frame["hint"])
            for text, notes in frame["pages"]:
                found.pages.append(text)
                found.notes.append(notes)
                characters += len(text)
            _check(given, limits, characters, last - began)
            if is_done:
                found.metadata, found.warnings = frame["metadata"], frame["warnings"]
                return found
        code = self.process.wait()
        (pages,) = COUNT.unpack_from(self._count)
        if self.served and code == 0 and not pages:
            raise _Gone
        raise _ended(given, limits, code, page=pages + 1, waited=time.monotonic() - last, kind=kind)

    def _free(self) -> None:
        self.served += 1
        self.busy = False

    def end(self) -> None:
        """Now, whatever it is doing."""
        self.process.kill()
        self.process.wait()
        self._count.close()
        for pipe in (self._to, self._from):
            try:
                pipe.close()
            except OSError:  # what was written to it went nowhere
                continue


class _Pool:
    """Idle processes, last used first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()

    def take(self) -> _Worker:
        with self._lock:
            gone = [worker for worker in self._idle if worker.process.poll() is not None]
            self._idle = [worker for worker in self._idle if worker not in gone]
            self._all.difference_update(gone)
            found = self._idle.pop() if self._idle else None
        for worker in gone:
            worker.end()
        if found is None:
            found = _Worker()
            with self._lock:
                self._all.add(found)
        return found

    def give_back(self, worker: _Worker) -> None:
        """Keep it for the next job, or end it when it is not through with this one."""
        is_idle = not worker.busy and worker.process.poll() is None
        with self._lock:
            if is_idle:
                self._idle.append(worker)
            else:
                self._all.discard(worker)
        if not is_idle:
            worker.end()

    def end(self) -> None:
        with self._lock:
            workers, self._all, self._idle = list(self._all), set(), []
        for worker in workers:
            worker.end()


_pool = _Pool()
atexit.register(lambda: _pool.end())  # noqa: PLW0108  the pool of a fork is another


def _forked() -> None:
    """The processes are the parent's."""
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):  # absent on Windows, which has no fork
    os.register_at_fork(after_in_child=_forked)


def read_apart(kind: str, given: Given, options: dict[str, Any], limits: Limits) -> Reading:
    """Read a file in another process.

    Raises:
        ParseError: it cannot be read, or reading it went beyond the limits.
        ConfigError: a package that its format needs is not installed, or no process can be started.
    """
    if not limits.isolated:
        return _read_here(kind, given, options, limits)
    if getattr(sys, "frozen", False) or not sys.executable:
        raise ConfigError(
            "files are read in a process of their own, and this program cannot start Python",
            hint="pass limits=parse.Limits(isolated=False)",
        )
    while True:
        try:
            worker = _pool.take()
        except OSError as error:
            raise ConfigError(
                f"files are read in a process of their own, and none can be started: {error}",
                hint="pass limits=parse.Limits(isolated=False)",
            ) from error
        try:
            return worker.read(kind, given, options, limits)
        except _Gone:
            if not worker.served:
                raise ConfigError(
                    "the process that reads files ends before it begins",
                    hint="pass limits=parse.Limits(isolated=False)",
                ) from None
        finally:
            _pool.give_back(worker)


def _read_here(kind: str, given: Given, options: dict[str, Any], limits: Limits) -> Reading:
    found = Reading()
    began = time.monotonic()
    characters = 0
    job = Job(given.name, given.path, None if given.path is not None else given.data, options, limits)
    for piece in reader_of(kind)(job):
        if isinstance(piece, Page):
            found.pages.append(piece.text)
            found.notes.append(piece.notes)
            characters += len(piece.text)
            _check(given, limits, characters, time.monotonic() - began)
        else:
            found.metadata, found.warnings = piece.metadata, list(piece.warnings)
    return found


def _check(given: Given, limits: Limits, characters: int, seconds: float) -> None:
    if characters > limits.max_characters:
        raise ParseError(
            f"{given.name!r} has more than {limits.max_characters:,} characters of text",
            hint="cut it into parts, or pass limits=parse.Limits(max_characters=…)",
        )
    if seconds > limits.file_seconds:
        raise ParseError(
            f"{given.name!r} took longer than {limits.file_seconds:g} seconds",
            hint="cut it into parts, or pass limits=parse.Limits(file_seconds=…)",
        )


def _ended(given: Given, limits: Limits, code: int, *, page: int, waited: float, kind: str) -> ParseError:
    """Why the process is gone, as far as that can be told."""
    where = f" at page {page}" if kind == "pdf" else ""
    if code == _OVERTIME or (code == 1 and waited > 0.9 * PATIENCE * limits.page_seconds):
        return ParseError(
            f"{given.name!r} took longer than {limits.page_seconds:g} seconds{where}",
            hint="leave it out, or pass limits=parse.Limits(page_seconds=…)",
        )
    megabytes = limits.memory_bytes / 1e6
    if code == EXIT_MEMORY:
        return ParseError(
            f"{given.name!r} needs more than {megabytes:,.0f} MB of memory{where}",
            hint="leave it out, or pass limits=parse.Limits(memory_bytes=…)",
        )
    return ParseError(
        f"{given.name!r} ends the process that reads it{where} (code {code}); it is damaged, or needs more than "
        f"{megabytes:,.0f} MB of memory",
        hint="open it in its program and save it again, or leave it out",
    )
