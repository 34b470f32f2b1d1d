"""Opening an index: found or made, brought to this version, and compared with what the caller expects.

session = await opened(database, names, layout, "", create=True, dimension=384, embedder="local/all-minilm-l6-v2")
"""

import warnings

from psycopg.types.json import Jsonb

from flowkit.errors import IdentityError, NotFoundError
from flowkit.rag.keyword import TERMS_VERSION, checked_language, terms
from flowkit_pgvector.database import Connection, Database, execute
from flowkit_pgvector.ddl import (
    FORMAT,
    UPGRADES,
    column_sql,
    extension_sql,
    index_sql,
    lock_sql,
    rows_sql,
    schema_sql,
    tables_sql,
)
from flowkit_pgvector.layout import Layout
from flowkit_pgvector.names import Names, quoted
from flowkit_pgvector.registry import IndexState, near_names, read_format, read_index
from flowkit_pgvector.session import Session

__all__ = ["compare", "identified", "is_iterative", "opened"]

_REWORDED = 500  # rows whose search terms are made anew at a time


async def opened(
    database: Database,
    names: Names,
    layout: Layout,
    namespace: str,
    *,
    create: bool,
    dimension: int | None,
    embedder: str | None,
) -> Session:
    """The index as it is in the database.

    Everything that makes or changes tables is one transaction, under a lock that other processes wait for. Where all
    is in place, nothing but reading is done, and no more rights are needed.

    Raises:
        NotFoundError: it is not there, and `create` is False.
        IdentityError: it was built with another dimension, embedder, distance or language.
        StoreError: the schema has a newer format.
    """
    checked_language(layout.language)
    async with database.single(f"open index {names.index!r}") as connection:
        found = await _look(connection, names)
        if found is None and not create:
            hint = await _hint(connection, names)
            raise NotFoundError(f"there is no index {names.index!r} in {_where(names)}", hint=hint)
        if found is not None:
            compare(names, found, layout, dimension=dimension, embedder=embedder)
        if found is None or _is_incomplete(found, layout, dimension, embedder, create):
            async with connection.transaction():
                await execute(connection, lock_sql(names))
                await _complete(connection, names, layout, dimension, embedder, create)
            found = await read_index(connection, names)
        if found is None:
            raise NotFoundError(f"index {names.index!r} was deleted while it was being opened", hint="try again")
        compare(names, found, layout, dimension=dimension, embedder=embedder)
        session = Session(database, names, namespace, found, iterative=await is_iterative(connection))
        await session.refresh(connection)
        return session


async def identified(
    connection: Connection, names: Names, *, dimension: int | None = None, embedder: str | None = None
) -> IndexState:
    """Fill in what the index does not know of itself yet, inside a transaction; its table comes with the dimension."""
    await execute(connection, lock_sql(names))
    state = await read_index(connection, names)
    if state is None:
        raise NotFoundError(f"there is no index {names.index!r} in {_where(names)}", hint="open it with create=True")
    if state.dimension is None and dimension is not None:
        await _make_rows(connection, names, state.layout, dimension)
    await execute(
        connection,
        f"UPDATE {names.indexes} SET dimension = coalesce(dimension, %s), embedder = coalesce(embedder, %s) "
        "WHERE name = %s",
        (dimension, embedder, names.index),
    )
    changed = await read_index(connection, names)
    assert changed is not None  # the lock keeps it there
    return changed


def compare(names: Names, state: IndexState, layout: Layout, *, dimension: int | None, embedder: str | None) -> None:
    """Raise IdentityError when the index is another one than the caller expects."""
    expected = (
        ("dimension", state.dimension, dimension),
        ("embedder", state.embedder, embedder),
        ("distance", state.distance, layout.distance),
        ("language", state.language, layout.language),
    )
    for what, mine, given in expected:
        if mine is not None and given is not None and mine != given:
            raise IdentityError(
                f"index {names.index!r} in {_where(names)} has {what} {mine!r}, not {given!r}",
                hint=f"use {what} {mine!r}, or build a new index under another name",
            )


