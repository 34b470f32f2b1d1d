"""Spans as Genkit's runtimes post them."""

from typing import Any

__all__ = ["START", "trace_data"]

START = 1_796_014_088_705.0


def trace_data(
    name: str = "rag",
    *,
    trace: int = 1,
    span: int = 1,
    parent: int | None = None,
    at: float = 0,
    took: float | None = 10,
    **attributes: Any,
) -> dict[str, Any]:
    """The body of one POST: a span that began `at` ms after START and `took` so long, None while it runs."""
    trace_id, span_id = f"{trace:032x}", f"{span:016x}"
    end = 0 if took is None else START + at + took
    data: dict[str, Any] = {
        "spanId": span_id,
        "traceId": trace_id,
        "startTime": START + at,
        "endTime": end,
        "attributes": {
            "genkit:type": "action",
            "genkit:metadata:subtype": "flow",
            "genkit:key": f"/flow/{name}",
            "genkit:name": name,
            **({"genkit:state": "success"} if took is not None else {}),
            **{key.replace("__", ":"): value for key, value in attributes.items()},
        },
        "displayName": name,
        "links": [],
        "spanKind": "INTERNAL",
        "sameProcessAsParentSpan": {"value": True},
        "status": {"code": 0},
        "timeEvents": {"timeEvent": []},
        "instrumentationLibrary": {"name": "genkit-tracer", "version": "v1"},
    }
    if parent is not None:
        data["parentSpanId"] = f"{parent:016x}"
        return {"traceId": trace_id, "spans": {span_id: data}}
    return {
        "traceId": trace_id,
        "displayName": name,
        "startTime": START + at,
        "endTime": end,
        "spans": {span_id: data},
    }
