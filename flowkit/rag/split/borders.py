"""Where a text may well be cut: at paragraphs, lines, sentences and words.

next(Borders(text, sentences).before(1000, 500))       # the best border in 501…1000
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from flowkit.rag.split.sentences import SentenceDetector, sentence_spans
from flowkit.rag.split.separators import lines, paragraphs

__all__ = ["Borders"]

_SPACES = " \n\t\r\v\f"


class Borders:
    """The borders of one text, each kind worked out when first asked for."""

    def __init__(self, text: str, detector: SentenceDetector) -> None:
        self._text = text
        self._detector = detector
        self.size = len(text)

    def before(self, high: int, low: int) -> Iterator[int]:
        """The last paragraph border in low+1…high, then the last line, sentence and word border there."""
        seen = 0
        for level in ("_paragraphs", "_lines", "_sentences"):
            known: list[int] = getattr(self, level)
            at = bisect_right(known, high)
            if at and known[at - 1] > max(low, seen):
                seen = known[at - 1]
                yield seen
        at = self._word(high, low)
        if at > max(low, seen):
            yield at

    @cached_property
    def _paragraphs(self) -> list[int]:
        return _edges(paragraphs(self._text))

    @cached_property
    def _lines(self) -> list[int]:
        return _edges(lines(self._text))

    @cached_property
    def _sentences(self) -> list[int]:
        return _edges(sentence_spans(self._detector, self._text))

    def _word(self, high: int, low: int) -> int:
        text = self._text
        if high == self.size or text[high] in _SPACES or text[high - 1] in _SPACES:
            return high
        return max(text.rfind(space, low, high) for space in _SPACES) + 1


def _edges(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Ends and beginnings, in order. A cut at a beginning leaves the space between with the chunk before."""
    return [edge for span in spans for edge in span]
