"""The recorder: takes span records from running code at next to no cost, and writes them to the trace store behind it.

recorder = recorder_for(project / ".flowkit/traces.db")
recorder.flush()                                    # everything that has ended is on disk now

A call only appends to a queue. A thread, started when there is something to write, puts all that has gathered in 30 ms
into one transaction, so an ended span is on disk well within 200 ms. What is still queued is written at exit. Under
overload, values and start-records are dropped and counted; the record of an end never is.
"""

import atexit
import math
import os
import sys
import threading
import time
import warnings
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from queue import SimpleQueue

from flowkit.core.record import SpanRecord
from flowkit.errors import StoreError
from flowkit.tracing.quiet import quiet
from flowkit.tracing.redact import PLAIN, Redactor
from flowkit.tracing.retention import Kept, Retention
from flowkit.tracing.rows import SpanRow
from flowkit.tracing.snapshot import row_of
from flowkit.tracing.store import TraceStore

__all__ = ["Recorder", "flush_all", "recorder_for"]

_TICK_SECONDS = 0.03
_RETRY_SECONDS = 1.0
_SLICE_SPANS = 100
_LARGE_SLICE_SPANS = 500  # when many wait, or they are of other processes: each step waits for the interpreter lock
_SLICE_BYTES = 8_000_000
_QUEUE_BYTES = 128_000_000
_RECORD_BYTES = 1_000  # what a record takes beside its values, about
_PENDING_SPANS = 50_000
_EXIT_SECONDS = 5.0


class Recorder:
    """A sink for the records of one app; the apps of a process share the writer of a file."""

    def __init__(self, writer: "_Writer", redactor: Redactor) -> None:
        self.redactor = redactor
        self._writer = writer

    @property
    def store(self) -> TraceStore:
        """What it writes to."""
        return self._writer.store

    @property
    def dropped_values(self) -> int:
        """Spans whose input and output were dropped because the writer could not keep up."""
        return self._writer.dropped_values

    @property
    def dropped_starts(self) -> int:
        """Spans that were not shown while they ran."""
        return self._writer.dropped_starts

    @property
    def lost(self) -> int:
        """Spans that could not be written at all, because the file could not."""
        return self._writer.lost

    @property
    def idle(self) -> bool:
        """True when everything so far is on disk; never waits to find out."""
        writer = self._writer
        if not writer._lock.acquire(blocking=False):  # it is writing
            return False
        try:
            return not writer._waiting()
        finally:
            writer._lock.release()

    # Called within the user's call: append, no locks, no exceptions.

    def started(self, record: SpanRecord) -> None:
        writer = self._writer
        if writer.queued_bytes > _QUEUE_BYTES // 2:
            writer.dropped_starts += 1
            return
        writer.starts.append((record, self.redactor))
        if writer.asleep:
            writer.wake()

    def ended(self, record: SpanRecord) -> None:
        writer = self._writer
        size = _RECORD_BYTES
        if record.input is not None:
            size += len(record.input)
        if record.output is not None:
            size += len(record.output)
        if writer.queued_bytes + size > _QUEUE_BYTES and size > _RECORD_BYTES:
            record.input = record.output = None
            record.dropped = True
            writer.dropped_values += 1
            size = _RECORD_BYTES
        writer.queued_bytes += size
        writer.ends.append((record, self.redactor))
        if writer.asleep:
            writer.wake()

    def add(self, rows: Iterable[SpanRow]) -> None:
        """Queue spans of other processes: many small deliveries become one transaction."""
        writer = self._writer
        writer.rows.extend(rows)
        if writer.asleep:
            writer.wake()

    def flush(self, timeout_seconds: float = 2.0) -> bool:
        """Write what is queued, in this thread. False when it could not be done in time, or not at all."""
        return self._writer.flush(timeout_seconds)

    def close(self, timeout_seconds: float = 2.0) -> None:
        """Write what is queued, end the thread and close the file. The next record opens both again."""
        self._writer.flush(timeout_seconds)
        self._writer.stop()


