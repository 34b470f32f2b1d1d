"""The process that reads files: it takes jobs from its input and writes what it finds to its output, in frames.

python -c "from flowkit.rag.parse.worker import main; main()"

A frame is its length in four bytes, then JSON; bytes of a file follow theirs. Pages go out many in a frame, since each
frame wakes whoever waits; how many are read stands in a few bytes of memory that both see (a file in the place of
stderr), so that the page at which a process ends is known. It ends when its input does, when it has had nothing to do
for a while, and when a page takes longer than it may.
"""

import faulthandler
import gc
import io
import json
import math
import mmap
import os
import queue
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from flowkit.errors import FlowkitError
from flowkit.rag.parse.limits import Limits
from flowkit.rag.parse.pieces import End, Job, Page, Piece

__all__ = ["COUNT", "EXIT_MEMORY", "PATIENCE", "main", "reader_of", "receive", "send"]

COUNT = struct.Struct("<Q")
"""How many pages of the file at hand have been read."""
EXIT_MEMORY = 77
PATIENCE = 6
"""How many seconds on the clock stand for one of processor time."""
_IDLE_SECONDS = 20.0
_LOOK_SECONDS = 1.0
_LARGEST_BYTES = 150_000_000
"""A process that has grown beyond this ends after its job; the next one is small again."""
_PAGE_BYTES = mmap.PAGESIZE
_FRAME_CHARACTERS = 32_768
_FRAME_SECONDS = 0.5
"""Pages wait for others until there is so much text, or so much time has gone by."""


def reader_of(kind: str) -> Callable[[Job], Iterator[Piece]]:
    """The function that reads a format; what it needs is imported now."""
    if kind == "pdf":
        from flowkit.rag.parse.read_pdf import read
    elif kind == "office":
        from flowkit.rag.parse.read_office import read
    elif kind == "epub":
        from flowkit.rag.parse.read_epub import read
    elif kind == "email":
        from flowkit.rag.parse.read_mail import read
    elif kind == "yaml":
        from flowkit.rag.parse.read_yaml import read
    else:
        from flowkit.rag.parse.read_html import read
    return read


def send(pipe: BinaryIO, frame: dict[str, Any], data: bytes | None = None) -> None:
    written = json.dumps(frame).encode("ascii")
    pipe.write(len(written).to_bytes(4, "big") + written)
    if data is not None:
        pipe.write(data)
    pipe.flush()


def receive(pipe: BinaryIO) -> dict[str, Any] | None:
    """The next frame; None when there is no more, or whoever wrote it ended in the midst of it."""
    head = pipe.read(4)
    size = int.from_bytes(head, "big")
    written = pipe.read(size) if len(head) == 4 else b""
    if not written or len(written) < size:
        return None
    found: dict[str, Any] = json.loads(written)
    return found


def main() -> NoReturn:
    """Serve jobs until there are no more. It never returns: a thread still waits for input, and would be in the way."""
    # What a library prints must not get between the frames.
    output, count = os.fdopen(os.dup(1), "wb"), mmap.mmap(2, COUNT.size)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    jobs: queue.SimpleQueue[tuple[dict[str, Any], bytes | None]] = queue.SimpleQueue()
    threading.Thread(target=_take, args=(sys.stdin.buffer, jobs), daemon=True).start()
    while True:
        try:
            frame, data = jobs.get(timeout=_IDLE_SECONDS)
        except queue.Empty:
            os._exit(0)
        limits = Limits(**frame["limits"])
        job = Job(frame["name"], Path(frame["path"]) if frame["path"] else None, data, frame["options"], limits)
        try:
            _work(frame["kind"], job, output, count)
        except MemoryError:
            os._exit(EXIT_MEMORY)
        del job, data, frame
        if _grown():
            os._exit(0)


def _take(pipe: BinaryIO, jobs: "queue.SimpleQueue[tuple[dict[str, Any], bytes | None]]") -> None:
    """Jobs as they come; the end of the input is that of the process, whatever it is doing."""
    while (frame := receive(pipe)) is not None:
        size = frame.pop("size")
        jobs.put((frame, pipe.read(size) if size is not None else None))
    os._exit(0)


