"""Everything that changes an index: upsert, delete, clear, and what keeps the files in shape.

Writer(folder, connect(folder), views).upsert(rows)
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from flowkit import Filter
from flowkit.errors import InvalidInputError, StateError
from flowkit.plugin import EmbeddedDocument, transaction
from flowkit.rag.keyword import TERMS_VERSION, terms
from flowkit.rag.stores.rules import checked_rows, wanted_ids
from flowkit_devstore.database import State, read_state, write_state
from flowkit_devstore.rows import NUMBER, WORD_COUNT, Columns, encode, entry, key_types, read_metadata
from flowkit_devstore.vectors import Float32, Slots, Views, unit_rows, vector_path, write_vectors
from flowkit_devstore.where import matching, read_keys

__all__ = ["Writer", "chunks"]

Item = TypeVar("Item")
_FEWEST_HOLES = 1024
_SEEN = "INSERT INTO keys (name, types) VALUES (?, ?) ON CONFLICT DO UPDATE SET types = types | excluded.types"
_COLUMNS = "id, text, content, metadata, text_hash, metadata_hash"


class _Incoming(NamedTuple):
    """A row to write. `row` is its place in the batch's vectors, None to keep the stored vector."""

    columns: Columns
    metadata: dict[str, Any]
    words: list[str]
    row: int | None


class _Stored(NamedTuple):
    slot: int
    length: float | None
    columns: Columns


class _Batch(NamedTuple):
    incoming: dict[str, _Incoming]
    vectors: Float32
    lengths: list[float | None]


