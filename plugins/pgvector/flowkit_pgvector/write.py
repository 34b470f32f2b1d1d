"""Everything that changes the rows of an index; each call is one transaction.

await upsert(session, rows)
gone = await delete(session, ids=["c1"], where=None)
"""

import asyncio
import struct
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from psycopg import pq
from psycopg.adapt import Dumper
from psycopg.types.json import Jsonb

from flowkit import Document, Filter
from flowkit.errors import InvalidInputError
from flowkit.plugin import EmbeddedDocument
from flowkit.rag.stores.rules import checked_rows, wanted_ids
from flowkit_pgvector.database import Connection, Statement, execute
from flowkit_pgvector.names import is_storable
from flowkit_pgvector.opening import identified
from flowkit_pgvector.registry import add_to_namespace
from flowkit_pgvector.rows import Float32, Row, encode, key_types, unit_vector
from flowkit_pgvector.session import Session

__all__ = ["delete", "upsert"]

_LONGEST_ID = 2_000  # bytes: what fits an entry of the primary key's index
_NOT_UNIT = 1e-3
_UPDATED_AT_ONCE = 2_000  # rows of one UPDATE, which holds all of them as parameters
_AT_A_TIME = 50  # rows that are encoded without a look at other tasks
_COLUMNS = ("namespace", "id", "text", "metadata", "source", "extra", "text_hash", "metadata_hash", "words", "length",
            "embedding")  # fmt: skip
_TYPES = ("text", "text", "text", "jsonb", "text", "text", "bytea", "bytea", "text[]", "float8", "vector")


class _Incoming(NamedTuple):
    """A row to write. Without a vector the stored one stays."""

    document: Document
    vector: Float32 | None
    length: float | None


async def upsert(session: Session, rows: Sequence[EmbeddedDocument]) -> None:
    """Insert or replace by id, all or nothing. Rows that are there already to the letter are not written again.

    Raises:
        InvalidInputError: a row that cannot be stored; nothing was written.
    """
    index = session.names.index
    checked = checked_rows(rows, index=index, dimension=await session.dimension())
    if not checked:
        return
    _check_ids(checked)
    incoming = {id: _incoming(session, document, vector) for id, (document, vector) in sorted(checked.items())}
    types = key_types(document for document, _ in checked.values())
    dimension = next((len(vector) for _, vector in checked.values() if vector is not None), None)
    state = session.state

    async def write(connection: Connection, stored: list[tuple[str, int]]) -> tuple[int, Statement]:
        nonlocal state
        if session.state.dimension is None and dimension is not None:
            state = await identified(connection, session.names, dimension=dimension)
            checked_rows(rows, index=index, dimension=state.dimension)  # raises: another process was first
            stored = await (await execute(connection, *_stored(session, list(incoming)))).fetchall()
        old = dict(stored)
        for id, item in incoming.items():
            if item.vector is None and id not in old:
                raise InvalidInputError(
                    f"{id!r} has no vector, and index {index!r} has none stored", hint="embed it first"
                )
        new = [item for id, item in incoming.items() if id not in old]
        words = -sum(old.values())
        words += await _insert(connection, session, new)
        edited = [item for id, item in incoming.items() if id in old]
        for at in range(0, len(edited), _UPDATED_AT_ONCE):
            words += await _update(connection, session, edited[at : at + _UPDATED_AT_ONCE])
        return len(new), add_to_namespace(session.names, session.namespace, rows=len(new), words=words, key_types=types)

    first = None if state.dimension is None else _stored(session, list(incoming))
    written = await session.database.write(f"write to index {index!r}", write, first=first)
    if state is not session.state:
        session.learn(state)
    session.wrote(rows=written, key_types=types)


async def delete(session: Session, *, ids: Sequence[str] | None, where: Filter | None) -> int:
    """Delete by ids or by filter, or all when both are None; returns how many rows went."""
    condition, asked = await session.condition(where)
    if await session.dimension() is None:
        return 0
    relation = session.relation
    values = {**asked, **relation.values}
    if ids is not None:
        condition = "r.id = ANY(%(flowkit_ids)s::text[])"
        values["flowkit_ids"] = wanted_ids(ids)

    async def gone(connection: Connection, _: list[Any]) -> tuple[int, Statement | None]:
        cursor = await execute(
            connection,
            f"WITH gone AS (DELETE FROM {relation.rows} AS r WHERE {relation.scope} AND {condition} "
            "RETURNING cardinality(r.words) AS words) SELECT count(*), coalesce(sum(words), 0)::bigint FROM gone",
            values,
            prepare=False,
        )
        rows, words = await cursor.fetchone() or (0, 0)
        if not rows:
            return 0, None
        return int(rows), add_to_namespace(session.names, session.namespace, rows=-rows, words=-words)

    count = await session.database.write(f"delete from index {session.names.index!r}", gone)
    session.wrote(rows=-count)
    return count


def _check_ids(ids: Iterable[str]) -> None:
    for id in ids:
        if not is_storable(id):
            raise InvalidInputError(f"id {id!r} holds NUL or a lone surrogate", hint="Postgres text cannot hold it")
        if len(id.encode()) > _LONGEST_ID:
            raise InvalidInputError(f"id {id[:40]!r}… is over {_LONGEST_ID:,} bytes long", hint="use a hash of it")


