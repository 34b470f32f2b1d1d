"""Reading: one connection, and what it knows of the index at one moment.

with Reader(folder, views) as snapshot:
    snapshot.state.rows
"""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from flowkit import Filter
from flowkit_devstore.database import State, connect, read_state
from flowkit_devstore.rows import WORD_COUNT
from flowkit_devstore.vectors import Float32, Float64, Slots, Views
from flowkit_devstore.where import Keys, Mask, matching, read_keys

__all__ = ["Snapshot"]

_VARIABLES = 500
_NO_SLOTS: Slots = np.empty(0, dtype=np.int64)
_IN = [",".join("?" * count) for count in range(_VARIABLES + 1)]


class Snapshot:
    """A reading connection. Inside `with`, everything it gives is of one moment, whatever others write meanwhile.

    What it has read is kept from one `with` to the next, until SQLite says that something has changed.
    One thread at a time.
    """

    state: State

    def __init__(self, folder: Path, views: Views) -> None:
        self.folder = folder
        self.connection = connect(folder)
        self._views = views
        self._version: int | None = None
        self._keys: Keys | None = None
        self._word_counts: Float64 | None = None
        self._has_occurrences = False
        self._holes_of: tuple[int, int] = (0, 0)
        self.holes = _NO_SLOTS

    def __enter__(self) -> "Snapshot":
        execute = self.connection.execute
        execute("BEGIN")
        try:
            (version,) = execute("PRAGMA data_version").fetchone()
            if version != self._version:
                self._reload()
                self._version = version
        except BaseException:  # whatever it was, nobody will call `__exit__`
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.connection.in_transaction:  # an error may have ended it
            self.connection.execute("COMMIT")

    def _reload(self) -> None:
        self._version = None  # should the rest fail
        self.state = state = read_state(self.connection)
        self._keys = self._word_counts = None
        holes = state.slots - state.rows
        generation, known = self._holes_of
        if generation != state.generation:
            known, self.holes = 0, self.holes[:0]
        if holes != known:
            rows = self.connection.execute("SELECT slot FROM holes WHERE seq > ?", (known,)).fetchall()
            self.holes = np.concatenate([self.holes, np.array(rows, dtype=np.int64).reshape(-1)])
        self._holes_of = (state.generation, holes)

    @property
    def keys(self) -> Keys:
        if self._keys is None:
            self._keys = read_keys(self.connection)
        return self._keys

    def vectors(self) -> Float32:
        """All slots, holes as well.

        Raises:
            FileNotFoundError: a compaction has just put another file in place; begin again.
        """
        state = self.state
        if state.dimension is None:
            return np.empty((0, 0), dtype=np.float32)
        return self._views.rows(state.generation, state.dimension, state.slots)

    def matching(self, where: Filter) -> Mask:
        """Which slots hold a row that matches."""
        mask = matching(self.connection, self.keys, where, slots=self.state.slots)
        mask[self.holes] = False
        return mask

    def having(self, term: str) -> tuple[Slots, Slots]:
        """The slots of the rows that have a search term, and how often each has it."""
        (text,) = self.connection.execute(
            "SELECT group_concat(doc) FROM occurrences WHERE term = ?", (term,)
        ).fetchone()
        if text is None:
            return _NO_SLOTS, _NO_SLOTS
        return np.unique(np.fromstring(text, dtype=np.int64, sep=","), return_counts=True)

    def word_counts(self) -> Float64:
        """How many search terms each row has; 0 for holes. Kept until something changes."""
        if self._word_counts is None:
            if not self._has_occurrences:
                # FTS5 shows its index as a table: one row for each place where a term stands.
                sql = "CREATE VIRTUAL TABLE temp.occurrences USING fts5vocab(main, words, 'instance')"
                self.connection.execute(sql)
                self._has_occurrences = True
            counts = np.zeros(self.state.slots)
            sql = "SELECT group_concat(slot), group_concat(value) FROM entries WHERE key = ?"
            slots, values = self.connection.execute(sql, (WORD_COUNT,)).fetchone()
            if slots is not None:
                counts[np.fromstring(slots, dtype=np.int64, sep=",")] = np.fromstring(values, sep=",")
            self._word_counts = counts
        return self._word_counts

    def ids(self, slots: Sequence[int]) -> dict[int, str]:
        return self._complete(slots, dict(self._select("slot, id", slots)))

    def slots(self, ids: Sequence[str]) -> dict[str, int]:
        """The slot of each id that there is."""
        return dict(self._select("id, slot", ids, by="id"))

    def lengths(self, slots: Sequence[int]) -> dict[int, float | None]:
        """What each stored unit vector is to be multiplied with; None where it is as it was given."""
        return dict(self._select("slot, length", slots))

    def rows(self, slots: Sequence[int]) -> dict[int, tuple[str, str, str | None, str]]:
        """Id, text, content and metadata of each slot."""
        found = {slot: rest for slot, *rest in self._select("slot, id, text, content, metadata", slots)}
        return self._complete(slots, found)

    @staticmethod
    def _complete(slots: Sequence[int], found: dict[int, Any]) -> dict[int, Any]:
        if len(found) < len(slots):
            raise sqlite3.DatabaseError("the indexes name rows that are not there")
        return found

    def _select(self, columns: str, values: Sequence[int] | Sequence[str], *, by: str = "slot") -> list[Any]:
        if len(values) <= _VARIABLES:
            sql = f"SELECT {columns} FROM rows WHERE {by} IN ({_IN[len(values)]})"
            return self.connection.execute(sql, values).fetchall()
        found: list[Any] = []
        for at in range(0, len(values), _VARIABLES):
            found += self._select(columns, values[at : at + _VARIABLES], by=by)
        return found
