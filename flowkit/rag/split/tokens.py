"""Tokenizers, as far as splitting needs them: how many tokens a text has and, if known, where they lie.

class MyTokenizer:
    def count(self, text: str) -> int: ...
    def offsets(self, text: str) -> list[tuple[int, int]]: ...     # optional; saves most of the work
"""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from flowkit.errors import InvalidInputError

__all__ = ["OffsetTokenizer", "Tokenizer", "as_tokenizer"]


@runtime_checkable
class Tokenizer(Protocol):
    """Counts tokens, without any marks that a model puts around a text, and without truncation."""

    def count(self, text: str) -> int: ...


@runtime_checkable
class OffsetTokenizer(Tokenizer, Protocol):
    """Also knows where each token lies, so that a document is tokenised once and never again per candidate."""

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """The span of each token in characters (not bytes) of `text`, in order: one per token that `count` counts."""
        ...


class _Counter:
    """A plain function as a Tokenizer."""

    __slots__ = ("count",)

    def __init__(self, count: Callable[[str], int]) -> None:
        self.count = count


def as_tokenizer(tokenizer: Tokenizer | Callable[[str], int]) -> Tokenizer:
    """The tokenizer itself, or a function `str -> int` as one.

    Raises:
        InvalidInputError: it is neither.
    """
    if callable(getattr(tokenizer, "count", None)) and not isinstance(tokenizer, str | bytes | list | tuple):
        return tokenizer  # type: ignore[return-value]  # has a count method, which is all that is asked
    if callable(tokenizer):
        return _Counter(tokenizer)
    raise InvalidInputError(
        f"tokenizer is a {type(tokenizer).__name__}, which cannot count tokens",
        hint="pass an object with count(text), or a function such as lambda text: len(encoding.encode(text))",
    )
