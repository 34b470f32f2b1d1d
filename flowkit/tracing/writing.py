"""Writing spans: rows in, summaries kept up to date, all in one transaction.

write_spans(db, rows)

A list of traces must cost nothing per trace, so the facts of the root span and the counts are kept ready-made.
Statements take many rows at once: SQLite's Python binding lets go of the interpreter lock at every step, and in a busy
program it takes 5 ms to get it back.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from flowkit.core.spans import ATTRIBUTES
from flowkit.schema.text import clean_text
from flowkit.tracing.genkit import genkit_card
from flowkit.tracing.rows import SpanRow
from flowkit.tracing.words import forget_words

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["BIG_BYTES", "IGNORE_TRACE", "write_spans"]

BIG_BYTES = 2_000
"""Values above this live in a side table: a tree of spans is read without them, and what a flow hands down from step
to step is stored once per trace."""

_SPAN_COLUMNS = 20
_TRACE_COLUMNS = 23
_SIZES = (256, 128, 64, 32, 16, 8, 4, 2, 1)
"""Of the statements, in rows: any number of rows takes few of them, and each stays prepared."""
_PREVIEW_CHARS = 200
_ERROR_CHARS = 500
_LABELS = 20
_NOT_LABELS = ("genkit:", "gen_ai.", "flowkit:")
IGNORE_TRACE = "genkitx:ignore-trace"
"""The label of runs that no list shows."""

LOCAL_ROOT, FAILURE_SOURCE, DROPPED = 1, 2, 4


@dataclass(slots=True)
class _Trace:
    """What must be known of a stored trace to add spans to it."""

    id: int
    trace_id: str
    start_ns: int = 0
    rank: int = 9
    root: str = ""
    spans: int = 0
    open: int = 0
    indexed: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    size_bytes: int = 0
    process: str | None = None
    new_root: SpanRow | None = None
    """Set when the summary's root must be written again."""


def write_spans(db: "Connection", rows: Iterable[SpanRow]) -> None:
    """Store spans and bring the summaries of their traces up to date, within a transaction.

    A span that is known is overwritten, except an ended one by the record of its start.
    """
    batch: dict[tuple[str, str], SpanRow] = {}
    for row in rows:
        key = (row.trace_id, row.span_id)
        known = batch.get(key)
        if known is None or row.end_ns or not known.end_ns:
            batch[key] = row
    traces, span_id = _traces(db, dict.fromkeys(row.trace_id for row in batch.values()))
    stored = _stored(db, traces, batch.values())
    changed = [
        row
        for row in batch.values()
        if row.end_ns or not ((before := stored.get((row.trace_id, row.span_id))) and before[1])
    ]
    forget_words(db, {traces[row.trace_id].id for row in changed if traces[row.trace_id].indexed})
    small: list[Any] = []
    big: dict[tuple[int, bytes], bytes] = {}
    digests: dict[bytes, bytes] = {}
    for row in changed:
        before = stored.get((row.trace_id, row.span_id))
        trace = traces[row.trace_id]
        if before is None:
            number, span_id = span_id, span_id + 1
        else:
            number = before[0]
        _count(trace, row, before)
        small += _columns(row, trace.id, number, big, digests)
    _insert(db, "spans", _SPAN_COLUMNS, small)
    if big:
        whole = [(number, digest, value) for (number, digest), value in big.items()]
        db.executemany("INSERT OR IGNORE INTO big_values VALUES (?, ?, CAST(? AS TEXT))", whole)
    _write_traces(db, {row.trace_id: traces[row.trace_id] for row in changed}.values())


def _traces(db: "Connection", trace_ids: Iterable[str]) -> tuple[dict[str, _Trace], int]:
    """The traces of a batch, new ones with the next numbers; and the next number of a span."""
    wanted = list(trace_ids)
    # All in one row, with the rows of traces as one JSON text: each step of SQLite costs.
    found, trace, span = db.execute(_TRACES, (json.dumps(wanted),)).fetchone()
    known = {fields[1]: _Trace(*fields) for fields in json.loads(found)}
    for trace_id in wanted:
        if trace_id not in known:
            trace += 1
            known[trace_id] = _Trace(trace, trace_id)
    return known, span + 1


