"""Rows by id or by filter, the manifest, and the numbers of an index.

page = await fetch(session, ids=["c1"], where=None, cursor=None, limit=10, with_vectors=True)
"""

from bisect import bisect_right
from collections.abc import AsyncIterator, Sequence

from flowkit import Filter
from flowkit.errors import InvalidInputError
from flowkit.plugin import EmbeddedDocument, Page, RowKey, StoreStats, compile
from flowkit.rag.stores.rules import wanted_ids
from flowkit_chroma.rows import ODD, WHOLE, decode, decode_key, decode_metadata, scaled
from flowkit_chroma.session import Row, Session

__all__ = ["fetch", "manifest", "stats"]


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
    await session.link.refresh(session.collection)
    include = ("documents", "metadatas", "embeddings") if with_vectors else ("documents", "metadatas")
    if ids is not None:
        return await _by_ids(session, ids, where, cursor, limit, include)
    if cursor is None:
        listed = sorted(await session.matching(where))
    elif session.listing is not None and session.listing[0] == where:
        listed = session.listing[1]  # the ids of the page before; a row that came since is left to the next listing
    else:
        listed = sorted(await session.matching(where))
    at = 0 if cursor is None else bisect_right(listed, cursor)
    page = listed[at : at + limit]
    more = len(listed) > at + limit
    session.listing = (where, listed) if more else None
    found = await session.rows(page, *include)
    return Page(tuple(_item(found[id]) for id in page if id in found), page[-1] if more else None)


async def _by_ids(
    session: Session, ids: Sequence[str], where: Filter | None, cursor: str | None, limit: int, include: Sequence[str]
) -> Page[EmbeddedDocument]:
    wanted = wanted_ids(ids)
    if cursor is not None:
        wanted = wanted[wanted.index(cursor) + 1 :] if cursor in wanted else []
    if where is not None:
        await session.plan(where)  # checks it
        keep = compile(where)
        rows = await session.rows(wanted, "metadatas")
        wanted = [id for id in wanted if id in rows and keep(decode_metadata(id, rows[id].metadata))]
    elif len(wanted) > limit:
        rows = await session.rows(wanted)
        wanted = [id for id in wanted if id in rows]
    found = await session.rows(wanted[:limit], *include)
    return Page(
        tuple(_item(found[id]) for id in wanted[:limit] if id in found),
        wanted[limit - 1] if len(wanted) > limit else None,
    )


def _item(row: Row) -> EmbeddedDocument:
    vector = None if row.vector is None else scaled(row.id, row.vector, row.metadata)
    return EmbeddedDocument(decode(row.id, row.text, row.metadata), vector)


async def manifest(session: Session, source: str | None) -> AsyncIterator[RowKey]:
    """The keys of all rows, or of one source's, in id order; their texts are not read."""
    await session.link.refresh(session.collection)
    if source is None:
        listed = sorted(await session.matching(None))
        async for rows in session.batches(listed, "metadatas"):
            for row in sorted(rows, key=lambda row: row.id):
                yield decode_key(row.id, row.metadata)
        return
    found = await session.call("get", where={"source": source}, include=["metadatas"])
    for id, metadata in sorted(zip(found["ids"], found["metadatas"], strict=True), key=lambda row: str(row[0])):
        yield decode_key(id, metadata)


async def stats(session: Session) -> StoreStats:
    """`size_bytes` is of the whole folder; a server does not tell."""
    await session.link.refresh(session.collection)
    await session.catalog.read()
    return StoreStats(
        count=await session.call("count"),
        dimension=session.identity.dimension,
        embedder=session.identity.embedder,
        key_types={key: frozenset(kinds - {ODD, WHOLE}) for key, kinds in session.catalog.kinds.items()},
        size_bytes=session.link.size_bytes(),
    )
