"""An index that is open: what is known of it, and of the namespace or the source that this store sees.

session = Session(database, names, namespace="", state=state, iterative=True)
sql, values = await session.condition(F("price") < 10)
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from flowkit import Filter
from flowkit.errors import FilterTypeError
from flowkit.plugin import And, Not, Or, check
from flowkit_pgvector.database import Connection, Database, execute
from flowkit_pgvector.names import Names
from flowkit_pgvector.registry import IndexState, Namespace, read_index, read_namespace
from flowkit_pgvector.relation import Relation, own_relation
from flowkit_pgvector.where import condition

__all__ = ["Session", "SourceSession"]

_FRESH_SECONDS = 1.0
"""For so long a count is believed, when it only decides how to search."""
_CONDITIONS = 256
"""Filters whose SQL is kept."""
_TYPES_SECONDS = 30.0
"""Looking for the types of a source's keys reads all of its rows, so it is done so seldom at most."""


class Session:
    """One namespace of an index of ours. Other processes write too, so what is kept here is only what it was lately."""

    def __init__(self, database: Database, names: Names, namespace: str, state: IndexState, *, iterative: bool) -> None:
        self.database = database
        self.names = names
        self.namespace = namespace
        self.iterative = iterative
        """Whether this pgvector (0.8 or newer) reads on in a vector index until enough rows pass the filter."""
        self.state = state
        self.relation = own_relation(names, state, namespace)
        self.held = Namespace()
        self._held_since = -1e9
        self._conditions: dict[Filter, tuple[str, Mapping[str, Any]]] = {}

    def learn(self, state: IndexState) -> None:
        self.state = state
        self.relation = own_relation(self.names, state, self.namespace)
        self._conditions.clear()

    async def refresh(self, connection: Connection) -> None:
        """Look at the database again."""
        self.held = await read_namespace(connection, self.names, self.namespace)
        self._held_since = time.monotonic()
        if self.state.dimension is None or (self.state.method == "ivfflat" and self.state.lists is None):
            state = await read_index(connection, self.names)
            if state is not None:
                self.learn(state)

    async def condition(self, where: Filter | None) -> tuple[str, Mapping[str, Any]]:
        """The filter as SQL, after the check of its types, and its values; TRUE without one.

        Raises:
            FilterTypeError: a value is of a type that its key has never had here.
        """
        if where is None:
            return "TRUE", {}
        found = self._conditions.get(where)
        if found is None:
            is_known = await self._check(where)
            found = condition(where, self.relation.columns, source_column=self.relation.own)
            if is_known:  # for good, as types are only ever added
                if len(self._conditions) >= _CONDITIONS:
                    self._conditions.clear()
                self._conditions[where] = found
        return found

    async def is_small(self, rows: int) -> bool:
        """Whether the namespace has fewer rows than that."""
        if self.held.rows < rows and time.monotonic() - self._held_since > _FRESH_SECONDS:
            await self.database.read(self._looking, self.refresh)
        return self.held.rows < rows

    async def dimension(self) -> int | None:
        """The dimension of the vectors, None before the first one was written by anybody."""
        if self.state.dimension is None:
            await self.database.read(self._looking, self.refresh)
        return self.state.dimension

    def wrote(self, *, rows: int, key_types: Iterable[tuple[str, str]] = ()) -> None:
        """Remember what a write of this store changed."""
        known = dict(self.held.key_types)
        for kind, key in key_types:
            known[key] = known.get(key, frozenset()) | {kind}
        self.held = Namespace(max(0, self.held.rows + rows), self.held.words, known)

    @property
    def _looking(self) -> str:
        return f"look at index {self.names.index!r}"

    async def _check(self, where: Filter) -> bool:
        """Whether every key of the filter has been seen here."""
        # Types are only ever added: what is known to be fine stays so, and what is not may have become so.
        try:
            check(where, self.held.key_types)
            if self._knows(where):
                return True
        except FilterTypeError:
            pass
        await self.database.read(self._looking, self.refresh)
        check(where, self.held.key_types)
        return self._knows(where)

    def _knows(self, where: Filter) -> bool:
        return all(key in self.held.key_types for key in _keys(where))


class SourceSession(Session):
    """A source of the user's: only read."""

    def __init__(
        self, database: Database, names: Names, relation: Relation, state: IndexState, *, iterative: bool
    ) -> None:
        super().__init__(database, names, "", state, iterative=iterative)
        self.relation = relation

    def learn(self, state: IndexState) -> None:
        self.state = state

    async def refresh(self, connection: Connection) -> None:
        if time.monotonic() - self._held_since < _TYPES_SECONDS:
            return
        self.held = Namespace(0, 0, await self.key_types(connection))
        self._held_since = time.monotonic()

    async def key_types(self, connection: Connection) -> Mapping[str, frozenset[str]]:
        cursor = await execute(
            connection,
            f"SELECT DISTINCT entry.key, jsonb_typeof(entry.value) FROM {self.relation.rows} AS r, "
            f"jsonb_each(r.metadata) AS entry WHERE {self.relation.scope}",
            self.relation.values,
        )
        found: dict[str, frozenset[str]] = {}
        for key, kind in await cursor.fetchall():
            kind = {"boolean": "bool", "array": "list"}.get(kind, kind)
            if kind != "null":
                found[key] = found.get(key, frozenset()) | {kind}
        return found

    async def is_small(self, rows: int) -> bool:
        return False

    async def dimension(self) -> int | None:
        return self.state.dimension


def _keys(where: Filter) -> Iterable[str]:
    match where:
        case And(left=left, right=right) | Or(left=left, right=right):
            yield from _keys(left)
            yield from _keys(right)
        case Not(expr=expr):
            yield from _keys(expr)
        case _:
            yield where.key  # type: ignore[attr-defined]