async def is_iterative(connection: Connection) -> bool:
    cursor = await execute(connection, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    (version,) = await cursor.fetchone() or ("0",)
    return [int(part) for part in version.split(".")[:2]] >= [0, 8]


async def _look(connection: Connection, names: Names) -> IndexState | None:
    """The index as it is; an older format is brought to this one first."""
    version = await read_format(connection, names)
    if version is None:
        return None
    if version < FORMAT:
        async with connection.transaction():
            await execute(connection, lock_sql(names))
            await _upgrade(connection, names)
    return await read_index(connection, names)


async def _upgrade(connection: Connection, names: Names) -> None:
    version = await read_format(connection, names)  # another process may have done it meanwhile
    for step in range(version or FORMAT, FORMAT):
        for statement in UPGRADES[step]:
            await execute(connection, statement.format(schema=quoted(names.schema)))
    await execute(connection, f"UPDATE {names.format} SET version = %s", (FORMAT,))


def _is_incomplete(
    state: IndexState, layout: Layout, dimension: int | None, embedder: str | None, create: bool
) -> bool:
    if state.terms_version != TERMS_VERSION:
        return True
    unknown = (state.dimension is None and dimension is not None) or (state.embedder is None and embedder is not None)
    return create and (unknown or not layout.columns.items() <= state.columns.items())


async def _complete(
    connection: Connection, names: Names, layout: Layout, dimension: int | None, embedder: str | None, create: bool
) -> None:
    """Make what is missing. Whoever had the lock before may have made it, so everything is looked at again."""
    if create:
        await _make_tables(connection, names)
        state = await read_index(connection, names)
        if state is None:
            await _run(connection, index_sql(names, layout, dimension=dimension, embedder=embedder))
            if dimension is not None:
                await _make_rows(connection, names, layout, dimension)
            return
        compare(names, state, layout, dimension=dimension, embedder=embedder)
        state = await identified(connection, names, dimension=dimension, embedder=embedder)
        await _add_columns(connection, names, layout, state)
    state = await read_index(connection, names)
    if state is not None and state.terms_version != TERMS_VERSION:
        await _reword(connection, names, state)


async def _make_tables(connection: Connection, names: Names) -> None:
    # Only what is missing: even "IF NOT EXISTS" asks for the right to create.
    cursor = await execute(
        connection,
        "SELECT to_regtype('vector') IS NULL, to_regnamespace(%s) IS NULL, to_regclass(%s) IS NULL",
        tuple(name.replace("%%", "%") for name in (quoted(names.schema), names.format)),
    )
    no_extension, no_schema, no_tables = await cursor.fetchone() or (True, True, True)
    if no_extension:
        await _run(connection, *extension_sql())
    if no_schema:
        await _run(connection, schema_sql(names))
    if no_tables:
        await _run(connection, *tables_sql(names))


async def _make_rows(connection: Connection, names: Names, layout: Layout, dimension: int) -> None:
    if layout.is_too_wide(dimension):
        warnings.warn(
            f"index {names.index!r}: {dimension:,} dimensions are too many for pgvector's indexes, so every search "
            "reads all rows; ask the embedder for 4,000 or fewer",
            RuntimeWarning,
            stacklevel=2,
        )
    await _run(connection, *rows_sql(names, layout, dimension))


async def _add_columns(connection: Connection, names: Names, layout: Layout, state: IndexState) -> None:
    missing = {key: kind for key, kind in layout.columns.items() if state.columns.get(key) != kind}
    for key, kind in missing.items():
        if key in state.columns:
            raise IdentityError(
                f"index {names.index!r} has a column of {state.columns[key]}s for {key!r}, not of {kind}s",
                hint="leave the type as it is, or drop the column by hand",
            )
        if state.dimension is not None:
            await _run(connection, *column_sql(names, key, kind))
    if missing:
        await execute(
            connection,
            f"UPDATE {names.indexes} SET columns = columns || %s WHERE name = %s",
            (Jsonb(missing), names.index),
        )


async def _reword(connection: Connection, names: Names, state: IndexState) -> None:
    """Make the search terms of every row anew: this version takes texts apart in another way."""
    after = ("", "")
    while state.dimension is not None:
        cursor = await execute(
            connection,
            f"SELECT namespace, id, text FROM {names.rows} WHERE (namespace, id) > (%s, %s) "
            "ORDER BY namespace, id LIMIT %s FOR UPDATE",
            (*after, _REWORDED),
        )
        rows = await cursor.fetchall()
        if not rows:
            break
        await execute(
            connection,
            f"UPDATE {names.rows} AS r SET words = string_to_array(given.words, ' ') "
            "FROM unnest(%s::text[], %s::text[], %s::text[]) AS given (namespace, id, words) "
            "WHERE r.namespace = given.namespace AND r.id = given.id",
            (
                [namespace for namespace, _, _ in rows],
                [id for _, id, _ in rows],
                [" ".join(terms(text, state.language)) for _, _, text in rows],
            ),
        )
        after = rows[-1][:2]
    if state.dimension is not None:
        await execute(
            connection,
            f"UPDATE {names.namespaces} AS held SET words = (SELECT coalesce(sum(cardinality(r.words)), 0) "
            f"FROM {names.rows} AS r WHERE r.namespace = held.namespace) WHERE index_name = %s",
            (names.index,),
        )
    await execute(
        connection, f"UPDATE {names.indexes} SET terms_version = %s WHERE name = %s", (TERMS_VERSION, names.index)
    )


async def _run(connection: Connection, *statements: str) -> None:
    for statement in statements:
        # With parameters, though there are none: so a doubled percent sign counts once, as everywhere.
        await execute(connection, statement)


async def _hint(connection: Connection, names: Names) -> str:
    if await read_format(connection, names) is None:
        return "index documents first"
    near = await near_names(connection, names)
    return f"did you mean {near[0]!r}?" if near else "index documents first"


def _where(names: Names) -> str:
    return f"schema {names.schema!r}"