_TRACES = """
SELECT json_group_array(json_array(id, trace_id, start_ns, rank, root, spans, open, indexed, input_tokens,
    output_tokens, size_bytes, process)),
    (SELECT coalesce(max(id), 0) FROM traces), (SELECT coalesce(max(id), 0) FROM spans)
FROM traces WHERE trace_id IN (SELECT value FROM json_each(?))
"""


def _stored(
    db: "Connection", traces: Mapping[str, _Trace], rows: Iterable[SpanRow]
) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Number, end and size of those spans that are stored already."""
    names = {trace.id: trace.trace_id for trace in traces.values() if trace.spans}
    wanted = [(traces[row.trace_id].id, row.span_id) for row in rows if traces[row.trace_id].spans]
    if not wanted:
        return {}
    (found,) = db.execute(
        "SELECT json_group_array(json_array(s.trace, s.span_id, s.id, s.end_ns, s.input_bytes + s.output_bytes))"
        " FROM json_each(?) j JOIN spans s"
        " ON s.trace = json_extract(j.value, '$[0]') AND s.span_id = json_extract(j.value, '$[1]')",
        (json.dumps(wanted),),
    ).fetchone()
    return {(names[trace], span): (number, end, size) for trace, span, number, end, size in json.loads(found)}


def _count(trace: _Trace, row: SpanRow, before: tuple[int, int, int] | None) -> None:
    """Bring a trace's counts and its root up to date with a span."""
    trace.spans += before is None
    trace.open += (not row.end_ns) - (before is not None and not before[1])
    trace.size_bytes += len(row.input or b"") + len(row.output or b"") - (before[2] if before else 0)
    if row.kind == "model" and row.end_ns and not (before and before[1]):
        trace.input_tokens = _add(trace.input_tokens, row.attributes.get(ATTRIBUTES.GEN_AI_INPUT_TOKENS))
        trace.output_tokens = _add(trace.output_tokens, row.attributes.get(ATTRIBUTES.GEN_AI_OUTPUT_TOKENS))
    rank = _rank(row)
    if row.span_id == trace.root or (rank, row.start_ns) < (trace.rank, trace.start_ns):
        trace.rank, trace.start_ns, trace.root, trace.new_root = rank, row.start_ns, row.span_id, row
    trace.process = row.process or trace.process


def _add(total: int | None, more: Any) -> int | None:
    return (total or 0) + more if isinstance(more, int) else total


def _rank(row: SpanRow) -> int:
    """How well a span stands for its trace: our outermost one first, whatever server span lies around it.

    Among equals the one that began first does.
    """
    if row.type == "external":
        return 3 if row.parent_id is None or row.local_root else 4
    return 0 if row.parent_id is None else 1 if row.local_root else 2


def _columns(
    row: SpanRow, trace: int, number: int, big: dict[tuple[int, bytes], bytes], digests: dict[bytes, bytes]
) -> tuple[Any, ...]:
    values: list[Any] = []
    hashes: list[Any] = []
    for value in (row.input, row.output):
        digest = None
        if value is not None and len(value) > BIG_BYTES:
            digest = digests.get(value) or sha256(value).digest()[:16]
            digests[value] = digest
            big[trace, digest] = value
            value = None
        values.append(_NULL if value is None else bytearray(value))
        hashes.append(_NULL if digest is None else bytearray(digest))
    more = _more(row)
    return (
        number,
        trace,
        row.span_id,
        _NULL if row.parent_id is None else row.parent_id,
        _NULL if row.ancestor_id is None else row.ancestor_id,
        row.start_ns,
        row.end_ns,
        _text(row.name),
        row.type,
        _NULL if row.kind is None else row.kind,
        _NULL if row.key is None else _text(row.key),
        _NULL if row.state is None else row.state,
        LOCAL_ROOT * row.local_root + FAILURE_SOURCE * row.failure_source + DROPPED * row.dropped,
        len(row.input or b""),
        len(row.output or b""),
        *values,
        *hashes,
        _NULL if more is None else bytearray(more),
    )


def _more(row: SpanRow) -> bytes | None:
    """The rarer facts, as one JSON object."""
    more: dict[str, Any] = {}
    if row.error is not None:
        more["error"] = row.error
    if row.context is not None:
        more["context"] = row.context.decode("utf-8", "replace")
    if row.attributes:
        more["attributes"] = row.attributes
    if row.events:
        more["events"] = row.events
    if row.links:
        more["links"] = row.links
    if row.scope is not None:
        more["scope"] = row.scope
    if row.span_kind != "INTERNAL":
        more["spanKind"] = row.span_kind
    if row.process is not None and not row.end_ns:
        more["process"] = row.process
    return _json(more) if more else None


