"""Where OpenTelemetry's exporters send: OTLP over HTTP at Genkit's addresses and at the standard ones.

OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4100           # posts to /v1/traces and /v1/logs
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flowkit.core.threads import run_in_thread
from flowkit.server.bodies import TELEMETRY_BYTES, json_of
from flowkit.server.operations import Call, Operation, answer_json
from flowkit.server.telemetry.otlp import PROTOBUF, read_logs, read_traces
from flowkit.server.telemetry.shapes import OtlpAnswer, OtlpRequest
from flowkit.server.telemetry.traces import Traces

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["OTLP_PATHS", "otlp_operations"]

OTLP_PATHS = ("/api/otlp", "/v1/traces", "/v1/logs", "/v1/metrics")
"""Paths, and beginnings of paths, that take protobuf."""


def otlp_operations(traces: Traces) -> Sequence[Operation]:
    """The operations, over one store. Metrics are accepted and dropped: there is nothing to show them with."""

    async def take_traces(call: Call) -> "ASGIApp":
        parent = None
        if "parent_trace_id" in call.params:
            parent = (call.params["parent_trace_id"], call.params["parent_span_id"])
        taken = await run_in_thread(read_traces, (call.raw,), {"protobuf": _is_protobuf(call), "parent": parent})
        traces.take(taken.rows)
        return _answer(call, "rejectedSpans", taken.rejected, taken.reason)

    async def take_logs(call: Call) -> "ASGIApp":
        taken = await run_in_thread(read_logs, (call.raw,), {"protobuf": _is_protobuf(call)})
        await traces.take_logs(taken.rows)
        return _answer(call, "rejectedLogRecords", taken.rejected, taken.reason)

    async def take_either(call: Call) -> "ASGIApp":
        # In protobuf the two cannot be told apart; spans are what is sent to this address.
        if not _is_protobuf(call):
            body = json_of(call.raw)
            if isinstance(body, dict) and "resourceLogs" in body and "resourceSpans" not in body:
                return await take_logs(call)
        return await take_traces(call)

    async def drop(call: Call) -> "ASGIApp":
        return _answer(call, "", 0, "")

    named = {
        "exportSpans": ("/v1/traces", take_traces, "Spans by OTLP"),
        "exportLogs": ("/v1/logs", take_logs, "Log records by OTLP"),
        "exportMetrics": ("/v1/metrics", drop, "Metrics by OTLP; they are dropped"),
        "exportEither": ("/api/otlp", take_either, "Spans or log records by OTLP"),
        "exportSpansToGenkit": ("/api/otlp/v1/traces", take_traces, "Spans by OTLP"),
        "exportLogsToGenkit": ("/api/otlp/v1/logs", take_logs, "Log records by OTLP"),
        "exportMetricsToGenkit": ("/api/otlp/v1/metrics", drop, "Metrics by OTLP; they are dropped"),
        "exportSpansUnder": (
            "/api/otlp/{parent_trace_id}/{parent_span_id}",
            take_traces,
            "Spans by OTLP, put under a span of another trace",
        ),
    }
    return [
        Operation(
            name,
            "POST",
            path,
            summary,
            endpoint,
            body=OtlpRequest,
            reads="bytes",
            takes=("application/json", PROTOBUF),
            answer=OtlpAnswer,
            tag="telemetry",
            body_bytes=TELEMETRY_BYTES,
            genkit=True,
        )
        for name, (path, endpoint, summary) in named.items()
    ]


def _is_protobuf(call: Call) -> bool:
    return call.request.headers.get("content-type", "").partition(";")[0].strip().lower() == PROTOBUF


def _answer(call: Call, field: str, rejected: int, reason: str) -> "ASGIApp":
    if not _is_protobuf(call):
        partial: dict[str, Any] = {"partialSuccess": {field: rejected, "errorMessage": reason}} if rejected else {}
        return answer_json(partial)
    from starlette.responses import Response

    return Response(_partial_success(rejected, reason), media_type=PROTOBUF)


def _partial_success(rejected: int, reason: str) -> bytes:
    """The answer of all three signals has one form: field 1 is {1: how many were rejected, 2: why}."""
    if not rejected:
        return b""
    text = reason.encode("utf-8", "replace")
    inner = b"\x08" + _varint(rejected) + b"\x12" + _varint(len(text)) + text
    return b"\x0a" + _varint(len(inner)) + inner


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])
