"""Search: by vector in Chroma's index, by keyword over the texts, or by both.

hits = await search(session, SearchQuery(vector=vector, k=10))
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flowkit import Filter, ScoredDocument
from flowkit.plugin import SearchQuery, run_in_thread
from flowkit.rag.stores.rules import (
    HYBRID_DEPTH,
    best_first,
    checked_direction,
    fused_scores,
    moderate32,
    rounded_score,
)
from flowkit_chroma.rows import decode_hits
from flowkit_chroma.session import Row, Session
from flowkit_chroma.where import Plan
from flowkit_chroma.words import Words

if TYPE_CHECKING:
    import numpy as np

    Float32 = np.ndarray[Any, np.dtype[np.float32]]

__all__ = ["search"]

_STEPS = 10**6
"""Chroma's distances are float32: equal rows must tie, so scores are rounded to what is sure."""
_WIDER = 4
_MOST_TIES = 20_000
"""How many rows are looked at, at most, to order equal scores by id."""
_IDS = 5_000
"""Ids that one query is narrowed down to."""

Hit = tuple[float, str, str | None, Mapping[str, Any] | None]
"""Score, id, and text and metadata; the metadata is None while the row was not read."""
Hits = list[Hit]


async def search(session: Session, query: SearchQuery) -> list[ScoredDocument]:
    identity = session.identity
    vector = None
    if query.vector is not None:
        vector, length = checked_direction(
            query.vector, index=identity.index, dimension=identity.dimension, embedder=identity.embedder
        )
        vector = moderate32(vector, length)
    await session.link.refresh(session.collection)

    async def find(planned: Plan) -> Hits:
        if query.text is None:
            assert vector is not None  # SearchQuery has the one or the other
            return await _by_vector(session, vector, query.k, query.where, planned, "documents", "metadatas")
        if vector is None:
            return await _by_keyword(session, query.text, query.k, query.where, planned)
        depth = max(query.k, HYBRID_DEPTH)
        near = await _by_vector(session, vector, depth, query.where, planned)
        said = await _by_keyword(session, query.text, depth, query.where, planned)
        return _unread(fused_scores([hit[1] for hit in hits] for hits in (near, said)))

    hits = _first(await session.planned(query.where, find), query.k)
    if query.min_score:
        least = rounded_score(query.min_score)
        hits = [hit for hit in hits if hit[0] >= least]
    return decode_hits(await _read(session, hits))


async def _read(session: Session, hits: Hits) -> Hits:
    """With text and metadata; without those that were deleted in this moment."""
    unread = [id for _, id, _, metadata in hits if metadata is None]
    if not unread:
        return hits
    rows = await session.rows(unread, "documents", "metadatas")
    return [
        (score, id, rows[id].text, rows[id].metadata) if id in rows else (score, id, text, metadata)
        for score, id, text, metadata in hits
        if metadata is not None or id in rows
    ]


async def _by_vector(
    session: Session, vector: "Float32", k: int, where: Filter | None, planned: Plan, *include: str
) -> Hits:
    """The best k at least, and all that have the k-th score."""
    if planned.where is False:
        return []
    ids: list[str] | None = None
    if not planned.exact:
        ids = await session.matching(where, planned)
        if not ids:
            return []
    condition: dict[str, Any] = {} if planned.where is True or ids is not None else {"where": planned.where}
    n = k + 1  # one more shows whether the last score is shared
    while True:
        hits = await _nearest(session, vector, n, ids, condition, *include)
        if len(hits) < n:
            return await _all_of(session, vector, n, ids, condition, hits)
        if hits[k - 1][0] > hits[-1][0] or n >= _MOST_TIES:
            return hits
        n = min(n * _WIDER, _MOST_TIES)


async def _nearest(
    session: Session, vector: "Float32", n: int, ids: list[str] | None, condition: dict[str, Any], *include: str
) -> Hits:
    """The best n, in order."""
    hits: Hits = []
    batches = [None] if ids is None else [ids[at : at + _IDS] for at in range(0, len(ids), _IDS)]
    for some in batches:
        narrowed = condition if some is None else {"ids": some}
        found = await session.call(
            "query", query_embeddings=[vector], n_results=n, include=["distances", *include], **narrowed
        )
        scores = [_score(2 - distance) for distance in found["distances"][0]]
        unread = [None] * len(scores)
        texts, metadatas = ((found[column] or [unread])[0] for column in ("documents", "metadatas"))
        hits += zip(scores, found["ids"][0], texts, metadatas, strict=True)
    return _first(hits, n)


async def _all_of(
    session: Session, vector: "Float32", n: int, ids: list[str] | None, condition: dict[str, Any], hits: Hits
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
    compared: Hits = []
    async for rows in session.batches(ids, "embeddings"):
        compared += await run_in_thread(_compared, (vector, rows))
    return _first(compared, n)


def _compared(vector: "Float32", rows: Sequence[Row]) -> Hits:
    import numpy as np

    if not rows:
        return []
    vectors = np.array([row.vector for row in rows], dtype=np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    wide = vector.astype(np.float64)
    cosines = vectors @ (wide / np.sqrt(wide @ wide)) / np.where(lengths > 0, lengths, 1.0)
    return [(_score(1 + float(cosine)), row.id, None, None) for row, cosine in zip(rows, cosines, strict=True)]


async def _by_keyword(session: Session, text: str, k: int, where: Filter | None, planned: Plan) -> Hits:
    if planned.where is False:
        return []
    if session.words is None:
        session.words = Words()
    scores = await session.words.scores(session, text)
    if where is not None and scores:
        kept = set(await session.matching(where, planned))
        scores = {id: score for id, score in scores.items() if id in kept}
    return _first(_unread(scores), k)


def _unread(scores: Mapping[str, float]) -> Hits:
    return [(score, id, None, None) for id, score in scores.items()]


def _first(hits: Hits, k: int) -> Hits:
    return best_first(hits)[:k]


def _score(raised: float) -> float:
    """A cosine, raised to 0…2, as a score 0…1."""
    return round(raised * (_STEPS / 2)) / _STEPS if 0 <= raised <= 2 else float(raised > 2)
