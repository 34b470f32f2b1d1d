"""Search by vector. Pinecone's answer is narrowed by its filters, and by ours where those are not enough.

hits = await search(session, SearchQuery(vector=vector, k=10))
"""

import math
from typing import TYPE_CHECKING, Any

from flowkit import Filter, ScoredDocument
from flowkit.plugin import SearchQuery, compile
from flowkit.rag.stores.rules import checked_query, rounded_score
from flowkit_pinecone.names import row_id
from flowkit_pinecone.rows import decode_hit, decode_metadata
from flowkit_pinecone.session import Row, Session
from flowkit_pinecone.where import Plan

if TYPE_CHECKING:
    import numpy as np

    Float64 = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["search"]

_DIGITS = 6
"""Pinecone's scores are float32: equal rows must tie, so scores are rounded to what is sure."""
_WIDER = 4
_MOST = 10_000
"""How many hits Pinecone gives at most."""
_WITH_METADATA = 50
"""An answer may have 4 MB; so many records fit for sure. Metadata of more are fetched by id."""
_AT_A_TIME = 100

Hits = dict[str, tuple[float, Row | None]]
"""Id → score and row, where that is known."""


async def search(session: Session, query: SearchQuery) -> list[ScoredDocument]:
    import numpy as np

    assert query.vector is not None  # the store has seen to it
    identity = session.identity
    vector = checked_query(query.vector, index=identity.index, dimension=identity.dimension, embedder=identity.embedder)
    if session.metric == "euclidean":
        vector = np.asarray(query.vector, dtype=np.float32).astype(np.float64)
    planned = await session.plan(query.where)
    if planned.where is False:
        return []
    await session.fresh()
    if query.k >= _MOST:
        hits = await _compared(session, vector, planned, query.where)
    elif planned.exact:
        hits = await _nearest(session, vector, query.k, planned)
    else:
        hits = await _looked_through(session, vector, query.k, planned, query.where)
    least = rounded_score(query.min_score)
    best = [(id, score, row) for id, (score, row) in _ordered(hits)[: query.k] if score >= least]
    missing = await session.rows([id for id, _, row in best if row is None])
    found: list[ScoredDocument] = []
    for id, score, row in best:
        row = row or missing.get(id)
        if row is not None:  # else it was deleted in this moment
            found.append(decode_hit(id, row.metadata, score))
    return found


async def _nearest(session: Session, vector: "Float64", k: int, planned: Plan) -> Hits:
    """At least the best k, and all that have the k-th score: so equal scores are cut by id."""
    n = k + 1  # one more shows whether the last score is shared
    while True:
        hits = await _query(session, vector, n, planned)
        if len(hits) < n or n >= _MOST or _score_at(hits, k) > _score_at(hits, n):
            return hits
        n = min(n * _WIDER, _MOST)


async def _looked_through(session: Session, vector: "Float64", k: int, planned: Plan, where: Filter | None) -> Hits:
    """The same for a filter that Pinecone has only a part of: hits are evaluated, best first, until there are enough.
    When the most that Pinecone gives are not enough, every row is compared here."""
    assert where is not None  # without a filter the plan is exact
    keep = compile(where)
    kept: Hits = {}
    seen: set[str] = set()
    n = max(k * _WIDER, _AT_A_TIME)
    while True:
        n = min(n, _MOST)
        hits = await _query(session, vector, n, planned)
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
            return await _compared(session, vector, planned, where)
        n *= _WIDER


async def _query(session: Session, vector: "Float64", n: int, planned: Plan) -> Hits:
    import numpy as np

    whole = n <= _WITH_METADATA
    narrowed = {} if planned.where is True else {"filter": planned.where}
    answer = await session.call(
        "search",
        "query",
        vector=vector.astype(np.float32).tolist(),
        top_k=n,
        include_metadata=whole,
        **narrowed,
    )
    hits: Hits = {}
    for match in answer.value.matches:
        id = row_id(match.id)
        hits[id] = _score(session, match.score), Row(id, match.metadata) if whole else None
    return hits


async def _compared(session: Session, vector: "Float64", planned: Plan, where: Filter | None) -> Hits:
    """Every row that matches, compared here."""
    import numpy as np

    hits: Hits = {}
    async for rows in session.scan(planned, where):
        for row in rows:
            stored = np.asarray(row.vector, dtype=np.float32).astype(np.float64)
            if session.metric == "euclidean":
                raw = float(((stored - vector) ** 2).sum())
            else:
                raw = float(stored @ vector) / math.sqrt(float(stored @ stored))
            hits[row.id] = _score(session, raw), row
    return hits


def _score(session: Session, raw: float) -> float:
    """What Pinecone says (a cosine, or the square of a distance) as a score 0…1."""
    score = 1 / (1 + math.sqrt(max(raw, 0.0))) if session.metric == "euclidean" else (1 + raw) / 2
    return round(rounded_score(score), _DIGITS)


def _score_at(hits: Hits, rank: int) -> float:
    return sorted((score for score, _ in hits.values()), reverse=True)[rank - 1]


def _ordered(hits: Hits) -> list[tuple[str, tuple[float, Row | None]]]:
    return sorted(hits.items(), key=lambda hit: (-hit[1][0], hit[0]))
