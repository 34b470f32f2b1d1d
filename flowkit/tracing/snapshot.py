"""From the record that running code fills to the row that is stored: ids in hex, secrets replaced.

row_of(record, Redactor())
"""

from flowkit.core.record import SpanRecord
from flowkit.tracing.reading import this_process
from flowkit.tracing.redact import Redactor
from flowkit.tracing.rows import SpanError, SpanEvent, SpanLink, SpanRow

__all__ = ["redact_row", "row_of"]


def row_of(record: SpanRecord, redactor: Redactor | None = None) -> SpanRow:
    """A record as the store takes it; ids in hex, secrets replaced."""
    parent = record.parent
    # The clock may have been set back meanwhile.
    end_ns = record.end_ns and max(record.end_ns, record.start_ns)
    row = SpanRow(f"{record.trace_id:032x}", f"{record.span_id:016x}", str(record.name), record.start_ns, end_ns)
    if record.parent_id:
        row.parent_id = f"{record.parent_id:016x}"
        if parent is not None and parent.span_id != record.parent_id:
            row.ancestor_id = f"{parent.span_id:016x}"
    row.local_root = record.is_root
    row.type, row.kind, row.key = record.type, record.kind, record.key
    row.span_kind, row.scope = record.span_kind, record.scope
    if record.end_ns:
        row.state = record.state
        if record.error is not None:
            row.error = SpanError(*record.error)
        row.failure_source = record.failure_source
    else:
        row.process = this_process()
    row.input, row.output, row.context, row.dropped = record.input, record.output, record.context_json, record.dropped
    # Copies, as the code that made the span may still add to them.
    if record.attributes:
        row.attributes = record.attributes.copy()
    if record.events:
        row.events = tuple(SpanEvent(*event) for event in list(record.events))
    if record.links:
        row.links = tuple(
            SpanLink(f"{context.trace_id:032x}", f"{context.span_id:016x}", facts)
            for context, facts in list(record.links)
        )
    if redactor is not None:
        redact_row(row, redactor)
    row.input_bytes, row.output_bytes = len(row.input or b""), len(row.output or b"")
    return row


def redact_row(row: SpanRow, redactor: Redactor) -> None:
    """Replace the secrets of a row, in place."""
    if row.input is not None:
        row.input = redactor.redact_json(row.input)
    if row.output is not None:
        row.output = redactor.redact_json(row.output)
    if row.context is not None:
        row.context = redactor.redact_json(row.context)
    if row.attributes:
        row.attributes = redactor.redact_attributes(row.attributes)
    if row.events:
        row.events = tuple(
            event._replace(attributes=redactor.redact_attributes(event.attributes)) for event in row.events
        )
    if row.error is not None and redactor.patterns:
        row.error = SpanError(*(redactor.redact_text(text) for text in row.error))
