"""The shapes of Genkit's telemetry API, as its documents give them.

TraceList.model_json_schema(by_alias=True)
"""

from typing import Any, Literal

from pydantic import Field

from flowkit.schema.wire import JSON, Wire

__all__ = [
    "Empty",
    "ListLogs",
    "ListTraces",
    "LogData",
    "LogList",
    "OtlpAnswer",
    "OtlpRequest",
    "SpanData",
    "SpanEventData",
    "TraceData",
    "TraceList",
    "TraceSummaryData",
]


class Empty(Wire):
    """Nothing."""


class _Library(Wire):
    name: str
    version: str | None = None
    schema_url: str | None = None


class _Status(Wire):
    code: int
    """0 unset, 1 ok, 2 error."""
    message: str | None = None


class _LinkContext(Wire):
    trace_id: str
    span_id: str
    is_remote: bool | None = None
    trace_flags: int = 1


class _Link(Wire):
    context: _LinkContext
    attributes: dict[str, Any] | None = None
    dropped_attributes_count: int | None = None


class _Annotation(Wire):
    description: str
    attributes: dict[str, Any]


class _TimeEvent(Wire):
    time: float
    annotation: _Annotation


class _TimeEvents(Wire):
    time_event: tuple[_TimeEvent, ...] = ()


class _SameProcess(Wire):
    value: bool


class SpanData(Wire):
    """One span; times in ms since the epoch, `endTime` 0 while it runs."""

    span_id: str
    trace_id: str
    parent_span_id: str | None = None
    start_time: float
    end_time: float
    attributes: dict[str, Any]
    display_name: str
    span_kind: Literal["INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER", "UNSPECIFIED"]
    instrumentation_library: _Library
    status: _Status | None = None
    links: tuple[_Link, ...] | None = None
    time_events: _TimeEvents | None = None
    same_process_as_parent_span: _SameProcess | None = None
    truncated: bool | None = None


class TraceData(Wire):
    """A trace, or any part of one; spans by their id."""

    trace_id: str
    display_name: str | None = None
    start_time: float | None = None
    end_time: float | None = None
    spans: dict[str, SpanData]


class TraceSummaryData(TraceData):
    """A trace with its root span only, texts cut at 1000 characters."""


class TraceList(Wire):
    traces: tuple[TraceSummaryData, ...]
    continuation_token: str | None = None


class SpanEventData(Wire):
    """What a stream of a trace tells after the trace itself."""

    type: Literal["span_start", "span_end"]
    trace_id: str
    span: SpanData


class ListTraces(Wire):
    limit: int = Field(10, ge=1, le=10_000)
    continuation_token: str | None = None
    filter: str | None = None
    """JSON: `{"eq": {"type": "flow"}, "neq": …, "gt": …, "gte": …, "lt": …, "lte": …, "contains": …}`."""


class ListLogs(Wire):
    limit: int = Field(100, ge=1, le=10_000)
    continuation_token: str | None = None
    severity_text: str | None = None
    severity_number: int | None = None
    """At least this."""
    trace_id: str | None = Field(None, pattern="^[0-9a-f]{32}$")
    span_id: str | None = Field(None, pattern="^[0-9a-f]{16}$")
    q: str | None = None
    """Text that occurs in the body; Genkit's own server has no such filter."""


class LogData(Wire):
    """One log record; `timestamp` in ms since the epoch."""

    log_id: str
    trace_id: str | None = None
    span_id: str | None = None
    timestamp: float
    severity_number: int | None = None
    severity_text: str | None = None
    body: JSON = None
    attributes: dict[str, Any] | None = None
    instrumentation_library: _Library | None = None


class LogList(Wire):
    logs: tuple[LogData, ...]
    continuation_token: str | None = None


class OtlpRequest(Wire):
    """ExportTraceServiceRequest or ExportLogsServiceRequest of OTLP, in JSON or protobuf."""

    resource_spans: tuple[dict[str, Any], ...] | None = None
    resource_logs: tuple[dict[str, Any], ...] | None = None
    resource_metrics: tuple[dict[str, Any], ...] | None = None


class _PartialSuccess(Wire):
    rejected_spans: int | None = None
    rejected_log_records: int | None = None
    error_message: str | None = None


class OtlpAnswer(Wire):
    partial_success: _PartialSuccess | None = None
