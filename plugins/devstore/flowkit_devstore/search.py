"""Search in one snapshot of an index: by vector, by keyword, or by both.

hits = search(snapshot, SearchQuery(vector=vector, k=10))
"""

from collections import Counter
from operator import itemgetter

import numpy as np

from flowkit import ScoredDocument
from flowkit.plugin import SearchQuery
from flowkit.rag.keyword import BM25_B, BM25_K1, idf, query_terms
from flowkit.rag.stores.rules import (
    HYBRID_DEPTH,
    SCORE_DIGITS,
    checked_query,
    fused_scores,
    rounded_score,
    vector_scores,
)
from flowkit_devstore.rows import decode_hits
from flowkit_devstore.snapshot import Snapshot
from flowkit_devstore.vectors import Float32, Float64, Slots, check_cosines, cosines, exact_cosines
from flowkit_devstore.where import Mask

__all__ = ["search"]

_SLACK = 4e-6
"""How far a float32 cosine may be off: whatever comes this close to the k-th is looked at in float64."""
_NEVER = -2.0
_SELECTIVE = 4
"""With fewer than one row in this many matching, gathering them is cheaper than scoring all."""

Hits = list[tuple[int, float]]
"""Slots and scores, best first, equal scores by id."""


def search(snapshot: Snapshot, query: SearchQuery) -> list[ScoredDocument]:
    unit = None
    if query.vector is not None:
        state = snapshot.state
        unit = checked_query(query.vector, index=state.name, dimension=state.dimension, embedder=state.embedder)
    mask = None if query.where is None else snapshot.matching(query.where)
    if query.text is None:
        assert unit is not None  # SearchQuery has the one or the other
        hits = _by_vector(snapshot, unit, query.k, mask)
    elif unit is None:
        hits = _by_keyword(snapshot, query.text, query.k, mask)
    else:
        depth = max(query.k, HYBRID_DEPTH)
        lists = _by_vector(snapshot, unit, depth, mask), _by_keyword(snapshot, query.text, depth, mask)
        hits = _first(snapshot, fused_scores([slot for slot, _ in hits] for hits in lists), query.k)
    if query.min_score > 0:
        least = rounded_score(query.min_score)
        hits = [hit for hit in hits if hit[1] >= least]
    return _documents(snapshot, hits)


def _by_vector(snapshot: Snapshot, unit: Float64, k: int, mask: Mask | None) -> Hits:
    count = snapshot.state.rows
    if not count:
        return []
    rows = snapshot.vectors()
    query = unit.astype(np.float32)
    slots: Slots | None = None
    if mask is not None:
        slots = np.flatnonzero(mask)
        count = len(slots)
        if not count:
            return []
        if count * _SELECTIVE > len(rows):
            found = cosines(rows, query)
            found[~mask] = _NEVER
            slots = None
        else:
            found = cosines(rows, query, slots)
    else:
        found = cosines(rows, query)
        if len(snapshot.holes):
            found[snapshot.holes] = _NEVER
    check_cosines(found, snapshot.folder, snapshot.state.generation)
    near = _leaders(found, min(k, count))
    if slots is not None:
        near = slots[near]
    scores = vector_scores(exact_cosines(rows, unit, near)).tolist()
    return _first(snapshot, dict(zip(near.tolist(), scores, strict=True)), k)


def _by_keyword(snapshot: Snapshot, text: str, k: int, mask: Mask | None) -> Hits:
    words = Counter(query_terms(text))
    count = snapshot.state.rows
    if not words or not count:
        return []
    lengths = snapshot.word_counts()
    burden = BM25_K1 * (1 - BM25_B + BM25_B * lengths * (count / (lengths.sum() or 1.0)))
    found: Float64 = np.zeros(len(lengths))
    for term, times in words.items():
        slots, counts = snapshot.having(term)
        weight = times * idf(count, len(slots)) * (BM25_K1 + 1)
        found[slots] += weight * counts / (counts + burden[slots])
    if mask is not None:
        found[~mask] = 0.0
    near = np.flatnonzero(found)
    bm25 = found[near]
    scores = np.round(bm25 / (bm25 + 1), SCORE_DIGITS)
    if len(near) > k:
        kept = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
        near, scores = near[kept], scores[kept]
    hits = dict(zip(near.tolist(), scores.tolist(), strict=True))
    return _first(snapshot, {slot: score for slot, score in hits.items() if score > 0}, k)


def _leaders(found: Float32, k: int) -> Slots:
    """Places of the best k, and of all that may belong to them once looked at in float64."""
    ordered = found.copy()
    ordered.partition(len(found) - k)
    near: Slots = (found >= ordered[len(found) - k] - _SLACK).nonzero()[0]
    return near


def _first(snapshot: Snapshot, scores: dict[int, float], k: int) -> Hits:
    """The best k by score, then by id. Ids are looked up only where scores are equal."""
    hits = sorted(scores.items(), key=itemgetter(1), reverse=True)
    if len(hits) > k:
        kth = hits[k - 1][1]
        hits = [hit for hit in hits if hit[1] >= kth]
    if len({score for _, score in hits}) == len(hits):
        return hits
    ids = snapshot.ids([slot for slot, _ in hits])
    return sorted(hits, key=lambda hit: (-hit[1], ids[hit[0]]))[:k]


def _documents(snapshot: Snapshot, hits: Hits) -> list[ScoredDocument]:
    rows = snapshot.rows([slot for slot, _ in hits])
    return decode_hits([rows[slot] for slot, _ in hits], [score for _, score in hits])
