"""Records of `logging` go to the trace store, each with the span that was current: for processes that tools look into.

keeper = keep_logs(store, redactor)        # for one file once, however often it is asked
stop_keeping(keeper)                       # what is queued is written

It hangs into `Logger.callHandlers`, not into the root logger's handlers: there it would make `logging.basicConfig` do
nothing, silence Python's own last resort, and be thrown out by `dictConfig`. A record passes when its logger lets it
pass, so nobody sees more or less than before. Nothing is kept of what is logged while traces are written or sent: a
line about a failed write would make the next one.
"""

import atexit
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from opentelemetry import context as otel_context
from opentelemetry import trace as otel

from flowkit.core.context import current_run
from flowkit.core.record import describe
from flowkit.errors import StoreError
from flowkit.tracing.log_rows import LogRow, severity_of
from flowkit.tracing.log_store import LogStore
from flowkit.tracing.quiet import is_quiet, quiet
from flowkit.tracing.redact import PLAIN, Redactor
from flowkit.tracing.store import TraceStore

__all__ = ["LogKeeper", "keep_logs", "stop_keeping"]

_TICK_SECONDS = 0.05
_QUEUE = 10_000
_SLICE = 500
_EXIT_SECONDS = 2.0

# What every record has; the rest came by `extra=`.
_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
_SCALARS = (str, int, float, bool)


class LogKeeper:
    """Keeps what is logged in this process. `dropped` counts records that did not fit into the queue."""

    def __init__(self, store: TraceStore, redactor: Redactor = PLAIN) -> None:
        self.path = store.path
        self.logs = LogStore(store)
        self.redactor = redactor
        self.dropped = 0
        self.users = 0
        """How many have asked for it by `keep_logs`."""
        self._waiting: deque[LogRow] = deque()
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._busy = threading.local()
        self._closed = False
        _keepers.add(self)

    def install(self) -> None:
        """Keep records from now on; a second call changes nothing."""
        with _installing:
            if self not in _active:
                _active.append(self)
                self._closed = False
                _hang_in()

    def remove(self) -> None:
        """Keep none from now on, and write what is queued."""
        with _installing:
            if self in _active:
                _active.remove(self)
            if not _active:
                _hang_out()
        self._closed = True
        self._wake.set()
        self.flush(_EXIT_SECONDS)

    def take(self, record: logging.LogRecord) -> None:
        """Queue a record. It never raises, whatever is in it, and never blocks."""
        if getattr(self._busy, "now", False) or is_quiet(otel_context.get_current()):
            return
        self._busy.now = True
        try:
            if len(self._waiting) >= _QUEUE:
                self.dropped += 1
                return
            self._waiting.append(self._row(record))
            if self._thread is None:
                self._start()
            if not self._wake.is_set():
                self._wake.set()
        except Exception:  # noqa: BLE001  a bad format string, a broken __repr__: logging itself tells of them
            self.dropped += 1
        finally:
            self._busy.now = False

    def flush(self, seconds: float = _EXIT_SECONDS) -> bool:
        """Write what is queued, in this thread. False when it could not be done."""
        if not self._lock.acquire(timeout=seconds):
            return False
        try:
            with quiet():
                return self._drain()
        finally:
            self._lock.release()

    def _start(self) -> None:
        with _installing:
            if self._thread is None:
                thread = threading.Thread(target=self._serve, name="flowkit-logs", daemon=True)
                thread.start()
                self._thread = thread

    def _serve(self) -> None:
        self._busy.now = True
        while not self._closed:
            self._wake.wait()
            time.sleep(_TICK_SECONDS)
            self._wake.clear()
            self.flush()
        self._thread = None

    def _drain(self) -> bool:
        while self._waiting:
            rows = [self._waiting.popleft() for _ in range(min(_SLICE, len(self._waiting)))]
            try:
                self.logs.write(rows)
            except StoreError:  # damaged, or full: the traces' own writer warns about it
                self.dropped += len(rows)
                return False
        return True

    def _row(self, record: logging.LogRecord) -> LogRow:
        number, name = severity_of(record.levelno)
        trace_id, span_id = _place()
        attributes: dict[str, Any] = {
            "code.filepath": record.pathname,
            "code.lineno": record.lineno,
            "code.function": record.funcName,
            "thread.name": record.threadName,
        }
        for key, value in record.__dict__.items():
            if key not in _STANDARD and not key.startswith("_"):
                attributes[key] = value if isinstance(value, _SCALARS) else repr(value)
        if record.exc_info and record.exc_info[1] is not None:
            kind, message, stack = describe(record.exc_info[1])
            attributes |= {"exception.type": kind, "exception.message": message, "exception.stacktrace": stack}
        body = self.redactor.redact_text(record.getMessage())
        clean = self.redactor.redact_attributes({key: value for key, value in attributes.items() if value is not None})
        time_ns = int(record.created * 1e6) * 1000
        return LogRow(time_ns, body, number, name, trace_id, span_id, clean, (record.name, None))

    def _forked(self) -> None:
        self._waiting.clear()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._busy = threading.local()
        self._thread = None


def keep_logs(store: TraceStore, redactor: Redactor = PLAIN) -> LogKeeper:
    """Keep what this process logs in a store. Apps of one project share a keeper, so that nothing comes twice."""
    with _installing:
        keeper = next((known for known in _active if known.path == store.path), None) or LogKeeper(store, redactor)
        keeper.users += 1
        keeper.install()
        return keeper


def stop_keeping(keeper: LogKeeper) -> None:
    """One user less; the last one removes it."""
    with _installing:
        keeper.users -= 1
        last = keeper.users <= 0
    if last:
        keeper.remove()


def _place() -> tuple[str | None, str | None]:
    """Trace and span within which this code runs."""
    span = otel.get_current_span().get_span_context()
    if span.is_valid:
        return f"{span.trace_id:032x}", f"{span.span_id:016x}"
    run = current_run()
    return (None, None) if run is None else (run.trace_id, run.span_id)


_active: list[LogKeeper] = []
_keepers: "weakref.WeakSet[LogKeeper]" = weakref.WeakSet()
_installing = threading.RLock()
_original: Callable[[logging.Logger, logging.LogRecord], None] | None = None
_at_exit = False


def _call_handlers(logger: logging.Logger, record: logging.LogRecord) -> None:
    for keeper in tuple(_active):
        keeper.take(record)
    original = _original
    if original is not None:
        original(logger, record)


def _hang_in() -> None:
    global _original, _at_exit
    if logging.Logger.callHandlers is not _call_handlers:
        _original = logging.Logger.callHandlers
        setattr(logging.Logger, "callHandlers", _call_handlers)  # noqa: B010  a method is replaced, which mypy minds
    if not _at_exit:
        _at_exit = True
        atexit.register(_leave)


def _hang_out() -> None:
    """Unless somebody else has hung in after us: then it stays, and takes nothing."""
    if _original is not None and logging.Logger.callHandlers is _call_handlers:
        setattr(logging.Logger, "callHandlers", _original)  # noqa: B010


def _leave() -> None:
    for keeper in tuple(_active):
        keeper.flush()


def _forked() -> None:
    global _installing
    _installing = threading.RLock()
    for keeper in list(_keepers):
        keeper._forked()


if hasattr(os, "register_at_fork"):  # absent on Windows, which has no fork
    os.register_at_fork(after_in_child=_forked)
