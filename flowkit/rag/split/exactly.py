"""Splitting into exact pieces of the source: `text[start:end]` is the chunk, character for character.

exact(max_chars=1000, overlap_chars=100)(document)
exact(max_tokens=300, overlap_tokens=30, tokenizer=tokenizer)(document)
"""

from collections.abc import Callable, Iterator

from flowkit.rag.split.borders import Borders
from flowkit.rag.split.mapped import BLANK
from flowkit.rag.split.measure import too_small
from flowkit.rag.split.sentences import SentenceDetector, sentences
from flowkit.rag.split.sizes import Sizes
from flowkit.rag.split.splitter import Piece, Splitter
from flowkit.rag.split.tokens import Tokenizer
from flowkit.rag.split.windows import window_for

__all__ = ["Exact", "exact"]


def exact(
    *,
    max_chars: int | None = None,
    overlap_chars: int = 0,
    max_tokens: int | None = None,
    overlap_tokens: int = 0,
    tokenizer: Tokenizer | Callable[[str], int] | None = None,
    sentence_detector: SentenceDetector = sentences,
) -> "Exact":
    """Chunks that are pieces of the source, never over the limit, each repeating exactly the overlap.

    A chunk ends at the last paragraph, line, sentence or word that ends in the second half of what fits, in this order
    of preference, else where the limit is. The next chunk begins `overlap` before that end, be it inside a word; in
    tokens, at a token. Nothing is trimmed: without their overlaps the chunks are the whole text, but for stretches of
    blanks long enough to fill a chunk, which are left out.

    Raises:
        InvalidInputError: the maximum is below 1, the overlap is outside 0…maximum - 1, or the units are mixed; while
            splitting: one character has more tokens than the maximum.
    """
    sizes = Sizes.of(
        max_chars=max_chars,
        overlap_chars=overlap_chars,
        max_tokens=max_tokens,
        overlap_tokens=overlap_tokens,
        tokenizer=tokenizer,
        overlap_below_max=True,
    )
    return Exact(sizes, sentence_detector)


class Exact(Splitter):
    """See `exact`."""

    def __init__(self, sizes: Sizes, sentence_detector: SentenceDetector) -> None:
        self._sizes = sizes
        self._detector = sentence_detector

    def pieces(self, text: str) -> list[Piece]:
        window = window_for(self._sizes, text)
        borders = Borders(text, self._detector)
        found = []
        start = behind = 0
        while behind < len(text):
            end = behind
            furthest = window.guess(start)
            while end == behind:
                for candidate in _candidates(borders, start, behind, furthest):
                    # Where the next chunk would not begin behind this one, this one would be repeated in whole.
                    moves = candidate in (furthest, len(text)) or window.back(candidate) > start
                    if moves and window.fits(start, candidate):
                        end = candidate
                        break
                else:
                    furthest = window.search(start, behind)
                    if furthest == behind:
                        if start == behind:
                            raise too_small(self._sizes, text[behind], window.size(behind, behind + 1))
                        # The overlap alone leaves no room (its tokens are others in front of this text): shorten it.
                        start = behind - (behind - start) // 2
                        furthest = window.guess(start)
            if text[start:end].strip(BLANK):
                found.append(Piece(text[start:end], start, end))
            behind = end
            start = max(window.back(end), start + 1) if end < len(text) else end
        return found


def _candidates(borders: Borders, start: int, behind: int, furthest: int) -> Iterator[int]:
    """Where a chunk may end, best first: borders in behind+1…furthest and in the second half, then `furthest`."""
    if furthest <= behind:
        return
    if furthest < borders.size:
        low = max(behind, start + (furthest - start) // 2)
        yield from borders.before(furthest, low)
    yield furthest
