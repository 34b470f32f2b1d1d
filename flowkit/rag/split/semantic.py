"""Splitting by the library semchunk: at the longest whitespace, then at punctuation, merged up to the limit.

semchunk(max_tokens=300, tokenizer=tokenizer)(document)
"""

from collections.abc import Callable
from functools import lru_cache
from typing import cast

from flowkit.errors import InvalidInputError
from flowkit.rag.split.mapped import BLANK
from flowkit.rag.split.sizes import Sizes
from flowkit.rag.split.splitter import Piece, Splitter
from flowkit.rag.split.tokens import Tokenizer

__all__ = ["Semchunk", "semchunk"]

_Chunked = tuple[list[str], list[tuple[int, int]]]


def semchunk(
    *,
    max_chars: int | None = None,
    max_tokens: int | None = None,
    tokenizer: Tokenizer | Callable[[str], int] | None = None,
) -> "Semchunk":
    """Chunks as the library semchunk makes them, without overlap: with one it goes over the limit (use `exact`).

    Raises:
        InvalidInputError: no size, a size below 1, or sizes of two units; while splitting: one character has more
            tokens than the maximum.
    """
    return Semchunk(Sizes.of(max_chars=max_chars, max_tokens=max_tokens, tokenizer=tokenizer))


class Semchunk(Splitter):
    """See `semchunk`."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes

    def pieces(self, text: str) -> list[Piece]:
        from semchunk.semchunk import chunk

        # Its own memory of counts is global and has no end; this one ends with the call.
        count = len if self._sizes.tokenizer is None else lru_cache(10_000)(self._sizes.tokenizer.count)
        try:
            _, spans = cast(_Chunked, chunk(text, self._sizes.limit, count, memoize=False, offsets=True))
        except RecursionError:
            raise InvalidInputError(
                f"semchunk found no way to cut a text to max_{self._sizes.unit}={self._sizes.limit}",
                hint="a single character may count more than that; raise the maximum, or use split.exact",
            ) from None
        return [Piece(text[start:end], start, end) for start, end in spans if text[start:end].strip(BLANK)]
