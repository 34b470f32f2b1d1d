"""Splitting by levels and by a pattern: what fits is re-joined, what is too long is cut finer, nothing is lost."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowkit import Document
from flowkit.errors import InvalidInputError
from flowkit.rag import split
from flowkit.schema.documents import text_hash
from tests.rag.split.texts import squeezed, texts, worded, words

MENU = "Tomato soup with basil. Served hot.\n\nGreen salad.\nSmall or large.\n\nLentil curry. It is spicy."
LEVELS = [split.paragraph, split.line, split.sentence, split.word, split.character, split.recursive]


def test_paragraphs_that_fit_share_a_chunk():
    chunks = split.paragraph(max_chars=70)(Document.from_text(MENU))

    assert worded(chunks) == [
        "Tomato soup with basil. Served hot.\n\nGreen salad.\nSmall or large.",
        "Lentil curry. It is spicy.",
    ]


def test_a_paragraph_that_is_too_long_is_cut_at_its_sentences():
    chunks = split.paragraph(max_chars=25)(Document.from_text(MENU))

    assert worded(chunks) == [
        "Tomato soup with basil.",
        "Served hot.",
        "Green salad.",
        "Small or large.",
        "Lentil curry.",
        "It is spicy.",
    ]


def test_recursive_tries_lines_before_sentences():
    text = "Starters are served all day\nMains are served from noon. Desserts come last."

    assert worded(split.recursive(max_chars=30)(Document.from_text(text))) == [
        "Starters are served all day",
        "Mains are served from noon.",
        "Desserts come last.",
    ]


def test_the_overlap_is_made_of_whole_sentences():
    chunks = split.sentence(max_chars=30, overlap_chars=15)(Document.from_text("One soup. Two breads. Three plums."))

    assert worded(chunks) == ["One soup. Two breads.", "Two breads. Three plums."]


def test_a_sentence_that_is_longer_than_the_overlap_is_not_repeated():
    chunks = split.word(max_chars=10, overlap_chars=4)(Document.from_text("one two three four five"))

    assert worded(chunks) == ["one two", "three four", "five"]


def test_overlapping_sentences_are_joined_as_the_level_joins():
    text = "First one. Two. Three."

    assert split.word(max_chars=50, overlap_chars=12).overlap(text) == "Two. Three."
    assert split.line(max_chars=50, overlap_chars=12).overlap(text) == "Two.\nThree."
    assert split.paragraph(max_chars=50, overlap_chars=12).overlap(text) == "Two.\n\nThree."
    assert split.paragraph(max_chars=50, overlap_chars=11).overlap(text) == "Three."
    assert split.paragraph(max_chars=50, overlap_chars=5).overlap(text) == ""


def test_a_windows_line_end_is_one_line_break():
    assert worded(split.paragraph(max_chars=5)(Document.from_text("a\r\nb\r\n\r\nc"))) == ["a\r\nb", "c"]
    assert worded(split.line(max_chars=3)(Document.from_text("a\r\nb\rc\u2028d"))) == ["a\nb", "c\nd"]


def test_a_no_break_space_is_text():
    chunks = split.recursive(max_chars=50)(Document.from_text("\u00a0" * 120))

    assert [len(chunk.text) for chunk in chunks] == [50, 50, 20]


def test_a_pattern_cuts_and_its_own_join_joins():
    splitter = split.regex(r",\s*", " | ", max_chars=12)

    assert worded(splitter(Document.from_text("soup, bread,rice, plums"))) == ["soup | bread", "rice | plums"]


def test_empty_parts_between_matches_are_kept_and_those_at_the_end_are_not():
    splitter = split.regex(re.compile(","), ",", max_chars=100)

    assert worded(splitter(Document.from_text("a,,b,,,"))) == ["a,,b"]


def test_a_pattern_that_matches_nothing_cuts_between_characters():
    assert worded(split.regex("", "", max_chars=2)(Document.from_text("abcde"))) == ["ab", "cd", "e"]


def test_a_part_that_nothing_cuts_is_an_error():
    with pytest.raises(InvalidInputError, match=r"'longerword' has 10 chars, more than max_chars=5"):
        split.regex(" ", " ", max_chars=5)(Document.from_text("a longerword"))


def test_a_sub_splitter_of_ones_own_cuts_what_is_too_long():
    splitter = split.paragraph(max_chars=20, sub_splitter=split.regex("; ", "; ", max_chars=20))

    assert worded(splitter(Document.from_text("one thing; another thing\n\nmore"))) == [
        "one thing",
        "another thing",
        "more",
    ]


def test_an_overlap_as_large_as_the_chunk_makes_progress():
    text = "One two. Three. Four five six seven eight nine. " * 5
    for level in LEVELS:
        chunks = level(max_chars=12, overlap_chars=12)(Document.from_text(text))

        assert max(len(chunk.text) for chunk in chunks) <= 12
        assert chunks[-1].metadata["end"] == len(text.rstrip())


def test_a_part_that_only_the_overlap_keeps_out_goes_without_it():
    splitter = split.regex("/", "/", max_chars=10, overlap_chars=10)

    assert worded(splitter(Document.from_text("aaaa/bbbbb/cccccccc"))) == ["aaaa/bbbbb", "cccccccc"]


def test_a_chunk_knows_its_document_its_place_and_its_text():
    document = Document.from_text(MENU, {"source": "menu.txt", "index": 7, "tags": ["food"]})

    first, second = split.paragraph(max_chars=70)(document)

    assert first.metadata == {
        "source": "menu.txt",
        "tags": ["food"],
        "index": 0,
        "start": 0,
        "end": 65,
        "content_hash": text_hash(first.text),
    }
    assert second.metadata["index"] == 1
    assert MENU[second.metadata["start"] : second.metadata["end"]] == "Lentil curry. It is spicy."


def test_a_chunk_is_on_the_page_where_it_starts():
    text = "First page. It goes\non. Second page.\nThird page."
    document = Document.from_text(text, {"page_starts": [0, 20, 37]})

    chunks = split.sentence(max_chars=12)(document)

    assert [(chunk.text, chunk.metadata["page"]) for chunk in chunks] == [
        ("First page.", 1),
        ("It goes\non.", 1),
        ("Second page.", 2),
        ("Third page.", 3),
    ]
    assert all("page_starts" not in chunk.metadata for chunk in chunks)


def test_a_page_stays_where_nothing_says_where_pages_begin():
    (chunk,) = split.recursive(max_chars=100)(Document.from_text("Soup", {"page": 4}))

    assert chunk.metadata["page"] == 4


def test_the_index_begins_again_with_each_document():
    chunks = split.word(max_chars=4).split_all([Document.from_text("one two"), Document.from_text("six")])

    assert [(chunk.text, chunk.metadata["index"]) for chunk in chunks] == [("one", 0), ("two", 1), ("six", 0)]


def test_a_document_without_text_has_no_chunks():
    assert split.recursive(max_chars=10)(Document(content=())) == []


def test_a_string_is_refused_with_the_way_out():
    with pytest.raises(InvalidInputError, match=r"not a str.*Document\.from_text"):
        split.recursive(max_chars=10)("some text")  # type: ignore[arg-type]


def test_equal_sentences_have_their_own_places():
    text = "Same again. Same again. Same again. Same again."

    chunks = split.sentence(max_chars=25, overlap_chars=12)(Document.from_text(text))

    assert [(chunk.metadata["start"], chunk.metadata["end"]) for chunk in chunks] == [(0, 23), (12, 35), (24, 47)]


@given(
    text=texts(),
    level=st.sampled_from(LEVELS),
    limit=st.integers(1, 60),
    share=st.sampled_from([0, 0, 0.1, 0.5, 0.9, 1]),
    tokens=st.booleans(),
)
def test_spans_cover_their_chunks_limits_hold_and_only_blanks_are_lost(
    text: str, level: Callable[..., split.Splitter], limit: int, share: float, tokens: bool
):
    if tokens:
        splitter = level(max_tokens=limit, overlap_tokens=int(limit * share), tokenizer=words)
    else:
        splitter = level(max_chars=limit, overlap_chars=int(limit * share))

    chunks = splitter(Document.from_text(text))

    covered = 0
    for index, chunk in enumerate(chunks):
        start, end = chunk.metadata["start"], chunk.metadata["end"]
        assert chunk.metadata["index"] == index
        assert squeezed(chunk.text) == squeezed(text[start:end])
        assert not squeezed(text[covered:start])
        assert (words(chunk.text) if tokens else len(chunk.text)) <= limit
        covered = max(covered, end)
    assert not squeezed(text[covered:])
