"""Traces in the JSON of Genkit's tools, there and back.

data = to_genkit(store.get("3ea5"))         {"traceId": …, "spans": {id: {…}}}
store.write(from_genkit(data))
"""

import re
from collections.abc import Mapping
from typing import Any

from flowkit.core.spans import ATTRIBUTES, GEN_AI_OPERATIONS
from flowkit.errors import InvalidInputError
from flowkit.tracing.rows import SpanError, SpanEvent, SpanLink, SpanRow, Trace

__all__ = ["from_genkit", "genkit_card", "genkit_span", "to_genkit"]

_LIST_CHARS = 1000
"""In lists, Genkit's tools cut string attributes here."""
_LIBRARY = {"name": "genkit-tracer", "version": "v1"}
_STATE = "flowkit:state"
_DROPPED = "flowkit:valuesDropped"
_STATES = {"success": "success", "error": "error", "cancelled": "cancelled"}
_TRACE_ID, _SPAN_ID = re.compile("[0-9a-f]{32}"), re.compile("[0-9a-f]{16}")
_LATEST_NS = 2**63 - 1
_EXCEPTION = ("exception.type", "exception.message", "exception.stacktrace")


def to_genkit(trace: Trace) -> dict[str, Any]:
    """TraceData: all spans with whole values, without nulls. A running span has `endTime` 0."""
    rows = {row.span_id: row for row in trace.spans}
    summary = trace.summary
    data: dict[str, Any] = {
        "traceId": trace.trace_id,
        "displayName": summary.name,
        "startTime": _ms(summary.start_ns),
        "spans": {row.span_id: genkit_span(row, rows) for row in trace.spans},
    }
    if summary.duration_ms is not None:
        data["endTime"] = _ms(summary.start_ns) + summary.duration_ms
    return data


def genkit_card(root: SpanRow) -> dict[str, Any]:
    """TraceData for a list: the root span only, its texts cut."""
    span = genkit_span(root, {root.span_id: root})
    attributes = span["attributes"]
    for key, value in attributes.items():
        if isinstance(value, str) and len(value) > _LIST_CHARS:
            attributes[key] = value[:_LIST_CHARS] + "..."
    data: dict[str, Any] = {"traceId": root.trace_id, "displayName": root.name, "startTime": span["startTime"]}
    if root.end_ns:
        data["endTime"] = span["endTime"]
    data["spans"] = {root.span_id: span}
    return data


def genkit_span(row: SpanRow, rows: Mapping[str, SpanRow]) -> dict[str, Any]:
    """SpanData. `rows` are the spans of the trace that are known, by id: a parent that is not there is left out."""
    span: dict[str, Any] = {"spanId": row.span_id, "traceId": row.trace_id}
    parent = row.parent_id if row.parent_id in rows else row.ancestor_id if row.ancestor_id in rows else None
    if parent is not None:
        span["parentSpanId"] = parent
    span |= {
        "startTime": _ms(row.start_ns),
        "endTime": _ms(row.end_ns),
        "attributes": _attributes(row, rows, parent is None),
        "displayName": row.name,
        "spanKind": row.span_kind,
        "instrumentationLibrary": _library(row),
        "links": [
            {
                "context": {"traceId": link.trace_id, "spanId": link.span_id, "traceFlags": 1},
                "attributes": link.attributes,
            }
            for link in row.links
        ],
        "sameProcessAsParentSpan": {"value": not (row.local_root and row.parent_id is not None)},
        "status": {"code": 0},
        "timeEvents": {"timeEvent": [_event(event) for event in row.events]},
    }
    if row.state in ("error", "cancelled"):
        error = row.error or SpanError("", row.state or "")
        span["status"] = {"code": 2, "message": error.message or error.type}
        if not any(event.name == "exception" for event in row.events):
            facts = {key: value for key, value in zip(_EXCEPTION, error, strict=True) if value}
            span["timeEvents"]["timeEvent"].append(_event(SpanEvent("exception", row.end_ns or row.start_ns, facts)))
    return span


