"""Runs as rows of an evaluation dataset, in Genkit's form: what was asked, what came out, what was retrieved for it.

extract_cases(store, "menuQA", limit=100)       [{"testCaseId", "input", "output", "context", "traceIds"}]
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from flowkit.errors import NotFoundError
from flowkit.tracing.rows import SpanRow, Trace
from flowkit.tracing.store import TraceStore

__all__ = ["case_of", "extract_cases"]

_PAGE = 100


def extract_cases(
    store: TraceStore, flow: str, *, limit: int, labels: Mapping[str, str] | None = None
) -> Iterator[dict[str, Any]]:
    """The newest runs of a flow that have ended, at most `limit`, newest first."""
    cursor, left = None, limit
    while left:
        page = store.list(action=f"/flow/{flow}", labels=labels, limit=min(left, _PAGE), cursor=cursor)
        for item in page.items:
            if item.duration_ms is None:
                continue
            try:
                trace = store.get(item.trace_id)
            except NotFoundError:  # deleted meanwhile
                continue
            yield case_of(trace)
            left -= 1
        cursor = page.cursor
        if cursor is None:
            return


def case_of(trace: Trace) -> dict[str, Any]:
    """One run. Its context is the text of each document that a retriever found, in order, each text once."""
    root = next((row for row in trace.spans if row.key == trace.summary.key and row.kind == "flow"), None)
    case: dict[str, Any] = {"testCaseId": trace.trace_id, "input": None if root is None else _value(root.input)}
    if root is not None and root.output is not None:
        case["output"] = _value(root.output)
    if trace.summary.error is not None:
        case["error"] = trace.summary.error
    texts = [text for row in trace.spans if row.kind == "retriever" for text in _texts(row)]
    return {**case, "context": list(dict.fromkeys(texts)), "traceIds": [trace.trace_id]}


def _texts(row: SpanRow) -> Iterator[str]:
    found = _value(row.output)
    documents = found.get("documents") if isinstance(found, dict) else found
    for document in documents if isinstance(documents, list) else ():
        content = document.get("content") if isinstance(document, dict) else None
        parts = [part.get("text") for part in content or () if isinstance(part, dict)]
        text = "".join(part for part in parts if isinstance(part, str))
        if text:
            yield text


def _value(raw: bytes | None) -> Any:
    if raw is None:
        return None
    try:
        return json.loads(raw)
    except ValueError:  # not everybody's spans hold JSON
        return raw.decode("utf-8", "replace")
