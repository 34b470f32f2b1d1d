"""Running text into chunks of about the same size, which end where a paragraph, a line or a sentence ends.

prose(max_tokens=254, overlap_tokens=25, tokenizer=tokenizer)(document)
"""

from collections.abc import Callable

from flowkit.rag.split.packing import Packing, Unit
from flowkit.rag.split.sentences import SentenceDetector, sentences
from flowkit.rag.split.sizes import Sizes
from flowkit.rag.split.splitter import Piece, Splitter
from flowkit.rag.split.tokens import Tokenizer

__all__ = ["Prose", "prose"]


def prose(
    *,
    max_chars: int | None = None,
    overlap_chars: int = 0,
    max_tokens: int | None = None,
    overlap_tokens: int = 0,
    tokenizer: Tokenizer | Callable[[str], int] | None = None,
    sentence_detector: SentenceDetector = sentences,
) -> "Prose":
    """Chunks that are pieces of the text and never over the limit.

    A chunk ends at the last paragraph, line, sentence or word that ends in the second half of what fits, in this order
    of preference. So a heading stays with the text below it, which `recursive` would cut off when a long paragraph
    follows, and of two last chunks none is a scrap. The overlap begins at a line, a sentence or a word, and is never
    empty.

    Raises:
        InvalidInputError: the maximum is below 1, the overlap is outside 0…maximum - 1, or the units are mixed.
    """
    sizes = Sizes.of(
        max_chars=max_chars,
        overlap_chars=overlap_chars,
        max_tokens=max_tokens,
        overlap_tokens=overlap_tokens,
        tokenizer=tokenizer,
        overlap_below_max=True,
    )
    return Prose(sizes, sentence_detector)


class Prose(Splitter):
    """See `prose`."""

    def __init__(self, sizes: Sizes, sentence_detector: SentenceDetector) -> None:
        self._sizes = sizes
        self._detector = sentence_detector

    def pieces(self, text: str) -> list[Piece]:
        spans = Packing(text, self._sizes, self._detector).pack([Unit(0, len(text))])
        return [Piece(text[start:end], start, end) for start, end in spans]
