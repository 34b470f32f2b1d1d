"""Everything that changes the rows of an index.

await upsert(session, rows)
gone = await delete(session, ids=["c1"], where=None)
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from flowkit import Document, Filter
from flowkit.errors import FlowkitError, InvalidInputError
from flowkit.plugin import EmbeddedDocument
from flowkit.rag.stores.rules import checked_rows, wanted_ids
from flowkit_chroma.catalog import Identity
from flowkit_chroma.rows import Record, encode, kinds, stored_length
from flowkit_chroma.session import Row, Session

if TYPE_CHECKING:
    import numpy as np

    Float32 = np.ndarray[Any, np.dtype[np.float32]]

__all__ = ["clear", "delete", "identify", "upsert"]


async def upsert(session: Session, rows: Sequence[EmbeddedDocument]) -> None:
    """Insert or replace by id. What is refused is refused before anything is written.

    More rows than Chroma takes at once are written in several calls: when one fails, those before it stay.
    """
    index = session.identity.index
    checked = checked_rows(rows, index=index, dimension=session.identity.dimension)
    if not checked:
        return
    ids = list(checked)
    dimension = next((len(vector) for _, vector in checked.values() if vector is not None), None)
    step = await session.link.batch_size()
    async with _turn(session):
        if session.identity.dimension is None and dimension is not None:
            await identify(session, session.identity.joined(embedder=None, dimension=dimension))
        stored = await session.rows(ids, "metadatas")
        keeping = [id for id, (_, vector) in checked.items() if vector is None]
        vectors = await _stored_vectors(session, stored, keeping)
        await session.catalog.add(
            kinds(entry for document, _ in checked.values() for entry in document.metadata.items())
        )
        async with _marked(session):
            for at in range(0, len(ids), step):
                some = ids[at : at + step]
                records = [_record(*checked[id], stored.get(id), vectors.get(id)) for id in some]
                await session.call(
                    "upsert",
                    ids=some,
                    embeddings=[record.vector for record in records],
                    documents=[record.text for record in records],
                    metadatas=[record.metadata for record in records],
                )


async def delete(session: Session, *, ids: Sequence[str] | None, where: Filter | None) -> int:
    """How many rows went."""
    async with _turn(session):
        if ids is None:
            gone = await session.matching(where)
        else:
            gone = list(await session.rows(wanted_ids(ids)))
        await _remove(session, gone)
    return len(gone)


async def clear(session: Session) -> None:
    async with _turn(session):
        await _remove(session, await session.matching(None))


async def identify(session: Session, identity: Identity) -> None:
    """Write down what is known of the index now. Another writer may have been first.

    Raises:
        IdentityError: it has said something else.
    """
    held = await session.link.metadata(session.collection)
    if held is not None:
        stored = Identity.read(identity.index, held, session.link.place)
        identity = stored.joined(embedder=identity.embedder, dimension=identity.dimension)
        if identity != stored:
            await session.call("modify", metadata=identity.metadata())
    session.identity = identity


@asynccontextmanager
async def _turn(session: Session) -> AsyncIterator[None]:
    async with session.link.turn(session.collection):
        session.listing = None
        yield


@asynccontextmanager
async def _marked(session: Session) -> AsyncIterator[None]:
    """Mark what is written in this block, also when it fails half-way."""
    has_failed = True
    try:
        yield
        has_failed = False
    finally:
        with suppress(FlowkitError) if has_failed else nullcontext():  # what failed first is what is told
            await session.catalog.touch()


async def _remove(session: Session, ids: Sequence[str]) -> None:
    if not ids:
        return
    step = await session.link.batch_size()
    async with _marked(session):
        for at in range(0, len(ids), step):
            await session.call("delete", ids=list(ids[at : at + step]))


async def _stored_vectors(session: Session, stored: Mapping[str, Row], ids: Sequence[str]) -> dict[str, Any]:
    missing = next((id for id in ids if id not in stored), None)
    if missing is not None:
        raise InvalidInputError(
            f"{missing!r} has no vector, and chroma index {session.identity.index!r} has none stored",
            hint="embed it first",
        )
    return {id: row.vector for id, row in (await session.rows(ids, "embeddings")).items()}


def _record(document: Document, vector: "Float32 | None", old: Row | None, kept: Any) -> Record:
    import numpy as np

    if vector is None and old is not None:
        record = encode(document, None, length=stored_length(old.id, old.metadata))
        record = record._replace(vector=np.asarray(kept, dtype=np.float32))
    else:
        record = encode(document, vector)
    # Chroma adds new entries to a row's old ones; None takes one away.
    for key in (old.metadata or ()) if old is not None else ():
        record.metadata.setdefault(key, None)
    return record
