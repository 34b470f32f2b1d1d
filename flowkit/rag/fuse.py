"""Rank fusion: merge several ranked lists into one.

fuse([by_vector, by_keyword], k=5)
"""

import math
from collections.abc import Iterable, Sequence

from flowkit.errors import InvalidInputError
from flowkit.schema.documents import Document, ScoredDocument

__all__ = ["fuse", "ranks"]


def fuse(
    lists: Iterable[Sequence[Document]],
    *,
    rrf_k: int = 60,
    weights: Sequence[float] | None = None,
    k: int | None = None,
) -> list[ScoredDocument]:
    """Reciprocal rank fusion: a document's score is the sum of `weight / (rrf_k + rank)` over the lists that have it.

    Ranks start at 1, and a document that a list has twice counts at both ranks. The same document is one with the
    same `identity`: the id, else text and source; scores and other metadata do not count. Of several copies the
    best ranked is returned, of these the one with the higher score, whatever the order of the lists.
    Source: Cormack, Clarke and Büttcher, SIGIR 2009.

    Args:
        lists: each best first; scores of different scales may be mixed, only ranks count.
        rrf_k: 1 or more; the larger, the less the first ranks stand out.
        weights: one finite number of 0 or more for each list; documents of lists with weight 0 only are left out.
        k: how many to return; all of them by default.

    Returns:
        Best first, ties in the order first seen; `score` is the sum, at most `sum(weights) / (rrf_k + 1)`
        when no list repeats a document.

    Raises:
        InvalidInputError: `rrf_k`, `weights` or `k` is out of range.
    """
    lists = [list(ranked) for ranked in lists]
    weights = _checked(len(lists), rrf_k, weights, k)
    shares: dict[str, list[float]] = {}
    best: dict[str, tuple[int, Document]] = {}
    for ranked, weight in zip(lists, weights, strict=True):
        if weight == 0:
            continue
        for rank, document in enumerate(ranked, 1):
            identity = document.identity
            shares.setdefault(identity, []).append(weight / (rrf_k + rank))
            held = best.get(identity)
            if held is None or _preference(rank, document) < _preference(*held):
                best[identity] = (rank, document)
    # fsum, so that equal shares sum to equal scores in whatever order they came.
    scores = {identity: math.fsum(parts) for identity, parts in shares.items()}
    order = sorted(scores, key=lambda identity: -scores[identity])[:k]
    return [_scored(best[identity][1], scores[identity]) for identity in order]


def ranks(lists: Iterable[Sequence[Document]]) -> dict[str, tuple[int | None, ...]]:
    """Where each document stood: identity → its best rank (from 1) in each list, None where a list lacks it."""
    lists = [list(ranked) for ranked in lists]
    found: dict[str, list[int | None]] = {}
    for at, ranked in enumerate(lists):
        for rank, document in enumerate(ranked, 1):
            places = found.setdefault(document.identity, [None] * len(lists))
            if places[at] is None:
                places[at] = rank
    return {identity: tuple(places) for identity, places in found.items()}


def _checked(count: int, rrf_k: int, weights: Sequence[float] | None, k: int | None) -> Sequence[float]:
    if isinstance(rrf_k, bool) or not isinstance(rrf_k, int) or rrf_k < 1:
        raise InvalidInputError(f"rrf_k is {rrf_k!r}", hint="use 1 or more; 60 is usual")
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        raise InvalidInputError(f"k is {k!r}", hint="ask for 1 or more documents, or leave it out for all")
    if weights is None:
        return [1.0] * count
    if len(weights) != count:
        raise InvalidInputError(f"{len(weights)} weights for {count} lists", hint="give one weight for each list")
    for weight in weights:
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < math.inf:
            raise InvalidInputError(f"weight {weight!r} is no number of 0 or more")
    if count and not any(weights):
        raise InvalidInputError("all weights are 0", hint="give one list at least a weight above 0")
    return weights


def _preference(rank: int, document: Document) -> tuple[int, float, int, str]:
    score = document.score if isinstance(document, ScoredDocument) else 0.0
    text = document.text
    return rank, -score, -len(text), text


def _scored(document: Document, score: float) -> ScoredDocument:
    rerank_score = document.rerank_score if isinstance(document, ScoredDocument) else None
    return ScoredDocument.of(document, score, rerank_score=rerank_score)