class _Pages:
    """What has been read of a file, and is on its way."""

    def __init__(self, output: BinaryIO, count: mmap.mmap) -> None:
        self.characters = 0
        self._read = 0
        self._output, self._count = output, count
        self._waiting: list[tuple[str, dict[str, Any]]] = []
        self._size, self._sent = 0, time.monotonic()

    def add(self, page: Page, now: float) -> None:
        self._waiting.append((page.text, page.notes))
        self._size += len(page.text)
        self.characters += len(page.text)
        self._read += 1
        COUNT.pack_into(self._count, 0, self._read)
        if self._size > _FRAME_CHARACTERS or now - self._sent > _FRAME_SECONDS:
            send(self._output, {"pages": self.rest()})
            self._size, self._sent = 0, now

    def rest(self) -> list[tuple[str, dict[str, Any]]]:
        """Those that have not been sent."""
        taken, self._waiting = self._waiting, []
        return taken


def _work(kind: str, job: Job, output: BinaryIO, count: mmap.mmap) -> None:
    limits = job.limits
    pages, end = _Pages(output, count), End()
    now = time.monotonic()
    try:
        read = _loaded(kind)
        _hold_memory(limits.memory_bytes, kind)
        _watch(limits.page_seconds, now)
        for piece in read(job):
            now = time.monotonic()
            if isinstance(piece, Page):
                pages.add(piece, now)
                if pages.characters > limits.max_characters:
                    break  # whoever asked says so
            else:
                end = piece
            _watch(limits.page_seconds, now)
        frame: dict[str, Any] = {"pages": pages.rest(), "metadata": end.metadata, "warnings": end.warnings}
    except FlowkitError as error:
        frame = {"error": type(error).__name__, "message": error.message, "hint": error.hint}
    except MemoryError:
        raise
    except RecursionError:
        frame = {"error": "ParseError", "message": f"{job.name!r} is nested too deep", "hint": "leave it out"}
    except Exception as error:  # noqa: BLE001  a library's own, on a file that its authors never saw
        reason = " ".join(str(error).split())[:200]
        message = f"{job.name!r} cannot be read ({type(error).__name__}: {reason})"
        frame = {"error": "ParseError", "message": message, "hint": "open it in its program and save it again"}
    finally:
        _rest()
    send(output, frame)


@cache
def _loaded(kind: str) -> Callable[[Job], Iterator[Piece]]:
    """The reader. What its libraries have made stays for good, and need not be looked through after each job."""
    read = reader_of(kind)
    gc.collect()
    gc.freeze()
    return read


def _watch(seconds: float, now: float) -> None:
    """Begin to count; the process ends even when a library never comes back.

    The system counts processor time, so that a busy machine is no reason; a thread of the interpreter looks at the
    clock, for what waits, and for Windows, which does not count.
    """
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
    global _looks_since
    if now - _looks_since > _LOOK_SECONDS:  # it starts a thread, which costs as much as a short page
        _looks_since = now
        faulthandler.dump_traceback_later(PATIENCE * seconds + _LOOK_SECONDS, exit=True, file=_nowhere())


def _rest() -> None:
    """Count no more."""
    global _looks_since
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, 0)
    _looks_since = -math.inf
    faulthandler.cancel_dump_traceback_later()


_looks_since = -math.inf
"""When the thread that looks at the clock was told to begin anew."""


_devnull: io.TextIOWrapper | None = None


def _nowhere() -> io.TextIOWrapper:
    global _devnull
    if _devnull is None:
        _devnull = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  kept open
    return _devnull


def _hold_memory(limit_bytes: int, kind: str) -> None:
    """Ask the system for no more than that; only Linux keeps it."""
    if sys.platform != "linux":
        return
    import resource

    most = max(0, limit_bytes - _code_bytes(kind))
    resource.setrlimit(resource.RLIMIT_DATA, (most, resource.getrlimit(resource.RLIMIT_DATA)[1]))


@cache
def _code_bytes(kind: str) -> int:
    """What the reader's libraries take up themselves, which the limit of the system does not count."""
    return _memory_pages()[2] * _PAGE_BYTES


def _grown() -> bool:
    """Whether it holds too much even after what nobody needs is gone; looking for that takes as long as a page."""
    if _resident_bytes() <= _LARGEST_BYTES:
        return False
    gc.collect()
    return _resident_bytes() > _LARGEST_BYTES


def _resident_bytes() -> int:
    """Of this process; 0 where only Linux would tell."""
    return _memory_pages()[1] * _PAGE_BYTES if sys.platform == "linux" else 0


def _memory_pages() -> list[int]:
    """Of this process, as Linux counts them: all, resident, of those read from files, …"""
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123  after each job, and half as long
        return [int(count) for count in file.read().split()]
