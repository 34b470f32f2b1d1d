"""Tokens of the filter text.

tokens("age >= 18")     # word 'age', symbol '>=', number '18', end
"""

import re
from dataclasses import dataclass
from typing import Literal

from flowkit.errors import InvalidInputError

__all__ = ["RESERVED", "WORD", "Token", "fail", "tokens"]

Kind = Literal["word", "quoted", "string", "number", "symbol", "end"]

WORD = re.compile(r"[^\W\d][\w$]*(?:\.[\w$]+)*")
RESERVED = frozenset({"AND", "BETWEEN", "IN", "NOT", "OR", "SELECT"})
"""Words that a key must be quoted to be."""

_TOKEN = re.compile(
    rf"""
      (?P<string>'[^']*(?:''[^']*)*')
    | (?P<quoted>"[^"]*(?:""[^"]*)*" | `[^`]*(?:``[^`]*)*`)
    | (?P<number>(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?(?![\w.]))
    | (?P<word>{WORD.pattern})
    | (?P<comment>--|/\*)
    | (?P<symbol><>|<=|>=|!=|==|[=<>(),;.+*/-])
    """,
    re.VERBOSE,
)
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: `text` as written, `position` in characters from 0."""

    kind: Kind
    text: str
    position: int

    @property
    def keyword(self) -> str:
        """The word in upper case; empty for anything else, so that a quoted word is never a keyword."""
        return self.text.upper() if self.kind == "word" else ""

    @property
    def value(self) -> str:
        """The text without its quotes, doubled quotes made single."""
        if self.kind not in ("string", "quoted"):
            return self.text
        quote = self.text[0]
        return self.text[1:-1].replace(quote * 2, quote)

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else f"{self.text[:40]!r}"


def tokens(text: str) -> list[Token]:
    """All tokens of the text, an `end` last.

    Raises:
        InvalidInputError: something that begins no token; the message names its position.
    """
    found: list[Token] = []
    position = _skip_space(text, 0)
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup == "comment":
            piece = text[position : position + 12].split()[0]
            what = "a closing quote" if piece[0] in "'\"`" else "a key, a value or an operator"
            raise fail(text, position, what, repr(piece), _HINTS.get(piece[0]))
        found.append(Token(match.lastgroup, match[0], position))  # type: ignore[arg-type]
        position = _skip_space(text, match.end())
    found.append(Token("end", "", position))
    return found


_HINTS = {"-": "comments are not read", "/": "comments are not read"}


def _skip_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


def fail(text: str, position: int, expected: str, found: str, hint: str | None = None) -> InvalidInputError:
    """The error for text that cannot be read. `details` has `position` and `expected` for an editor to mark."""
    shown = text if len(text) <= 100 else f"{text[:97]}…"
    return InvalidInputError(
        f"cannot read the filter {shown!r}: expected {expected} at character {position + 1}, found {found}",
        hint=hint,
        details={"position": position, "expected": expected},
    )
