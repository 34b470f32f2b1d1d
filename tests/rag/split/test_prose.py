"""Splitting prose: even chunks that end and begin where it reads well."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowkit import Document
from flowkit.errors import InvalidInputError
from flowkit.rag import split
from flowkit.schema.text import is_blank
from tests.rag.split.texts import OffsetCounter, byte_pairs, texts, worded, words

SENTENCES = [f"This is sentence number {number} of the text." for number in range(40)]


def test_a_heading_stays_with_the_long_paragraph_below_it():
    text = "The heading\n\n" + " ".join(SENTENCES[:10])

    first, *_ = split.prose(max_chars=300)(Document.from_text(text))

    assert first.text.startswith("The heading\n\nThis is sentence number 0")
    assert first.text.endswith("of the text.")


def test_the_overlap_begins_with_a_sentence():
    chunks = split.prose(max_chars=400, overlap_chars=100)(Document.from_text(" ".join(SENTENCES)))

    assert len(chunks) > 4
    for before, after in pairwise(chunks):
        repeated = before.metadata["end"] - after.metadata["start"]
        assert 50 <= repeated <= 100
        assert after.text.startswith("This is sentence")


def test_the_last_chunk_is_no_scrap():
    for number in range(8, 40):
        chunks = split.prose(max_chars=300, overlap_chars=30)(Document.from_text(" ".join(SENTENCES[:number])))
        assert min(len(chunk.text) for chunk in chunks) > 100, number


def test_a_short_text_is_one_chunk():
    assert worded(split.prose(max_chars=100)(Document.from_text("  Soup.\n\nBread.  "))) == ["  Soup.\n\nBread."]


def test_words_and_at_last_characters_are_cut_where_nothing_else_is_to_cut_at():
    words_of_it = split.prose(max_chars=10, overlap_chars=3)(Document.from_text("one two three four"))

    assert worded(words_of_it) == ["one two", "two three", "ree four"]
    assert worded(split.prose(max_chars=4)(Document.from_text("0123456789"))) == ["0123", "456", "789"]


def test_sizes_are_checked():
    with pytest.raises(InvalidInputError, match="overlap must lie in"):
        split.prose(max_chars=10, overlap_chars=10)


@settings(max_examples=150)
@given(
    text=texts(),
    limit=st.integers(10, 80),
    overlap=st.integers(0, 9),
    counter=st.sampled_from([len, OffsetCounter(byte_pairs), words]),
)
def test_nothing_is_lost_nothing_is_too_large_and_an_overlap_is_never_empty(text, limit, overlap, counter):
    chunks = split.prose(max_tokens=limit, overlap_tokens=overlap, tokenizer=counter)(Document.from_text(text))

    count = counter.count if isinstance(counter, OffsetCounter) else counter
    behind = 0
    for chunk in chunks:
        start, end = chunk.metadata["start"], chunk.metadata["end"]
        assert text[start:end] == chunk.text
        assert count(chunk.text) <= limit
        assert not text[behind:start].strip()
        assert end > behind
        if behind and overlap:
            assert not is_blank(text[start:behind])  # a no-break space is not blank
        behind = end
    assert not text[behind:].strip()


def test_a_chunk_over_several_pages_says_where_they_begin():
    document = Document.from_text("First page.\n\nSecond page.\n\nFourth page.", {"page_starts": [0, 13, 27, 27]})

    (whole,) = split.prose(max_chars=100)(document)
    assert (whole.metadata["page"], whole.metadata["page_breaks"]) == (1, [13, 27, 27])
    first, second, fourth = split.prose(max_chars=14)(document)
    assert [chunk.metadata["page"] for chunk in (first, second, fourth)] == [1, 2, 4]
    assert "page_breaks" not in second.metadata
