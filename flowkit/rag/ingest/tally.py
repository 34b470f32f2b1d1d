"""What a run has seen, chunk by chunk: on disk rather than in memory, as a run may see a million.

tally = Tally()
rows = tally.numbered(chunks)        # with ids
tally.note(new=["c1"], updated=["c2"])
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import NamedTuple, Self

from flowkit.rag.stores.contract import RowKey
from flowkit.schema.documents import Document, document_id

__all__ = ["SourceTally", "Tally"]

_UNCHANGED, _NEW, _UPDATED = 0, 1, 2
_SCHEMA = """
PRAGMA journal_mode = OFF;
CREATE TABLE seen (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, source TEXT, state INTEGER NOT NULL DEFAULT 0);
CREATE INDEX seen_by_source ON seen (source);
CREATE TABLE repeats (id TEXT PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE sources (source TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE kept (source TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE before (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE stale (id TEXT PRIMARY KEY, source TEXT, removed INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX stale_by_source ON stale (source);
CREATE TABLE spool (n INTEGER PRIMARY KEY, document TEXT NOT NULL, stamp INTEGER NOT NULL);
"""


class SourceTally(NamedTuple):
    """How many chunks of one source are in which state; `stale` ones are stored and no longer seen."""

    source: str | None
    new: int
    updated: int
    unchanged: int
    removed: int
    stale: int


class Tally:
    """A private database, which vanishes with this object."""

    def __init__(self) -> None:
        # An empty name is a temporary file that SQLite removes itself; it is written once it outgrows the page cache.
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._db.executescript(_SCHEMA)
        self._folders: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def read(self, source: str | None, *, unreadable: bool = False) -> None:
        """A source was met. Of an `unreadable` one nothing is outdated: what it holds now is not known. One that ends
        in a slash is a folder."""
        if source is not None and source.endswith("/") and unreadable:
            self._folders.add(source)
        elif source is not None:
            self._db.execute(f"INSERT OR IGNORE INTO {'kept' if unreadable else 'sources'} VALUES (?)", (source,))

    def numbered(self, chunks: Sequence[Document]) -> list[Document]:
        """The chunks with ids: their own, else a hash of source, text and how many such chunks came before."""
        rows = []
        for chunk in chunks:
            if not chunk.id:
                chunk = chunk.with_id(self._new_id(chunk))
            rows.append(chunk)
            self.read(chunk.source)
        self._db.executemany(
            "INSERT INTO seen (id, source) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET source = excluded.source",
            [(row.id, row.source) for row in rows],
        )
        return rows

    def _new_id(self, chunk: Document) -> str:
        first = document_id(chunk.source, chunk.text, 0, chunk.metadata)
        (times,) = self._db.execute(
            "INSERT INTO repeats VALUES (?, 0) ON CONFLICT DO UPDATE SET times = times + 1 RETURNING times", (first,)
        ).fetchone()
        return document_id(chunk.source, chunk.text, times, chunk.metadata) if times else first

    def note(self, *, new: Iterable[str], updated: Iterable[str]) -> None:
        """Which chunks are not in the index yet, and which are there with other metadata."""
        states = [(_NEW, id) for id in new] + [(_UPDATED, id) for id in updated]
        self._db.executemany("UPDATE seen SET state = ? WHERE id = ?", states)

    # Chunks that wait for the plan to be seen.

    def put(self, documents: Iterable[Document], stamp: int) -> None:
        self._db.executemany(
            "INSERT INTO spool (document, stamp) VALUES (?, ?)",
            [(document.model_dump_json(by_alias=True, exclude_none=True), stamp) for document in documents],
        )

    def take(self, size: int) -> Iterator[tuple[list[Document], int]]:
        """What was put, in order, at most `size` at a time, with the earliest stamp of these."""
        last = 0
        while rows := self._db.execute("SELECT * FROM spool WHERE n > ? ORDER BY n LIMIT ?", (last, size)).fetchall():
            last = rows[-1][0]
            yield [Document.model_validate_json(text) for _, text, _ in rows], min(stamp for *_, stamp in rows)

    # What is in the index and was not seen.

    def remember(self, keys: Iterable[RowKey]) -> None:
        """Rows that were in the index when the run began."""
        self._db.executemany("INSERT OR IGNORE INTO before VALUES (?)", [(key.id,) for key in keys])

    def was_there(self, ids: Sequence[str]) -> set[str]:
        return self._among("before", "id", ids)

    def unseen(self, keys: Sequence[RowKey]) -> list[RowKey]:
        """Those that are not among the chunks of this run."""
        known = self._among("seen", "id", [key.id for key in keys])
        return [key for key in keys if key.id not in known]

    def met_at_most(self, number: int) -> list[str] | None:
        """The sources that were met, None when there are more."""
        found = [source for (source,) in self._db.execute("SELECT source FROM sources LIMIT ?", (number + 1,))]
        return found if len(found) <= number else None

    def met(self, sources: Sequence[str]) -> set[str]:
        """Those of the sources that the run has met, and of which it knows what they hold."""
        return self._among("sources", "source", sources) - self.unreadable(sources)

    def unreadable(self, sources: Sequence[str]) -> set[str]:
        """Those that could not be read, or whose folder could not."""
        found = self._among("kept", "source", sources)
        if self._folders:
            found |= {source for source in sources if source.startswith(tuple(self._folders))}
        return found

    def add_stale(self, keys: Iterable[RowKey], *, removed: bool) -> None:
        """Rows that nothing stands for any more; `removed` when the run deletes them."""
        self._db.executemany(
            "INSERT OR REPLACE INTO stale VALUES (?, ?, ?)", [(key.id, key.source, removed) for key in keys]
        )

    def to_delete(self, size: int) -> Iterator[list[tuple[str, str | None]]]:
        """Ids and sources of rows to delete, at most `size` at a time."""
        last = ""
        sql = "SELECT id, source FROM stale WHERE removed AND id > ? ORDER BY id LIMIT ?"
        while rows := self._db.execute(sql, (last, size)).fetchall():
            last = rows[-1][0]
            yield rows

    # Sums.

    def ids(self) -> tuple[str, ...]:
        """Of all chunks, in the order in which they came."""
        return tuple(id for (id,) in self._db.execute("SELECT id FROM seen ORDER BY n"))

    def count(self) -> dict[str, int]:
        counts = dict.fromkeys(("unchanged", "new", "updated", "removed", "outdated"), 0)
        names = ("unchanged", "new", "updated")
        for state, number in self._db.execute("SELECT state, count(*) FROM seen GROUP BY state"):
            counts[names[state]] = number
        for removed, number in self._db.execute("SELECT removed, count(*) FROM stale GROUP BY removed"):
            counts["removed" if removed else "outdated"] = number
        return counts

    def sources(self) -> Iterator[SourceTally]:
        """One for each source that was met, or that has stale rows, in order; None first."""
        sql = """
            SELECT source, sum(new), sum(updated), sum(same), sum(removed), sum(stale) FROM (
                SELECT source, 0 AS new, 0 AS updated, 0 AS same, 0 AS removed, 0 AS stale FROM sources
                UNION ALL SELECT source, state = 1, state = 2, state = 0, 0, 0 FROM seen
                UNION ALL SELECT source, 0, 0, 0, removed, 1 FROM stale
            ) GROUP BY source ORDER BY source
        """
        for row in self._db.execute(sql):
            yield SourceTally(*row)

    def chunks_of(self, source: str | None) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Ids of new, updated and removed chunks of a source."""
        found: list[tuple[str, ...]] = []
        for state in (_NEW, _UPDATED):
            sql = "SELECT id FROM seen WHERE source IS ? AND state = ? ORDER BY n"
            found.append(tuple(id for (id,) in self._db.execute(sql, (source, state))))
        sql = "SELECT id FROM stale WHERE source IS ? AND removed ORDER BY id"
        return found[0], found[1], tuple(id for (id,) in self._db.execute(sql, (source,)))

    def _among(self, table: str, column: str, values: Sequence[str]) -> set[str]:
        found: set[str] = set()
        for at in range(0, len(values), 500):
            some = list(values[at : at + 500])
            marks = ",".join("?" * len(some))
            found.update(
                value
                for (value,) in self._db.execute(f"SELECT {column} FROM {table} WHERE {column} IN ({marks})", some)
            )
        return found
