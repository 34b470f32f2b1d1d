"""Rows by id or by filter, the manifest, and the numbers of an index.

page = await fetch(session, ids=["c1"], where=None, cursor=None, limit=10, with_vectors=True)
"""

from bisect import bisect_right
from collections.abc import AsyncIterator, Sequence

from flowkit import F, Filter
from flowkit.plugin import EmbeddedDocument, Page, RowKey, StoreStats, compile
from flowkit.rag.stores.rules import wanted_ids
from flowkit_pinecone.rows import ODD, decode, decode_key, decode_metadata, scaled
from flowkit_pinecone.session import Row, Session, Walk
from flowkit_pinecone.where import Plan, plan

__all__ = ["fetch", "manifest", "prefixed", "stats"]

_WALKS = 8
"""Listings whose next page can be read without starting again."""


async def fetch(
    session: Session,
    *,
    ids: Sequence[str] | None,
    where: Filter | None,
    cursor: str | None,
    limit: int,
    with_vectors: bool,
) -> Page[EmbeddedDocument]:
    planned = await session.plan(where)
    await session.fresh()
    if ids is not None:
        return await _by_ids(session, ids, where, cursor, limit, with_vectors)
    if where is None:
        return await _everything(session, cursor, limit, with_vectors)
    listed = session.listing[1] if cursor is not None and session.listing and session.listing[0] == where else None
    found: dict[str, Row] = {}
    if listed is None:
        listed = []
        async for rows in session.scan(planned, where):
            listed += [row.id for row in rows]
            if len(listed) <= limit:  # one page, most often
                found.update((row.id, row) for row in rows)
        listed.sort()
    at = 0 if cursor is None else bisect_right(listed, cursor)
    page = listed[at : at + limit]
    more = len(listed) > at + limit
    session.listing = (where, listed) if more else None
    if len(found) < len(listed):
        found = await session.rows(page)
    return Page(tuple(_item(found[id], with_vectors) for id in page if id in found), page[-1] if more else None)


async def _by_ids(
    session: Session, ids: Sequence[str], where: Filter | None, cursor: str | None, limit: int, with_vectors: bool
) -> Page[EmbeddedDocument]:
    wanted = wanted_ids(ids)
    if cursor is not None:
        wanted = wanted[wanted.index(cursor) + 1 :] if cursor in wanted else []
    found = await session.rows(wanted)
    keep = None if where is None else compile(where)
    there = [id for id in wanted if id in found and (not keep or keep(decode_metadata(id, found[id].metadata)))]
    items = tuple(_item(found[id], with_vectors) for id in there[:limit])
    return Page(items, there[limit - 1] if len(there) > limit else None)


async def _everything(session: Session, cursor: str | None, limit: int, with_vectors: bool) -> Page[EmbeddedDocument]:
    """Pinecone lists ids in order, but begins where its token says: a page goes on where the one before has ended."""
    walk = session.walks.pop(cursor, None) if cursor is not None else None
    if walk is None:
        first = await session.ids(None)
        walk = Walk([id for id in first.ids if cursor is None or id > cursor], first.token)
    listed = list(walk.ids)
    token = walk.token
    while len(listed) <= limit and token:
        following = await session.ids(token)
        token = following.token
        listed += [id for id in following.ids if cursor is None or id > cursor]
    page, rest = listed[:limit], listed[limit:]
    found = await session.rows(page)
    items = tuple(_item(found[id], with_vectors) for id in page if id in found)
    if not rest:
        return Page(items, None)
    session.walks[page[-1]] = Walk(rest, token)
    while len(session.walks) > _WALKS:
        del session.walks[next(iter(session.walks))]
    return Page(items, page[-1])


def _item(row: Row, with_vectors: bool) -> EmbeddedDocument:
    return EmbeddedDocument(
        decode(row.id, row.metadata), scaled(row.id, row.vector, row.metadata) if with_vectors else None
    )


async def manifest(session: Session, source: str | None) -> AsyncIterator[RowKey]:
    """The keys of all rows, or of one source's, in no order."""
    planned = Plan(True, True)
    if source is not None:
        await session.catalog.read()
        planned = plan(F("source") == source, session.catalog.kinds)
    await session.fresh()
    async for rows in session.scan(planned, None):
        for row in rows:
            key = decode_key(row.id, row.metadata)
            if source is None or key.source == source:
                yield key


async def prefixed(session: Session, prefix: str) -> AsyncIterator[str]:
    """The ids that begin with it, in order, a page at a time."""
    await session.fresh()
    token: str | None = None
    while True:
        walk = await session.ids(token, prefix)
        for id in walk.ids:
            yield id
        token = walk.token
        if not token:
            return


async def stats(session: Session) -> StoreStats:
    await session.catalog.read()
    await session.fresh()
    return StoreStats(
        count=await session.count(),
        dimension=session.identity.dimension,
        embedder=session.identity.embedder,
        key_types={key: frozenset(kinds - {ODD}) for key, kinds in session.catalog.kinds.items()},
    )
