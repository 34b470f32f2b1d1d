"""Search by vector, by words, or by both. Pinecone's answer is narrowed by its filters, and by ours where those are not
enough.

hits = await search(session, SearchQuery(vector=vector, k=10))
"""

import asyncio
from collections.abc import Sequence

from flowkit import Filter, ScoredDocument
from flowkit.plugin import SearchQuery, compile
from flowkit.rag.stores.rules import HYBRID_DEPTH, HYBRID_MAX, RRF_K, checked_query, rounded_score
from flowkit_pinecone.asking import Asked, ByVector, ByWords
from flowkit_pinecone.names import row_id
from flowkit_pinecone.rows import decode_hit, decode_metadata
from flowkit_pinecone.session import Row, Session
from flowkit_pinecone.where import Plan
from flowkit_pinecone.words import query_words

__all__ = ["search"]

_WIDER = 4
_MOST = 10_000
"""How many hits Pinecone gives at most."""
_WITH_METADATA = 50
"""An answer may have 4 MB; so many records fit for sure. Metadata of more are fetched by id."""
_AT_A_TIME = 100

Hits = dict[str, tuple[float, Row | None]]
"""Id → score and row, where that is known."""


async def search(session: Session, query: SearchQuery) -> list[ScoredDocument]:
    asked = _asked(session, query)
    depth = max(query.k, HYBRID_DEPTH) if query.mode == "hybrid" else query.k

    async def find(planned: Plan) -> list[Hits]:
        if planned.where is False:
            return [{} for _ in asked]
        if len(asked) == 1:
            return [await _best(session, asked[0], depth, planned, query.where)]
        return await asyncio.gather(*(_best(session, each, depth, planned, query.where) for each in asked))

    await session.fresh()
    lists = await session.planned(query.where, find)
    hits = _merged(lists, depth) if query.mode == "hybrid" else lists[0] if lists else {}
    least = rounded_score(query.min_score)
    best = [(id, score, row) for id, (score, row) in _ordered(hits)[: query.k] if score >= least]
    missing = await session.rows([id for id, _, row in best if row is None])
    found: list[ScoredDocument] = []
    for id, score, row in best:
        row = row or missing.get(id)
        if row is not None:  # else it was deleted in this moment
            found.append(decode_hit(id, row.metadata, score))
    return found


def _asked(session: Session, query: SearchQuery) -> list[Asked]:
    """What to ask Pinecone for; nothing for a text without words."""
    import numpy as np

    identity = session.identity
    asked: list[Asked] = []
    if query.vector is not None:
        unit = checked_query(
            query.vector, index=identity.index, dimension=identity.dimension, embedder=identity.embedder
        )
        if session.metric == "euclidean":
            unit = np.asarray(query.vector, dtype=np.float32).astype(np.float64)
        asked.append(ByVector(session.metric, unit))
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
    """Reciprocal rank fusion, as a score 0…1."""
    shares: dict[str, float] = {}
    rows: dict[str, Row | None] = {}
    for hits in lists:
        for rank, (id, (_, row)) in enumerate(_ordered(hits)[:depth], 1):
            shares[id] = shares.get(id, 0.0) + 1 / (RRF_K + rank)
            rows[id] = row or rows.get(id)
    return {id: (rounded_score(share / HYBRID_MAX), rows[id]) for id, share in shares.items()}


async def _nearest(session: Session, asked: Asked, k: int, planned: Plan) -> Hits:
    """At least the best k, and all that have the k-th score: so equal scores are cut by id."""
    n = k + 1  # one more shows whether the last score is shared
    while True:
        hits = await _query(session, asked, n, planned)
        if len(hits) < n or n >= _MOST or _score_at(hits, k) > _score_at(hits, n):
            return hits
        n = min(n * _WIDER, _MOST)


async def _looked_through(session: Session, asked: Asked, k: int, planned: Plan, where: Filter | None) -> Hits:
    """The same for a filter that Pinecone has only a part of: hits are evaluated, best first, until there are enough.
    When the most that Pinecone gives are not enough, every row is compared here."""
    assert where is not None  # without a filter the plan is exact
    keep = compile(where)
    kept: Hits = {}
    seen: set[str] = set()
    n = max(k * _WIDER, _AT_A_TIME)
    while True:
        n = min(n, _MOST)
        hits = await _query(session, asked, n, planned)
        last = _score_at(hits, n) if len(hits) == n else -1.0
        new = [(id, score) for id, (score, _) in _ordered(hits) if id not in seen]
        for at in range(0, len(new), _AT_A_TIME):
            some = new[at : at + _AT_A_TIME]
            if len(kept) >= k and _score_at(kept, k) > some[0][1]:
                return kept
            rows = await session.rows([id for id, _ in some])
            seen.update(id for id, _ in some)
            kept.update(
                (id, (score, rows[id]))
                for id, score in some
                if id in rows and keep(decode_metadata(id, rows[id].metadata))
            )
        if len(hits) < n or (len(kept) >= k and _score_at(kept, k) > last):
            return kept
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
    hits: Hits = {}
    for match in answer.value.matches:
        score = asked.score(match.score)
        if score is not None:
            id = row_id(match.id)
            hits[id] = score, Row(id, match.metadata) if whole else None
    return hits


async def _compared(session: Session, asked: Asked, planned: Plan, where: Filter | None) -> Hits:
    """Every row that matches, compared here."""
    hits: Hits = {}
    async for rows in session.scan(planned, where):
        for row in rows:
            score = asked.score(asked.compare(row))
            if score is not None:
                hits[row.id] = score, row
    return hits


def _score_at(hits: Hits, rank: int) -> float:
    return sorted((score for score, _ in hits.values()), reverse=True)[rank - 1]


def _ordered(hits: Hits) -> list[tuple[str, tuple[float, Row | None]]]:
    return sorted(hits.items(), key=lambda hit: (-hit[1][0], hit[0]))
