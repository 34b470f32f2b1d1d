"""Reading traces: summaries by page, whole traces, single values.

rows = list_rows(db, Where(status="error"), after=None, limit=50)
"""

import json
import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from flowkit.errors import InvalidInputError
from flowkit.schema.text import clean_text
from flowkit.tracing.rows import SpanError, SpanEvent, SpanLink, SpanRow, TraceSummary
from flowkit.tracing.writing import DROPPED, FAILURE_SOURCE, LOCAL_ROOT

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = [
    "SMALL",
    "WHOLE",
    "Where",
    "card_rows",
    "cursor_of",
    "is_alive",
    "list_rows",
    "read_spans",
    "read_value",
    "span_row",
    "summary",
    "this_process",
]

T = TypeVar("T")
_CURSOR_CHARS = 39  # two integers of 64 bits
_SUMMARY = (
    "id, start_ns, trace_id, name, kind, key, end_ns, status, spans, error, labels, input_tokens, output_tokens,"
    " size_bytes, internal, input, output, process"
)


@dataclass
class Where:
    """Conditions of a list, joined by AND; a term is SQL over the columns of `traces`, with its values."""

    terms: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def add(self, term: str, *values: Any) -> None:
        self.terms.append(term)
        self.values += values


def _unreadable() -> tuple[type[Exception], ...]:
    """What reading a damaged row may raise: its text is no UTF-8, its JSON is broken, a number is none."""
    import sqlite3

    return (sqlite3.OperationalError, ValueError, TypeError, KeyError, IndexError, AttributeError)


def list_rows(
    db: "Connection", where: Where, after: str | None, limit: int, make: Callable[[Any], Any], columns: str = _SUMMARY
) -> tuple[list[tuple[str, Any]], int]:
    """Rows of the list, newest first, each with the cursor that leads on from it; and how many could not be read.

    `columns` begin with id and start_ns; `make` builds a result from a row, or None to leave it out.
    """
    condition, values = _condition(where, after)
    order = "ORDER BY start_ns DESC, id DESC"
    found: list[tuple[str, Any]] = []
    skipped = 0
    rows = db.execute(f"SELECT {columns} FROM traces WHERE {condition} {order}", values)
    try:
        for row in rows:
            item = make(row)
            if item is not None:
                found.append((f"{row[1]}.{row[0]}", item))
                if len(found) == limit:
                    break
        return found, 0
    except _unreadable():
        pass
    finally:
        rows.close()
    # Some row is damaged: one by one, around it.
    found.clear()
    for number, start in db.execute(f"SELECT id, start_ns FROM traces WHERE {condition} {order}", values).fetchall():
        try:
            item = make(db.execute(f"SELECT {columns} FROM traces WHERE id = ?", (number,)).fetchone())
        except _unreadable():
            skipped += 1
            continue
        if item is not None:
            found.append((f"{start}.{number}", item))
            if len(found) == limit:
                break
    return found, skipped


def card_rows(db: "Connection", where: Where, after: str | None, limit: int) -> list[tuple[int, int, bytes]]:
    """Number, start and card of traces, newest first: nothing is made of a row here, as there may be a thousand."""
    columns = "id, start_ns, CAST(card AS BLOB)"
    condition, values = _condition(where, after)
    try:
        query = f"SELECT {columns} FROM traces WHERE {condition} ORDER BY start_ns DESC, id DESC LIMIT ?"
        return db.execute(query, [*values, limit]).fetchall()
    except _unreadable():
        found, _ = list_rows(db, where, after, limit, lambda row: row, columns)
        return [row for _, row in found]


def _condition(where: Where, after: str | None) -> tuple[str, list[Any]]:
    terms, values = list(where.terms), list(where.values)
    if after is not None:
        terms.append("(start_ns, id) < (?, ?)")
        values += cursor_of(after)
    # As everything stored is: text with lone surrogates could not even be asked for.
    values = [clean_text(value)[0] if isinstance(value, str) else value for value in values]
    return " AND ".join(terms) or "1", values


def cursor_of(text: str) -> tuple[int, int]:
    """Time and number of the last row of the page before.

    Raises:
        InvalidInputError: it is no cursor.
    """
    start, _, number = text.partition(".")
    if not (start.isdecimal() and number.isdecimal() and len(text) <= _CURSOR_CHARS):
        raise InvalidInputError(f"{text[:100]!r} is no cursor of this list", hint="take it from the page before")
    return int(start), int(number)


