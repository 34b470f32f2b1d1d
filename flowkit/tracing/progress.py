"""What is new in a store since the last look: spans of one trace, or summaries of all.

version = Watch(path)
if version.changed(): ...
look = TraceProgress(store, trace_id)
for event, row, rows in look.news(): ...              # ("span_start" | "span_end", span, all spans by id)
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal

from flowkit.tracing.reading import WHOLE, Where, list_rows, read_spans, span_row, summary
from flowkit.tracing.rows import SpanRow, TraceSummary
from flowkit.tracing.store import TraceStore

__all__ = ["SpanEventName", "SummaryNews", "TraceProgress", "Watch"]

SpanEventName = Literal["span_start", "span_end"]
_NEWEST = 100
_RUNNING = 200


class Watch:
    """Whether a file has been written to, by whichever process. Cheap enough for every 50 ms.

    It has a connection of its own: SQLite tells a connection of what others have written, and a long search must not
    make it wait.
    """

    def __init__(self, path: Path) -> None:
        self._store = TraceStore(path)
        self._seen: tuple[int, int] | None = None

    def changed(self) -> bool:
        """True at first, and whenever the file has changed since the last call."""
        try:
            inode = self._store.path.stat().st_ino
        except OSError:
            inode = 0
        now = (inode, self._store.data_version())
        changed, self._seen = now != self._seen, now
        return changed

    def close(self) -> None:
        self._store.close()


class TraceProgress:
    """Spans of one trace, each told once when it is first seen and once when it has ended."""

    def __init__(self, store: TraceStore, trace_id: str) -> None:
        self._store = store
        self._trace_id = trace_id
        self._known: dict[str, bool] = {}
        """Span id → has ended."""
        self._rows: dict[str, SpanRow] = {}

    def seen(self, rows: list[SpanRow]) -> None:
        """These have been told already."""
        self._rows.update({row.span_id: row for row in rows})
        self._known.update({row.span_id: row.end_ns > 0 for row in rows})

    def news(self) -> Iterator[tuple[SpanEventName, SpanRow, dict[str, SpanRow]]]:
        """What is new. A span that began and ended since the last look is told twice, both times as it is now."""
        with self._store.database.read() as db:
            if db is None:
                return
            found = db.execute("SELECT id FROM traces WHERE trace_id = ?", (self._trace_id,)).fetchone()
            if found is None:
                return
            marks = db.execute("SELECT span_id, end_ns FROM spans WHERE trace = ?", (found[0],)).fetchall()
            wanted = [id for id, end in marks if id not in self._known or (end and not self._known[id])]
            if not wanted:
                return
            rows, _ = read_spans(db, found[0], partial(span_row, self._trace_id), columns=WHOLE, only=wanted)
        self._rows.update({row.span_id: row for row in rows})
        for row in rows:
            if row.span_id not in self._known:
                yield "span_start", row, self._rows
            if row.end_ns:
                yield "span_end", row, self._rows
            self._known[row.span_id] = row.end_ns > 0


class SummaryNews:
    """Summaries that are new or have changed: of the newest traces, and of all that were seen running."""

    def __init__(self, store: TraceStore, *, internal: bool = False) -> None:
        self._store = store
        self._internal = internal
        self._known: dict[str, tuple[object, ...]] | None = None

    def news(self) -> list[TraceSummary]:
        """Oldest first. The first call tells nothing: it only notes what there is."""
        known = self._known or {}
        running = [id for id, facts in known.items() if facts[0] == "running"]
        where = Where() if self._internal else Where(["internal = 0"])
        with self._store.database.read() as db:
            if db is None:
                self._known = self._known or {}
                return []
            rows, _ = list_rows(db, where, None, _NEWEST, summary)
            found: dict[str, TraceSummary] = {item.trace_id: item for _, item in rows}
            missing = [id for id in running if id not in found][:_RUNNING]
            if missing:
                marks = ", ".join("?" * len(missing))
                older, _ = list_rows(db, Where([f"trace_id IN ({marks})"], list(missing)), None, _RUNNING, summary)
                found |= {item.trace_id: item for _, item in older}
        now: dict[str, tuple[object, ...]] = {
            id: (item.status, item.spans, item.duration_ms, item.name) for id, item in found.items()
        }
        changed = [found[id] for id, facts in now.items() if known.get(id) != facts]
        first, self._known = self._known is None, now
        return [] if first else sorted(changed, key=lambda item: item.start_ns)
