"""Traces for our own pages: searched, looked at without their big values, deleted, handed on as a file.

    operations = trace_operations(traces)

Genkit's routes (`/api/traces`, `/api/traces/{id}`) stay as Genkit has them; what it has no route for is beside them.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from flowkit.core.values import to_json
from flowkit.errors import InvalidInputError, NotFoundError, StoreError
from flowkit.server.bodies import TELEMETRY_BYTES, json_of
from flowkit.server.dev.shapes import Deleted, DeleteTraces, Imported, ListSummaries, Summary, SummaryList
from flowkit.server.dev.trace_shapes import Outline
from flowkit.server.operations import Call, Operation
from flowkit.server.telemetry.shapes import TraceData
from flowkit.server.telemetry.traces import Traces
from flowkit.tracing.files import trace_file, trace_of_file
from flowkit.tracing.rows import TraceSummary
from flowkit.tracing.store import TraceStore

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["summary_data", "trace_operations"]


def trace_operations(traces: Traces) -> Sequence[Operation]:
    """The operations."""

    async def summaries(call: Call) -> SummaryList:
        asked: ListSummaries = call.query
        listing = partial(
            traces.store.list,
            limit=asked.limit,
            cursor=asked.cursor,
            status=asked.status,
            kind=asked.kind,
            action=asked.action,
            text=asked.q,
            since=asked.since,
            until=asked.until,
            min_duration_ms=asked.min_ms,
            labels=_label(asked.label),
            internal=asked.internal,
        )
        page = await traces.read(listing)
        listed = tuple(map(summary_data, page.items))
        return SummaryList(traces=listed, cursor=page.cursor, skipped=page.skipped)

    async def outline(call: Call) -> "ASGIApp":
        return _raw(await traces.read(_outline, traces.store, call.params["trace_id"]))

    async def value(call: Call) -> "ASGIApp":
        field: Any = call.params["field"]
        return _raw(await traces.read(traces.store.value, call.params["trace_id"], call.params["span_id"], field))

    async def export(call: Call) -> "ASGIApp":
        trace_id = call.params["trace_id"]
        body = await traces.read(trace_file, traces.store, trace_id)
        return _raw(body, {"content-disposition": f'attachment; filename="trace-{trace_id[:8]}.json"'})

    async def take_file(call: Call) -> Imported:
        rows, logs = trace_of_file(json_of(call.raw))
        traces.take(rows)
        await traces.take_logs(logs)
        await traces.read(lambda: None)
        return Imported(trace_id=rows[0].trace_id, spans=len(rows), logs=len(logs))

    async def delete_one(call: Call) -> Deleted:
        deleted = await traces.read(_delete, traces.store, [call.params["trace_id"]])
        if not deleted:
            raise NotFoundError(f"no trace {call.params['trace_id']!r}")
        return Deleted(deleted=deleted)

    async def delete(call: Call) -> Deleted:
        asked: DeleteTraces = call.body
        if asked.all == bool(asked.ids):
            raise InvalidInputError("say which traces", hint='send {"ids": […]} or {"all": true}')
        if asked.all:
            return Deleted(deleted=await traces.read(traces.store.clear))
        return Deleted(deleted=await traces.read(_delete, traces.store, list(asked.ids)))

    return [
        Operation(
            "listSummaries",
            "GET",
            "/api/traces/summaries",
            "Traces by page, newest first, filtered and searched",
            summaries,
            query=ListSummaries,
            answer=SummaryList,
        ),
        Operation(
            "importTrace",
            "POST",
            "/api/traces/import",
            "Store a trace from a file: of an export, of trace:export, or any TraceData",
            take_file,
            body=TraceData,
            reads="bytes",
            body_bytes=TELEMETRY_BYTES,
            answer=Imported,
        ),
        Operation(
            "deleteTraces",
            "DELETE",
            "/api/traces",
            "Delete traces; they are gone when it answers",
            delete,
            body=DeleteTraces,
            answer=Deleted,
        ),
        Operation(
            "deleteTrace",
            "DELETE",
            "/api/traces/{trace_id}",
            "Delete a trace; it is gone when it answers",
            delete_one,
            answer=Deleted,
        ),
        Operation(
            "outlineTrace",
            "GET",
            "/api/traces/{trace_id}/outline",
            "All spans of a trace, without values above 2 kB",
            outline,
            answer=Outline,
        ),
        Operation(
            "getValue",
            "GET",
            "/api/traces/{trace_id}/spans/{span_id}/{field}",
            "The whole input or output of a span, as JSON",
            value,
        ),
        Operation(
            "exportTrace",
            "GET",
            "/api/traces/{trace_id}/export",
            "A trace with its logs, as a file for a colleague",
            export,
            answer=TraceData,
        ),
    ]


def summary_data(item: TraceSummary) -> Summary:
    """A summary as pages get it."""
    return Summary(
        trace_id=item.trace_id,
        name=item.name,
        kind=item.kind,
        key=item.key,
        status=item.status,
        start_time_ms=item.start_ns / 1e6,
        duration_ms=item.duration_ms,
        spans=item.spans,
        error=item.error,
        input_tokens=item.input_tokens,
        output_tokens=item.output_tokens,
        size_bytes=item.size_bytes,
        labels=dict(item.labels),
        internal=item.internal,
        input=item.input,
        output=item.output,
    )


def _label(text: str | None) -> dict[str, str] | None:
    if text is None:
        return None
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise InvalidInputError(f"{text!r} is no label", hint="write name=value")
    return {name: value}


def _delete(store: TraceStore, trace_ids: Sequence[str]) -> int:
    deleted = store.delete(trace_ids)
    for trace_id in trace_ids:
        try:
            store.get(trace_id, values=False)
        except NotFoundError:
            continue
        raise StoreError(f"trace {trace_id} is still there", hint="its run goes on; delete it when it has ended")
    return deleted


def _outline(store: TraceStore, trace_id: str) -> bytes:
    found = store.outline(trace_id)
    head = to_json(summary_data(found.summary).to_wire()).decode()
    return f'{{"summary":{head},"spans":[{",".join(found.spans)}],"skipped":{found.skipped}}}'.encode()


def _raw(body: bytes, headers: dict[str, str] | None = None) -> "ASGIApp":
    from starlette.responses import Response

    return Response(body, media_type="application/json", headers=headers)