def summary(row: Any) -> TraceSummary:
    """A summary from the columns of `_SUMMARY`."""
    (_, start, trace_id, name, kind, key, end, status, spans, error, labels, *rest) = row
    tokens_in, tokens_out, size, internal, shown_input, shown_output, process = rest
    if not end:
        status = "running" if is_alive(process) else "lost"
    return TraceSummary(
        trace_id,
        name,
        kind,
        key,
        start,
        (end - start) / 1e6 if end else None,
        status,
        spans,
        error,
        {} if labels == "{}" else json.loads(labels),
        tokens_in,
        tokens_out,
        size,
        bool(internal),
        shown_input,
        shown_output,
    )


@cache
def _host() -> str:
    return socket.gethostname()


def this_process() -> str:
    """How this process is named in the store."""
    return f"{os.getpid()}@{_host()}"


def is_alive(process: str | None) -> bool:
    """False when a process of this machine is known to be gone."""
    if process is None or os.name == "nt":  # where os.kill(pid, 0) would end it
        return True
    number, _, host = process.partition("@")
    if host != _host() or not number.isdecimal():
        return True
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True


_SPAN = (
    "id, span_id, name, start_ns, end_ns, parent_id, ancestor_id, type, kind, key, state, marks, input_bytes,"
    " output_bytes, more"
)
SMALL = f"{_SPAN}, CAST(input AS BLOB), CAST(output AS BLOB)"
"""Columns of `spans` for `span_row`, big values left out."""
_BIG = "SELECT value FROM big_values b WHERE b.trace = spans.trace AND hash ="
_WHOLE = {
    "input": f"CAST(coalesce(input, ({_BIG} input_hash)) AS BLOB)",
    "output": f"CAST(coalesce(output, ({_BIG} output_hash)) AS BLOB)",
}
WHOLE = f"{_SPAN}, {_WHOLE['input']}, {_WHOLE['output']}"
"""Columns of `spans` for `span_row`, with all values."""


def read_spans(
    db: "Connection", number: int, make: Callable[[Any], T], *, columns: str, only: Sequence[str] | None = None
) -> tuple[list[T], int]:
    """What `make` makes of the spans of a trace, by start, and how many could not be read.

    `only` names the spans that are wanted.
    """
    select = f"SELECT {columns} FROM spans WHERE"
    which = "trace = ?"
    marks: list[Any] = [number]
    if only is not None:
        which += " AND span_id IN (SELECT value FROM json_each(?))"
        marks.append(json.dumps(only))
    try:
        return [make(row) for row in db.execute(f"{select} {which} ORDER BY start_ns, id", marks)], 0
    except _unreadable():
        pass
    found, skipped = [], 0
    for (span,) in db.execute(f"SELECT id FROM spans WHERE {which} ORDER BY start_ns, id", marks).fetchall():
        try:
            found.append(make(db.execute(f"{select} id = ?", (span,)).fetchone()))
        except _unreadable():
            skipped += 1
    return found, skipped


def read_value(db: "Connection", number: int, span_id: str, field: str) -> bytes | None:
    """The whole input or output of one span."""
    query = f"SELECT {_WHOLE[field]} FROM spans WHERE trace = ? AND span_id = ?"
    row = db.execute(query, (number, clean_text(span_id)[0])).fetchone()
    return row[0] if row else None


def span_row(trace_id: str, row: Any) -> SpanRow:
    """A span from the columns of `SMALL` or `WHOLE`."""
    (_, span_id, name, start, end, parent, ancestor, type_, kind, key, state, marks, in_bytes, out_bytes, *rest) = row
    text, given, result = rest
    span = SpanRow(trace_id, span_id, name, start, end, parent, ancestor, bool(marks & LOCAL_ROOT), type_, kind, key)
    span.state = state
    span.failure_source = bool(marks & FAILURE_SOURCE)
    span.dropped = bool(marks & DROPPED)
    span.input, span.output = given, result
    span.input_bytes, span.output_bytes = in_bytes, out_bytes
    if text is not None:
        _add_more(span, json.loads(text))
    return span


def _add_more(span: SpanRow, more: dict[str, Any]) -> None:
    span.span_kind = more.get("spanKind", "INTERNAL")
    span.process = more.get("process")
    span.attributes = more.get("attributes", {})
    if "error" in more:
        span.error = SpanError(*more["error"])
    if "context" in more:
        span.context = more["context"].encode()
    if "scope" in more:
        name, version = more["scope"]
        span.scope = (name, version)
    span.events = tuple(SpanEvent(*event) for event in more.get("events", ()))
    span.links = tuple(SpanLink(*link) for link in more.get("links", ()))
