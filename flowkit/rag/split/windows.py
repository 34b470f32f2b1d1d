"""Windows over a text: how far a chunk can reach from where it starts, and how far its overlap goes back.

window = window_for(sizes, text)
window.guess(0), window.fits(0, 950), window.back(950)
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Protocol

from flowkit.rag.split.search import furthest
from flowkit.rag.split.sizes import Sizes
from flowkit.rag.split.tokens import OffsetTokenizer, Tokenizer

__all__ = ["Window", "window_for"]

_MANY = 4


class Window(Protocol):
    def size(self, start: int, end: int) -> int:
        """The size of text[start:end]."""
        ...

    def fits(self, start: int, end: int) -> bool:
        """Whether text[start:end] is within the limit."""
        ...

    def guess(self, start: int) -> int:
        """Where the limit is, as far as is known without counting."""
        ...

    def search(self, start: int, low: int) -> int:
        """The furthest end above `low` that fits, found by counting; `low` when there is none."""
        ...

    def back(self, end: int) -> int:
        """Where the next chunk starts when this one ends at `end`: the overlap before it."""
        ...


def window_for(sizes: Sizes, text: str) -> Window:
    if sizes.tokenizer is None:
        return _Characters(sizes, text)
    if isinstance(sizes.tokenizer, OffsetTokenizer):
        return _Tokens(sizes, sizes.tokenizer, text)
    return _Counted(sizes, sizes.tokenizer, text)


class _Characters:
    def __init__(self, sizes: Sizes, text: str) -> None:
        self._limit, self._overlap, self._end = sizes.limit, sizes.overlap, len(text)

    def size(self, start: int, end: int) -> int:
        return end - start

    def fits(self, start: int, end: int) -> bool:
        return end - start <= self._limit

    def guess(self, start: int) -> int:
        return min(self._end, start + self._limit)

    def search(self, start: int, low: int) -> int:
        return self.guess(start)

    def back(self, end: int) -> int:
        return end - self._overlap


class _Counted:
    """By a counter: reaches are searched for, starting from the length of the chunk before."""

    def __init__(self, sizes: Sizes, tokenizer: Tokenizer, text: str) -> None:
        self._limit, self._overlap, self._text = sizes.limit, sizes.overlap, text
        self._count = tokenizer.count
        self._usual = 4 * sizes.limit
        self._usual_overlap = 4 * sizes.overlap

    def size(self, start: int, end: int) -> int:
        return self._count(self._text[start:end])

    def fits(self, start: int, end: int) -> bool:
        # Counting all the rest of a long text for every chunk would take the square of its length.
        beginning = start + _MANY * self._usual
        if beginning < end and self.size(start, beginning) > 2 * self._limit:
            return False
        return self.size(start, end) <= self._limit

    def guess(self, start: int) -> int:
        end = self.search(start, start)
        self._usual = max(1, end - start)
        return end

    def search(self, start: int, low: int) -> int:
        return furthest(lambda end: self.fits(start, end), low, len(self._text), start + self._usual)

    def back(self, end: int) -> int:
        if not self._overlap:
            return end
        length = furthest(
            lambda length: self.size(end - length, end) <= self._overlap, 0, end, guess=self._usual_overlap
        )
        self._usual_overlap = max(1, length)
        return end - length


class _Tokens(_Counted):
    """By the offsets of one tokenisation; each chunk is counted once more, since a cut may change its tokens."""

    def __init__(self, sizes: Sizes, tokenizer: OffsetTokenizer, text: str) -> None:
        super().__init__(sizes, tokenizer, text)
        self._spans: Sequence[tuple[int, int]] = tokenizer.offsets(text)

    def fits(self, start: int, end: int) -> bool:
        # A cut changes the tokens of the words at its ends, and never halves their number.
        inside = bisect_left(self._spans, (end,)) - bisect_left(self._spans, (start,))
        return inside <= 2 * self._limit + _MANY and self.size(start, end) <= self._limit

    def guess(self, start: int) -> int:
        first = bisect_left(self._spans, (start,))
        if first and self._spans[first - 1][1] > start:
            first -= 1
        stop = first + self._limit
        end = self._spans[stop][0] if stop < len(self._spans) else len(self._text)
        self._usual = max(1, end - start)
        return end

    def back(self, end: int) -> int:
        if not self._overlap:
            return end
        behind = bisect_left(self._spans, (end,))
        return self._spans[max(0, behind - self._overlap)][0] if behind else end
