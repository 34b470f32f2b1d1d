"""Texts to split, and counters to split them with.

@given(text=texts())
"""

import re
from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from flowkit import Document

__all__ = ["OffsetCounter", "byte_pairs", "squeezed", "texts", "worded", "words"]

WORDS = ["soup", "Soup", "bread.", "rice,", "vegan?", "Yes!", "Dr.", "e.g.", "3.14", "(plums)", "don't"]
LONG = ["Donaudampfschifffahrt", "unbelievable", "https://menu.test/a?b=c"]
CJK = ["今日は晴れです。", "本当？", "「はい」", "水", "ＡＢＣ", "이것은 문장입니다."]
GAPS = [" ", " ", " ", "  ", "\n", "\n\n", "\r\n", "\r\n\r\n", " \n \n ", "\t", "\u2028", "\x85", "\v", ""]
ODD = ["\u00a0", "…", "\u200b", "🍲", "é", "।", "؟", "_", "."]


class OffsetCounter:
    """A tokenizer that knows where its tokens are; it also remembers what it was asked."""

    def __init__(self, offsets: Callable[[str], Sequence[tuple[int, int]]]) -> None:
        self._offsets = offsets
        self.tokenised: list[str] = []
        self.counted: list[str] = []

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        self.tokenised.append(text)
        return self._offsets(text)

    def count(self, text: str) -> int:
        self.counted.append(text)
        return len(self._offsets(text))


def byte_pairs(text: str) -> list[tuple[int, int]]:
    """A tokenizer with bad habits: blanks belong to the word behind them, and a cut word has other tokens."""
    return [
        (start, min(start + 3, word.end()))
        for word in re.finditer(r"\s*\S+|\s+\Z", text)
        for start in range(word.start(), word.end(), 3)
    ]


def words(text: str) -> int:
    return len(text.split())


def squeezed(text: str) -> str:
    """Without whitespace, and without control characters, which trimming takes for blanks too."""
    return "".join(char for char in text if char > " " and not char.isspace())


def texts(*, odd: bool = True, long: bool = True) -> st.SearchStrategy[str]:
    """Texts of a few words in several scripts, with all kinds of gaps; never blank."""
    pieces = [*WORDS, *CJK, *(LONG if long else ()), *(ODD if odd else ())]
    gaps = GAPS if odd else [gap for gap in GAPS if gap not in ("", "\x85", "\u2028")]
    pair = st.tuples(st.sampled_from(pieces), st.sampled_from(gaps)).map("".join)
    return st.lists(pair, min_size=1, max_size=60).map("".join).filter(lambda text: bool(text.strip()))


def worded(chunks: Sequence[Document]) -> list[str]:
    return [chunk.text for chunk in chunks]
