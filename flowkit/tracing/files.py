"""One trace as a file: Genkit's TraceData with the log records beside it, so that Genkit's tools read it, too.

raw = trace_file(store, "3ea5")                 # JSON, UTF-8, values whole
rows, logs = trace_of_file(json.loads(raw))     # store.write(rows); LogStore(store).write(logs)
"""

import json
from typing import Any

from flowkit.core.values import to_json
from flowkit.errors import InvalidInputError
from flowkit.tracing.genkit import from_genkit, to_genkit
from flowkit.tracing.log_rows import LogRow, genkit_log, log_from_genkit
from flowkit.tracing.log_store import LogStore
from flowkit.tracing.rows import SpanRow
from flowkit.tracing.store import TraceStore

__all__ = ["trace_file", "trace_of_file"]

_FORMAT = "flowkit-trace"
_VERSION = 1
_LOGS = 10_000
_TIMES = "timesNs"


def trace_file(store: TraceStore, trace_id: str) -> bytes:
    """The file's content; `trace_id` is a full id or the beginning of one.

    Raises:
        NotFoundError, InvalidInputError: there is none, or several begin so.
    """
    trace = store.get(trace_id)
    logs = LogStore(store).list(trace_id=trace.trace_id, limit=_LOGS).items
    data = {"format": _FORMAT, "version": _VERSION, **to_genkit(trace)}
    for row in trace.spans:  # Genkit's milliseconds have fewer digits
        data["spans"][row.span_id][_TIMES] = [str(row.start_ns), str(row.end_ns)]
    data["logs"] = [genkit_log(row) for row in reversed(logs)]
    return json.dumps(json.loads(to_json(data)), ensure_ascii=False, indent=1).encode()


def trace_of_file(data: Any) -> tuple[list[SpanRow], list[LogRow]]:
    """What a file holds.

    Raises:
        InvalidInputError: it is no trace, of several traces, or of a newer format.
    """
    if isinstance(data, dict) and data.get("format") == _FORMAT and data.get("version") != _VERSION:
        raise InvalidInputError(f"the trace was written in format {data.get('version')}", hint="upgrade flowkit-ai")
    rows = from_genkit(data)
    for row in rows:
        _set_times(row, data["spans"].get(row.span_id, {}).get(_TIMES))
    ids = {row.trace_id for row in rows}
    if len(ids) != 1:
        raise InvalidInputError("the file has no span" if not ids else "the file has spans of several traces")
    logs = []
    records = data.get("logs") or []
    if not isinstance(records, list):
        raise InvalidInputError("the logs of the file are no list")
    for record in records:
        try:
            log = log_from_genkit(record)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InvalidInputError(f"a log record of the file is not right: {error}") from None
        if log.trace_id in ids:
            logs.append(log)
    return rows, logs


def _set_times(row: SpanRow, times: Any) -> None:
    """The exact times, when the file has them and they agree with the others."""
    if (
        not isinstance(times, list)
        or len(times) != 2
        or not all(isinstance(t, str) and len(t) < 20 and t.isdecimal() for t in times)
    ):
        return
    start, end = map(int, times)
    if abs(start - row.start_ns) < 1_000_000 and abs(end - row.end_ns) < 1_000_000:
        row.start_ns, row.end_ns = start, end
