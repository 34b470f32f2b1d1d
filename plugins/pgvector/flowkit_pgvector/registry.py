"""What the database says of an index and of one of its namespaces.

index = await read_index(connection, names)          # None when there is none
held = await read_namespace(connection, names, "")
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from psycopg.types.json import Jsonb

from flowkit.errors import ConfigError, StoreError
from flowkit_pgvector.database import Connection, Statement, execute
from flowkit_pgvector.ddl import FORMAT
from flowkit_pgvector.layout import ColumnType, Distance, Layout, Method
from flowkit_pgvector.names import Names

__all__ = [
    "IndexState",
    "Namespace",
    "add_to_namespace",
    "near_names",
    "read_format",
    "read_index",
    "read_namespace",
    "read_namespaces",
]


@dataclass(frozen=True, slots=True)
class IndexState:
    """One row of `indexes`. Without a dimension there is no table for rows yet."""

    dimension: int | None
    embedder: str | None
    distance: Distance
    method: Method | None
    lists: int | None
    language: str
    terms_version: int
    columns: Mapping[str, ColumnType]

    @property
    def layout(self) -> Layout:
        return Layout(self.distance, self.method, self.language, self.columns)


@dataclass(frozen=True, slots=True)
class Namespace:
    """One row of `namespaces`: how many rows there are, how many words in them, and the types keys have had."""

    rows: int = 0
    words: int = 0
    key_types: Mapping[str, frozenset[str]] = field(default_factory=dict)


async def read_format(connection: Connection, names: Names) -> int | None:
    """The format version of the schema; None when the plugin has made nothing there.

    Raises:
        StoreError: it is newer than this version of the plugin knows.
        ConfigError: the database is not in UTF-8, or pgvector is not on the search path.
    """
    row = await _row(
        connection,
        "SELECT to_regclass(%s) IS NOT NULL, current_setting('server_encoding'), to_regtype('vector') IS NOT NULL, "
        "(SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector')",
        (names.format.replace("%%", "%"),),
    )
    exists, encoding, usable, extension_schema = row or (False, "UTF8", True, None)
    if encoding != "UTF8":
        raise ConfigError(f"the database has the encoding {encoding}", hint="flowkit needs one with UTF8")
    if extension_schema is not None and not usable:
        raise ConfigError(
            f"pgvector is in the schema {extension_schema}, which is not on the search path",
            hint=f"ALTER ROLE … SET search_path = public, {extension_schema}",
        )
    if not exists:
        return None
    (version,) = await _row(connection, f"SELECT version FROM {names.format}", ()) or (None,)
    if version is not None and version > FORMAT:
        raise StoreError(
            f"the tables in schema {names.schema!r} have format {version}; this version reads up to {FORMAT}",
            hint="update flowkit-pgvector",
        )
    return None if version is None else int(version)


async def read_index(connection: Connection, names: Names) -> IndexState | None:
    row = await _row(
        connection,
        "SELECT dimension, embedder, distance, method, lists, language, terms_version, columns "
        f"FROM {names.indexes} WHERE name = %s",
        (names.index,),
    )
    return None if row is None else IndexState(*row)


async def read_namespace(connection: Connection, names: Names, namespace: str) -> Namespace:
    row = await _row(
        connection,
        f"SELECT rows, words, key_types FROM {names.namespaces} WHERE index_name = %s AND namespace = %s",
        (names.index, namespace),
    )
    if row is None:
        return Namespace()
    rows, words, pairs = row
    found: dict[str, set[str]] = {}
    for pair in pairs:
        kind, _, key = pair.partition(":")
        found.setdefault(key, set()).add(kind)
    return Namespace(rows, words, {key: frozenset(kinds) for key, kinds in found.items()})


async def read_namespaces(connection: Connection, names: Names) -> dict[str, int]:
    """How many rows each namespace of the index has."""
    cursor = await execute(
        connection, f"SELECT namespace, rows FROM {names.namespaces} WHERE index_name = %s", (names.index,)
    )
    return dict(sorted(await cursor.fetchall()))


def add_to_namespace(
    names: Names,
    namespace: str,
    *,
    rows: int,
    words: int,
    key_types: Iterable[tuple[str, str]] = (),
) -> Statement:
    """What adds to the counts (what is added may be negative) and to the types.

    The last statement of a transaction: it changes the one row that all writers of a namespace wait for.
    """
    # A set of "type:key": of two writers who add to it, neither undoes the other.
    pairs = Jsonb(dict.fromkeys((f"{kind}:{key}" for kind, key in sorted(key_types)), 1))
    sql = (
        f"INSERT INTO {names.namespaces} AS held VALUES (%s, %s, greatest(%s::bigint, 0), greatest(%s::bigint, 0), %s) "
        "ON CONFLICT (index_name, namespace) DO UPDATE SET rows = greatest(held.rows + %s, 0), "
        "words = greatest(held.words + %s, 0), key_types = held.key_types || excluded.key_types"
    )
    return sql, (names.index, namespace, rows, words, pairs, rows, words)


async def near_names(connection: Connection, names: Names) -> list[str]:
    """Indexes of the schema whose names are like this one's."""
    cursor = await execute(connection, f"SELECT name FROM {names.indexes} ORDER BY name LIMIT 1000")
    return difflib.get_close_matches(names.index, [name for (name,) in await cursor.fetchall()], n=1)


async def _row(connection: Connection, query: str, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
    return await (await execute(connection, query, values)).fetchone()
