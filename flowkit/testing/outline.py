"""Traces in tests: a sink that keeps records, and the shape of a trace as text."""

from collections import deque

from flowkit.core.spans import SpanRecord

__all__ = ["MemorySink"]


class MemorySink:
    def __init__(self, limit: int | None = None) -> None:
        self.spans: deque[SpanRecord] = deque(maxlen=limit)
        self.ended = self.spans.append

    def started(self, record: SpanRecord) -> None:
        """nothing"""
