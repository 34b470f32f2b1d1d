"""The local trace store: one SQLite file, written by every process of a project, read by the CLI and the dev server.

store = TraceStore(project / ".flowkit/traces.db")
store.list(status="error", text="timeout")
store.get("3ea5").spans
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from flowkit.config import MAX_TRACES, MAX_TRACES_BYTES
from flowkit.errors import InvalidInputError, NotFoundError, StoreError
from flowkit.schema.text import clean_text
from flowkit.tracing.database import Database
from flowkit.tracing.log_store import forget_logs
from flowkit.tracing.outline import OUTLINE, outline_span
from flowkit.tracing.reading import SMALL, WHOLE, Where, card_rows, list_rows, read_spans, read_value, span_row, summary
from flowkit.tracing.rows import Outline, Page, SpanRow, Trace, TraceStatus, TraceSummary
from flowkit.tracing.words import (
    compact_words,
    forget_words,
    has_words,
    index_words,
    query_of,
    search_scratch,
    unindexed,
)
from flowkit.tracing.writing import write_spans

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["StoreStats", "TraceStore"]

_INDEX_AT_ONCE = 200
_DELETE_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class StoreStats:
    """How much a store holds; `size_bytes` of the file and its write-ahead log."""

    path: Path
    traces: int
    spans: int
    size_bytes: int


class TraceStore:
    """All calls may be made from any thread, and by several processes at once.

    Reading works while there is no file yet: there are no traces then.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = Database(path)

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self.database.close()

    def write(self, rows: Sequence[SpanRow]) -> None:
        """Store spans in one transaction.

        A span may come twice: as a record of its start (`end_ns` 0), then of its end. A start that comes late never
        overwrites an end.

        Raises:
            StoreError: the file is damaged or of a newer format (status DATA_LOSS), or cannot be written now; see
                `Database.write`.
        """
        if rows:
            with self.database.write() as db:
                write_spans(db, rows)

    # Lists.

    def list(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        status: TraceStatus | None = None,
        kind: str | None = None,
        action: str | None = None,
        text: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        min_duration_ms: float | None = None,
        labels: Mapping[str, str] | None = None,
        internal: bool = False,
    ) -> Page:
        """Summaries, newest first.

        Args:
            cursor: of the page before.
            action: a name (`menuQA`) or a key (`/flow/menuQA`) of the root.
            text: words that occur in the names, inputs, outputs or errors of the trace; "quoted" ones in a row.
            since, until: bounds of the start; a datetime without a zone is local time.
            labels: the root has all of these.
            internal: with traces that tools made, and those without any flowkit span.

        Raises:
            InvalidInputError: a limit below 1, or a cursor of something else.
        """
        where = Where()
        if not internal:
            where.add("internal = 0")
        if status in ("running", "lost"):
            where.add("end_ns = 0")
        elif status is not None:
            where.add("status = ?", status)
        if kind is not None:
            where.add("kind = ?", kind)
        if action is not None:
            where.add("key = ?" if action.startswith("/") else "name = ?", action)
        if since is not None:
            where.add("start_ns >= ?", _ns(since))
        if until is not None:
            where.add("start_ns < ?", _ns(until))
        if min_duration_ms is not None:
            where.add("end_ns > 0 AND end_ns - start_ns >= ?", int(min_duration_ms * 1e6))
        for name, value in (labels or {}).items():
            same = "EXISTS (SELECT 1 FROM json_each(labels) WHERE key = ? AND value = ?)"
            where.add(f"CASE WHEN json_valid(labels) THEN {same} END", name, value)

        def make(row: Any) -> TraceSummary | None:
            item = summary(row)
            return item if status is None or item.status == status else None

        found, cursor, skipped = self._page(where, cursor, limit, text, make)
        return Page(found, cursor, skipped)

    def list_cards(
        self, where: Where | None = None, *, limit: int = 10, cursor: str | None = None
    ) -> tuple[Sequence[bytes], str | None]:
        """Traces as JSON that Genkit's tools list (root span only, texts cut), ready-made; and the next cursor.

        `where` speaks of the columns of the table `traces`.
        """
        _check_limit(limit)
        where = where or Where()
        cards = Where([*where.terms, "rank <= 3"], where.values)
        with self.database.read() as db:
            rows = [] if db is None else card_rows(db, cards, cursor, limit + 1)
        more = f"{rows[limit - 1][1]}.{rows[limit - 1][0]}" if len(rows) > limit else None
        return [row[2] for row in rows[:limit]], more

    def _page(
        self,
        where: Where,
        cursor: str | None,
        limit: int,
        text: str | None,
        make: Callable[[Any], Any],
    ) -> tuple[Any, str | None, int]:
        _check_limit(limit)
        text = None if text is None else clean_text(text)[0]
        if text and text.strip():
            self.index_words()
        with self.database.read() as db:
            if db is None:
                return [], None, 0
            if text and text.strip():
                _add_text(db, where, text)
            rows, skipped = list_rows(db, where, cursor, limit + 1, make)
        more = rows[limit - 1][0] if len(rows) > limit else None
        return [item for _, item in rows[:limit]], more, skipped

    def index_words(self) -> int:
        """Bring the text index up to date with what has ended; returns how many traces were added.

        A text search does it by itself; calling it now and then makes the search quick. Writing spans does not, since
        that would cost the app more than the writing.
        """
        done = 0
        while True:
            with self.database.read() as db:
                if db is None or not unindexed(db, 1, finished=True):
                    return done
            with self.database.write() as db:
                traces = unindexed(db, _INDEX_AT_ONCE, finished=True)
                index_words(db, traces)
                done += len(traces)

    # One trace.

    def get(self, trace_id: str, *, values: bool = True) -> Trace:
        """A trace by its id or the beginning of it, with all its spans.

        Without `values`, inputs and outputs above 2 kB are left in the file; `value` reads one of them.

        Raises:
            NotFoundError: there is none.
            InvalidInputError: several ids begin so.
        """
        with self._find(trace_id) as (db, number, row):
            make = partial(span_row, row.trace_id)
            spans, skipped = read_spans(db, number, make, columns=WHOLE if values else SMALL)
        return Trace(row, spans, skipped)

    def outline(self, trace_id: str) -> Outline:
        """A trace to draw, as `get` finds it; made quickly, also of fifty thousand spans.

        Raises:
            NotFoundError, InvalidInputError: as `get` does.
        """
        with self._find(trace_id) as (db, number, row):
            spans, skipped = read_spans(db, number, outline_span, columns=OUTLINE)
        return Outline(row, spans, skipped)

    def value(self, trace_id: str, span_id: str, field: Literal["input", "output"]) -> bytes:
        """The whole JSON text of a span's input or output.

        Raises:
            NotFoundError: there is no such span, or it has none.
        """
        with self._find(trace_id) as (db, number, _):
            found = read_value(db, number, span_id, field)
        if found is None:
            raise NotFoundError(f"span {span_id} of trace {trace_id} has no {field}")
        return found

    @contextmanager
    def _find(self, prefix: str) -> "Iterator[tuple[Connection, int, TraceSummary]]":
        wanted = prefix.strip().lower()
        where = Where(["trace_id >= ?", "trace_id < ?"], [wanted, wanted + "g"])
        with self.database.read() as db:
            rows: Sequence[tuple[str, tuple[int, TraceSummary]]] = ()
            skipped = 0
            if db is not None and wanted:
                rows, skipped = list_rows(db, where, None, 2, lambda row: (row[0], summary(row)))
            if skipped and len(rows) < 2:
                raise StoreError(f"trace {prefix!r} in {self.path} cannot be read", hint="flowkit can only delete it")
            if db is None or not rows:
                raise NotFoundError(f"no trace {prefix!r}", hint="flowkit trace:list shows what there is")
            if len(rows) > 1:
                raise InvalidInputError(f"several traces begin with {prefix!r}", hint="give more of the id")
            number, row = rows[0][1]
            yield db, number, row

    # Keeping order.

    def delete(self, trace_ids: Sequence[str]) -> int:
        """Delete traces by their full ids, wholly: the bytes are overwritten and the file shrinks. Returns how many."""
        with self.database.read() as db:
            if db is None:
                return 0
            marks = json.dumps([clean_text(trace_id)[0].lower() for trace_id in trace_ids])
            numbers = [
                row[0]
                for row in db.execute(
                    "SELECT id FROM traces WHERE trace_id IN (SELECT value FROM json_each(?))", (marks,)
                )
            ]
        return self._delete(numbers)

    def clear(self) -> int:
        """Delete all traces; returns how many."""
        return self.prune(max_traces=0)

    def prune(self, *, max_traces: int = MAX_TRACES, max_bytes: int = MAX_TRACES_BYTES) -> int:
        """Delete the oldest traces until no more than this is kept; returns how many went."""
        done = 0
        with self.database.read() as db:
            if db is None:
                return 0
            (count,) = db.execute("SELECT count(*) FROM traces").fetchone()
            numbers = _oldest(db, count - max_traces)
        done += self._delete(numbers)
        while (size := self._used_bytes()) > max_bytes:
            with self.database.read() as db:
                if db is None:
                    return done
                (count,) = db.execute("SELECT count(*) FROM traces").fetchone()
                # The share of traces that is too much, and never less than one.
                numbers = _oldest(db, max(1, int(count * (size - max_bytes) / size)))
            gone = self._delete(numbers)
            if not gone:
                return done
            done += gone
        return done

    def _delete(self, numbers: Sequence[int]) -> int:
        done = 0
        for at in range(0, len(numbers), _DELETE_AT_ONCE):
            marks = json.dumps(numbers[at : at + _DELETE_AT_ONCE])
            which = "IN (SELECT value FROM json_each(?))"
            with self.database.write() as db:
                db.execute("PRAGMA secure_delete = ON")
                indexed = db.execute(f"SELECT id FROM traces WHERE indexed = 1 AND id {which}", (marks,)).fetchall()
                forget_words(db, [row[0] for row in indexed])
                forget_logs(db, marks)
                db.execute(f"DELETE FROM big_values WHERE trace {which}", (marks,))
                db.execute(f"DELETE FROM spans WHERE trace {which}", (marks,))
                done += db.execute(f"DELETE FROM traces WHERE id {which}", (marks,)).rowcount
                db.execute("PRAGMA secure_delete = OFF")
        if numbers:
            with self.database.write() as db:
                db.execute("PRAGMA secure_delete = ON")
                compact_words(db)
                db.execute("PRAGMA secure_delete = OFF")
            self.database.reclaim()
        return done

    def _used_bytes(self) -> int:
        with self.database.read() as db:
            if db is None:
                return 0
            pages, free, size = (
                db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
            )
        return int((pages - free) * size)

    def stats(self) -> StoreStats:
        """How much there is."""
        with self.database.read() as db:
            traces, spans = (0, 0) if db is None else db.execute("SELECT count(*), total(spans) FROM traces").fetchone()
        files = [self.path, self.path.with_name(self.path.name + "-wal")]
        size = sum(file.stat().st_size for file in files if file.exists())
        return StoreStats(self.path, traces, int(spans), size)

    def data_version(self) -> int:
        """A number that differs from the last one when anybody has written in between. Cheap enough for every 50 ms."""
        with self.database.read() as db:
            return 0 if db is None else int(db.execute("PRAGMA data_version").fetchone()[0])


