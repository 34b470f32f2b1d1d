"""Everything that changes the rows of an index.

await upsert(session, checked, prepared(checked, session.metric))
gone = await delete(session, ids=["c1"], where=None)
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from flowkit import Document, Filter
from flowkit.errors import InvalidInputError, NotFoundError
from flowkit.rag.stores.rules import wanted_ids
from flowkit_pinecone.names import record_id
from flowkit_pinecone.rows import Metric, Record, encode, kinds, stored_length
from flowkit_pinecone.session import Row, Session

if TYPE_CHECKING:
    import numpy as np

    Float32 = np.ndarray[Any, np.dtype[np.float32]]

__all__ = ["LARGEST_REQUEST", "MOST_RECORDS", "Checked", "batches", "clear", "delete", "prepared",
           "upsert"]  # fmt: skip

Checked = Mapping[str, "tuple[Document, Float32 | None]"]
MOST_RECORDS = 1_000
LARGEST_REQUEST = 2 * 1024 * 1024
"""Bytes of one request, as it is sent."""
_AROUND = 2_000
"""Bytes of a request beside its records: the namespace, at most."""
_MOST_DELETED = 1_000


def prepared(checked: Checked, metric: Metric) -> dict[str, Record]:
    """The records of these rows.

    Raises:
        InvalidInputError: Pinecone would refuse a row; nothing has been made or written yet.
    """
    for id in checked:
        record_id(id)
    return {id: encode(document, vector, metric) for id, (document, vector) in checked.items()}


async def upsert(session: Session, checked: Checked, records: Mapping[str, Record]) -> None:
    """Insert or replace by id. What is refused is refused before anything is written.

    More rows than Pinecone takes at once are written in several requests: when one fails, those before it stay.
    """
    async with session.turns.hold(list(checked)):
        keeping = [id for id, record in records.items() if record.vector is None]
        stored = await _stored(session, keeping)
        rows = [
            _row(checked[id][0], stored[id], session.metric)
            if record.vector is None
            else {"id": record_id(id), "values": record.vector.tolist(), "metadata": record.metadata}
            for id, record in records.items()
        ]
        await session.catalog.add(
            {kind for document, _ in checked.values() for kind in kinds(document.metadata)}, session.dimension
        )
        for batch in batches(rows):
            session.waiting.wrote(session.place, await session.call("write to", "upsert", vectors=batch))


def batches(records: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Records in requests of at most 1,000 and 2 MB, measured as they are sent."""
    import orjson

    batch: list[dict[str, Any]] = []
    left = LARGEST_REQUEST - _AROUND
    for record in records:
        size = len(orjson.dumps(record)) + 1
        if batch and (size > left or len(batch) == MOST_RECORDS):
            yield batch
            batch, left = [], LARGEST_REQUEST - _AROUND
        batch.append(record)
        left -= size
    if batch:
        yield batch


async def delete(session: Session, *, ids: Sequence[str] | None, where: Filter | None) -> int:
    """How many rows went."""
    planned = await session.plan(where)
    await session.fresh()
    if ids is None:
        gone = [row.id async for rows in session.scan(planned, where) for row in rows]
    else:
        gone = list(await session.rows(wanted_ids(ids)))
    for at in range(0, len(gone), _MOST_DELETED):
        some = [record_id(id) for id in gone[at : at + _MOST_DELETED]]
        session.waiting.wrote(session.place, await session.call("delete from", "delete", ids=some))
    return len(gone)


async def clear(session: Session) -> None:
    # A namespace that holds nothing yet is not there, which is as good.
    with suppress(NotFoundError):
        session.waiting.wrote(session.place, await session.call("clear", "delete", delete_all=True))


async def _stored(session: Session, ids: Sequence[str]) -> dict[str, Row]:
    """The rows whose vectors stay."""
    if not ids:
        return {}
    await session.fresh()
    stored = await session.rows(ids)
    missing = next((id for id in ids if id not in stored), None)
    if missing is not None:
        raise InvalidInputError(
            f"{missing!r} has no vector, and pinecone index {session.identity.index!r} has none stored",
            hint="embed it first",
        )
    return stored


def _row(document: Document, old: Row, metric: Metric) -> dict[str, Any]:
    """The document with the vector, and its length, of the row that is there."""
    record = encode(document, None, metric, length=stored_length(old.id, old.metadata))
    return {"id": record_id(old.id), "values": old.vector, "metadata": record.metadata}