def _attributes(row: SpanRow, rows: Mapping[str, SpanRow], root: bool) -> dict[str, Any]:
    if row.type == "external":
        return {**row.attributes}
    known: dict[str, Any] = {ATTRIBUTES.NAME: row.name, ATTRIBUTES.TYPE: row.type}
    if row.kind is not None:
        known[ATTRIBUTES.SUBTYPE] = row.kind
        if row.kind in GEN_AI_OPERATIONS:
            known[ATTRIBUTES.GEN_AI_OPERATION] = GEN_AI_OPERATIONS[row.kind]
            if row.kind != "tool":
                known[ATTRIBUTES.GEN_AI_MODEL] = row.name
    if row.key is not None:
        known[ATTRIBUTES.KEY] = row.key
    if root:
        known[ATTRIBUTES.IS_ROOT] = True
    known[ATTRIBUTES.PATH] = _path(row, rows)
    if row.parent_id not in rows and row.ancestor_id in rows and row.parent_id is not None:
        known[ATTRIBUTES.LAST_KNOWN_PARENT] = row.ancestor_id
    for name, value in (
        (ATTRIBUTES.CONTEXT, row.context),
        (ATTRIBUTES.INPUT, row.input),
        (ATTRIBUTES.OUTPUT, row.output),
    ):
        if value is not None:
            known[name] = value.decode("utf-8", "replace")
    if row.state is not None:
        known[ATTRIBUTES.STATE] = "success" if row.state == "success" else "error"
        if row.state == "cancelled":  # Genkit has no word for it
            known[_STATE] = row.state
    if row.failure_source:
        known[ATTRIBUTES.IS_FAILURE_SOURCE] = True
    if row.dropped:
        known[_DROPPED] = True
    return known | {key: value for key, value in row.attributes.items() if value is not None}


def _path(row: SpanRow, rows: Mapping[str, SpanRow]) -> str:
    """`/{rag,t:flow}/{fake/echo,t:action,s:model}`: the root and the ancestors without their own kind."""
    parts: list[str] = []
    seen: set[str] = set()
    step: SpanRow | None = row
    while step is not None and step.span_id not in seen:
        seen.add(step.span_id)
        above = rows.get(step.parent_id or "") or rows.get(step.ancestor_id or "")
        if step.type != "external":
            own = not parts and step.kind not in (None, "flow") and above is not None
            kind = "flow" if step.kind == "flow" else step.type
            parts.append(f"/{{{step.name},t:{kind}{f',s:{step.kind}' if own else ''}}}")
        step = above
    return "".join(reversed(parts))


def _library(row: SpanRow) -> dict[str, Any]:
    if row.scope is None:
        return dict(_LIBRARY)
    name, version = row.scope
    return {"name": name, "version": version} if version else {"name": name}


def _event(event: SpanEvent) -> dict[str, Any]:
    return {"time": _ms(event.time_ns), "annotation": {"description": event.name, "attributes": event.attributes}}


def _ms(time_ns: int) -> float:
    return time_ns / 1e6


# And back.


def from_genkit(data: Mapping[str, Any]) -> list[SpanRow]:
    """The spans of TraceData, for the store. Any subset of a trace's spans is fine.

    Raises:
        InvalidInputError: it has not that shape; the message says where.
    """
    spans = data.get("spans") if isinstance(data, Mapping) else None
    if not isinstance(spans, Mapping):
        raise InvalidInputError("this is no trace", hint='a trace is {"traceId": …, "spans": {id: {…}}}')
    rows = []
    for span_id, span in spans.items():
        try:
            rows.append(_row(span))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            what = f"has no {error}" if isinstance(error, KeyError) else f"is not right: {error}"
            raise InvalidInputError(f"span {span_id!r} {what}", details={"span": span_id}) from error
    return rows


