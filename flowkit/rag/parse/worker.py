"""The process that reads files: it takes jobs from its input and writes what it finds to its output, in frames.

python -c "from flowkit.rag.parse.worker import main; main()"

A frame is its length in four bytes, then JSON; bytes of a file follow theirs. The process ends when its input does,
when it has had nothing to do for a while, and when a page takes longer than it may.
"""

import faulthandler
import gc
import io
import json
import math
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from flowkit.errors import FlowkitError
from flowkit.rag.parse.limits import Limits
from flowkit.rag.parse.pieces import Job, Page, Piece

__all__ = ["EXIT_MEMORY", "PATIENCE", "main", "reader_of", "receive", "send"]

EXIT_MEMORY = 77
PATIENCE = 6
"""How many seconds on the clock stand for one of processor time."""
_IDLE_SECONDS = 20.0
_LOOK_SECONDS = 1.0
_LARGEST_BYTES = 150_000_000
"""A process that has grown beyond this ends after its job; the next one is small again."""


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
    """The next frame; None when there is no more."""
    size = pipe.read(4)
    if len(size) < 4:
        return None
    written = pipe.read(int.from_bytes(size, "big"))
    found: dict[str, Any] = json.loads(written)
    return found


def main() -> NoReturn:
    """Serve jobs until there are no more. It never returns: a thread still waits for input, and would be in the way."""
    # What a library prints must not get between the frames.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
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
            _work(frame["kind"], job, output)
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


def _work(kind: str, job: Job, output: BinaryIO) -> None:
    limits = job.limits
    characters = 0
    try:
        read = _loaded(kind)
        _hold_memory(limits.memory_bytes)
        _watch(limits.page_seconds)
        for piece in read(job):
            if isinstance(piece, Page):
                characters += len(piece.text)
                send(output, {"page": piece.text, "notes": piece.notes})
                if characters > limits.max_characters:
                    break  # whoever asked says so
            else:
                send(output, {"metadata": piece.metadata, "warnings": list(piece.warnings)})
            _watch(limits.page_seconds)
        frame: dict[str, Any] = {"done": True}
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


def _watch(seconds: float) -> None:
    """Begin to count; the process ends even when a library never comes back.

    The system counts processor time, so that a busy machine is no reason; a thread of the interpreter looks at the
    clock, for what waits, and for Windows, which does not count.
    """
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
    global _looks_since
    now = time.monotonic()
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


def _hold_memory(limit_bytes: int) -> None:
    """Ask the system for no more than that; only Linux keeps it."""
    if sys.platform != "linux":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (limit_bytes, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _grown() -> bool:
    gc.collect()
    if sys.platform != "linux":
        return False
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") > _LARGEST_BYTES
