"""Everything that changes the rows of an index.

await upsert(session, checked, prepared(checked, session.metric, hybrid=False))
gone = await delete(session, ids=["c1"], where=None)
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from flowkit import Document, Filter
from flowkit.errors import InvalidInputError, NotFoundError
from flowkit.rag.stores.rules import wanted_ids
from flowkit_pinecone.fetch import prefixed
from flowkit_pinecone.names import record_id
from flowkit_pinecone.rows import Metric, Record, encode, kinds, stored_length, units
from flowkit_pinecone.session import Row, Session
from flowkit_pinecone.words import Sparse, document_words

if TYPE_CHECKING:
    import numpy as np

    Float32 = np.ndarray[Any, np.dtype[np.float32]]

__all__ = ["LARGEST_REQUEST", "MOST_RECORDS", "Checked", "batches", "clear", "delete", "delete_prefix", "prepared",
           "upsert"]  # fmt: skip

Checked = Mapping[str, "tuple[Document, Float32 | None]"]
MOST_RECORDS = 1_000
LARGEST_REQUEST = 2 * 1024 * 1024
"""Bytes of one request, as it is sent."""
_AROUND = 2_000
"""Bytes of a request beside its records: the namespace, at most."""
_MOST_DELETED = 1_000
_BESIDE = 1_000
"""Bytes of a record beside metadata and numbers: its id, at most, and the names of the fields."""
_DIGITS_OF_VALUE = 26
_DIGITS_OF_WORD = 24


def prepared(checked: Checked, metric: Metric, *, hybrid: bool) -> dict[str, Record]:
    """The records of these rows; with `hybrid` with their words, and whatever length a vector has.

    Raises:
        InvalidInputError: Pinecone would refuse a row; nothing has been made or written yet.
    """
    for id in checked:
        record_id(id)
    given = {id: vector for id, (_, vector) in checked.items() if vector is not None}
    sent = dict(zip(given, units(given, "cosine" if hybrid else metric), strict=True))
    records = {id: encode(document, *sent.get(id, (None, None))) for id, (document, _) in checked.items()}
    if not hybrid:
        return records
    return {id: record._replace(words=document_words(checked[id][0].text)) for id, record in records.items()}


async def upsert(session: Session, checked: Checked, records: Mapping[str, Record]) -> None:
    """Insert or replace by id. What is refused is refused before anything is written.

    More rows than Pinecone takes at once are written in several requests: when one fails, those before it stay.
    """
    session.check_words()
    async with session.turns.hold(list(checked)):
        keeping = [id for id, record in records.items() if record.vector is None]
        stored = await _stored(session, keeping)
        rows = [
            _row(checked[id][0], stored[id], record.words)
            if record.vector is None
            else _sent(id, record.vector.tolist(), record.metadata, record.words)
            for id, record in records.items()
        ]
        await session.catalog.add(
            kinds(entry for document, _ in checked.values() for entry in document.metadata.items()), session.dimension
        )
        at_most = sum(_at_most(record, session.dimension) for record in records.values())
        for batch in batches(rows, at_most=at_most):
            session.waiting.wrote(session.place, await session.call("write to", "upsert", vectors=batch))


def batches(records: Sequence[dict[str, Any]], *, at_most: int = LARGEST_REQUEST + 1) -> Iterator[list[dict[str, Any]]]:
    """Records in requests of at most 1,000 and 2 MB, measured as they are sent.

    Measuring takes as long as sending, so it is left out where `at_most`, the bytes of all together, says that all fit.
    """
    import orjson

    if records and at_most <= LARGEST_REQUEST - _AROUND and len(records) <= MOST_RECORDS:
        yield list(records)
        return
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


def _at_most(record: Record, dimension: int) -> int:
    """Bytes that a record takes in a request at most, without writing its numbers out."""
    words = 0 if record.words is None else len(record.words["indices"])
    return _BESIDE + record.size_bytes + _DIGITS_OF_VALUE * dimension + _DIGITS_OF_WORD * words


async def delete(session: Session, *, ids: Sequence[str] | None, where: Filter | None) -> int:
    """How many rows went."""
    planned = await session.plan(where)
    await session.fresh()
    if ids is None:
        gone = [row.id async for rows in session.scan(planned, where) for row in rows]
    else:
        gone = list(await session.rows(wanted_ids(ids)))
    for at in range(0, len(gone), _MOST_DELETED):
        await _delete(session, gone[at : at + _MOST_DELETED])
    return len(gone)


async def delete_prefix(session: Session, prefix: str) -> int:
    """How many rows went. Ids are deleted as they are listed, so that only some are held at a time."""
    gone = 0
    some: list[str] = []
    async for id in prefixed(session, prefix):
        some.append(id)
        if len(some) == _MOST_DELETED:
            await _delete(session, some)
            gone, some = gone + len(some), []
    if some:
        await _delete(session, some)
    return gone + len(some)


async def clear(session: Session) -> None:
    # A namespace that holds nothing yet is not there, which is as good.
    with suppress(NotFoundError):
        session.waiting.wrote(session.place, await session.call("clear", "delete", delete_all=True))


async def _delete(session: Session, ids: Sequence[str]) -> None:
    records = [record_id(id) for id in ids]
    session.waiting.wrote(session.place, await session.call("delete from", "delete", ids=records))


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


def _row(document: Document, old: Row, words: Sparse | None) -> dict[str, Any]:
    """The document with the vector, and its length, of the row that is there."""
    record = encode(document, None, stored_length(old.id, old.metadata))
    return _sent(old.id, old.vector, record.metadata, words)


def _sent(id: str, values: Any, metadata: dict[str, Any], words: Sparse | None) -> dict[str, Any]:
    sent = {"id": record_id(id), "values": values, "metadata": metadata}
    return sent if words is None else {**sent, "sparse_values": words}
