"""Vector search: scores, their order, and the queries that are refused.

class TestMyStore(StoreContract): ...     # these come with it
"""

import math
import random
from collections.abc import Sequence

import pytest

from flowkit.errors import InvalidInputError
from flowkit.rag.stores.contract import VectorStore
from flowkit.schema.documents import ScoredDocument
from flowkit.schema.filters import F
from flowkit.testing.store_contract.base import StoreHooks, ids_of, numbers, row

__all__ = ["ScoringTests"]

FEW = [row("a", [1, 0], type="x"), row("b", [0.8, 0.6], type="y"), row("c", [0, 1], type="x"),
       row("d", [-1, 0], type="y"), row("e", [0.6, 0.8])]  # fmt: skip


def _random_vectors(count: int, dimension: int, *, seed: int) -> list[list[float]]:
    source = random.Random(seed)
    return [[source.gauss(0, 1) for _ in range(dimension)] for _ in range(count)]


def _expected_score(a: Sequence[float], b: Sequence[float]) -> float:
    """(1 + cosine) / 2, in double precision."""
    lengths = math.hypot(*a) * math.hypot(*b)
    return (1 + (math.fsum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0)) / 2


class ScoringTests(StoreHooks):
    async def test_scores_are_half_of_one_plus_the_cosine(self, store: VectorStore) -> None:
        async with self.opened(store, FEW):
            hits = await self.search(store, [1, 0])

            assert ids_of(hits) == ["a", "b", "e", "c", "d"]
            assert [hit.score for hit in hits] == pytest.approx([1, 0.9, 0.8, 0.5, 0], abs=self.tolerance)
            assert all(type(hit) is ScoredDocument and hit.rerank_score is None for hit in hits)

    @pytest.mark.parametrize("dimension", [1, 2, 3, 7, 384, 1025])
    async def test_an_identical_vector_scores_one_whatever_its_length(self, store: VectorStore, dimension: int) -> None:
        vectors = _random_vectors(6, dimension, seed=dimension)
        scales = [1.0, 0.001, 1000.0, 1e-12, 1e12, 0.5]
        rows = [row(f"r{at}", [x * scale for x in vectors[at]]) for at, scale in enumerate(scales)]
        async with self.opened(store, rows, dimension=dimension):
            for at, vector in enumerate(vectors):
                best = {hit.id: hit.score for hit in await self.search(store, vector)}
                assert best[f"r{at}"] == pytest.approx(1, abs=self.tolerance)
                assert max(best.values()) <= 1

    async def test_scores_agree_with_double_precision(self, store: VectorStore) -> None:
        vectors = _random_vectors(200, 33, seed=1)
        async with self.opened(store, [row(f"r{at:03d}", v) for at, v in enumerate(vectors)], dimension=33):
            for query in _random_vectors(5, 33, seed=2):
                hits = await self.search(store, query, k=20)
                right = {f"r{at:03d}": _expected_score(query, vector) for at, vector in enumerate(vectors)}
                assert [hit.score for hit in hits] == pytest.approx(
                    [right[hit.id or ""] for hit in hits], abs=self.tolerance
                )
                if self.exact:
                    assert ids_of(hits) == sorted(right, key=lambda id: -right[id])[:20]

    async def test_better_hits_come_first_and_equal_ones_by_id(self, store: VectorStore) -> None:
        vectors: dict[str, list[float]] = {
            "m": [1, 0],
            "c": [1, 1],
            "z": [2, 0],
            "b": [0.5, 0.5],
            "a": [3, 0],
            "d": [-1, 1],
        }
        rows = [row(id, vector) for id, vector in vectors.items()]
        async with self.opened(store, rows):
            hits = await self.search(store, [1, 0])
            scores = [hit.score for hit in hits]
            assert scores == sorted(scores, reverse=True)
            if self.exact:
                assert ids_of(hits) == ["a", "m", "z", "b", "c", "d"]
                assert ids_of(await self.search(store, [1, 0], k=2)) == ["a", "m"]

    async def test_many_equal_vectors_are_cut_by_id(self, store: VectorStore) -> None:
        if not self.exact:
            pytest.skip("the order of equal scores is promised for exact search only")
        order = list(range(300))
        random.Random(5).shuffle(order)
        async with self.opened(store, [row(f"r{at:03d}", [0.3, 0.4]) for at in order]):
            assert ids_of(await self.search(store, [1, 0], k=7)) == [f"r{at:03d}" for at in range(7)]

    async def test_no_more_than_k_and_no_more_than_there_are(self, store: VectorStore) -> None:
        async with self.opened(store, FEW):
            assert len(await self.search(store, [1, 0], k=1)) == 1
            assert len(await self.search(store, [1, 0], k=5)) == 5
            assert len(await self.search(store, [1, 0], k=1000)) == 5
            assert ids_of(await self.search(store, [1, 0], k=10, where=F("type") == "x")) == ["a", "c"]
            assert await self.search(store, [1, 0], k=10, where=F("type") == "nothing") == []

    async def test_the_least_score_is_included(self, store: VectorStore) -> None:
        # 0.8 and 0.6 are no float32 numbers, so the score of "e" is 0.8 only up to rounding.
        async with self.opened(store, FEW):
            for least, ids in ((1.0, "a"), (0.9, "ab"), (0.8, "abe"), (0.5, "abec"), (0.0, "abecd"), (0.81, "ab")):
                assert "".join(ids_of(await self.search(store, [1, 0], min_score=least))) == ids

    async def test_a_score_that_was_given_is_included_as_least_score(self, store: VectorStore) -> None:
        vectors = _random_vectors(30, 16, seed=3)
        async with self.opened(store, [row(f"r{at:02d}", v) for at, v in enumerate(vectors)], dimension=16):
            hits = await self.search(store, vectors[0])
            for at in (0, 3, 17, 29):
                kept = await self.search(store, vectors[0], min_score=hits[at].score)
                assert hits[at].id in ids_of(kept)

    async def test_a_row_is_found_by_its_own_vector_with_the_highest_score(self, store: VectorStore) -> None:
        # Of length 1 as embedders give them: in float32, so up to rounding.
        import numpy as np

        vectors = np.random.default_rng(4).normal(size=(60, 384)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        async with self.opened(store, [row(f"r{at:02d}", v) for at, v in enumerate(vectors)], dimension=384):
            for at, vector in enumerate(vectors):
                assert ids_of(await self.search(store, vector, k=1, min_score=1.0)) == [f"r{at:02d}"]

    async def test_a_zero_vector_counts_as_unrelated(self, store: VectorStore) -> None:
        rows = [row("far", [-1, 0]), row("ok", [1, 0])]
        async with self.opened(store, rows):
            if not self.zero_vectors:
                with pytest.raises(InvalidInputError):
                    await store.upsert([row("z", [0, 0])])
                return
            await self.write(store, [row("z", [0, 0])])

            hits = await self.search(store, [1, 0])

            assert ids_of(hits) == ["ok", "z", "far"]
            assert hits[1].score == 0.5
            (item,) = (await store.fetch(ids=["z"], with_vectors=True)).items
            assert numbers(item.vector) == [0, 0]

    async def test_a_query_without_direction_is_refused(self, store: VectorStore) -> None:
        async with self.opened(store, FEW):
            for bad in ([0, 0], [math.nan, 1], [math.inf, 0], [1e39, 0]):
                with pytest.raises(InvalidInputError) as caught:
                    await self.search(store, bad)
                assert "embedder" in str(caught.value)

    async def test_a_query_of_another_dimension_is_refused_naming_both(self, store: VectorStore) -> None:
        async with self.opened(store, FEW):
            with pytest.raises(InvalidInputError) as caught:
                await self.search(store, [1, 2, 3, 4, 5])

            assert "5" in str(caught.value)
            assert "2" in str(caught.value)

    async def test_numpy_vectors_are_taken_as_well(self, store: VectorStore) -> None:
        import numpy as np

        for dtype in (np.float16, np.float32, np.float64, np.int64):
            async with self.opened(store, [row("a", np.array([3, 4], dtype=dtype))]):
                (hit,) = await self.search(store, np.array([3, 4], dtype=dtype))
                assert hit.score == pytest.approx(1, abs=self.tolerance)
