"""Keyword and hybrid search, in English and in scripts without spaces.

class TestMyStore(StoreContract): ...     # these come with it
"""

import pytest

from flowkit.errors import UnsupportedError
from flowkit.rag.stores.contract import SearchMode, VectorStore
from flowkit.schema.filters import F
from flowkit.testing.store_contract.base import StoreHooks, ids_of, row

__all__ = ["WordsTests"]

TEXTS = {
    "a": "Tomato soup with basil and bread",
    "b": "The soup of the day is tomato, always tomato",
    "c": "Chocolate cake with berries",
    "d": "Opening hours: nine to five",
}
JAPANESE = {"0": "返金は三日以内に行います", "1": "営業時間は九時からです", "2": "refund within 3 days"}
ROWS = [row(id, [1, at], text=text, n=at) for at, (id, text) in enumerate(TEXTS.items())]


class WordsTests(StoreHooks):
    def needs(self, mode: SearchMode) -> None:
        if mode not in self.modes:
            pytest.skip(f"this store has no {mode} search")

    @pytest.mark.parametrize("mode", ["keyword", "hybrid"])
    async def test_a_mode_that_a_store_lacks_is_refused(self, store: VectorStore, mode: SearchMode) -> None:
        if mode in self.modes:
            pytest.skip(f"this store has {mode} search")
        async with self.opened(store, ROWS):
            with pytest.raises(UnsupportedError):
                await self.search(store, [1, 0] if mode == "hybrid" else None, text="soup")

    async def test_documents_with_the_words_are_found_and_no_others(self, store: VectorStore) -> None:
        self.needs("keyword")
        async with self.opened(store, ROWS):
            assert sorted(ids_of(await self.search(store, text="soup"))) == ["a", "b"]
            assert ids_of(await self.search(store, text="Which CAKES have berry in them?")) == ["c"]
            assert await self.search(store, text="elephant") == []
            assert await self.search(store, text="?!") == []

    async def test_scores_lie_above_0_and_below_1_and_fall(self, store: VectorStore) -> None:
        self.needs("keyword")
        async with self.opened(store, ROWS):
            scores = [hit.score for hit in await self.search(store, text="tomato soup bread")]
            assert len(scores) == 2
            assert scores == sorted(scores, reverse=True)
            assert all(0 < score < 1 for score in scores)

    async def test_a_word_that_every_document_has_still_finds_them(self, store: VectorStore) -> None:
        self.needs("keyword")
        async with self.opened(store, [row(f"r{at}", [1, 0], text="same words") for at in range(4)]):
            hits = await self.search(store, text="words", k=3)
            assert [hit.score > 0 for hit in hits] == [True] * 3
            if self.exact:
                assert ids_of(hits) == ["r0", "r1", "r2"]

    @pytest.mark.parametrize(
        ("query", "ids"), [("返金", "0"), ("営業時間", "1"), ("refund", "2"), ("返", "0"), ("犬", ""), ("九時", "1")]
    )
    async def test_scripts_without_spaces_are_searched(self, store: VectorStore, query: str, ids: str) -> None:
        self.needs("keyword")
        async with self.opened(store, [row(id, [1, 0], text=text) for id, text in JAPANESE.items()]):
            assert ids_of(await self.search(store, text=query)) == list(ids)

    @pytest.mark.parametrize(
        "query", ['"', "'", "a AND", "NEAR(", "*", "col:x", "-", "(", "soup*", "x' OR 1=1 --", "\x00"]
    )
    async def test_a_query_is_only_words(self, store: VectorStore, query: str) -> None:
        self.needs("keyword")
        async with self.opened(store, ROWS):
            assert ids_of(await self.search(store, text=f"{query} berries {query}"))[0] == "c"
            await self.search(store, text=query)

    async def test_filters_and_least_scores_hold_for_words_too(self, store: VectorStore) -> None:
        self.needs("keyword")
        async with self.opened(store, ROWS):
            assert ids_of(await self.search(store, text="soup", where=F("n") == 1)) == ["b"]
            assert ids_of(await self.search(store, text="soup", k=1, where=F("n") < 1)) == ["a"]
            best, other = await self.search(store, text="tomato")
            assert ids_of(await self.search(store, text="tomato", min_score=best.score)) == [best.id]
            assert len(await self.search(store, text="tomato", min_score=other.score)) == 2
            assert await self.search(store, text="tomato", min_score=1) == []

    async def test_words_follow_what_is_written_and_deleted(self, store: VectorStore) -> None:
        self.needs("keyword")
        async with self.opened(store, ROWS):
            await self.write(store, [row("a", None, text="pumpkin pie"), row("b", [1, 1], text="lentils")])
            assert await self.search(store, text="soup") == []
            assert ids_of(await self.search(store, text="pumpkin")) == ["a"]
            assert ids_of(await self.search(store, text="lentil")) == ["b"]
            await store.delete(ids=["a"])
            await self.settle(store)
            assert await self.search(store, text="pumpkin") == []
            await store.clear()
            await self.settle(store)
            assert await self.search(store, text="lentil") == []

    async def test_hybrid_scores_are_fused_ranks(self, store: VectorStore) -> None:
        self.needs("hybrid")
        rows = [
            row("both", [1, 0], text="tomato soup"),
            row("near", [0.9, 0.1], text="something else"),
            row("words", [-1, 0], text="soup, as the last of all documents has it"),
        ]
        async with self.opened(store, rows):
            hits = await self.search(store, [1, 0], text="soup")

            # Ranks by vector: both 1, near 2, words 3; by words: both 1, words 2.
            right = {"both": 2 / 61, "words": 1 / 63 + 1 / 62, "near": 1 / 62}
            assert ids_of(hits) == ["both", "words", "near"]
            assert [hit.score for hit in hits] == pytest.approx(
                [right[hit.id or ""] / (2 / 61) for hit in hits], abs=self.tolerance
            )

    async def test_hybrid_finds_what_only_one_side_has(self, store: VectorStore) -> None:
        self.needs("hybrid")
        async with self.opened(store, ROWS):
            assert set(ids_of(await self.search(store, [1, 0], text="elephant"))) == set(TEXTS)
            assert ids_of(await self.search(store, [1, 3], text="cake", k=1, where=F("n") == 2)) == ["c"]
            best, *rest = await self.search(store, [1, 0], text="tomato soup with basil", k=3)
            assert (best.id, best.score) == ("a", 1)
            assert len(rest) == 2
            assert ids_of(await self.search(store, [1, 0], text="tomato soup with basil", min_score=1)) == ["a"]