def _incoming(session: Session, document: Document, vector: Float32 | None) -> _Incoming:
    if vector is None or session.state.distance == "l2":
        return _Incoming(document, vector, None)
    unit, length = unit_vector(vector)
    if session.state.distance == "ip" and (abs((length or 1.0) - 1) > _NOT_UNIT or not vector.any()):
        raise InvalidInputError(
            f"the vector of {document.id!r} has length {length or 0:g}; with distance 'ip' index "
            f"{session.names.index!r} takes vectors of length 1 only",
            hint='use distance="cosine", which takes any length',
        )
    return _Incoming(document, unit, length)


def _stored(session: Session, ids: Sequence[str]) -> Statement:
    """The ids that are there, with the number of their words; locked, in the order that every writer keeps."""
    where = "namespace = %s AND id = ANY(%s::text[])"
    sql = f"SELECT id, cardinality(words) FROM {session.names.rows} WHERE {where} ORDER BY id FOR UPDATE"
    return sql, (session.namespace, ids)


async def _insert(connection: Connection, session: Session, items: Sequence[_Incoming]) -> int:
    """New rows, by binary COPY; returns how many words they have.

    When another transaction inserts one of them at the same time, this one begins anew, and finds it.
    """
    if not items:
        return 0
    words = 0
    statement = f"COPY {session.names.rows} ({', '.join(_COLUMNS)}) FROM STDIN (FORMAT BINARY)"
    async with connection.cursor() as cursor, cursor.copy(statement.replace("%%", "%").encode()) as copy:
        cursor.adapters.register_dumper(None, _WordsDumper)
        copy.set_types(_TYPES)
        # Encoded as they are sent: the server works on the rows before meanwhile.
        async for row, item in _encoded(session, items):
            words += len(row.words)
            await copy.write_row(
                (
                    session.namespace,
                    row.id,
                    row.text,
                    Jsonb(row.metadata, _as_it_is),
                    row.source,
                    row.extra,
                    row.text_hash,
                    row.metadata_hash,
                    row.words,
                    item.length,
                    item.vector,
                )
            )
    return words


async def _update(connection: Connection, session: Session, items: Sequence[_Incoming]) -> int:
    """Rows that are there; returns how many words they have now. What is equal is left alone: Postgres would write it
    again, to every index as well."""
    rows = [row async for row, _ in _encoded(session, items)]
    values: Mapping[str, Any] = {
        "namespace": session.namespace,
        "id": [row.id for row in rows],
        "text": [row.text for row in rows],
        "metadata": [row.metadata for row in rows],
        "source": [row.source for row in rows],
        "extra": [row.extra for row in rows],
        "text_hash": [row.text_hash for row in rows],
        "metadata_hash": [row.metadata_hash for row in rows],
        "words": [" ".join(row.words) for row in rows],
        "length": [item.length for item in items],
        "embedding": [item.vector for item in items],
    }
    await execute(
        connection,
        f"""UPDATE {session.names.rows} AS r SET
  text = given.text, metadata = given.metadata::jsonb, source = given.source, extra = given.extra,
  text_hash = given.text_hash, metadata_hash = given.metadata_hash, words = string_to_array(given.words, ' '),
  length = CASE WHEN given.embedding IS NULL THEN r.length ELSE given.length END,
  embedding = coalesce(given.embedding, r.embedding)
FROM unnest(%(id)b::text[], %(text)b::text[], %(metadata)b::text[], %(source)b::text[], %(extra)b::text[],
  %(text_hash)b::bytea[], %(metadata_hash)b::bytea[], %(words)b::text[], %(length)b::float8[], %(embedding)b::vector[]
) AS given (id, text, metadata, source, extra, text_hash, metadata_hash, words, length, embedding)
WHERE r.namespace = %(namespace)s AND r.id = given.id AND (
  r.text_hash <> given.text_hash OR r.metadata_hash <> given.metadata_hash
  OR (given.embedding IS NOT NULL
      AND (r.embedding <> given.embedding OR r.length IS DISTINCT FROM given.length)))""",
        values,
    )
    return sum(len(row.words) for row in rows)


async def _encoded(session: Session, items: Sequence[_Incoming]) -> AsyncIterator[tuple[Row, _Incoming]]:
    for at, item in enumerate(items):
        if at % _AT_A_TIME == _AT_A_TIME - 1:
            await asyncio.sleep(0)  # a big batch must not keep the loop from other tasks
        yield encode(item.document, session.state.language), item


def _as_it_is(text: str) -> str:
    return text


class _WordsDumper(Dumper):
    """A list of words as a text[] in binary form: psycopg's own takes longer than all the rest of a row."""

    format = pq.Format.BINARY
    oid = 1009  # text[]

    def dump(self, obj: Sequence[str]) -> bytes:
        if not obj:
            return _EMPTY
        return b"".join((_ONE_DIMENSION, len(obj).to_bytes(4), _FROM_1, *map(_element, obj)))


_MOST_ELEMENTS = 100_000
_TEXT = 25
_EMPTY = struct.pack(">iii", 0, 0, _TEXT)
_ONE_DIMENSION = struct.pack(">iii", 1, 0, _TEXT)
_FROM_1 = struct.pack(">i", 1)


class _Elements(dict[str, bytes]):
    """Words as elements of an array: length and bytes. Bounded, as a corpus can hold millions of words."""

    def __missing__(self, word: str) -> bytes:
        if len(self) >= _MOST_ELEMENTS:
            self.clear()
        data = word.encode()
        found = self[word] = len(data).to_bytes(4) + data
        return found


_element = _Elements().__getitem__
