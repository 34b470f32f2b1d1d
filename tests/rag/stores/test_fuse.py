"""Rank fusion: identity, weights, ties, and which copy is kept."""

import itertools
import math

import pytest

from flowkit import Document, ScoredDocument
from flowkit.errors import InvalidInputError
from flowkit.rag.fuse import fuse, ranks


def hit(id: str | None, text: str, score: float = 0.0, **metadata: object) -> ScoredDocument:
    return ScoredDocument.of(Document.from_text(text, metadata, id=id), score)


def letters(*names: str) -> list[list[ScoredDocument]]:
    return [[hit(letter, letter) for letter in name] for name in names]


def order(documents: list[ScoredDocument]) -> str:
    return "".join(document.text for document in documents)


def test_scores_are_sums_of_reciprocal_ranks_whatever_scores_and_metadata_say():
    by_vector = [hit("c1", "soup", 0.91), hit("c2", "pasta", 0.8), hit("c3", "cake", 0.7)]
    by_words = [hit("c3", "cake", 12.1, engine="bm25"), hit("c4", "tea", 7.0), hit("c1", "soup", 3.0)]

    fused = fuse([by_vector, by_words])

    assert [document.id for document in fused] == ["c1", "c3", "c2", "c4"]
    assert [document.score for document in fused] == pytest.approx(
        [0.032266458, 0.032266458, 0.016129032, 0.016129032], abs=1e-9
    )
    assert fused[0].score == fused[1].score


def test_without_ids_equal_text_and_source_is_the_same_document():
    fused = fuse([[hit(None, "soup", source="a.md", score_of="x")], [hit(None, "soup", source="a.md")]])

    assert len(fused) == 1
    assert len(fuse([[hit(None, "soup", source="a.md")], [hit(None, "soup", source="b.md")]])) == 2


@pytest.mark.parametrize("turn", [1, -1])
def test_the_copy_that_is_kept_does_not_depend_on_the_order_of_the_lists(turn: int):
    lists = [[hit("d1", "full text", 0.9)], [hit("d1", "stub", 0.1)]]
    (kept,) = fuse(lists[::turn])
    assert kept.text == "full text"

    lists = [[hit("x", "x"), hit("d1", "stub", 0.9)], [hit("d1", "best ranked", 0.1)]]
    assert {document.text for document in fuse(lists[::turn])} == {"x", "best ranked"}


def test_ties_keep_the_order_in_which_they_were_seen():
    assert order(fuse(letters("AB", "CD"))) == "ACBD"
    assert order(fuse(letters("AB", "BA"))) == "AB"
    for names in itertools.permutations(["ABC", "BCA", "CAB"]):
        assert order(fuse(letters(*names))) == names[0], "equal sums, in whatever order they were added"


def test_a_document_that_a_list_has_twice_counts_twice():
    fused = fuse(letters("AA"))

    assert [document.score for document in fused] == [math.fsum([1 / 61, 1 / 62])]


def test_weights_count():
    assert order(fuse(letters("AB", "BC"), weights=[1, 0])) == "AB"
    assert order(fuse(letters("AB", "CD"), weights=[1, 2])) == "CDAB"
    (best, *_) = fuse(letters("A", "A"), weights=[2, 0.5])
    assert best.score == pytest.approx(2.5 / 61)


def test_k_cuts():
    assert order(fuse(letters("ABCDE", "EDCBA"), k=2)) == "AE"
    assert order(fuse(letters("AB"), k=10)) == "AB"


def test_nothing_gives_nothing():
    assert fuse([]) == []
    assert fuse([[], []]) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"rrf_k": 0},
        {"rrf_k": 1.5},
        {"rrf_k": True},
        {"k": 0},
        {"weights": [1]},
        {"weights": [1, -1]},
        {"weights": [1, math.nan]},
        {"weights": [1, math.inf]},
        {"weights": [0, 0]},
        {"weights": ["1", 1]},
    ],
)
def test_what_is_out_of_range_is_refused(wrong: dict[str, object]):
    with pytest.raises(InvalidInputError):
        fuse(letters("A", "B"), **wrong)  # type: ignore[arg-type]


def test_the_parts_of_a_fused_document_stay():
    first = hit("a", "soup", 0.5, page=3).model_copy(update={"rerank_score": 0.7})

    (fused,) = fuse([[first]])

    assert (fused.metadata, fused.rerank_score, first.score) == ({"page": 3}, 0.7, 0.5)


def test_ranks_say_where_a_document_stood_in_each_list():
    assert ranks(letters("AB", "BCB")) == {"A": (1, None), "B": (2, 1), "C": (None, 2)}
