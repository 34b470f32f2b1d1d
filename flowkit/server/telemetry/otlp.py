"""OTLP over HTTP, JSON and protobuf: spans and log records of any OpenTelemetry SDK as rows of the trace store.

    taken = read_traces(raw, protobuf=True)
    taken.rows, taken.rejected

Protobuf is turned into the same JSON shape first, so both have one reader. Spans that carry Genkit's attributes become
actions and steps; the others are spans of other libraries.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from flowkit.errors import ConfigError, InvalidInputError
from flowkit.server.bodies import json_of
from flowkit.tracing.genkit import from_genkit
from flowkit.tracing.log_rows import SEVERITIES, LogRow
from flowkit.tracing.rows import SpanRow

__all__ = ["OTLP_TRACE_ID", "PROTOBUF", "Taken", "TakenLogs", "read_logs", "read_traces"]

PROTOBUF = "application/x-protobuf"
OTLP_TRACE_ID = "genkit:otlp-traceId"
_KINDS = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_STATUS = {"STATUS_CODE_UNSET": 0, "STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2}
_HEX = re.compile("[0-9a-fA-F]*")
_LATEST_NS = 2**63 - 1
_DEPTH = 30


@dataclass(slots=True)
class Taken:
    """The spans of a request; `rejected` could not be read, and `reason` says why of the first."""

    rows: list[SpanRow] = field(default_factory=list)
    rejected: int = 0
    reason: str = ""


@dataclass(slots=True)
class TakenLogs:
    """The log records of a request."""

    rows: list[LogRow] = field(default_factory=list)
    rejected: int = 0
    reason: str = ""


def read_traces(raw: bytes, *, protobuf: bool, parent: tuple[str, str] | None = None) -> Taken:
    """Spans of an ExportTraceServiceRequest.

    Args:
        parent: Trace and span under which all of them are put; the trace id they had is kept as an attribute.

    Raises:
        InvalidInputError: it is no such request.
        ConfigError: protobuf, and the package that reads it is not installed.
    """
    taken = Taken()
    for scope, span in _items(_message(raw, protobuf, "trace"), "resourceSpans", "scopeSpans", "spans"):
        try:
            taken.rows.append(_span(scope, span, parent))
        except (InvalidInputError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            taken.rejected += 1
            taken.reason = taken.reason or f"a span is not right: {error}"
    return taken


def read_logs(raw: bytes, *, protobuf: bool) -> TakenLogs:
    """Records of an ExportLogsServiceRequest; raises as `read_traces`."""
    taken = TakenLogs()
    for scope, record in _items(_message(raw, protobuf, "logs"), "resourceLogs", "scopeLogs", "logRecords"):
        try:
            taken.rows.append(_log(scope, record))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            taken.rejected += 1
            taken.reason = taken.reason or f"a log record is not right: {error}"
    return taken


def _message(raw: bytes, protobuf: bool, signal: str) -> Any:
    if not protobuf:
        return json_of(raw)
    try:
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    except ImportError:
        raise ConfigError("OTLP in protobuf needs opentelemetry-proto", hint="install it, or send JSON") from None
    message = ExportTraceServiceRequest() if signal == "trace" else ExportLogsServiceRequest()
    try:
        message.ParseFromString(raw)
        return MessageToDict(message)
    except (DecodeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"the body is no OTLP protobuf: {error}") from None


def _items(message: Any, groups: str, scopes: str, items: str) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """Each item with the scope that it is of."""
    try:
        for group in message.get(groups) or ():
            for scope in group.get(scopes) or ():
                for item in scope.get(items) or ():
                    yield scope.get("scope") or {}, item
    except (AttributeError, TypeError):
        raise InvalidInputError(
            "this is no OTLP request", hint=f'it is {{"{groups}": [{{"{scopes}": […]}}]}}'
        ) from None


def _span(scope: Mapping[str, Any], span: Mapping[str, Any], parent: tuple[str, str] | None) -> SpanRow:
    attributes = _attributes(span.get("attributes"))
    trace_id, above = _id(span["traceId"], 16), span.get("parentSpanId")
    above = _id(above, 8) if above else None
    if parent is not None:
        attributes[OTLP_TRACE_ID] = trace_id
        trace_id, above = parent[0], above or parent[1]
    start, end = _ns(span.get("startTimeUnixNano")), _ns(span.get("endTimeUnixNano"))
    status = span.get("status") or {}
    code = status.get("code", 0)
    data: dict[str, Any] = {
        "traceId": trace_id,
        "spanId": _id(span["spanId"], 8),
        "displayName": span.get("name", ""),
        "startTime": start / 1e6,
        "endTime": end / 1e6,
        "attributes": attributes,
        "spanKind": _kind(span.get("kind", 1)),
        "instrumentationLibrary": {"name": scope.get("name") or "otlp", "version": scope.get("version") or None},
        "status": {"code": _STATUS.get(code, code), "message": status.get("message", "")},
        "timeEvents": {"timeEvent": [_event(event) for event in span.get("events") or ()]},
        "links": [
            {
                "context": {"traceId": _id(link["traceId"], 16), "spanId": _id(link["spanId"], 8)},
                "attributes": _attributes(link.get("attributes")),
            }
            for link in span.get("links") or ()
        ],
    }
    if above is not None:
        data["parentSpanId"] = above
    (row,) = from_genkit({"spans": {data["spanId"]: data}})
    row.start_ns, row.end_ns = start, end  # milliseconds have fewer digits
    return row


def _event(event: Mapping[str, Any]) -> dict[str, Any]:
    attributes = _attributes(event.get("attributes"))
    description = {"description": event.get("name", ""), "attributes": attributes}
    return {"time": _ns(event.get("timeUnixNano")) / 1e6, "annotation": description}


def _log(scope: Mapping[str, Any], record: Mapping[str, Any]) -> LogRow:
    row = LogRow(_ns(record.get("timeUnixNano")) or _ns(record.get("observedTimeUnixNano")))
    row.body = _value(record.get("body"))
    number = record.get("severityNumber") or 0
    row.severity_number = _severity(number) if isinstance(number, str) else int(number)
    text = record.get("severityText")
    row.severity_text = str(text) if text else None
    if record.get("traceId"):
        row.trace_id = _id(record["traceId"], 16)
    if record.get("spanId"):
        row.span_id = _id(record["spanId"], 8)
    row.attributes = _attributes(record.get("attributes"))
    if scope.get("name"):
        row.scope = (str(scope["name"]), scope.get("version") or None)
    return row


def _severity(name: str) -> int:
    """`SEVERITY_NUMBER_WARN2` is 14: four numbers for each word."""
    match = re.fullmatch(r"SEVERITY_NUMBER_([A-Z]+)([234]?)", name)
    if match is None or match[1] not in SEVERITIES:
        return 0
    return SEVERITIES[match[1]] + (int(match[2]) - 1 if match[2] else 0)


def _kind(kind: Any) -> str:
    if isinstance(kind, str):
        kind = kind.removeprefix("SPAN_KIND_")
        return kind if kind in _KINDS else "INTERNAL"
    return _KINDS[kind] if isinstance(kind, int) and 0 < kind < len(_KINDS) else "INTERNAL"


def _id(text: Any, size_bytes: int) -> str:
    """Hex as OTLP's JSON has it; base64 as JSON made from protobuf has it. Their lengths differ."""
    if not isinstance(text, str):
        raise TypeError("an id is text")
    if len(text) == 2 * size_bytes and _HEX.fullmatch(text):
        return text.lower()
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error:
        raw = b""
    if len(raw) != size_bytes:
        raise ValueError(f"{text[:40]!r} is no id of {size_bytes} bytes")
    return raw.hex()


def _ns(value: Any) -> int:
    """Nanoseconds: OTLP's JSON writes them as text."""
    number = int(value or 0)
    if not 0 <= number <= _LATEST_NS:
        raise ValueError(f"{number} is no time")
    return number


def _attributes(pairs: Any) -> dict[str, Any]:
    return {str(pair["key"]): _value(pair.get("value")) for pair in pairs or ()}


def _value(value: Any, depth: int = 0) -> Any:
    if not isinstance(value, Mapping) or depth > _DEPTH:
        return None
    for name in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
        if name in value:
            return value[name]
    if "intValue" in value:
        return int(value["intValue"])
    if "arrayValue" in value:
        return [_value(item, depth + 1) for item in value["arrayValue"].get("values") or ()]
    if "kvlistValue" in value:
        pairs = value["kvlistValue"].get("values") or ()
        return {str(pair["key"]): _value(pair.get("value"), depth + 1) for pair in pairs}
    return None
