"""How large a chunk may be and how much it repeats: one limit, one overlap, one unit.

Sizes.of(max_chars=1000, overlap_chars=100)
Sizes.of(max_tokens=300, overlap_tokens=30, tokenizer=tokenizer)
"""

from collections.abc import Callable
from dataclasses import dataclass

from flowkit.errors import InvalidInputError
from flowkit.rag.split.tokens import Tokenizer, as_tokenizer

__all__ = ["Sizes"]


@dataclass(frozen=True, slots=True)
class Sizes:
    """`limit` and `overlap` count tokens when there is a tokenizer, else characters."""

    limit: int
    overlap: int
    tokenizer: Tokenizer | None = None

    @property
    def unit(self) -> str:
        return "chars" if self.tokenizer is None else "tokens"

    @classmethod
    def of(
        cls,
        *,
        max_chars: int | None = None,
        overlap_chars: int = 0,
        max_tokens: int | None = None,
        overlap_tokens: int = 0,
        tokenizer: Tokenizer | Callable[[str], int] | None = None,
        overlap_below_max: bool = False,
    ) -> "Sizes":
        """Check the arguments of a splitter.

        Raises:
            InvalidInputError: no size, sizes of two units, a size below 1, an overlap outside 0…max (or 0…max - 1),
                or tokens without a tokenizer.
        """
        if max_chars is None and max_tokens is None:
            raise InvalidInputError(
                "a splitter needs a size", hint="pass max_chars=1000, or max_tokens=300 with tokenizer="
            )
        given = {
            "max_chars": max_chars,
            "max_tokens": max_tokens,
            "overlap_chars": overlap_chars or None,
            "overlap_tokens": overlap_tokens or None,
        }
        told = {name: size for name, size in given.items() if size is not None}
        if len({name.partition("_")[2] for name in told}) > 1:
            listed = " and ".join(f"{name}={size}" for name, size in told.items())
            raise InvalidInputError(f"{listed}: sizes of two units", hint="give both in chars or both in tokens")
        if max_chars is not None:
            unit, limit, overlap = "chars", max_chars, overlap_chars
        else:
            unit, limit, overlap = "tokens", max_tokens or 0, overlap_tokens
        _check(unit, limit, overlap, overlap_below_max)
        if unit == "chars":
            if tokenizer is not None:
                raise InvalidInputError(
                    f"max_chars={limit} and overlap_chars={overlap} need no tokenizer",
                    hint="drop tokenizer=, or give the sizes in tokens",
                )
            return cls(limit, overlap)
        if tokenizer is None:
            raise InvalidInputError(
                f"max_tokens={limit} and overlap_tokens={overlap} need a tokenizer to count with",
                hint="pass tokenizer=, or sizes in characters: max_chars=1000, overlap_chars=100",
            )
        return cls(limit, overlap, as_tokenizer(tokenizer))


def _check(unit: str, limit: int, overlap: int, below_max: bool) -> None:
    both = f"max_{unit}={limit!r} and overlap_{unit}={overlap!r}"
    for size in (limit, overlap):
        if isinstance(size, bool) or not isinstance(size, int):
            raise InvalidInputError(f"{both}: sizes are whole numbers")
    if limit < 1:
        raise InvalidInputError(f"{both}: the maximum must be 1 or more")
    most = limit - below_max
    if not 0 <= overlap <= most:
        raise InvalidInputError(f"{both}: the overlap must lie in 0…{most}")
