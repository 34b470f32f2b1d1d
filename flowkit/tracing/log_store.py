"""Log records in the file of the trace store: written, listed, and gone with the trace they belong to.

logs = LogStore(store)
logs.write([LogRow(time.time_ns(), "the oven is cold")])
logs.list(trace_id="3ea5…", min_severity=13).items
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flowkit.core.values import to_json
from flowkit.errors import InvalidInputError
from flowkit.schema.text import clean_text
from flowkit.tracing.log_rows import LogRow
from flowkit.tracing.reading import Where, cursor_of

if TYPE_CHECKING:
    from sqlite3 import Connection

    from flowkit.tracing.store import TraceStore

__all__ = ["MAX_LOGS", "LogPage", "LogStore", "forget_logs"]

MAX_LOGS = 50_000
"""The oldest go."""

_BODY_CHARS = 32_000
_TABLE = """
CREATE TABLE IF NOT EXISTS logs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    log_id TEXT NOT NULL UNIQUE,
    time_ns INTEGER NOT NULL,
    severity INTEGER NOT NULL,
    level TEXT,
    trace_id TEXT,
    span_id TEXT,
    body TEXT,
    more TEXT
);
CREATE INDEX IF NOT EXISTS logs_by_time ON logs (time_ns, id);
CREATE INDEX IF NOT EXISTS logs_by_trace ON logs (trace_id) WHERE trace_id IS NOT NULL
"""


@dataclass(slots=True, frozen=True)
class LogPage:
    """A part of the list, newest first; `cursor` leads to the next part, None at the end."""

    items: list[LogRow]
    cursor: str | None = None


class LogStore:
    """The logs beside a store's traces. All calls may be made from any thread."""

    def __init__(self, store: "TraceStore") -> None:
        self._database = store.database

    def write(self, rows: Sequence[LogRow]) -> None:
        """Store records in one transaction; one whose id is known stays as it is."""
        if not rows:
            return
        with self._database.write() as db:
            for statement in _TABLE.split(";"):
                db.execute(statement)
            db.executemany(
                "INSERT OR IGNORE INTO logs (log_id, time_ns, severity, level, trace_id, span_id, body, more)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [_columns(row) for row in rows],
            )
            db.execute("DELETE FROM logs WHERE id <= (SELECT max(id) FROM logs) - ?", (MAX_LOGS,))

    def list(
        self,
        *,
        limit: int = 100,
        cursor: str | None = None,
        trace_id: str | None = None,
        span_id: str | None = None,
        level: str | None = None,
        min_severity: int | None = None,
        text: str | None = None,
        after: int | None = None,
    ) -> LogPage:
        """Records, newest first.

        Args:
            level: the severity's name, for instance WARN.
            min_severity: OpenTelemetry's number; 13 is WARN.
            text: occurs in the body, case ignored.
            after: only records that came to the store later than the one that `newest` named.

        Raises:
            InvalidInputError: a limit below 1, or a cursor of something else.
        """
        if limit < 1:
            raise InvalidInputError(f"limit is {limit}", hint="ask for 1 or more")
        where = Where()
        for column, value in (("trace_id", trace_id), ("span_id", span_id)):
            if value is not None:
                where.add(f"{column} = ?", value)
        if level is not None:
            where.add("level = ? COLLATE NOCASE", level)
        if min_severity is not None:
            where.add("severity >= ?", min_severity)
        if text:
            where.add("instr(lower(body), lower(?))", text)
        if after is not None:
            where.add("id > ?", after)
        if cursor is not None:
            where.add("(time_ns, id) < (?, ?)", *cursor_of(cursor))
        with self._database.read() as db:
            if db is None or not _has_logs(db):
                return LogPage([])
            found = db.execute(
                "SELECT id, log_id, time_ns, severity, level, trace_id, span_id, body, more FROM logs"
                f" WHERE {' AND '.join(where.terms) or '1'} ORDER BY time_ns DESC, id DESC LIMIT ?",
                [*where.values, limit + 1],
            ).fetchall()
        last = found[limit - 1] if len(found) > limit else None
        return LogPage([_row(row) for row in found[:limit]], last and f"{last[2]}.{last[0]}")

    def newest(self) -> int:
        """A number that grows with every record that is stored; 0 when there is none."""
        with self._database.read() as db:
            if db is None or not _has_logs(db):
                return 0
            return int(db.execute("SELECT coalesce(max(id), 0) FROM logs").fetchone()[0])

    def count(self) -> int:
        """How many there are."""
        with self._database.read() as db:
            return 0 if db is None or not _has_logs(db) else int(db.execute("SELECT count(*) FROM logs").fetchone()[0])


def forget_logs(db: "Connection", marks: str) -> None:
    """Delete what belongs to traces whose numbers are in a JSON list, within the transaction that deletes them."""
    if _has_logs(db):
        db.execute(
            "DELETE FROM logs WHERE trace_id IN"
            " (SELECT trace_id FROM traces WHERE id IN (SELECT value FROM json_each(?)))",
            (marks,),
        )


def _has_logs(db: "Connection") -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'logs'").fetchone() is not None


def _columns(row: LogRow) -> tuple[Any, ...]:
    body = row.body
    if isinstance(body, str) and len(body) > _BODY_CHARS:
        body = f"{body[:_BODY_CHARS]}… ({len(body)} characters)"
    more: dict[str, Any] = {}
    if row.attributes:
        more["attributes"] = dict(row.attributes)
    if row.scope is not None:
        more["scope"] = row.scope
    return (
        row.log_id,
        row.time_ns,
        row.severity_number,
        None if row.severity_text is None else clean_text(row.severity_text)[0],
        row.trace_id,
        row.span_id,
        None if body is None else to_json(body).decode(),
        to_json(more).decode() if more else None,
    )


def _row(row: Any) -> LogRow:
    (_, log_id, time_ns, severity, level, trace_id, span_id, body, text) = row
    more = {} if text is None else json.loads(text)
    scope = more.get("scope")
    found = LogRow(time_ns, None if body is None else json.loads(body), severity, level, trace_id, span_id)
    found.attributes = more.get("attributes", {})
    found.scope = None if scope is None else (scope[0], scope[1])
    found.log_id = log_id
    return found
