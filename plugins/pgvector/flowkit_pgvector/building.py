"""Making the vector index of a table anew.

await build_index(session)
"""

import math
from typing import Any

from flowkit_pgvector.database import Connection, execute
from flowkit_pgvector.ddl import lock_sql, vector_index_sql
from flowkit_pgvector.names import quoted
from flowkit_pgvector.registry import read_index
from flowkit_pgvector.session import Session

__all__ = ["build_index", "is_worth_it", "lists_for"]

_FEWEST_ROWS = 1_000
"""IVFFlat learns its lists from rows; of fewer it would learn little, and reading them all is quick."""
_ROWS_PER_LIST = 1_000
_MANY_ROWS = 1_000_000


def is_worth_it(session: Session) -> bool:
    """Whether a namespace has enough rows for the first IVFFlat index."""
    return session.held.rows >= _FEWEST_ROWS


async def build_index(session: Session) -> None:
    names = session.names

    async def build(connection: Connection, _: list[Any]) -> tuple[None, None]:
        await execute(connection, lock_sql(names, whole_schema=False))
        state = await read_index(connection, names)
        if state is None or state.dimension is None or state.layout.vector_index(state.dimension) is None:
            return None, None
        # From the start, against writers that are half-way: they would wait for this transaction, and it for them.
        await execute(connection, f"LOCK TABLE {names.rows} IN EXCLUSIVE MODE")
        lists = None
        if state.method == "ivfflat":
            cursor = await execute(connection, f"SELECT count(*) FROM {names.rows}")
            (rows,) = await cursor.fetchone() or (0,)
            lists = lists_for(rows)
        schema = names.schema
        new, old = (quoted(schema, names.part(part)) for part in ("embedding_new", "embedding"))
        await execute(connection, f"DROP INDEX IF EXISTS {new}")
        await execute(
            connection, vector_index_sql(names, state.layout, state.dimension, lists=lists, name="embedding_new")
        )
        await execute(connection, f"DROP INDEX IF EXISTS {old}")
        await execute(connection, f"ALTER INDEX {new} RENAME TO {quoted(names.part('embedding'))}")
        await execute(connection, f"UPDATE {names.indexes} SET lists = %s WHERE name = %s", (lists, names.index))
        return None, None

    async def analyze(connection: Connection) -> None:
        state = await read_index(connection, names)
        if state is not None and state.dimension is not None:
            session.learn(state)
            await execute(connection, f"ANALYZE {names.rows}")

    await session.database.write(f"build the vector index of {names.index!r}", build)
    await session.database.read(f"analyse index {names.index!r}", analyze)


def lists_for(rows: int) -> int:
    """pgvector's advice: a thousandth of the rows, and for more than a million their square root."""
    return max(10, rows // _ROWS_PER_LIST if rows <= _MANY_ROWS else math.isqrt(rows))
