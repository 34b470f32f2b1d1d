"""Large texts take time in proportion to their length: each of these would run for hours if it did not."""

from collections.abc import Callable

import pytest

from flowkit import Document
from flowkit.rag import split
from tests.rag.split.texts import OffsetCounter

MILLIONS = 2_000_000
PROSE = "The ferry left the harbour. Nobody spoke; a gull followed.\nIt was early.\n\n"
SPLITTERS: dict[str, Callable[[], split.Splitter]] = {
    "recursive": lambda: split.recursive(max_chars=1000, overlap_chars=100),
    "recursive, all overlap": lambda: split.recursive(max_chars=1000, overlap_chars=1000),
    "recursive, counter": lambda: split.recursive(max_tokens=300, overlap_tokens=30, tokenizer=_quarter),
    "recursive, offsets": lambda: split.recursive(
        max_tokens=300, overlap_tokens=30, tokenizer=OffsetCounter(_every_fourth)
    ),
    "exact": lambda: split.exact(max_chars=1000, overlap_chars=100),
    "exact, counter": lambda: split.exact(max_tokens=300, overlap_tokens=30, tokenizer=_quarter),
    "exact, offsets": lambda: split.exact(max_tokens=300, overlap_tokens=30, tokenizer=OffsetCounter(_every_fourth)),
}


def _quarter(text: str) -> int:
    return (len(text) + 3) // 4


def _every_fourth(text: str) -> list[tuple[int, int]]:
    return [(at, min(at + 4, len(text))) for at in range(0, len(text), 4)]


@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize(
    "text",
    ["abcdefghij" * (MILLIONS // 10), "a" + " " * MILLIONS + "b", "." * MILLIONS, 'a."' + '"' * MILLIONS + "b"],
    ids=["letters", "blanks", "dots", "quotes"],
)
def test_an_unbroken_run_of_two_million_characters(name: str, text: str):
    chunks = SPLITTERS[name]()(Document.from_text(text))

    assert chunks[0].metadata["start"] == 0
    assert chunks[-1].metadata["end"] == len(text)
    assert all(len(chunk.text) <= 1200 for chunk in chunks)


@pytest.mark.parametrize("name", [name for name in SPLITTERS if "all overlap" not in name])
def test_five_megabytes_of_prose(name: str):
    text = PROSE * (5_000_000 // len(PROSE))

    chunks = SPLITTERS[name]()(Document.from_text(text))

    assert len(chunks) > 4000
    assert chunks[-1].metadata["end"] >= len(text.rstrip())
    assert all(len(chunk.text) <= 1200 for chunk in chunks)


def test_prose_does_not_count_all_that_is_left_for_every_chunk():
    """Else a text of twice the length takes four times as long."""
    known, plain = OffsetCounter(_every_fourth), OffsetCounter(_every_fourth)
    text = "soup bread tea\n" * 2000

    for tokenizer, counter in ((known, known), (plain.count, plain)):
        chunks = split.prose(max_tokens=50, overlap_tokens=5, tokenizer=tokenizer)(Document.from_text(text))

        assert len(chunks) > 100
        assert sum(map(len, counter.counted)) < 40 * len(text)