def _json(value: Any) -> bytes:
    try:
        return to_json(value, inf_nan_mode="strings", fallback=repr)
    except ValueError:  # lone surrogates in somebody's attributes
        return clean_text(json.dumps(value, ensure_ascii=False, default=repr))[0].encode("utf-8", "replace")


def _insert(db: "Connection", table: str, columns: int, values: Sequence[Any]) -> None:
    """Rows given as one flat sequence, many per statement; the few sizes of statement stay prepared."""
    import sqlite3

    most = db.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // columns  # 999 values in old builds, 32,766 in new ones
    done, total = 0, len(values) // columns
    while done < total:
        count = next(size for size in _SIZES if size <= min(most, total - done))
        db.execute(_insertion(table, columns, count), values[done * columns : (done + count) * columns])
        done += count


@cache
def _insertion(table: str, columns: int, count: int) -> str:
    one = ", ".join(_PLACES.get((table, n), "?") for n in range(columns))
    return f"INSERT OR REPLACE INTO {table} VALUES " + ", ".join([f"({one})"] * count)


_NULL = 0.5
"""Stands for NULL where a column may be NULL: none of these holds a fraction. Python's binding asks each None, and all
`bytes`, how they want to be adapted, which takes ten times as long as to bind them; a `bytearray` it takes as it is."""
_MAYBE = f"nullif(?, {_NULL})"
_PLACES = {
    **{("spans", n): _MAYBE for n in (3, 4, 9, 10, 11, 17, 18)},
    **{("traces", n): _MAYBE for n in (4, 8, 9, 14, 15, 17, 18, 20, 21)},
    # Text that comes as UTF-8 bytes.
    **{("spans", n): f"CAST({_MAYBE} AS TEXT)" for n in (15, 16, 19)},
    ("traces", 22): "CAST(? AS TEXT)",
}


def _write_traces(db: "Connection", traces: Iterable[_Trace]) -> None:
    whole: list[Any] = []
    for trace in traces:
        if trace.new_root is None:
            db.execute(
                "UPDATE traces SET spans = ?, open = ?, indexed = 0, input_tokens = ?, output_tokens = ?,"
                " size_bytes = ?, process = ? WHERE id = ?",
                (
                    trace.spans,
                    trace.open,
                    trace.input_tokens,
                    trace.output_tokens,
                    trace.size_bytes,
                    trace.process,
                    trace.id,
                ),
            )
        else:
            whole += _summary(trace, trace.new_root)
    _insert(db, "traces", _TRACE_COLUMNS, whole)


def _summary(trace: _Trace, root: SpanRow) -> tuple[Any, ...]:
    labels = {}
    if root.type != "external" and root.attributes:
        labels = {
            key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
            for key, value in root.attributes.items()
            if not key.startswith(_NOT_LABELS)
        }
    error: Any = _NULL
    if root.error is not None:
        error = _text(": ".join(filter(None, root.error[:2])))[:_ERROR_CHARS]
    return (
        trace.id,
        trace.trace_id,
        trace.start_ns,
        root.end_ns,
        _NULL if root.state is None else root.state,
        trace.rank,
        trace.root,
        _text(root.name),
        _NULL if root.kind is None else root.kind,
        _NULL if root.key is None else _text(root.key),
        trace.spans,
        trace.open,
        int(root.type == "external" or labels.get(IGNORE_TRACE) == "true"),
        0,
        _NULL if trace.input_tokens is None else trace.input_tokens,
        _NULL if trace.output_tokens is None else trace.output_tokens,
        trace.size_bytes,
        trace.process if trace.open and trace.process is not None else _NULL,
        error,
        _text(json.dumps(dict(list(labels.items())[:_LABELS]), ensure_ascii=False)) if labels else "{}",
        _preview(root.input),
        _preview(root.output),
        bytearray(_json(genkit_card(root))),
    )


def _preview(value: bytes | None) -> Any:
    return _NULL if value is None else value[: 4 * _PREVIEW_CHARS].decode("utf-8", "ignore")[:_PREVIEW_CHARS]


def _text(text: str) -> str:
    return text if text.isascii() else clean_text(text)[0]