def _ns(moment: datetime) -> int:
    try:
        return int(moment.timestamp() * 1e9)
    except (OverflowError, ValueError):  # without a zone, and a year at the edge of what `datetime` has
        raise InvalidInputError(f"{moment.isoformat()} is out of range", hint="give a date since 1970") from None


def _check_limit(limit: int) -> None:
    if limit < 1:
        raise InvalidInputError(f"limit is {limit}", hint="ask for 1 or more")


def _oldest(db: "Connection", count: int) -> list[int]:
    return [row[0] for row in db.execute("SELECT id FROM traces ORDER BY start_ns, id LIMIT ?", (max(0, count),))]


def _add_text(db: "Connection", where: Where, text: str) -> None:
    query = query_of(text)
    if not query:  # no words: only punctuation or emoji
        columns = " OR ".join(f"instr({name}, ?)" for name in ("name", "input", "output"))
        where.add(f"id IN (SELECT trace FROM spans WHERE {columns})", *[text.strip()] * 3)
        return
    running = search_scratch(db, unindexed(db, 1000, finished=False), query)
    indexed = "id IN (SELECT rowid FROM words WHERE words MATCH ?)"
    if has_words(db):
        where.add(f"({indexed} OR id IN (SELECT value FROM json_each(?)))", query, json.dumps(running))
    else:
        where.add("id IN (SELECT value FROM json_each(?))", json.dumps(running))