class _Writer:
    """The queue, the thread and the file of one path."""

    def __init__(self, path: Path) -> None:
        self.store = TraceStore(path)
        # With the rules of the app: the sink that a record names may be another, which passes it on.
        self.starts: deque[tuple[SpanRecord, Redactor]] = deque()
        self.ends: deque[tuple[SpanRecord, Redactor]] = deque()
        self.rows: deque[SpanRow] = deque()
        self.queued_bytes = 0
        """About; it is corrected whenever the queue is empty."""
        self.asleep = True
        self.dropped_values = self.dropped_starts = self.lost = 0
        self.retention = Retention(Kept())
        self._pending: list[SpanRow] = []
        """Taken from the queue, but the file could not be written."""
        self._blocked = False
        """The disk is full, or the file may not be written: waiting a moment does not help."""
        self._lock = threading.RLock()
        self._signal: SimpleQueue[bool] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._off = False
        self._warned: set[str] = set()
        self._leaving = False
        _writers.add(self)

    def wake(self) -> None:
        """There is something to write. Only called when the thread sleeps, or does not exist yet."""
        if self._thread is None and not self._leaving:
            try:
                self._start()
            except RuntimeError:  # the interpreter is about to end
                self._leaving = True
        if self._leaving:
            self.flush(_EXIT_SECONDS)
            return
        self.asleep = False
        self._signal.put(True)  # unlike an Event, it may be called again from within itself, by a finalizer

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                _flush_at_exit()
                thread = threading.Thread(target=self._serve, name="flowkit-traces", daemon=True)
                thread.start()
                self._thread = thread

    def _serve(self) -> None:
        signal = self._signal
        while True:
            self.asleep = True
            if not self._waiting() and not signal.get():
                return
            self.asleep = False
            if self._leaving:
                self.asleep = True
            time.sleep(_RETRY_SECONDS if self._pending else _TICK_SECONDS)
            with self._lock, quiet():
                self._drain(pause=True)

    def _waiting(self) -> bool:
        return bool(self.starts or self.ends or self.rows or self._pending)

    def flush(self, timeout_seconds: float) -> bool:
        until = time.monotonic() + timeout_seconds
        if not self._lock.acquire(timeout=timeout_seconds):
            return False
        try:
            with quiet():
                # At exit, whatever can be written is, however long it takes.
                done = self._drain(until=math.inf if self._leaving else until)
                while not (done or self._off or self._blocked) and time.monotonic() < until:
                    time.sleep(0.02)
                    done = self._drain(until=until)
        finally:
            self._lock.release()
        return done and not self._off

    def stop(self) -> None:
        """End the thread when it has nothing to do, and close the file."""
        with self._lock:
            if self._thread is not None:
                self._signal.put(False)
                self._signal, self._thread = SimpleQueue(), None
                self.asleep = True
        self.store.close()

    def leave(self) -> None:
        """At exit: from now on each record is written at once, as nobody waits for a thread."""
        self._leaving = self.asleep = True
        self.flush(_EXIT_SECONDS)
        self.store.close()

    def forked(self) -> None:
        """In a child process: what is queued belongs to the parent, and so does the thread."""
        self.starts.clear()
        self.ends.clear()
        self.rows.clear()
        self._pending.clear()
        self.queued_bytes = 0
        self._lock = threading.RLock()
        self._signal = SimpleQueue()
        self._thread = None
        self.asleep = True

    def _drain(self, *, pause: bool = False, until: float = math.inf) -> bool:
        """Write slice by slice until the queue is empty: with `pause`, other threads get their turn in between.

        False when the file could not be written, or the time is over.
        """
        while self._waiting():
            if time.monotonic() > until:
                return False
            rows = self._pending + self._take()
            if self._off:
                self.lost += _ended(rows)
                rows = []
            self._pending = []
            self._blocked = False
            try:
                self._write(rows)
            except StoreError as error:
                self._failed(rows, error)
                return False
            self.retention.came(traces=sum(row.local_root for row in rows))
            if pause:
                time.sleep(0)
        if self.retention.due and self._thread is threading.current_thread() and not self._off:
            self._prune()
        return True

    def _write(self, rows: list[SpanRow]) -> None:
        try:
            self.store.write(rows)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001  one odd span must not take the others with it
            if len(rows) > 1:
                for row in rows:
                    self._write([row])
            else:
                self._skip(error)

    def _row(self, record: SpanRecord, redactor: Redactor) -> Iterator[SpanRow]:
        try:
            yield row_of(record, redactor)
        except Exception as error:  # noqa: BLE001  values in it may be of any type
            self._skip(error)

    def _skip(self, error: Exception) -> None:
        self.lost += 1
        self._warn(f"a span cannot be stored: {type(error).__name__}: {error}")

    def _take(self) -> list[SpanRow]:
        rows: list[SpanRow] = []
        size = 0
        most = _LARGE_SLICE_SPANS if self.rows or len(self.ends) >= 1000 else _SLICE_SPANS
        while self.starts and len(rows) < most:
            record, redactor = self.starts.popleft()
            if not record.end_ns:  # else its end is queued, or will be in a moment
                rows += self._row(record, redactor)
        while self.rows and len(rows) < most and size < _SLICE_BYTES:
            row = self.rows.popleft()
            size += len(row.input or b"") + len(row.output or b"")
            rows.append(row)
        while len(rows) < most and size < _SLICE_BYTES:
            if not self.ends:
                self.queued_bytes = 0
                break
            record, redactor = self.ends.popleft()
            rows += self._row(record, redactor)
            values = len(record.input or b"") + len(record.output or b"")
            size += values
            self.queued_bytes -= _RECORD_BYTES + values
        self.retention.came(size_bytes=size + _RECORD_BYTES * len(rows))
        return rows

    def _failed(self, rows: list[SpanRow], error: StoreError) -> None:
        if error.status == "DATA_LOSS":  # a damaged file, or one of a newer format, is never written to
            self._off = True
            self.lost += _ended(rows)
            self._warn(f"traces are not kept: {error}")
            return
        if len(rows) > _PENDING_SPANS:
            self.lost += _ended(rows[:-_PENDING_SPANS])
            rows = rows[-_PENDING_SPANS:]
        if sum(len(row.input or b"") + len(row.output or b"") for row in rows) > _QUEUE_BYTES:
            for row in rows:
                row.input = row.output = None
                row.dropped = True
            self.dropped_values += len(rows)
        self._pending = rows
        self._blocked = error.status in ("RESOURCE_EXHAUSTED", "PERMISSION_DENIED")
        self._warn(f"traces cannot be written, and are kept in memory for now: {error}")

    def _warn(self, text: str) -> None:
        """Once for each kind, and never through logging: logs may be traced themselves."""
        kind = text.partition(":")[0]
        if kind in self._warned:
            return
        self._warned.add(kind)
        try:
            warnings.warn_explicit(text, RuntimeWarning, "flowkit", 0)  # no line of the user's is to blame
        except RuntimeWarning:  # under -W error; this is the writer's thread, not the user's code
            sys.stderr.write(f"flowkit: {text}\n")

    def _prune(self) -> None:
        try:
            self.retention.hold(self.store)
        except StoreError as error:
            if error.status == "DATA_LOSS":
                self._failed([], error)


