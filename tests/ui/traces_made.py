"""Traces as tests need them, in the form that a colleague's file has.

ui.post("/api/traces/import", bulk(5000))
ui.post("/api/traces/import", trace([span(1, "cook", 0, 100), span(2, "fake", 10, 50, parent=1, kind="model")]))
"""

import json
import time
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

__all__ = ["bulk", "span", "trace"]


def span(
    number: int,
    name: str,
    start: float,
    end: float,
    *,
    parent: int | None = None,
    kind: str | None = "flow",
    error: str | None = None,
    **attributes: Any,
) -> dict[str, Any]:
    """One span; times in ms from the beginning of the trace, a step when `kind` is None. `__` in names is a dot."""
    facts = {
        "genkit:type": "action" if kind else "flowStep",
        "genkit:name": name,
        "genkit:state": "error" if error else "success",
        "genkit:input": json.dumps({"number": number}),
        "genkit:output": json.dumps(f"result {number}"),
        **{key.replace("__", "."): value for key, value in attributes.items()},
    }
    if kind:
        facts["genkit:metadata:subtype"] = kind
    found = {
        "spanId": f"{number:016x}",
        "startTime": start,
        "endTime": end,
        "displayName": name,
        "attributes": facts,
        "spanKind": "INTERNAL",
        "instrumentationLibrary": {"name": "genkit-tracer", "version": "v1"},
        "status": {"code": 2, "message": error} if error else {"code": 0},
    }
    return found if parent is None else {**found, "parentSpanId": f"{parent:016x}"}


def trace(spans: Sequence[dict[str, Any]], *, started: float | None = None) -> dict[str, Any]:
    """TraceData. `started`: ms since the epoch, by default a minute ago."""
    trace_id = uuid4().hex
    zero = time.time() * 1000 - 60_000 if started is None else started
    for one in spans:
        one["traceId"] = trace_id
        one["startTime"] += zero
        one["endTime"] += zero if one["endTime"] else 0
    return {"traceId": trace_id, "spans": {one["spanId"]: one for one in spans}}


def bulk(count: int) -> dict[str, Any]:
    """A flow with so many spans: batches of twenty, each a step with calls of every kind below it."""
    kinds = ("model", "tool", "retriever", "embedder", "reranker")
    spans = [span(1, "bulk", 0, count * 4.0)]
    batch = 1
    for number in range(2, count + 1):
        at, place = divmod(number - 2, 20)
        start = at * 80.0 + place * 3
        if place == 0:
            batch = number
            spans.append(span(number, f"batch-{at}", start, start + 78, parent=1, kind=None))
        else:
            spans.append(
                span(number, f"call-{number}", start, start + 12, parent=batch, kind=kinds[number % len(kinds)])
            )
    return trace(spans)
