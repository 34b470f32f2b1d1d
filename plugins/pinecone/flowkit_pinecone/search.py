"""Search by vector, by words, or by both. Pinecone's answer is narrowed by its filters, and by ours where those are not
enough.

hits = await search(session, SearchQuery(vector=vector, k=10))
"""

from collections.abc import Mapping, Sequence
from typing import Any

from flowkit import Filter, ScoredDocument
from flowkit.plugin import SearchQuery, compile, together
from flowkit.rag.stores.rules import (
    HYBRID_DEPTH,
    best_first,
    checked_direction,
    fused_scores,
    moderate32,
    rounded_score,
    scaled32,
)
from flowkit_pinecone.asking import Asked, ByVector, ByWords
from flowkit_pinecone.names import row_id
from flowkit_pinecone.rows import decode_hits, decode_metadata
from flowkit_pinecone.session import Session
from flowkit_pinecone.where import Plan
from flowkit_pinecone.words import query_words

__all__ = ["search"]

_WIDER = 4
_MOST = 10_000
"""How many hits Pinecone gives at most."""
_WITH_METADATA = 50
"""An answer may have 4 MB; so many records fit for sure. Metadata of more are fetched by id."""
_AT_A_TIME = 100

Hit = tuple[float, str, Mapping[str, Any] | None]
"""Score, id, and metadata, where that was read."""
Hits = list[Hit]
"""The best first; of equal scores, the lower id."""


async def search(session: Session, query: SearchQuery) -> list[ScoredDocument]:
    asked = _asked(session, query)
    depth = max(query.k, HYBRID_DEPTH) if query.mode == "hybrid" else query.k

    async def find(planned: Plan) -> list[Hits]:
        if planned.where is False:
            return [[] for _ in asked]
        if len(asked) == 1:
            return [await _best(session, asked[0], depth, planned, query.where)]
        return await together(*(_best(session, each, depth, planned, query.where) for each in asked))

    await session.fresh()
    lists = await session.planned(query.where, find)
    hits = (_merged(lists, depth) if query.mode == "hybrid" else lists[0] if lists else [])[: query.k]
    if query.min_score:
        least = rounded_score(query.min_score)
        hits = [hit for hit in hits if hit[0] >= least]
    return decode_hits(await _read(session, hits))


async def _read(session: Session, hits: Hits) -> Hits:
    """With metadata; without those that were deleted in this moment."""
    unread = [id for _, id, metadata in hits if metadata is None]
    if not unread:
        return hits
    rows = await session.rows(unread)
    return [
        (score, id, rows[id].metadata if metadata is None else metadata)
        for score, id, metadata in hits
        if metadata is not None or id in rows
    ]


def _asked(session: Session, query: SearchQuery) -> list[Asked]:
    """What to ask Pinecone for; nothing for a text without words."""
    identity = session.identity
    asked: list[Asked] = []
    if query.vector is not None:
        vector, length = checked_direction(
            query.vector, index=identity.index, dimension=identity.dimension, embedder=identity.embedder
        )
        if session.metric != "euclidean":
            vector = (scaled32 if session.metric == "dotproduct" else moderate32)(vector, length)
        asked.append(ByVector(session.metric, vector))
    if query.text is not None:
        session.check_words()
        words = query_words(query.text)
        if words is not None:
            asked.append(ByWords(words, session.dimension))
    return asked


async def _best(session: Session, asked: Asked, k: int, planned: Plan, where: Filter | None) -> Hits:
    """At least the best k."""
    if k >= _MOST:
        return await _compared(session, asked, planned, where)
    if planned.exact:
        return await _nearest(session, asked, k, planned)
    return await _looked_through(session, asked, k, planned, where)


def _merged(lists: Sequence[Hits], depth: int) -> Hits:
    lists = [hits[:depth] for hits in lists]
    read: dict[str, Mapping[str, Any] | None] = {}
    for hits in lists:
        for _, id, metadata in hits:
            read[id] = metadata or read.get(id)
    scores = fused_scores([id for _, id, _ in hits] for hits in lists)
    return best_first((score, id, read[id]) for id, score in scores.items())


async def _nearest(session: Session, asked: Asked, k: int, planned: Plan) -> Hits:
    """At least the best k, and all that have the k-th score: so equal scores are cut by id."""
    n = k + 1  # one more shows whether the last score is shared
    while True:
        hits = await _query(session, asked, n, planned)
        if len(hits) < n or n >= _MOST or hits[k - 1][0] > hits[-1][0]:
            return hits
        n = min(n * _WIDER, _MOST)


async def _looked_through(session: Session, asked: Asked, k: int, planned: Plan, where: Filter | None) -> Hits:
    """The same for a filter that Pinecone has only a part of: hits are evaluated, best first, until there are enough.
    When the most that Pinecone gives are not enough, every row is compared here."""
    assert where is not None  # without a filter the plan is exact
    keep = compile(where)
    kept: dict[str, Hit] = {}
    seen: set[str] = set()
    n = max(k * _WIDER, _AT_A_TIME)

    def kth() -> float:
        return best_first(kept.values())[k - 1][0]

    while True:
        n = min(n, _MOST)
        hits = await _query(session, asked, n, planned)
        last = hits[-1][0] if len(hits) == n else -1.0
        new = [hit for hit in hits if hit[1] not in seen]
        for at in range(0, len(new), _AT_A_TIME):
            some = new[at : at + _AT_A_TIME]
            if len(kept) >= k and kth() > some[0][0]:
                return best_first(kept.values())
            rows = await session.rows([id for _, id, _ in some])
            for score, id, _ in some:
                seen.add(id)
                if id in rows and keep(decode_metadata(id, rows[id].metadata)):
                    kept[id] = score, id, rows[id].metadata
        if len(hits) < n or (len(kept) >= k and kth() > last):
            return best_first(kept.values())
        if n >= _MOST:
            return await _compared(session, asked, planned, where)
        n *= _WIDER


async def _query(session: Session, asked: Asked, n: int, planned: Plan) -> Hits:
    whole = n <= _WITH_METADATA
    narrowed = {} if planned.where is True else {"filter": planned.where}
    answer = await session.call(
        "search",
        "query",
        top_k=n,
        include_metadata=whole,
        **asked.arguments,
        **narrowed,
    )
    hits: Hits = []
    for match in answer.value.matches:
        score = asked.score(match.score)
        if score is not None:
            hits.append((score, row_id(match.id), match.metadata if whole else None))
    return best_first(hits)


async def _compared(session: Session, asked: Asked, planned: Plan, where: Filter | None) -> Hits:
    """Every row that matches, compared here."""
    hits: dict[str, Hit] = {}
    async for rows in session.scan(planned, where):
        for row in rows:
            score = asked.score(asked.compare(row))
            if score is not None:
                hits[row.id] = score, row.id, row.metadata
    return best_first(hits.values())
