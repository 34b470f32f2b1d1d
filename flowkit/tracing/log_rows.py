"""What the store keeps of a log record, and the JSON of Genkit's tools for it.

row = LogRow(time.time_ns(), "the oven is cold", severity_number=13, severity_text="WARN", trace_id="3ea5…")
genkit_log(row)                     {"logId": …, "timestamp": …, "severityText": "WARN", "body": …}
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["SEVERITIES", "LogRow", "genkit_log", "log_from_genkit", "severity_of"]

SEVERITIES = {"TRACE": 1, "DEBUG": 5, "INFO": 9, "WARN": 13, "ERROR": 17, "FATAL": 21}
"""OpenTelemetry's numbers; each stands for a range of four."""


@dataclass(slots=True)
class LogRow:
    """One log record; `time_ns` since the epoch. `trace_id` and `span_id`, in hex, are of the span it was made in."""

    time_ns: int
    body: Any = None
    severity_number: int = 0
    severity_text: str | None = None
    trace_id: str | None = None
    span_id: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    scope: tuple[str, str | None] | None = None
    """Name and version of the library, or the logger's name."""
    log_id: str = field(default_factory=lambda: secrets.token_hex(8))


def severity_of(level: int) -> tuple[int, str]:
    """OpenTelemetry's number and name for a level of Python's `logging`."""
    for least, name in ((50, "FATAL"), (40, "ERROR"), (30, "WARN"), (20, "INFO"), (10, "DEBUG")):
        if level >= least:
            return SEVERITIES[name], name
    return SEVERITIES["TRACE"], "TRACE"


def genkit_log(row: LogRow) -> dict[str, Any]:
    """LogRecord, without nulls."""
    record: dict[str, Any] = {
        "logId": row.log_id,
        "traceId": row.trace_id,
        "spanId": row.span_id,
        "timestamp": row.time_ns / 1e6,
        "severityNumber": row.severity_number or None,
        "severityText": row.severity_text,
        "body": row.body,
        "attributes": dict(row.attributes) or None,
    }
    if row.scope is not None:
        name, version = row.scope
        record["instrumentationLibrary"] = {"name": name, "version": version} if version else {"name": name}
    return {key: value for key, value in record.items() if value is not None}


def log_from_genkit(record: Mapping[str, Any]) -> LogRow:
    """Read a LogRecord back.

    Raises:
        ValueError, TypeError: it has not that shape.
    """
    library, attributes = record.get("instrumentationLibrary") or {}, record.get("attributes") or {}
    if not isinstance(attributes, Mapping) or not isinstance(library, Mapping):
        raise TypeError("attributes and instrumentationLibrary are objects")
    row = LogRow(round(float(record["timestamp"]) * 1000) * 1000, record.get("body"))
    row.severity_number = int(record.get("severityNumber") or 0)
    if not (0 <= row.time_ns < 2**63 and 0 <= row.severity_number < 2**31):
        raise ValueError("timestamp or severityNumber is out of range")
    row.severity_text = None if record.get("severityText") is None else str(record["severityText"])
    row.trace_id, row.span_id = (record.get(name) and str(record[name]) for name in ("traceId", "spanId"))
    row.attributes = attributes
    if library.get("name"):
        row.scope = (str(library["name"]), library.get("version") and str(library["version"]))
    row.log_id = str(record.get("logId") or row.log_id)
    return row
