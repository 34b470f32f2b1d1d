"""The trace store as the dev server uses it: takes what comes by HTTP, answers, and tells when anything has changed.

traces = Traces(root / ".flowkit/traces.db", redactor)
traces.take(rows)                                       # redacted and queued; small deliveries are written together
page = await traces.read(traces.store.list, limit=50)   # what was taken before can be read
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from flowkit.core.threads import run_in_thread
from flowkit.errors import StoreError
from flowkit.tracing.log_rows import LogRow
from flowkit.tracing.log_store import LogStore
from flowkit.tracing.progress import Watch
from flowkit.tracing.recorder import recorder_for
from flowkit.tracing.redact import PLAIN, Redactor
from flowkit.tracing.retention import Kept
from flowkit.tracing.rows import SpanRow
from flowkit.tracing.snapshot import redact_row
from flowkit.tracing.store import TraceStore

__all__ = ["Changes", "Look", "Traces"]

T = TypeVar("T")

_DEFAULT = Kept()
_POLL_SECONDS = 0.05
_REST_SECONDS = 1.0


class Traces:
    """All methods belong to the server's event loop."""

    def __init__(self, path: Path, redactor: Redactor = PLAIN, kept: Kept = _DEFAULT) -> None:
        self.redactor = redactor
        self.kept = kept
        self.recorder = recorder_for(path, redactor, kept)
        self.store = self.recorder.store
        self.logs = LogStore(self.store)
        self._front = TraceStore(path)
        self.changes = Changes(path)

    def take(self, rows: Sequence[SpanRow]) -> None:
        """Redact and queue spans."""
        for row in rows:
            redact_row(row, self.redactor)
            row.input_bytes, row.output_bytes = len(row.input or b""), len(row.output or b"")
        self.recorder.add(rows)

    async def take_logs(self, rows: Sequence[LogRow]) -> None:
        """Redact and store log records."""
        for row in rows:
            row.attributes = self.redactor.redact_attributes(row.attributes)
            row.body = self.redactor.redact(row.body) if row.body is not None else None
        await run_in_thread(self.logs.write, (rows,))

    async def read(self, fn: Callable[..., T], /, *args: Any) -> T:
        """Call something that reads the store, in a thread, after what was taken has been written."""

        def work() -> T:
            self.recorder.flush(1.0)
            return fn(*args)

        found: T = await run_in_thread(work)
        return found

    async def read_front(self, fn: Callable[[TraceStore], T]) -> T:
        """As `read`, for what takes a millisecond or two: without a thread, when nothing is to be written before.

        `fn` gets a store of its own, so that it never waits for a long search.
        """
        if self.recorder.idle:
            return fn(self._front)
        return await self.read(fn, self._front)

    async def aclose(self) -> None:
        """Write what is queued, end all streams, close the file."""
        self.changes.close()
        await run_in_thread(self.recorder.close)
        self._front.close()


class Look:
    """One reader's view of the changes."""

    def __init__(self, changes: "Changes") -> None:
        self._changes = changes
        self._event = asyncio.Event()
        self._event.set()

    def tell(self) -> None:
        self._event.set()

    async def wait(self, seconds: float | None = None) -> bool:
        """True when something has changed since the last call (the first call: at once), False after `seconds`.

        It returns, too, when the server ends; `closed` is set then.
        """
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return False
        self._event.clear()
        return True

    @property
    def closed(self) -> bool:
        return self._changes.closed


class Changes:
    """Wakes everybody who looks when the store has changed: one poll for all of them, none while nobody looks."""

    def __init__(self, path: Path) -> None:
        self.closed = False
        self._watch = Watch(path)
        self._looks: set[Look] = set()
        self._polling: asyncio.Task[None] | None = None

    @contextmanager
    def look(self) -> Iterator[Look]:
        """While it is open, the store is polled."""
        look = Look(self)
        self._looks.add(look)
        if self._polling is None and not self.closed:
            self._polling = asyncio.ensure_future(self._poll())
        try:
            yield look
        finally:
            self._looks.discard(look)
            if not self._looks and self._polling is not None:
                self._polling.cancel()
                self._polling = None
                self._watch.close()

    @property
    def polls(self) -> bool:
        """True while somebody looks."""
        return self._polling is not None

    def close(self) -> None:
        """End all streams that wait for changes."""
        self.closed = True
        for look in self._looks:
            look.tell()

    async def _poll(self) -> None:
        while True:
            rest = _POLL_SECONDS
            try:
                if self._watch.changed():
                    for look in self._looks:
                        look.tell()
            except StoreError:  # whoever reads is told
                rest = _REST_SECONDS
            await asyncio.sleep(rest)
