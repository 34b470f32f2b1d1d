"""Spans to the telemetry servers that Genkit's tools have told us about, as they open and as they end.

    forward = Forwarder()
    flush = follow(ai.runtime.tracing, forward)
    forward.add("http://localhost:4033")

A tool that runs one command tells its address and is gone a second later, so a refused connection is nothing to speak
of. Nothing here may slow a run down: spans go through a bounded queue to a thread of its own. Nothing is logged above
debug: where logs are exported to the same dead server, each line about it would make another one.
"""

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakSet

from flowkit.core.record import SpanRecord, SpanSink
from flowkit.core.spans import Tracing
from flowkit.core.values import to_json
from flowkit.server.telemetry.post import Receiver
from flowkit.server.telemetry.trace_data import trace_data
from flowkit.tracing.quiet import quiet
from flowkit.tracing.redact import Redactor

__all__ = ["Forwarder", "follow", "unfollow"]

_log = logging.getLogger(__name__)

_STARTS = 1_000  # waiting records above which beginnings are left out
_RECORDS = 10_000
_BYTES = 200_000_000  # of values that wait
_POST_BYTES = 8_000_000


class Forwarder:
    """A span sink. Without an address it does nothing; its daemon thread starts with the first span that is sent."""

    def __init__(self) -> None:
        self.redactor = Redactor()
        self.dropped = 0
        """Spans that did not fit into the queue."""
        self._receivers: dict[str, Receiver] = {}
        self._closed = False
        self._begin()
        _forwarders.add(self)

    def _begin(self) -> None:
        self._waiting: deque[SpanRecord] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        self._taken_in = self._done = 0
        self._thread: threading.Thread | None = None
        for receiver in self._receivers.values():
            receiver.close()  # a connection belongs to the process that made it

    def add(self, url: str, *, keep: bool = False) -> None:
        """Send to this address from now on.

        Args:
            keep: Try again later when nobody answers there; otherwise it is forgotten until it is told again.
        """
        url = url.rstrip("/")
        with self._changed:
            known = self._receivers.setdefault(url, Receiver(url, keep=keep))
            known.keep = known.keep or keep
            known.revive()

    @property
    def urls(self) -> list[str]:
        """Where spans go now."""
        return list(self._receivers)

    def started(self, record: SpanRecord) -> None:
        if self._receivers and len(self._waiting) < _STARTS:
            self._put(record, 0)

    def ended(self, record: SpanRecord) -> None:
        if not self._receivers:
            return
        size = len(record.input or b"") + len(record.output or b"")
        if len(self._waiting) >= _RECORDS or self._bytes + size > _BYTES:
            self.dropped += 1
            return
        self._put(record, size)

    def flush(self, seconds: float) -> bool:
        """Wait until everything so far is sent, at most so long; False when it took longer."""
        with self._changed:
            target = self._taken_in
            return self._changed.wait_for(lambda: self._done >= target or not self._receivers, seconds)

    def close(self) -> None:
        """Send what waits, then end the thread. It is not waited for; `flush` does that."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _put(self, record: SpanRecord, size: int) -> None:
        with self._changed:
            self._waiting.append(record)
            self._bytes += size
            self._taken_in += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="flowkit-telemetry", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _work(self) -> None:
        with quiet():  # what this thread sends is not traced itself, whatever the user has instrumented
            self._send_all()

    def _send_all(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    self._thread = None
                    for receiver in self._receivers.values():
                        receiver.close()
                    return
                # A span that has begun and ended meanwhile is sent once.
                records = list(dict.fromkeys(self._waiting))
                self._waiting.clear()
                self._bytes = 0
                target, receivers = self._taken_in, list(self._receivers.values())
            for body in self._bodies(records):
                # One after the other: two of Genkit's servers in one project write the same files.
                for receiver in receivers:
                    receiver.post(body)
            with self._changed:
                for receiver in receivers:
                    if receiver.lost and self._receivers.get(receiver.url) is receiver:
                        del self._receivers[receiver.url]
                        _log.debug("no telemetry server at %s any more", receiver.url)
                self._done = target
                self._changed.notify_all()

    def _bodies(self, records: Sequence[SpanRecord]) -> list[bytes]:
        """What to post: the spans of one trace together, large ones apart."""
        bodies: list[bytes] = []
        for group in _grouped(records):
            try:
                bodies.append(to_json(trace_data(group, self.redactor)))
            except RuntimeError:  # a span that still runs was written to meanwhile; it comes again when it ends
                ended = [record for record in group if record.end_ns]
                if ended:
                    bodies.append(to_json(trace_data(ended, self.redactor)))
        return bodies


_forwarders: WeakSet[Forwarder] = WeakSet()


def _forked() -> None:
    for forwarder in list(_forwarders):
        forwarder._begin()


if hasattr(os, "register_at_fork"):  # absent on Windows, which has no fork
    os.register_at_fork(after_in_child=_forked)


def _grouped(records: Sequence[SpanRecord]) -> list[list[SpanRecord]]:
    groups: list[list[SpanRecord]] = []
    open_groups: dict[int, tuple[list[SpanRecord], int]] = {}
    for record in records:
        size = len(record.input or b"") + len(record.output or b"")
        group, total = open_groups.get(record.trace_id, ([], 0))
        if group and total + size > _POST_BYTES:
            group, total = [], 0
        if not group:
            groups.append(group)
        group.append(record)
        open_groups[record.trace_id] = (group, total + size)
    return groups


class _Both:
    """Two sinks."""

    def __init__(self, first: SpanSink, second: Forwarder) -> None:
        self.first = first
        self.second = second
        self.started_first, self.started_second = first.started, second.started
        self.ended_first, self.ended_second = first.ended, second.ended

    def started(self, record: SpanRecord) -> None:
        self.started_first(record)
        self.started_second(record)

    def ended(self, record: SpanRecord) -> None:
        self.ended_first(record)
        self.ended_second(record)


def follow(tracing: Tracing, forward: Forwarder) -> Callable[[float], None]:
    """Let `forward` see every span, next to the sink that is there.

    Returns:
        A function that waits, at most so many seconds, until all traces so far can be read where they are kept.
    """
    sink = tracing.sink
    owner = getattr(tracing.redact, "__self__", None)
    if isinstance(owner, Redactor):
        forward.redactor = owner
    tracing.sink = forward if sink is None else _Both(sink, forward)
    flush_store: Any = getattr(sink, "flush", None)

    def flush(seconds: float) -> None:
        until = time.monotonic() + seconds
        if flush_store is not None:
            flush_store(seconds)
        forward.flush(max(0.0, until - time.monotonic()))

    return flush


def unfollow(tracing: Tracing, forward: Forwarder) -> None:
    """Take `forward` away again; spans that are open still reach it."""
    sink = tracing.sink
    if sink is forward:
        tracing.sink = None
    elif isinstance(sink, _Both) and sink.second is forward:
        tracing.sink = sink.first
    forward.close()
