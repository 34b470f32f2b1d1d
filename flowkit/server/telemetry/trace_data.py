"""Span records of one trace as Genkit's TraceData, the body of `POST /api/traces`.

trace_data([root, child], redactor)        {"traceId": …, "displayName": …, "spans": {…}}
"""

from collections.abc import Sequence
from typing import Any

from flowkit.core.record import SpanRecord
from flowkit.tracing.genkit import genkit_span
from flowkit.tracing.redact import Redactor
from flowkit.tracing.rows import SpanRow
from flowkit.tracing.snapshot import row_of

__all__ = ["trace_data"]


def trace_data(records: Sequence[SpanRecord], redactor: Redactor) -> dict[str, Any]:
    """Any part of a trace. Its name and times are there when its root is among the records."""
    rows = {record.span_hex: row_of(record, redactor) for record in records}
    for record in records:
        above = record.parent
        while above is not None and above.span_hex not in rows:
            rows[above.span_hex] = _place_of(above)
            above = above.parent
    data: dict[str, Any] = {"traceId": records[0].trace_hex}
    spans: dict[str, Any] = {}
    for record in records:
        span = spans[record.span_hex] = genkit_span(rows[record.span_hex], rows)
        if "parentSpanId" not in span:
            data |= {"displayName": record.name, "startTime": span["startTime"], "endTime": span["endTime"]}
    return {**data, "spans": spans}


def _place_of(record: SpanRecord) -> SpanRow:
    """A span that is not sent itself, as far as those below need it: their path goes through it."""
    row = SpanRow(record.trace_hex, record.span_hex, record.name, record.start_ns, parent_id=record.parent_hex)
    row.ancestor_id = None if record.parent is None else record.parent.span_hex
    row.type, row.kind = record.type, record.kind
    return row
