"""Splitting Markdown: a chunk stays under one heading and says which; what is cut overlaps."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowkit import Document
from flowkit.errors import InvalidInputError
from flowkit.rag import split
from tests.rag.split.texts import OffsetCounter, byte_pairs, squeezed, worded, words

GUIDE = """Before any heading.

# Guide

## Installing

Take the package of your system.

### Linux
Use apt.

### [Mac OS](https://mac.test) `brew` {#mac}
Use brew.

Running
-------
Type its name.

# Help #
Ask us.
"""


def headed(text: str, **sizes: int) -> list[tuple[str | None, str]]:
    sizes = sizes or {"max_chars": 1000}
    return [(chunk.metadata.get("heading"), chunk.text) for chunk in split.markdown(**sizes)(Document.from_text(text))]


def test_each_section_is_a_chunk_that_knows_its_headings():
    assert headed(GUIDE) == [
        (None, "Before any heading."),
        ("Guide > Installing", "# Guide\n\n## Installing\n\nTake the package of your system."),
        ("Guide > Installing > Linux", "### Linux\nUse apt."),
        ("Guide > Installing > Mac OS brew", "### [Mac OS](https://mac.test) `brew` {#mac}\nUse brew."),
        ("Guide > Running", "Running\n-------\nType its name."),
        ("Help", "# Help #\nAsk us."),
    ]


def test_what_looks_like_a_heading_in_code_is_none():
    text = "# Shell\n\n```sh\n# a remark\nls\n```\n\n~~~\n# another\n```\n# still inside\n~~~\n\nAfter.\n\n## Next\nx"

    assert [heading for heading, _ in headed(text)] == ["Shell", "Shell > Next"]


@pytest.mark.parametrize("text", ["#hashtag", "####### seven", "\\# escaped", "a # b", "- item\n---", "| a |\n---"])
def test_these_are_no_headings(text: str):
    assert headed(text) == [(None, text)]


def test_settings_at_the_top_are_no_heading():
    assert headed("---\ntitle: Soup\n---\n\n# Menu\nSoup") == [
        (None, "---\ntitle: Soup\n---"),
        ("Menu", "# Menu\nSoup"),
    ]


def test_a_large_section_is_cut_between_its_blocks_and_its_code_stays_whole():
    code = "```python\na = 1\n\nb = 2\n```"
    text = f"# Long\n\n{'First words. ' * 4}\n\n{code}\n\n{'Last words. ' * 4}"

    chunks = headed(text, max_chars=70)

    assert [heading for heading, _ in chunks] == ["Long"] * 3
    assert chunks[1][1] == code


def test_parts_of_one_section_overlap_and_sections_do_not():
    sentence = "One very long sentence that goes on and on without an end in sight and says nothing, "
    document = Document.from_text(f"# A\n{sentence * 8}\n# B\n{sentence * 8}")

    chunks = split.markdown(max_chars=200, overlap_chars=30)(document)

    for before, after in pairwise(chunks):
        if before.metadata["heading"] == after.metadata["heading"]:
            assert before.metadata["end"] - after.metadata["start"] >= 20
        else:
            assert before.metadata["end"] <= after.metadata["start"]


def test_pages_and_other_metadata_are_kept():
    document = Document.from_text("# A\nx\n# B\ny", {"source": "a.md", "page_starts": [0, 6]})

    chunks = split.markdown(max_chars=100)(document)

    assert [(chunk.metadata["page"], chunk.metadata["index"]) for chunk in chunks] == [(1, 0), (2, 1)]
    assert {chunk.source for chunk in chunks} == {"a.md"}


def test_a_text_without_headings_is_split_all_the_same():
    assert headed("Only words.\n\nAnd more.", max_chars=12) == [(None, "Only words."), (None, "And more.")]


def test_sizes_are_checked():
    with pytest.raises(InvalidInputError, match="overlap must lie in"):
        split.markdown(max_chars=10, overlap_chars=10)
    with pytest.raises(InvalidInputError, match="needs a size"):
        split.markdown()


BLOCKS = ["# Top", "## Sub", "### Deep\n", "Words in a line.", "and\nmore lines\n", "- item\n- item"]
BLOCKS += [
    "```\ncode\n\n#x\n```",
    "Under\n=====",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "長い文章です。" * 5,
    "x" * 50,
    "---",
    "   ",
]


@settings(max_examples=150)
@given(
    blocks=st.lists(st.sampled_from(BLOCKS), min_size=1, max_size=12),
    gap=st.sampled_from(["\n", "\n\n", "\r\n", "\r\n\r\n"]),
    limit=st.integers(12, 80),
    overlap=st.integers(0, 11),
    counter=st.sampled_from([len, OffsetCounter(byte_pairs), words]),
)
def test_nothing_is_lost_and_nothing_is_too_large(blocks, gap, limit, overlap, counter):
    text = gap.join(blocks)
    if not text.strip():
        return
    chunks = split.markdown(max_tokens=limit, overlap_tokens=overlap, tokenizer=counter)(Document.from_text(text))

    count = counter.count if isinstance(counter, OffsetCounter) else counter
    assert all(count(chunk.text) <= limit for chunk in chunks)
    assert all(text[chunk.metadata["start"] : chunk.metadata["end"]] == chunk.text for chunk in chunks)
    assert all(chunk.text.strip() == chunk.text.rstrip().lstrip("\r\n").lstrip() for chunk in chunks)
    behind = 0
    kept = []
    for chunk in chunks:
        assert not text[behind : chunk.metadata["start"]].strip()
        kept.append(text[max(behind, chunk.metadata["start"]) : chunk.metadata["end"]])
        assert chunk.metadata["end"] > behind
        behind = chunk.metadata["end"]
    assert squeezed("".join(kept)) == squeezed(text)
    if not overlap:
        assert squeezed("".join(worded(chunks))) == squeezed(text)