def _ended(rows: list[SpanRow]) -> int:
    return sum(row.end_ns > 0 for row in rows)


_recorders: dict[tuple[Path, int], Recorder] = {}
_writers: "weakref.WeakSet[_Writer]" = weakref.WeakSet()
_lock = threading.Lock()


def recorder_for(path: Path, redactor: Redactor | None = None, kept: Kept | None = None) -> Recorder:
    """The recorder of a file with these rules; what is `kept` holds for all of the file's. Nothing is opened yet."""
    path, redactor = path.absolute(), redactor or PLAIN
    with _lock:
        recorder = _recorders.get((path, id(redactor)))
        if recorder is None:
            shared = next((other._writer for (known, _), other in _recorders.items() if known == path), None)
            recorder = _recorders[path, id(redactor)] = Recorder(shared or _Writer(path), redactor)
        recorder._writer.retention.kept = kept or recorder._writer.retention.kept
        return recorder


def flush_all(timeout_seconds: float = 2.0) -> bool:
    """Write what any recorder of this process has queued. False when some of it could not be written in time."""
    return not [writer for writer in list(_writers) if not writer.flush(timeout_seconds)]


_registered_by: int | None = None


def _flush_at_exit() -> None:
    """Once per process. Children of `multiprocessing` leave without `atexit`, but run its own finalizers."""
    global _registered_by
    if _registered_by == os.getpid():
        return
    if _registered_by is None:
        atexit.register(_leave)
    _registered_by = os.getpid()
    util, process = sys.modules.get("multiprocessing.util"), sys.modules.get("multiprocessing.process")
    if util is not None and process is not None and process.parent_process() is not None:
        util.Finalize(None, _leave, exitpriority=0)


def _leave() -> None:
    for writer in list(_writers):
        writer.leave()


def _forked() -> None:
    global _lock
    _lock = threading.Lock()
    for writer in list(_writers):
        writer.forked()


if hasattr(os, "register_at_fork"):  # absent on Windows, which has no fork
    os.register_at_fork(after_in_child=_forked)
