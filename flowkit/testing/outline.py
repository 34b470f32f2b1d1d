"""Traces in tests: a sink that keeps what has ended, and the shape of a trace as text.

sink = MemorySink()
assert trace_outline(sink.spans) == "menuQA flow\\n"
"""

from collections import deque
from collections.abc import Iterable

from flowkit.core.record import SpanRecord
from flowkit.tracing.rows import SpanRow
from flowkit.tracing.snapshot import row_of
from flowkit.tracing.tree import walk

__all__ = ["MemorySink", "trace_outline"]


class MemorySink:
    """Keeps the records that have ended, in `spans`; a child comes before its parent.

    Args:
        limit: so many of the last ones; None keeps all.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.spans: deque[SpanRecord] = deque(maxlen=limit)
        self.open = 0
        """Spans that have started and not ended."""

    def started(self, record: SpanRecord) -> None:
        self.open += 1

    def ended(self, record: SpanRecord) -> None:
        self.open -= 1
        self.spans.append(record)


def trace_outline(spans: Iterable[SpanRecord | SpanRow], *, states: bool = False) -> str:
    """One line per span: its name, indented by two spaces per level, and its kind (`step` for steps) in a column.

    Ids and times are not part of it. With `states`, spans that did not succeed say so behind their kind.
    """
    rows = [row_of(span) if isinstance(span, SpanRecord) else span for span in spans]
    lines = [("  " * (len(above) - 1) + row.name, row) for row, above in walk(rows)]
    width = max((len(name) for name, _ in lines), default=0)
    text = ""
    for name, row in lines:
        state = f" {row.state or 'running'}" if states and row.state != "success" else ""
        text += f"{name:{width}} {row.label}{state}\n"
    return text
