"""Search: by vector in Chroma's index, by keyword over the texts, or by both.

hits = await search(session, SearchQuery(vector=vector, k=10))
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flowkit import Filter, ScoredDocument
from flowkit.plugin import SearchQuery, run_in_thread
from flowkit.rag.stores.rules import HYBRID_DEPTH, HYBRID_MAX, RRF_K, checked_query, rounded_score
from flowkit_chroma.rows import decode_hit
from flowkit_chroma.session import Row, Session, rows_of
from flowkit_chroma.where import Plan
from flowkit_chroma.words import Words

if TYPE_CHECKING:
    import numpy as np

    Float64 = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["search"]

_DIGITS = 6
"""Chroma's distances are float32: equal rows must tie, so scores are rounded to what is sure."""
_WIDER = 4
_MOST_TIES = 20_000
"""How many rows are looked at, at most, to order equal scores by id."""
_IDS = 5_000
"""Ids that one query is narrowed down to."""

Hits = dict[str, tuple[float, Row | None]]
"""Id → score and row, where that is known."""


async def search(session: Session, query: SearchQuery) -> list[ScoredDocument]:
    identity = session.identity
    unit = None
    if query.vector is not None:
        unit = checked_query(
            query.vector, index=identity.index, dimension=identity.dimension, embedder=identity.embedder
        )
    await session.link.refresh(session.collection)

    async def find(planned: Plan) -> Hits:
        if query.text is None:
            assert unit is not None  # SearchQuery has the one or the other
            return await _by_vector(session, unit, query.k, query.where, planned, "documents", "metadatas")
        if unit is None:
            return await _by_keyword(session, query.text, query.k, query.where, planned)
        depth = max(query.k, HYBRID_DEPTH)
        return _merged(
            (
                await _by_vector(session, unit, depth, query.where, planned),
                await _by_keyword(session, query.text, depth, query.where, planned),
            )
        )

    hits = await session.planned(query.where, find)
    least = rounded_score(query.min_score)
    best = [(id, score, row) for id, (score, row) in _first(hits, query.k) if score >= least]
    unread = [id for id, _, row in best if row is None]
    missing = await session.rows(unread, "documents", "metadatas") if unread else {}
    found: list[ScoredDocument] = []
    for id, score, row in best:
        row = row or missing.get(id)
        if row is not None:  # else it was deleted in this moment
            found.append(decode_hit(id, row.text, row.metadata, score))
    return found


async def _by_vector(
    session: Session, unit: "Float64", k: int, where: Filter | None, planned: Plan, *include: str
) -> Hits:
    if planned.where is False:
        return {}
    ids: list[str] | None = None
    if not planned.exact:
        ids = await session.matching(where, planned)
        if not ids:
            return {}
    condition: dict[str, Any] = {} if planned.where is True or ids is not None else {"where": planned.where}
    n = k + 1  # one more shows whether the last score is shared
    while True:
        hits = await _nearest(session, unit, n, ids, condition, *include)
        if len(hits) < n:
            return await _all_of(session, unit, n, ids, condition, hits)
        scores = sorted((score for score, _ in hits.values()), reverse=True)
        if scores[k - 1] > scores[-1] or n >= _MOST_TIES:
            return hits
        n = min(n * _WIDER, _MOST_TIES)


async def _nearest(
    session: Session, unit: "Float64", n: int, ids: list[str] | None, condition: dict[str, Any], *include: str
) -> Hits:
    import numpy as np

    hits: Hits = {}
    vector = unit.astype(np.float32)
    batches = [None] if ids is None else [ids[at : at + _IDS] for at in range(0, len(ids), _IDS)]
    for some in batches:
        narrowed = condition if some is None else {"ids": some}
        found = await session.call(
            "query", query_embeddings=[vector], n_results=n, include=["distances", *include], **narrowed
        )
        for row, distance in zip(rows_of(found, 0), found["distances"][0], strict=True):
            hits[row.id] = _score(1 - distance), row if include else None
    return hits if len(batches) == 1 else dict(_first(hits, n))


async def _all_of(
    session: Session, unit: "Float64", n: int, ids: list[str] | None, condition: dict[str, Any], hits: Hits
) -> Hits:
    """The hits, when they are all there are; else every row is compared.

    An approximate index may find fewer than there are, most of all when few rows match a filter.
    """
    if ids is None and not condition and await session.call("count") <= len(hits):
        return hits
    if ids is None:
        found = await session.call("get", include=[], **condition)
        ids = list(found["ids"])
    if len(ids) <= len(hits):
        return hits
    scores: dict[str, float] = {}
    async for rows in session.batches(ids, "embeddings"):
        scores.update(await run_in_thread(_compared, (unit, rows)))
    return dict(_first({id: (score, None) for id, score in scores.items()}, n))


def _compared(unit: "Float64", rows: Sequence[Row]) -> dict[str, float]:
    import numpy as np

    if not rows:
        return {}
    vectors = np.array([row.vector for row in rows], dtype=np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    cosines = vectors @ unit / np.where(lengths > 0, lengths, 1.0)
    return {row.id: _score(float(cosine)) for row, cosine in zip(rows, cosines, strict=True)}


async def _by_keyword(session: Session, text: str, k: int, where: Filter | None, planned: Plan) -> Hits:
    if planned.where is False:
        return {}
    if session.words is None:
        session.words = Words()
    scores = await session.words.scores(session, text)
    if where is not None and scores:
        kept = set(await session.matching(where, planned))
        scores = {id: score for id, score in scores.items() if id in kept}
    return dict(_first({id: (score, None) for id, score in scores.items()}, k))


def _merged(lists: Sequence[Hits]) -> Hits:
    """Reciprocal rank fusion, as a score 0…1."""
    shares: dict[str, float] = {}
    depth = max(map(len, lists))
    for hits in lists:
        for rank, (id, _) in enumerate(_first(hits, depth), 1):
            shares[id] = shares.get(id, 0.0) + 1 / (RRF_K + rank)
    return {id: (rounded_score(share / HYBRID_MAX), None) for id, share in shares.items()}


def _first(hits: Hits, k: int) -> list[tuple[str, tuple[float, Row | None]]]:
    """The best k by score, then by id."""
    return sorted(hits.items(), key=lambda hit: (-hit[1][0], hit[0]))[:k]


def _score(cosine: float) -> float:
    return round(min(1.0, max(0.0, (1 + cosine) / 2)), _DIGITS)