class Writer:
    """One connection for writing; one thread at a time. Other processes wait for a transaction to end."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, views: Views) -> None:
        self._folder = folder
        self.connection = connection
        self._views = views

    def upsert(self, rows: Sequence[EmbeddedDocument]) -> None:
        """Insert or replace; all or nothing, and on disk when it returns."""
        state = read_state(self.connection)
        # What takes time is done before the transaction, so that others wait for the disk only.
        batch = _prepare(rows, state)
        if not batch.incoming:
            return
        with transaction(self.connection):
            state = self._state()
            if len(batch.vectors) and state.dimension not in (None, batch.vectors.shape[1]):
                checked_rows(rows, index=state.name, dimension=state.dimension)  # raises: another process was first
            write_state(self.connection, self._write(batch, state))
        self._compact_if_worthwhile()

    def delete(self, *, ids: Sequence[str] | None, where: Filter | None) -> int:
        """Delete rows by exactly one selector; returns how many there were."""
        with transaction(self.connection):
            state = self._state()
            if where is None:
                stored = list(self._stored(wanted_ids(ids or ())).values())
            else:
                mask = matching(self.connection, read_keys(self.connection), where, slots=state.slots)
                slots: Slots = np.flatnonzero(mask)
                stored = list(self._at(slots.tolist()))
            everything = 0 < len(stored) == state.rows
            if everything:
                self._empty(state)
            elif stored:
                self._remove(stored)
                write_state(self.connection, state._replace(rows=state.rows - len(stored)))
        if everything:
            self.drop_old_files()
        else:
            self._compact_if_worthwhile()
        return len(stored)

    def clear(self) -> None:
        with transaction(self.connection):
            state = read_state(self.connection)
            self._empty(state)
        self.drop_old_files()

    def identify(self, dimension: int | None, embedder: str | None) -> State:
        """Fill in what the index does not know of itself yet; returns what it is now."""
        with transaction(self.connection):
            state = read_state(self.connection)
            state = state._replace(dimension=state.dimension or dimension, embedder=state.embedder or embedder)
            write_state(self.connection, state)
        return state

    def rebuild_words(self) -> None:
        """Make the keyword index anew, after `terms` has changed."""
        with transaction(self.connection):
            state = read_state(self.connection)
            if state.terms_version != TERMS_VERSION:
                self._refill_words()
                write_state(self.connection, state._replace(terms_version=TERMS_VERSION))

    def _state(self) -> State:
        """The state inside a transaction that is going to change words."""
        state = read_state(self.connection)
        if state.terms_version != TERMS_VERSION:
            raise StateError(
                f"index {state.name!r} has been brought to another version while this process had it open",
                hint="restart this process",
            )
        return state

    def _write(self, batch: _Batch, state: State) -> State:
        stored = self._stored(batch.incoming)
        for id, row in batch.incoming.items():
            if row.row is None and id not in stored:
                raise InvalidInputError(
                    f"{id!r} has no vector, and index {state.name!r} has none stored", hint="embed it first"
                )
        same = self._unchanged(batch, stored, state)
        moving = [id for id, row in batch.incoming.items() if row.row is not None and id not in same]
        rows = [batch.incoming[id].row or 0 for id in moving]
        if rows:
            vectors = batch.vectors if len(rows) == len(batch.vectors) else batch.vectors.take(rows, axis=0)
            write_vectors(self._folder, state.generation, slots=state.slots, rows=vectors)
        gone = [stored[id] for id in moving if id in stored]
        self._remove(gone)
        placed = {id: state.slots + at for at, id in enumerate(moving)}
        edited = [id for id, row in batch.incoming.items() if id not in placed and row.columns != stored[id].columns]
        self._forget([stored[id] for id in edited])
        self._insert(
            (slot, *batch.incoming[id].columns, batch.lengths[row])
            for (id, slot), row in zip(placed.items(), rows, strict=True)
        )
        self.connection.executemany(
            f"UPDATE rows SET ({_COLUMNS}) = (?, ?, ?, ?, ?, ?) WHERE slot = ?",
            ((*batch.incoming[id].columns, stored[id].slot) for id in edited),
        )
        placed.update((id, stored[id].slot) for id in edited)
        self._describe([(slot, batch.incoming[id]) for id, slot in placed.items()])
        return state._replace(
            dimension=state.dimension or batch.vectors.shape[1] or None,
            slots=state.slots + len(moving),
            rows=state.rows + len(moving) - len(gone),
        )

    def _unchanged(self, batch: _Batch, stored: dict[str, _Stored], state: State) -> set[str]:
        """Ids whose vector is stored already, to the bit: they keep their slots."""
        ids = [id for id, row in batch.incoming.items() if row.row is not None and id in stored]
        if not ids:
            return set()
        places = [batch.incoming[id].row or 0 for id in ids]
        held = self._views.rows(state.generation, batch.vectors.shape[1], state.slots)
        equal = (held.take([stored[id].slot for id in ids], axis=0) == batch.vectors.take(places, axis=0)).all(axis=1)
        return {
            id
            for id, place, as_before in zip(ids, places, equal.tolist(), strict=True)
            if as_before and batch.lengths[place] == stored[id].length
        }

    def _stored(self, ids: Iterable[str]) -> dict[str, _Stored]:
        return {row.columns.id: row for row in self._select("id", ids)}

    def _at(self, slots: Iterable[int]) -> Iterator[_Stored]:
        return self._select("slot", slots)

    def _select(self, by: str, values: Iterable[str] | Iterable[int]) -> Iterator[_Stored]:
        for some in chunks(list(values)):
            sql = f"SELECT slot, length, {_COLUMNS} FROM rows WHERE {by} IN ({','.join('?' * len(some))})"
            for slot, length, *columns in self.connection.execute(sql, some):
                yield _Stored(slot, length, Columns(*columns))

    def _insert(self, rows: Iterable[tuple[Any, ...]]) -> None:
        self.connection.executemany(
            f"INSERT INTO rows (slot, {_COLUMNS}, length) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows
        )

    def _describe(self, rows: Sequence[tuple[int, _Incoming]]) -> None:
        """Fill the metadata and keyword indexes for rows."""
        keys = read_keys(self.connection)
        seen: dict[str, int] = {}
        for _, row in rows:
            for name, bit in key_types(row.metadata):
                seen[name] = seen.get(name, 0) | bit
        for name, types in seen.items():
            if name not in keys or keys[name][1] | types != keys[name][1]:
                self.connection.execute(_SEEN, (name, types))
        if seen.keys() - keys.keys():
            keys = read_keys(self.connection)
        entries = [(WORD_COUNT, NUMBER, len(row.words), slot) for slot, row in rows]
        entries += ((keys[name][0], *entry(value), slot) for slot, row in rows for name, value in row.metadata.items())
        entries.sort(key=itemgetter(0, 1))  # neighbours land on the same page
        self.connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?)", entries)
        self.connection.executemany(
            "INSERT INTO words (rowid, terms) VALUES (?, ?)", ((slot, " ".join(row.words)) for slot, row in rows)
        )

    def _remove(self, rows: Sequence[_Stored]) -> None:
        self._forget(rows)
        self.connection.executemany("DELETE FROM rows WHERE slot = ?", ((row.slot,) for row in rows))
        self.connection.executemany("INSERT INTO holes (slot) VALUES (?)", ((row.slot,) for row in rows))

    def _forget(self, rows: Sequence[_Stored]) -> None:
        """Take rows out of the metadata and keyword indexes."""
        if not rows:
            return
        keys = read_keys(self.connection)
        words = [(row.slot, terms(row.columns.text)) for row in rows]
        entries = [(WORD_COUNT, NUMBER, len(found), slot) for slot, found in words]
        entries += (
            (keys[name][0], *entry(value), row.slot)
            for row in rows
            for name, value in read_metadata(row.columns.metadata).items()
        )
        sql = "DELETE FROM entries WHERE key = ? AND type = ? AND value = ? AND slot = ?"
        self.connection.executemany(sql, entries)
        # FTS5 wants the same terms back that it was given, as it keeps no text.
        self.connection.executemany(
            "INSERT INTO words (words, rowid, terms) VALUES ('delete', ?, ?)",
            ((slot, " ".join(found)) for slot, found in words),
        )

    def _empty(self, state: State) -> None:
        for table in ("rows", "entries", "holes"):
            self.connection.execute(f"DELETE FROM {table}")
        self.connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
        write_state(self.connection, state._replace(generation=state.generation + 1, slots=0, rows=0))

    def _refill_words(self) -> None:
        self.connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
        self.connection.execute("DELETE FROM entries WHERE key = ?", (WORD_COUNT,))
        texts = self.connection.execute("SELECT slot, text FROM rows ORDER BY slot")
        while some := texts.fetchmany(1000):
            words = [(slot, terms(text)) for slot, text in some]
            self.connection.executemany(
                "INSERT INTO words (rowid, terms) VALUES (?, ?)", ((slot, " ".join(found)) for slot, found in words)
            )
            self.connection.executemany(
                "INSERT INTO entries VALUES (?, ?, ?, ?)",
                ((WORD_COUNT, NUMBER, len(found), slot) for slot, found in words),
            )

    def _compact_if_worthwhile(self) -> None:
        """Give back the place of rows that have gone, when they are more than the rows that are left."""
        state = read_state(self.connection)
        if state.slots - state.rows > max(_FEWEST_HOLES, state.rows):
            with transaction(self.connection):
                state = read_state(self.connection)
                if state.slots - state.rows > max(_FEWEST_HOLES, state.rows):
                    self._compact(state)
            self.drop_old_files()

    def _compact(self, state: State) -> None:
        kept = [slot for (slot,) in self.connection.execute("SELECT slot FROM rows ORDER BY slot")]
        generation = state.generation + 1
        if state.dimension is not None and kept:
            held = self._views.rows(state.generation, state.dimension, state.slots)
            for at in range(0, len(kept), 4096):
                rows = held.take(kept[at : at + 4096], axis=0)
                write_vectors(self._folder, generation, slots=at, rows=rows)
        execute = self.connection.execute
        execute("CREATE TEMP TABLE moves (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")
        self.connection.executemany("INSERT INTO moves VALUES (?, ?)", zip(kept, range(len(kept)), strict=True))
        # By way of negative numbers, as a new slot may still be another row's old one.
        execute("UPDATE rows SET slot = (SELECT -1 - new FROM moves WHERE old = slot)")
        execute("UPDATE rows SET slot = -1 - slot")
        execute("CREATE TEMP TABLE moved AS SELECT key, type, value, new FROM entries JOIN moves ON old = slot")
        execute("DELETE FROM entries")
        execute("INSERT INTO entries SELECT * FROM moved")
        execute("DROP TABLE moves")
        execute("DROP TABLE moved")
        execute("DELETE FROM holes")
        self._refill_words()
        write_state(self.connection, state._replace(generation=generation, slots=len(kept), rows=len(kept)))

    def drop_old_files(self) -> None:
        """Remove vector files of former generations. Who has one mapped keeps it, but on Windows it stays for now."""
        current = vector_path(self._folder, read_state(self.connection).generation).name
        for path in self._folder.glob("vectors-*.f32"):
            if path.name < current:
                with suppress(PermissionError, FileNotFoundError):
                    path.unlink()


def _prepare(rows: Sequence[EmbeddedDocument], state: State) -> _Batch:
    checked = checked_rows(rows, index=state.name, dimension=state.dimension)
    given = [vector for _, vector in checked.values() if vector is not None]
    vectors = np.stack(given) if given else np.empty((0, state.dimension or 0), dtype=np.float32)
    scaled, lengths = unit_rows(vectors)
    places = iter(range(len(given)))
    incoming = {
        id: _Incoming(
            encode(document),
            document.metadata,
            terms(document.text),
            None if vector is None else next(places),
        )
        for id, (document, vector) in checked.items()
    }
    return _Batch(incoming, scaled, lengths)


def chunks(items: Sequence[Item], size: int = 500) -> Iterator[Sequence[Item]]:
    """Pieces that fit the variables of one statement."""
    for at in range(0, len(items), size):
        yield items[at : at + size]
