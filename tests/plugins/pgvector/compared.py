"""Hits of two stores, compared: the same, but that two documents closer than 1e-6 may have swapped places.

assert_same(await pg.search(query), await memory.search(query))
"""

from collections.abc import Sequence

import pytest

from flowkit import ScoredDocument

__all__ = ["assert_same"]

NEAR = 1e-6


def assert_same(found: Sequence[ScoredDocument], right: Sequence[ScoredDocument], about: object = "") -> None:
    scores = [hit.score for hit in right]
    assert [hit.score for hit in found] == pytest.approx(scores, abs=NEAR), about
    right_scores = {hit.id: hit.score for hit in right}
    for at, hit in enumerate(found):
        if hit.id == right[at].id:
            assert (hit.text, dict(hit.metadata)) == (right[at].text, dict(right[at].metadata)), about
        else:
            # A neighbour, or, at the end of the list, one that scores as the last.
            assert right_scores.get(hit.id, scores[-1]) == pytest.approx(hit.score, abs=NEAR), about
