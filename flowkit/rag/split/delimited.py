"""Splitting with the settings and the results of the npm package llm-chunk, which Genkit's samples use.

chunk(min_length=1000, max_length=2000, splitter="sentence", overlap=100)(document)
"""

import re
from typing import Literal

from flowkit.errors import InvalidInputError
from flowkit.rag.split.mapped import BLANK, Mapped, glue
from flowkit.rag.split.splitter import Piece, Splitter

__all__ = ["Delimited", "chunk"]

# JavaScript's \s: with the byte order mark, without U+0085 and the separators U+001C…U+001F.
_SPACE = r"[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_DELIMITERS = {"sentence": rf"([.!?\n]){_SPACE}*", "paragraph": r"\n{2,}"}


def chunk(
    *,
    min_length: int = 1000,
    max_length: int = 2000,
    splitter: Literal["sentence", "paragraph"] = "sentence",
    overlap: int = 100,
    delimiters: str = "",
) -> "Delimited":
    """Chunks that gather sentences or paragraphs until there are `min_length` characters, and end near `max_length`.

    The lengths count characters, and are aims rather than limits: a chunk goes on to the next space, a last one takes
    what is left, and the overlap is stretched to the space before it. Pairs of paragraphs run together without a
    space: all of it as llm-chunk does it. Chunks of nothing but blanks are left out. `exact` keeps its limits.

    Args:
        delimiters: a regular expression to cut at instead; with one group, what that matches stays with its part.

    Raises:
        InvalidInputError: a length below 0, max_length below 1, an unknown splitter, or no regular expression.
    """
    for name, length, least in (("min_length", min_length, 0), ("max_length", max_length, 1), ("overlap", overlap, 0)):
        if isinstance(length, bool) or not isinstance(length, int) or length < least:
            raise InvalidInputError(
                f"min_length={min_length!r}, max_length={max_length!r} and overlap={overlap!r}: "
                f"{name} must be a whole number of {least} or more"
            )
    if splitter not in _DELIMITERS:
        raise InvalidInputError(f"splitter is {splitter!r}", hint='use "sentence" or "paragraph"')
    try:
        pattern = re.compile(delimiters or _DELIMITERS[splitter])
    except (re.error, OverflowError) as error:
        raise InvalidInputError(f"delimiters {delimiters!r} is no regular expression: {error}") from error
    return Delimited(pattern, min_length, max_length, overlap)


class Delimited(Splitter):
    """See `chunk`."""

    def __init__(self, pattern: re.Pattern[str], min_length: int, max_length: int, overlap: int) -> None:
        self._pattern = pattern
        self._min, self._max, self._overlap = min_length, max_length, overlap

    def pieces(self, text: str) -> list[Piece]:
        found: list[Mapped] = []
        gathered: list[Mapped] = []
        length = 0
        parts = _parts(self._pattern, Mapped(text, 0))
        for at in range(0, len(parts), 2):
            part = glue(parts[at : at + 2], "")
            gathered.append(part)
            length += len(part.text)
            if length >= self._min:
                head, rest, tail = self._take(gathered)
                found.append(head)
                gathered = [piece for piece in (tail, rest) if piece.text]
                length = len(tail.text) + len(rest.text)
        if gathered:
            head, rest, _ = self._take(gathered)
            found += (head, rest)
        return [Piece(piece.text, *piece.span) for piece in found if piece.text.strip(BLANK)]

    def _take(self, gathered: list[Mapped]) -> tuple[Mapped, Mapped, Mapped]:
        """A chunk, what is left of the parts, and the end of the chunk that the next one repeats."""
        whole = glue(gathered, " ")
        text = whole.text
        end = min(self._max, len(text))
        space = text.find(" ", end)
        if space < 0:
            space = text.find("\n", end)
        if space >= 0:
            end = space
        tail = end
        if self._overlap:
            back = max(0, end - self._overlap) + 1
            space = text.rfind(" ", 0, min(back, end))
            if space < 0:
                space = text.rfind("\n", 0, min(back, end))
            if space >= 0:
                tail = space
        return whole.cut(0, end), whole.cut(end, len(text)), whole.cut(tail, end)


def _parts(pattern: re.Pattern[str], text: Mapped) -> list[Mapped]:
    """What JavaScript's split gives: the texts between matches, and between these what each group matched."""
    parts = []
    begin = at = 0
    size = len(text.text)
    while at < size:
        match = pattern.search(text.text, at)
        if match is None or match.start() >= size:
            break
        if match.end() == begin:
            at = match.start() + 1
            continue
        parts.append(text.cut(begin, match.start()))
        # A group that took no part spans -1…-1: an empty text.
        spans = [match.span(group) for group in range(1, pattern.groups + 1)]
        parts.extend([text.cut(max(start, 0), max(end, 0)) for start, end in spans])
        begin = at = match.end()
    parts.append(text.cut(begin, size))
    return parts