def _row(span: Mapping[str, Any]) -> SpanRow:
    facts: dict[str, Any] = {key: value for key, value in span["attributes"].items() if value is not None}
    trace_id, span_id = str(span["traceId"]).lower(), str(span["spanId"]).lower()
    parent = None if not span.get("parentSpanId") else str(span["parentSpanId"]).lower()
    right = _TRACE_ID.fullmatch(trace_id) and _SPAN_ID.fullmatch(span_id)
    if not right or (parent is not None and not _SPAN_ID.fullmatch(parent)):
        raise ValueError("ids have 32 and 16 hex digits")
    end_ns = _ns(span.get("endTime") or 0)
    type_ = str(facts.pop(ATTRIBUTES.TYPE, "external"))
    row = SpanRow(trace_id, span_id, str(span["displayName"]), _ns(span["startTime"]), end_ns, parent, type=type_)
    row.span_kind = str(span.get("spanKind") or "INTERNAL")
    library = span.get("instrumentationLibrary") or {}
    if library.get("name") != _LIBRARY["name"]:
        row.scope = (str(library.get("name", "")), _text(library.get("version")))
    events: list[SpanEvent] = []
    times = span.get("timeEvents")
    if times and times.get("timeEvent"):
        events = [_event_of(event) for event in times["timeEvent"] if "annotation" in event]
        row.events = tuple(events)
    links = span.get("links")
    if links:
        row.links = tuple(map(_link_of, links))
    row.local_root = bool(facts.pop(ATTRIBUTES.IS_ROOT, False)) or parent is None
    if type_ != "external":
        _take_ours(row, facts)
    status = span.get("status") or {}
    if end_ns and row.state is None:
        row.state = "error" if status.get("code") == 2 else "success"
    if row.state in ("error", "cancelled"):
        event = next((event for event in events if event.name == "exception"), None)
        raised: Mapping[str, Any] = {} if event is None else event.attributes
        kind, message, stack = (str(raised.get(name) or "") for name in _EXCEPTION)
        row.error = SpanError(kind, message or str(status.get("message") or ""), stack)
        if type_ != "external":  # ours have it as their error, and `genkit_span` makes the event of that
            row.events = tuple(each for each in events if each is not event)
    row.attributes = facts
    return row


def _event_of(event: Mapping[str, Any]) -> SpanEvent:
    told = event["annotation"]
    return SpanEvent(str(told["description"]), _ns(event["time"]), dict(told.get("attributes") or {}))


def _link_of(link: Mapping[str, Any]) -> SpanLink:
    other = link["context"]
    return SpanLink(str(other["traceId"]), str(other["spanId"]), dict(link.get("attributes") or {}))


def _take_ours(row: SpanRow, facts: dict[str, Any]) -> None:
    """What Genkit's runtimes say in attributes and we keep in fields."""
    for derived in (ATTRIBUTES.NAME, ATTRIBUTES.PATH, ATTRIBUTES.GEN_AI_OPERATION, "genkit:qualifiedPath"):
        facts.pop(derived, None)
    row.kind = _text(facts.pop(ATTRIBUTES.SUBTYPE, None))
    row.key = _text(facts.pop(ATTRIBUTES.KEY, None)) or (f"/{row.kind}/{row.name}" if row.kind else None)
    row.ancestor_id = _text(facts.pop(ATTRIBUTES.LAST_KNOWN_PARENT, None))
    row.input = _bytes(facts.pop(ATTRIBUTES.INPUT, None))
    row.output = _bytes(facts.pop(ATTRIBUTES.OUTPUT, None))
    row.context = _bytes(facts.pop(ATTRIBUTES.CONTEXT, None))
    own, state = facts.pop(_STATE, None), facts.pop(ATTRIBUTES.STATE, None)
    if row.end_ns:
        row.state = _STATES.get(str(own or state))
    row.failure_source = bool(facts.pop(ATTRIBUTES.IS_FAILURE_SOURCE, False))
    row.dropped = bool(facts.pop(_DROPPED, False))


def _ns(time_ms: Any) -> int:
    """Whole microseconds: a float has no more digits at this date."""
    time_ns = round(float(time_ms) * 1000) * 1000
    if not 0 <= time_ns <= _LATEST_NS:
        raise ValueError(f"{time_ms} is no time in milliseconds since 1970")
    return time_ns


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _bytes(value: Any) -> bytes | None:
    return None if value is None else str(value).encode("utf-8", "replace")
