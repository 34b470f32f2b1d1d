"""Rows by id or by filter, the manifest, and the numbers of an index.

page = await fetch(session, ids=["c1"], where=None, cursor=None, limit=10, with_vectors=True)
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np

from flowkit import Filter
from flowkit.errors import InvalidInputError
from flowkit.plugin import EmbeddedDocument, Page, RowKey, StoreStats
from flowkit.rag.stores.rules import row_key, wanted_ids
from flowkit_pgvector.database import Connection, execute
from flowkit_pgvector.names import is_storable
from flowkit_pgvector.rows import decode
from flowkit_pgvector.session import Session

__all__ = ["fetch", "manifest", "stats"]

_PAGE = 2_000  # keys of the manifest that are read at a time
_SOURCE_PAGE = 200  # of a source, whose texts are read for them


async def fetch(
    session: Session,
    *,
    ids: Sequence[str] | None,
    where: Filter | None,
    cursor: str | None,
    limit: int,
    with_vectors: bool,
) -> Page[EmbeddedDocument]:
    if limit < 1:
        raise InvalidInputError(f"limit is {limit!r}", hint="ask for 1 or more rows")
    condition, asked = await session.condition(where)
    if await session.dimension() is None and session.relation.own:
        return Page()
    relation = session.relation
    values = {**asked, **relation.values, "flowkit_limit": limit + 1}
    if ids is not None:
        values["flowkit_ids"] = _after(ids, cursor)
        rows = (
            f"unnest(%(flowkit_ids)s::text[]) WITH ORDINALITY AS wanted (id, at) JOIN {relation.rows} AS r USING (id)"
        )
        order = "wanted.at"
    else:
        rows, order = f"{relation.rows} AS r", 'r.id COLLATE "C"'
        if cursor is not None and is_storable(cursor):
            condition = f'r.id COLLATE "C" > %(flowkit_cursor)s::text AND {condition}'
            values["flowkit_cursor"] = cursor
    vectors = ", r.embedding::vector" + (", r.length" if relation.own else ", NULL::float8") if with_vectors else ""
    sql = (
        f"SELECT r.id, r.text, {relation.extra}, r.metadata::text{vectors} FROM {rows} "
        f"WHERE {relation.scope} AND {condition} ORDER BY {order} LIMIT %(flowkit_limit)s"
    )
    found = await _rows(session, f"read index {session.names.index!r}", sql, values)
    items = tuple(_item(row) for row in found[:limit])
    return Page(items, items[-1].id if len(found) > limit else None)


async def manifest(session: Session, source: str | None) -> AsyncIterator[RowKey]:
    """The keys of all rows, or of one source's, in id order; some at a time, and no connection is held meanwhile."""
    if await session.dimension() is None and session.relation.own:
        return
    if not session.relation.own:
        async for key in _source_manifest(session):
            if source is None or key.source == source:
                yield key
        return
    if source is not None and not is_storable(source):
        return
    relation = session.relation
    condition = "" if source is None else "AND r.source = %(flowkit_source)s::text"
    sql = (
        f"SELECT r.id, r.source, r.text_hash, r.metadata_hash FROM {relation.rows} AS r WHERE {relation.scope} "
        f"AND r.id > %(flowkit_after)s::text {condition} ORDER BY r.id LIMIT {_PAGE}"
    )
    values = {**relation.values, "flowkit_after": "", "flowkit_source": source}
    while True:
        rows = await _rows(session, f"list index {session.names.index!r}", sql, values)
        for id, place, text, metadata in rows:
            yield RowKey(id, place, text.hex(), metadata.hex())
        if len(rows) < _PAGE:
            return
        values["flowkit_after"] = rows[-1][0]


async def stats(session: Session) -> StoreStats:
    """`size_bytes` is of the whole table with its indexes, all namespaces together."""
    relation = session.relation
    table = session.names.rows.replace("%%", "%") if relation.own else None

    async def look(connection: Connection) -> tuple[int, int | None]:
        await session.refresh(connection)
        if session.state.dimension is None and relation.own:
            return 0, None
        cursor = await execute(
            connection,
            f"SELECT count(*), pg_total_relation_size(%(flowkit_table)s::regclass) FROM {relation.rows} AS r "
            f"WHERE {relation.scope}",
            {**relation.values, "flowkit_table": table},
        )
        count, size = await cursor.fetchone() or (0, None)
        return int(count), size

    count, size = await session.database.read(f"look at index {session.names.index!r}", look)
    state = session.state
    return StoreStats(
        count=count,
        dimension=state.dimension,
        embedder=state.embedder,
        key_types=session.held.key_types,
        size_bytes=size,
    )


async def _source_manifest(session: Session) -> AsyncIterator[RowKey]:
    cursor = None
    while True:
        page = await fetch(session, ids=None, where=None, cursor=cursor, limit=_SOURCE_PAGE, with_vectors=False)
        for item in page.items:
            yield row_key(item.document)
        cursor = page.cursor
        if cursor is None:
            return


async def _rows(session: Session, what: str, sql: str, values: dict[str, Any]) -> list[Any]:
    async def look(connection: Connection) -> list[Any]:
        return await (await execute(connection, sql, values, binary=True)).fetchall()

    return await session.database.read(what, look)


def _after(ids: Sequence[str], cursor: str | None) -> list[str]:
    wanted = wanted_ids(ids)
    if cursor is not None:
        wanted = wanted[wanted.index(cursor) + 1 :] if cursor in wanted else []
    return wanted


def _item(row: tuple[Any, ...]) -> EmbeddedDocument:
    document = decode(*row[:4])
    if len(row) == 4:
        return EmbeddedDocument(document)
    vector, length = row[4:]
    return EmbeddedDocument(document, vector if length is None else (vector * length).astype(np.float32))
