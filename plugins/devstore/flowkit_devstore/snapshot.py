"""Reading: one connection, and what it knows of the index at one moment.

with Reader(folder, views) as snapshot:
    snapshot.state.rows
"""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from flowkit import Filter
from flowkit_devstore.database import State, connect, read_state
from flowkit_devstore.vectors import Float32, Slots, Views
from flowkit_devstore.where import Keys, Mask, matching, read_keys

__all__ = ["Snapshot"]

_VARIABLES = 500
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
        self._holes_of: tuple[int, int] = (0, 0)
        self.holes: Slots = np.empty(0, dtype=np.int64)

    def __enter__(self) -> "Snapshot":
        execute = self.connection.execute
        execute("BEGIN")
        try:
            (version,) = execute("PRAGMA data_version").fetchone()
            if version != self._version:
                self._reload()
                self._version = version
        except BaseException:
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
        self._keys = None
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

    def ids(self, slots: Sequence[int]) -> dict[int, str]:
        return dict(self._select("slot, id", slots))

    def slots(self, ids: Sequence[str]) -> dict[str, int]:
        """The slot of each id that there is."""
        return dict(self._select("id, slot", ids, by="id"))

    def lengths(self, slots: Sequence[int]) -> dict[int, float | None]:
        """What each stored unit vector is to be multiplied with; None where it is as it was given."""
        return dict(self._select("slot, length", slots))

    def rows(self, slots: Sequence[int]) -> dict[int, tuple[str, str, str | None, str]]:
        """Id, text, content and metadata of each slot."""
        return {slot: rest for slot, *rest in self._select("slot, id, text, content, metadata", slots)}

    def _select(self, columns: str, values: Sequence[int] | Sequence[str], *, by: str = "slot") -> list[Any]:
        if len(values) <= _VARIABLES:
            sql = f"SELECT {columns} FROM rows WHERE {by} IN ({_IN[len(values)]})"
            return self.connection.execute(sql, values).fetchall()
        found: list[Any] = []
        for at in range(0, len(values), _VARIABLES):
            found += self._select(columns, values[at : at + _VARIABLES], by=by)
        return found
