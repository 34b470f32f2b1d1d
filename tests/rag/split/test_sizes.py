"""What sizes a splitter takes, and what it says about others."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from flowkit import Document
from flowkit.errors import InvalidInputError
from flowkit.rag import split

LEVELS = [split.paragraph, split.line, split.sentence, split.word, split.character, split.recursive]


@pytest.mark.parametrize("splitter", [*LEVELS, split.exact])
@pytest.mark.parametrize(
    ("limit", "overlap"), [(10, 12), (10, -1), (0, 0), (-5, 0), (10.5, 0), ("10", 0), (True, 0), (10, 1.5)]
)
def test_wrong_sizes_are_named(splitter: Callable[..., Any], limit: Any, overlap: Any):
    with pytest.raises(InvalidInputError, match=f"max_chars={limit!r} and overlap_chars={overlap!r}"):
        splitter(max_chars=limit, overlap_chars=overlap)
    with pytest.raises(ValueError, match=f"max_tokens={limit!r} and overlap_tokens={overlap!r}"):
        splitter(max_tokens=limit, overlap_tokens=overlap, tokenizer=len)


@pytest.mark.parametrize(("overlap", "legal"), [(0, True), (9, True), (10, False)])
def test_an_exact_overlap_is_below_the_maximum(overlap: int, legal: bool):
    if legal:
        split.exact(max_chars=10, overlap_chars=overlap)
    else:
        with pytest.raises(InvalidInputError, match=r"max_chars=10 and overlap_chars=10: the overlap must lie in 0…9"):
            split.exact(max_chars=10, overlap_chars=overlap)


@pytest.mark.parametrize("splitter", LEVELS)
def test_an_overlap_of_whole_sentences_may_be_as_large_as_the_maximum(splitter: Callable[..., Any]):
    assert splitter(max_chars=10, overlap_chars=10)(Document.from_text("soup"))


@pytest.mark.parametrize(
    "sizes",
    [
        {"max_chars": 100, "overlap_tokens": 10},
        {"max_tokens": 100, "overlap_chars": 10, "tokenizer": len},
        {"max_chars": 100, "max_tokens": 10, "tokenizer": len},
    ],
)
def test_sizes_of_two_units_are_refused_with_both_numbers(sizes: dict[str, Any]):
    with pytest.raises(InvalidInputError, match=r"=100.*=10.*two units"):
        split.recursive(**sizes)


def test_a_splitter_without_sizes_says_what_to_pass():
    with pytest.raises(InvalidInputError, match="needs a size"):
        split.paragraph()


def test_recursive_has_sizes_of_its_own_in_tokens():
    with pytest.raises(InvalidInputError, match="max_tokens=300 and overlap_tokens=30 need a tokenizer"):
        split.recursive()

    chunks = split.recursive(tokenizer=lambda text: len(text.split()))(Document.from_text("One two. " * 400))

    assert max(len(chunk.text.split()) for chunk in chunks) in range(200, 301)
    assert chunks[0].metadata["end"] > chunks[1].metadata["start"]


def test_a_tokenizer_beside_characters_is_refused():
    with pytest.raises(InvalidInputError, match="need no tokenizer"):
        split.recursive(max_chars=100, tokenizer=len)


def test_what_cannot_count_is_no_tokenizer():
    with pytest.raises(InvalidInputError, match="a str, which cannot count tokens"):
        split.recursive(max_tokens=10, tokenizer="gpt-4")  # type: ignore[arg-type]


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}"])
def test_a_broken_pattern_is_named(pattern: str):
    with pytest.raises(InvalidInputError, match=f"'{re.escape(pattern)}' is no regular expression"):
        split.regex(pattern, " ", max_chars=10)


def test_only_a_level_can_be_a_sub_splitter():
    with pytest.raises(InvalidInputError, match="sub_splitter is a Exact"):
        split.paragraph(max_chars=10, sub_splitter=split.exact(max_chars=10))  # type: ignore[arg-type]
