"""The shape of a trace as our own pages read it: every span, big values left where they are.

Outline.model_json_schema(by_alias=True)
"""

from typing import Any, Literal

from flowkit.schema.wire import JSON, Wire
from flowkit.server.dev.shapes import Summary

__all__ = ["Outline", "SpanOutline"]


class _Error(Wire):
    type: str
    message: str
    stack: str = ""


class _Event(Wire):
    name: str
    time_ms: float
    attributes: dict[str, Any]


class SpanOutline(Wire):
    """One span. `input` and `output` are absent above 2 kB: `…/spans/{spanId}/input` has them whole."""

    span_id: str
    parent_id: str | None = None
    ancestor_id: str | None = None
    """The nearest flowkit span above, when the parent is not in the store."""
    name: str
    label: str
    """What it is, in a word: its kind, `step`, or its type."""
    type: str
    kind: str | None = None
    key: str | None = None
    start_time_ms: float
    duration_ms: float | None = None
    state: Literal["success", "error", "cancelled"] | None = None
    """Absent while it runs."""
    input_bytes: int
    output_bytes: int
    input: JSON = None
    output: JSON = None
    context: JSON = None
    error: _Error | None = None
    failure_source: bool | None = None
    attributes: dict[str, Any] | None = None
    events: tuple[_Event, ...] | None = None
    values_dropped: bool | None = None
    library: str | None = None


class Outline(Wire):
    summary: Summary
    spans: tuple[SpanOutline, ...]
    """By start."""
    skipped: int = 0
    """Spans that cannot be read."""
