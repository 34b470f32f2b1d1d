"""Span records of one trace as Genkit's TraceData, the body of `POST /api/traces`.

trace_data([root, child], redact)        {"traceId": …, "displayName": …, "spans": {…}}
"""

from collections.abc import Callable, Sequence
from typing import Any

from flowkit.core.record import SpanRecord
from flowkit.tracing.genkit import genkit_span
from flowkit.tracing.rows import SpanError, SpanEvent, SpanLink, SpanRow

__all__ = ["trace_data"]

Redact = Callable[[bytes], bytes] | None


def trace_data(records: Sequence[SpanRecord], redact: Redact) -> dict[str, Any]:
    """Any part of a trace. Its name and times are there when its root is among the records."""
    rows = {record.span_hex: _row(record, redact, values=True) for record in records}
    for record in records:
        above = record.parent
        while above is not None and above.span_hex not in rows:
            # Those above are not sent, but a span's place is told by them.
            rows[above.span_hex] = _row(above, None, values=False)
            above = above.parent
    data: dict[str, Any] = {"traceId": records[0].trace_hex}
    spans: dict[str, Any] = {}
    for record in records:
        span = spans[record.span_hex] = genkit_span(rows[record.span_hex], rows)
        if "parentSpanId" not in span:
            data |= {"displayName": record.name, "startTime": span["startTime"], "endTime": span["endTime"]}
    return {**data, "spans": spans}


def _row(record: SpanRecord, redact: Redact, *, values: bool) -> SpanRow:
    row = SpanRow(
        record.trace_hex,
        record.span_hex,
        record.name,
        record.start_ns,
        record.end_ns,
        record.parent_hex,
        None if record.parent is None else record.parent.span_hex,
        local_root=record.is_root,
        type=record.type,
        kind=record.kind,
        key=record.key,
        span_kind=record.span_kind,
        state=record.state if record.end_ns else None,
        failure_source=record.failure_source,
        scope=record.scope,
        dropped=record.dropped,
    )
    if values:
        row.input, row.output, row.context = (
            value if value is None or redact is None else redact(value)
            for value in (record.input, record.output, record.context_json)
        )
        row.error = None if record.error is None else SpanError(*record.error)
        row.attributes = dict(record.attributes or {})
        row.events = [SpanEvent(name, at, facts) for name, at, facts in record.events or ()]
        row.links = [
            SpanLink(f"{context.trace_id:032x}", f"{context.span_id:016x}", facts)
            for context, facts in record.links or ()
        ]
    return row
