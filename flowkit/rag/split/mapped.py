"""Text that remembers where in the source each of its characters came from.

    text = Mapped("one two three", 0)
    both = text.join([(0, 3), (8, 13)], "\\n")      # "one\\nthree"
    both.span                                      # (0, 13)

Re-joined parts and repeated overlaps have exact spans this way; searching for a chunk would find the wrong repetition.
"""

from collections.abc import Sequence

__all__ = ["BLANK", "Mapped", "glue"]

BLANK = "".join(map(chr, range(0x21)))
"""What trimming removes, and what a blank text consists of: code points up to U+0020 (so no no-break space)."""

Run = tuple[int, int, int]
"""Position in the text, position in the source, length."""


class Mapped:
    """A text that stands in the source as it is, at `base`; or (base None) that is made of runs of it.

    Characters outside all runs are join strings; they came from nowhere.
    """

    __slots__ = ("_made", "_runs", "base", "text")

    def __init__(
        self,
        text: str,
        base: int | None,
        runs: Sequence[Run] = (),
        made: tuple[int, Sequence[tuple[int, int]], int] = (0, (), 0),
    ) -> None:
        self.text = text
        self.base = base
        self._runs = runs
        # Where the runs come from as long as nobody has asked for them: base, spans and length of the join.
        self._made = made

    @property
    def runs(self) -> Sequence[Run]:
        """The runs in order, in the text as in the source; at least one."""
        if not self._runs:
            if self.base is not None:
                self._runs = ((0, self.base, len(self.text)),)
            else:
                base, spans, join = self._made
                runs = []
                at = 0
                for start, end in spans:
                    runs.append((at, base + start, end - start))
                    at += end - start + join
                self._runs = runs
        return self._runs

    @property
    def span(self) -> tuple[int, int]:
        """From the first source character to behind the last one."""
        if self.base is not None:
            return self.base, self.base + len(self.text)
        if not self._runs:
            base, spans, _ = self._made
            return base + spans[0][0], base + spans[-1][1]
        _, last, length = self._runs[-1]
        return self._runs[0][1], last + length

    def cut(self, start: int, end: int) -> "Mapped":
        """`text[start:end]`."""
        if self.base is not None:
            return Mapped(self.text[start:end], self.base + start)
        runs = []
        behind = self.runs[0][1]
        for at, source, length in self.runs:
            low, high = max(at, start), min(at + length, end)
            if low < high:
                runs.append((low - start, source + low - at, high - low))
            if at + length <= start:
                behind = source + length
        # A piece of nothing but join string lies behind what came before it.
        return Mapped(self.text[start:end], None, runs or [(0, behind, 0)])

    def join(self, spans: Sequence[tuple[int, int]], join: str) -> "Mapped":
        """The texts of several spans (at least one, in order) with `join` between them."""
        text, base = self.text, self.base
        first, last = spans[0][0], spans[-1][1]
        if len(spans) == 1:
            return self.cut(first, last)
        if base is None:
            return glue([self.cut(start, end) for start, end in spans], join)
        joined = join.join([text[start:end] for start, end in spans])
        if len(joined) == last - first and text.startswith(joined, first):
            return Mapped(joined, base + first)
        return Mapped(joined, None, made=(base, spans, len(join)))

    def strip(self) -> "Mapped":
        """Without blanks at both ends."""
        text = self.text
        if text and text[0] > " " and text[-1] > " ":
            return self
        start = len(text) - len(text.lstrip(BLANK))
        return self.cut(start, max(start, len(text.rstrip(BLANK))))


def glue(pieces: Sequence[Mapped], join: str) -> Mapped:
    """The pieces with `join` between them; at least one piece."""
    if len(pieces) == 1:
        return pieces[0]
    runs: list[Run] = []
    at = 0
    for piece in pieces:
        runs.extend([(at + position, source, length) for position, source, length in piece.runs])
        at += len(piece.text) + len(join)
    return Mapped(join.join([piece.text for piece in pieces]), None, runs)
