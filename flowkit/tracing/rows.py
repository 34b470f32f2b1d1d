"""What the trace store takes and gives: spans, traces, summaries.

trace = store.get("3ea5")
[span.name for span in trace.spans if span.state == "error"]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

__all__ = [
    "Outline",
    "Page",
    "SpanError",
    "SpanEvent",
    "SpanLink",
    "SpanRow",
    "Trace",
    "TraceStatus",
    "TraceSummary",
    "label_of",
]

TraceStatus = Literal["running", "success", "error", "cancelled", "lost"]
"""`lost`: its process is gone without having ended it."""


class SpanError(NamedTuple):
    """Why a span failed."""

    type: str
    message: str
    stack: str = ""


class SpanEvent(NamedTuple):
    """Something that happened within a span; `time_ns` since the epoch."""

    name: str
    time_ns: int
    attributes: Mapping[str, Any]


class SpanLink(NamedTuple):
    """Another span that a span speaks of; ids in hex."""

    trace_id: str
    span_id: str
    attributes: Mapping[str, Any]


@dataclass(slots=True)
class SpanRow:
    """One span. Ids are hex, times nanoseconds since the epoch, values JSON as UTF-8 bytes."""

    trace_id: str
    span_id: str
    name: str
    start_ns: int
    end_ns: int = 0
    """0 while it runs."""
    parent_id: str | None = None
    ancestor_id: str | None = None
    """The nearest flowkit span above, for when the parent belongs to somebody else and is not in the store."""
    local_root: bool = False
    """The outermost span of its process."""
    type: str = "external"
    """`action`, `flowStep`, `util`; `external` for spans of other libraries."""
    kind: str | None = None
    key: str | None = None
    span_kind: str = "INTERNAL"
    state: str | None = None
    """`success`, `error`, `cancelled`; None while it runs."""
    error: SpanError | None = None
    failure_source: bool = False
    input: bytes | None = None
    output: bytes | None = None
    input_bytes: int = 0
    """Size of the input, also when the value itself was not asked for."""
    output_bytes: int = 0
    context: bytes | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    events: Sequence[SpanEvent] = ()
    links: Sequence[SpanLink] = ()
    scope: tuple[str, str | None] | None = None
    """Name and version of the library that made it."""
    dropped: bool = False
    """Its values were dropped because the writer could not keep up."""
    process: str | None = None
    """`<pid>@<host>` of the process that runs it."""

    @property
    def duration_ms(self) -> float | None:
        return (self.end_ns - self.start_ns) / 1e6 if self.end_ns else None

    @property
    def label(self) -> str:
        """What it is, in a word: its kind, `step`, or its type."""
        return label_of(self.kind, self.type)


def label_of(kind: str | None, type_: str) -> str:
    """What a span is, in a word: its kind, `step`, or its type."""
    return kind or ("step" if type_ == "flowStep" else type_)


@dataclass(slots=True)
class Trace:
    """All spans of a trace, by start."""

    summary: "TraceSummary"
    spans: list[SpanRow]
    skipped: int = 0
    """Rows that could not be read."""

    @property
    def trace_id(self) -> str:
        return self.summary.trace_id


@dataclass(slots=True)
class Outline:
    """A trace to draw: its spans are JSON already, big values are left out."""

    summary: "TraceSummary"
    spans: list[str]
    skipped: int = 0


@dataclass(slots=True)
class TraceSummary:
    """What a list shows of a trace: the facts of its root span, and counts."""

    trace_id: str
    name: str
    kind: str | None
    key: str | None
    start_ns: int
    duration_ms: float | None
    status: TraceStatus
    spans: int
    error: str | None
    labels: Mapping[str, str]
    input_tokens: int | None
    output_tokens: int | None
    size_bytes: int
    """Size of all inputs and outputs."""
    internal: bool
    """Made by tools, or without any flowkit span; lists leave it out unless asked."""
    input: str | None
    """The beginning of the root's input, JSON text cut at 200 characters."""
    output: str | None


@dataclass(slots=True, frozen=True)
class Page:
    """A part of the list, newest first; `cursor` leads to the next part, None at the end."""

    items: list[TraceSummary]
    cursor: str | None = None
    skipped: int = 0
    """Rows that could not be read."""
