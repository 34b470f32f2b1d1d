"""Exact splitting: pieces of the source, an overlap cut to size, never over the limit."""

import base64
import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowkit import Document
from flowkit.errors import InvalidInputError
from flowkit.rag import split
from tests.rag.split.texts import OffsetCounter, byte_pairs, texts, worded, words

COUNTERS: dict[str, Callable[[str], int] | OffsetCounter] = {
    "characters": len,
    "words": words,
    "bytes": lambda text: len(text.encode()),
    "rounded up": lambda text: -(-len(text) // 4),
    "offsets": OffsetCounter(byte_pairs),
}


def test_the_overlap_is_kept_where_there_is_nothing_to_cut_at():
    assert worded(split.exact(max_chars=4, overlap_chars=2)(Document.from_text("0123456789"))) == [
        "0123",
        "2345",
        "4567",
        "6789",
    ]


def test_a_chunk_ends_at_the_best_border_of_its_second_half():
    text = "One sentence. Another one.\nA new line here\n\nA new paragraph. And on."

    assert worded(split.exact(max_chars=50)(Document.from_text(text))) == [
        "One sentence. Another one.\nA new line here\n\n",
        "A new paragraph. And on.",
    ]
    assert worded(split.exact(max_chars=40)(Document.from_text(text)))[0] == "One sentence. Another one.\n"
    assert worded(split.exact(max_chars=20)(Document.from_text(text)))[0] == "One sentence. "
    assert worded(split.exact(max_chars=7)(Document.from_text(text)))[0] == "One "


def test_japanese_is_cut_behind_its_full_stops_and_keeps_the_limit():
    text = "今日は晴れです。明日は雨でしょう。「傘を持って行きますか？」はい。" * 20

    chunks = split.exact(max_chars=40)(Document.from_text(text))

    assert {chunk.text[-1] for chunk in chunks} <= set("。」")
    assert "".join(worded(chunks)) == text


@pytest.mark.parametrize(
    "text",
    [
        "abcdefghij" * 200,
        "https://example.test/" + "path" * 475,
        base64.b64encode(bytes(range(250)) * 12).decode(),
        "東京都千代田区" * 286,
    ],
    ids=["letters", "url", "base64", "japanese"],
)
def test_an_unbroken_run_is_cut_and_can_be_put_together_again(text: str):
    chunks = worded(split.exact(max_chars=100, overlap_chars=10)(Document.from_text(text)))

    assert max(map(len, chunks)) <= 100
    assert chunks[0] + "".join(chunk[10:] for chunk in chunks[1:]) == text


def test_no_chunk_is_over_the_limit_of_a_counter_that_counts_blanks():
    chunks = split.exact(max_tokens=4, overlap_tokens=2, tokenizer=len)(Document.from_text("to  be  or  no"))

    assert max(len(chunk.text) for chunk in chunks) <= 4
    assert all(any(word in chunk.text for chunk in chunks) for word in ("to", "be", "or", "no"))


def test_with_token_offsets_each_chunk_repeats_so_many_tokens():
    text = "abc def ghi jkl mno pqr stu"

    chunks = split.exact(max_tokens=3, overlap_tokens=1, tokenizer=OffsetCounter(lambda text: _words(text)))(
        Document.from_text(text)
    )

    assert worded(chunks) == ["abc def ghi ", "ghi jkl mno ", "mno pqr stu"]


def test_blanks_in_front_do_not_move_a_chunk_to_the_page_before():
    document = Document.from_text("0123456789\n\n0123456789", {"page_starts": [0, 12]})

    chunks = split.exact(max_chars=10)(document)

    assert [(chunk.text, chunk.metadata["page"]) for chunk in chunks] == [
        ("0123456789", 1),
        ("\n\n01234567", 2),
        ("89", 2),
    ]


def test_a_short_last_paragraph_is_kept():
    chunks = split.exact(max_chars=20)(Document.from_text("A paragraph of text.\n\nOk"))

    assert "".join(worded(chunks)) == "A paragraph of text.\n\nOk"


def test_a_stretch_of_blanks_makes_no_chunk():
    chunks = split.exact(max_chars=10)(Document.from_text("soup" + " " * 100 + "bread"))

    assert [chunk.text.strip() for chunk in chunks] == ["soup", "bread"]
    assert chunks[1].metadata["end"] == 109


def test_metadata_is_no_part_of_the_size():
    chunks = split.exact(max_chars=100)(Document.from_text("x" * 100, {"note": "n" * 1000}))

    assert len(chunks) == 1


def test_a_character_of_too_many_tokens_is_an_error():
    with pytest.raises(InvalidInputError, match=r"'🍲' has 4 tokens, more than max_tokens=3"):
        split.exact(max_tokens=3, tokenizer=lambda text: len(text.encode()))(Document.from_text("ab🍲"))


@given(text=texts(), counter=st.sampled_from(sorted(COUNTERS)), limit=st.integers(4, 60), overlap=st.integers(0, 59))
def test_chunks_are_pieces_of_the_source_within_the_limit(text: str, counter: str, limit: int, overlap: int):
    tokenizer = COUNTERS[counter]
    count = tokenizer.count if isinstance(tokenizer, OffsetCounter) else tokenizer

    chunks = split.exact(max_tokens=limit, overlap_tokens=min(overlap, limit - 1), tokenizer=tokenizer)(
        Document.from_text(text)
    )

    covered, before = 0, (-1, 0)
    for chunk in chunks:
        start, end = chunk.metadata["start"], chunk.metadata["end"]
        assert chunk.text == text[start:end]
        assert count(chunk.text) <= limit
        assert not text[covered:start].strip(" \t\n\r\v\f")
        assert start > before[0]
        assert end > before[1]
        covered, before = end, (start, end)
    assert not text[covered:].strip(" \t\n\r\v\f")


@given(text=texts(), limit=st.integers(2, 60), share=st.floats(0, 1))
def test_in_characters_each_chunk_begins_exactly_the_overlap_before_the_end_of_the_last(
    text: str, limit: int, share: float
):
    overlap = int((limit - 1) * share)

    chunks = split.exact(max_chars=limit, overlap_chars=overlap)(Document.from_text(text))

    places = [(chunk.metadata["start"], chunk.metadata["end"]) for chunk in chunks]
    for (_, end), (start, _) in itertools.pairwise(places):
        # Only a chunk of nothing but blanks, which is left out, can lie between.
        assert start == end - overlap or not text[end:start].strip(" \t\n\r\v\f")


def _words(text: str) -> list[tuple[int, int]]:
    found, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        found.append((at, at + len(word)))
        at += len(word)
    return found
