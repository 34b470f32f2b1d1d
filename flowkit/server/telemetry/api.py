"""The telemetry API: Genkit's routes over the local trace store.

    operations = telemetry_operations(Traces(path))

Foreign runtimes post their spans here, tools list and read traces, and any OpenTelemetry SDK may export to it.
"""

from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from flowkit.core.threads import run_in_thread
from flowkit.core.values import to_json
from flowkit.errors import NotFoundError
from flowkit.server.bodies import TELEMETRY_BYTES, json_of
from flowkit.server.operations import Call, Operation, answer_json
from flowkit.server.streams import SERVER_SENT, Lines
from flowkit.server.telemetry.export import otlp_operations
from flowkit.server.telemetry.filters import where_of
from flowkit.server.telemetry.shapes import ListLogs, ListTraces, LogList, SpanEventData, TraceData, TraceList
from flowkit.server.telemetry.traces import Traces
from flowkit.tracing.genkit import from_genkit, genkit_span, to_genkit
from flowkit.tracing.log_rows import genkit_log
from flowkit.tracing.progress import TraceProgress
from flowkit.tracing.rows import SpanRow
from flowkit.tracing.writing import IGNORE_TRACE

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["telemetry_operations", "trace_events"]

_WRAPPER = "dev-run-action-wrapper"
_LARGE_BYTES = 100_000
"""Bodies above this are read in a thread, so that others are answered meanwhile."""


def telemetry_operations(traces: Traces) -> Sequence[Operation]:
    """The operations, over one store."""

    ok = _text("OK")

    async def health(call: Call) -> "ASGIApp":
        return ok

    async def post(call: Call) -> "ASGIApp":
        rows = _spans(call.raw) if len(call.raw) < _LARGE_BYTES else await run_in_thread(_spans, (call.raw,))
        traces.take(rows)
        return ok

    async def list_traces(call: Call) -> "ASGIApp":
        asked: ListTraces = call.query
        where = where_of(asked.filter)
        where.add("kind IS NOT 'prompt'")
        cards, cursor = await traces.read_front(
            lambda store: store.list_cards(where, limit=asked.limit, cursor=asked.continuation_token)
        )
        more = b"" if cursor is None else b',"continuationToken":' + to_json(cursor)
        # In one go: each + would copy megabytes.
        return _json(b"".join((b'{"traces":[', b",".join(cards), b"]", more, b"}")))

    async def get_trace(call: Call) -> "ASGIApp":
        return _json(await traces.read(_whole, traces, call.params["trace_id"]))

    async def stream_trace(call: Call) -> "ASGIApp":
        return Lines(trace_events(traces, call.params["trace_id"]), events=True)

    async def logs(call: Call) -> "ASGIApp":
        asked: ListLogs = call.query
        listed = partial(
            traces.logs.list,
            limit=asked.limit,
            cursor=asked.continuation_token,
            trace_id=call.params.get("trace_id", asked.trace_id),
            span_id=call.params.get("span_id", asked.span_id),
            level=asked.severity_text,
            min_severity=asked.severity_number,
            text=asked.q,
        )
        page = await traces.read(listed)
        answer: dict[str, Any] = {"logs": [genkit_log(row) for row in page.items]}
        return answer_json(answer | ({} if page.cursor is None else {"continuationToken": page.cursor}))

    def operation(name: str, method: Any, path: str, summary: str, endpoint: Any, **more: Any) -> Operation:
        return Operation(name, method, path, summary, endpoint, tag="telemetry", genkit=True, **more)

    return [
        operation("health", "GET", "/api/__health", "Whether the server answers", health, gives="text/plain"),
        operation(
            "postTrace",
            "POST",
            "/api/traces",
            "Store any part of a trace; spans are merged by id, and the record of a start never overwrites an end",
            post,
            body=TraceData,
            reads="bytes",
            body_bytes=TELEMETRY_BYTES,
            gives="text/plain",
        ),
        operation(
            "listTraces",
            "GET",
            "/api/traces",
            "Traces, newest first, each with its root span only",
            list_traces,
            query=ListTraces,
            answer=TraceList,
        ),
        operation("getTrace", "GET", "/api/traces/{trace_id}", "A whole trace", get_trace, answer=TraceData),
        operation(
            "streamTrace",
            "GET",
            "/api/traces/{trace_id}/stream",
            "The trace so far, then each span as it starts and ends, for ever",
            stream_trace,
            answer=SpanEventData,
            gives=SERVER_SENT,
        ),
        operation("listLogs", "GET", "/api/logs", "Log records, newest first", logs, query=ListLogs, answer=LogList),
        operation(
            "listTraceLogs",
            "GET",
            "/api/traces/{trace_id}/logs",
            "Log records of a trace",
            logs,
            query=ListLogs,
            answer=LogList,
        ),
        operation(
            "listSpanLogs",
            "GET",
            "/api/traces/{trace_id}/spans/{span_id}/logs",
            "Log records of a span",
            logs,
            query=ListLogs,
            answer=LogList,
        ),
        *otlp_operations(traces),
    ]


async def trace_events(traces: Traces, trace_id: str) -> AsyncIterator[dict[str, Any]]:
    """The trace as it is, when it is known; then what happens to its spans, until the server ends."""
    with traces.changes.look() as look:
        progress = TraceProgress(traces.store, trace_id)
        try:
            trace = await traces.read(traces.store.get, trace_id)
        except NotFoundError:
            pass
        else:
            progress.seen(trace.spans)
            yield to_genkit(trace)
        while not look.closed:
            await look.wait()
            for event in await traces.read(lambda: list(progress.news())):
                yield _event(trace_id, *event)


def _event(trace_id: str, name: str, row: SpanRow, rows: dict[str, SpanRow]) -> dict[str, Any]:
    return {"type": name, "traceId": trace_id, "span": genkit_span(row, rows)}


def _spans(raw: bytes) -> list[SpanRow]:
    """The spans of a body, without what Genkit's runtimes make for their developer tools.

    A prompt that is only rendered is no run: no list shows it, but whoever has asked for it finds its trace. The span
    that older runtimes put around what a tool runs would hide the flow below it, and is left out where it comes alone.
    """
    rows = from_genkit(json_of(raw))
    if len(rows) == 1 and rows[0].name == _WRAPPER and rows[0].type != "external":
        return []
    for row in rows:
        if row.kind == "prompt":
            row.attributes = {**row.attributes, IGNORE_TRACE: "true"}
    return rows


def _whole(traces: Traces, trace_id: str) -> bytes:
    return to_json(to_genkit(traces.store.get(trace_id)))


def _text(text: str) -> "ASGIApp":
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(text)


def _json(body: bytes) -> "ASGIApp":
    from starlette.responses import Response

    return Response(body, media_type="application/json")
