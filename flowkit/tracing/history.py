"""What an action was asked before, and how it went last time.

past_inputs(store, "/flow/menuQA")[0].value          b'"What is vegan?"'
last_runs(store)["/flow/menuQA"].state               "success"
"""

from dataclasses import dataclass

from flowkit.tracing.store import TraceStore

__all__ = ["LastRun", "PastInput", "last_runs", "past_inputs"]

_TRACES = 500
_ROWS = 300

# Roots are found at any age; spans within other runs only among the newest traces, as nothing indexes them by key.
_QUERY = """
WITH newest AS (SELECT id, trace_id FROM traces ORDER BY start_ns DESC LIMIT ?),
roots AS (SELECT id, trace_id, root FROM traces WHERE key = ? ORDER BY start_ns DESC LIMIT ?)
SELECT trace_id, span_id, start_ns, state, CAST(value AS BLOB) FROM (
    SELECT n.trace_id, s.span_id, s.start_ns, s.state,
        coalesce(s.input, (SELECT value FROM big_values b WHERE b.trace = s.trace AND b.hash = s.input_hash)) AS value
    FROM newest n JOIN spans s ON s.trace = n.id WHERE s.key = ?
    UNION
    SELECT r.trace_id, s.span_id, s.start_ns, s.state,
        coalesce(s.input, (SELECT value FROM big_values b WHERE b.trace = s.trace AND b.hash = s.input_hash))
    FROM roots r JOIN spans s ON s.trace = r.id AND s.span_id = r.root
) WHERE value IS NOT NULL ORDER BY start_ns DESC LIMIT ?
"""


_LAST = """
SELECT key, trace_id, max(start_ns), end_ns, status FROM traces WHERE key IS NOT NULL AND internal = 0 GROUP BY key
"""


@dataclass(frozen=True, slots=True)
class LastRun:
    """The newest run of an action as a trace of its own."""

    trace_id: str
    start_ns: int
    duration_ms: float | None
    state: str | None
    """`success`, `error`, `cancelled`; None when it has not ended."""


def last_runs(store: TraceStore) -> dict[str, LastRun]:
    """By key."""
    with store.database.read() as db:
        if db is None:
            return {}
        return {
            key: LastRun(trace_id, start, (end - start) / 1e6 if end else None, state)
            for key, trace_id, start, end, state in db.execute(_LAST)
        }


@dataclass(frozen=True, slots=True)
class PastInput:
    """An input, and the span that had it last. `value` is JSON text, secrets redacted."""

    value: bytes
    trace_id: str
    span_id: str
    start_ns: int
    state: str | None
    """Of the span: `success`, `error`, `cancelled`; None when it has not ended."""


def past_inputs(store: TraceStore, key: str, *, limit: int = 20) -> list[PastInput]:
    """Each different input once, at most `limit`."""
    with store.database.read() as db:
        if db is None:
            return []
        rows = db.execute(_QUERY, (_TRACES, key, _ROWS, key, _ROWS)).fetchall()
    found: dict[bytes, PastInput] = {}
    for trace_id, span_id, start_ns, state, value in rows:
        if value not in found:
            found[value] = PastInput(value, trace_id, span_id, start_ns, state)
            if len(found) == limit:
                break
    return list(found.values())
