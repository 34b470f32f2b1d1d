"""Packing: parts of a text that belong together share a chunk, as many as fit; what is too large is opened up.

    spans = Packing(text, sizes, detector).pack([Unit(0, 120), Unit(120, 900, inside=methods)])

The overlap begins at a line, a sentence or a word. It is shortened where the next part needs the room, and never left
out.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from flowkit.rag.split.borders import Borders
from flowkit.rag.split.mapped import BLANK
from flowkit.rag.split.measure import too_small
from flowkit.rag.split.sentences import SentenceDetector, sentence_spans
from flowkit.rag.split.sizes import Sizes
from flowkit.rag.split.windows import window_for

__all__ = ["Packing", "Unit", "line_starts"]

Span = tuple[int, int]
_SPACES = " \n\t\r\v\f"
_WORD = re.compile(r"[ \n\t\r\v\f]+")


def _nothing() -> Sequence["Unit"]:
    return ()


@dataclass(frozen=True, slots=True)
class Unit:
    """A span that is better not cut. `inside` gives its own parts, which together cover it."""

    start: int
    end: int
    inside: Callable[[], Sequence["Unit"]] = _nothing


class Packing:
    """The chunks of one text. Each is a piece of it, no larger than the limit."""

    def __init__(self, text: str, sizes: Sizes, detector: SentenceDetector, *, prose: bool = True) -> None:
        """Unless it is `prose`, nobody looks for sentences to begin an overlap at."""
        self._text = text
        self._prose = prose
        self._sizes = sizes
        self._detector = detector
        self._window = window_for(sizes, text)
        self._found: list[Span] = []
        # The chunk that is being filled: it repeats text[start:own], and has text[own:end] to itself.
        self._start = self._own = self._end = 0

    def pack(self, units: Sequence[Unit]) -> list[Span]:
        """Spans of the chunks, in order; only blanks lie outside all of them. The units follow each other gaplessly."""
        if not units:
            return []
        self._found = []
        self._start = self._own = self._end = units[0].start
        self._take(units)
        self._flush()
        return self._found

    def _take(self, units: Sequence[Unit]) -> None:
        ends = [unit.start + len(self._text[unit.start : unit.end].rstrip(BLANK)) for unit in units]
        at = 0
        while at < len(units):
            behind = self._fitting(ends, at)
            if behind > at:
                self._end = units[behind - 1].end
                at = behind
                if at < len(units):
                    self._flush()
            elif self._end > self._own:
                self._flush()
            elif not self._shorten(ends[at]):
                parts = units[at].inside()
                if len(parts) > 1:
                    self._take(parts)
                    self._flush()  # what follows is no part of it
                else:
                    self._cut(units[at].end)
                at += 1

    def _fitting(self, ends: Sequence[int], at: int) -> int:
        """How far the units go that fit behind what the chunk holds; `at` when none does."""
        start, _ = self._trimmed(self._start, len(self._text))
        reach = self._window.guess(start)
        behind = max(at, bisect_right(ends, reach))
        if behind == at and ends[at] - start <= 2 * (reach - start):
            behind += 1  # what was guessed may be a little short
        while behind > at and not self._fits(self._start, ends[behind - 1]):
            behind -= 1
        return behind

    def _fits(self, start: int, end: int) -> bool:
        start, end = self._trimmed(start, end)
        return start >= end or self._window.fits(start, end)

    def _flush(self) -> None:
        """End the chunk; the next one repeats the end of it."""
        start, end = self._trimmed(self._start, self._end)
        if start < end and self._text[self._own : self._end].strip(BLANK):
            self._found.append((start, end))
            if self._sizes.overlap:
                self._start = self._repeated(min(max(self._window.back(end), start + 1), end - 1), end)
            else:
                self._start = self._end
        self._own = self._end

    def _repeated(self, start: int, end: int) -> int:
        """Where what is repeated begins, in start…end: at a line, in prose also at a sentence, else at a word."""
        found = [self._after(self._lines, start)]
        if self._prose:
            found.append(self._after(self._sentences, start))
        # Not so late that hardly anything would be repeated.
        late = start + (end - start + 1) // 2
        good = [at for at in found if at <= late and self._text[at:end].strip(BLANK)]
        if good:
            return min(good)
        word = _WORD.search(self._text, start, late)
        return word.end() if word and start and self._text[start - 1] not in _SPACES else start

    def _after(self, starts: Sequence[int], at: int) -> int:
        """The first of these positions at `at` or behind it; the end of the text when there is none."""
        n = bisect_left(starts, at)
        return starts[n] if n < len(starts) else len(self._text)

    @cached_property
    def _sentences(self) -> list[int]:
        return [start for start, _ in sentence_spans(self._detector, self._text)]

    @cached_property
    def _lines(self) -> list[int]:
        return line_starts(self._text)

    def _shorten(self, end: int) -> bool:
        """Repeat less, so that text[own:end] fits behind it. False when nothing is left that could be repeated."""
        last = self._start + len(self._text[self._start : self._own].rstrip(BLANK)) - 1
        while self._start < last:
            self._start = self._repeated(last - (last - self._start) // 2, last + 1)
            if self._fits(self._start, end):
                return True
        return False

    def _cut(self, end: int) -> None:
        """Pieces of a part that is too large and has no parts. The last one may be gone on with."""
        while not self._fits(self._start, end):
            border = self._border(end)
            if border > self._own:
                self._end = border
                self._flush()
            elif self._shorten(self._own + 1):
                continue
            elif self._start < self._own:
                self._start = self._own  # blanks after what is repeated take the room: repeat nothing
            else:
                raise too_small(self._sizes, self._text[self._own], self._window.size(self._own, self._own + 1))
        self._end = end

    def _border(self, end: int) -> int:
        """Where a chunk ends best: a border in the second half of what fits, else as late as it can, else `own`."""
        start, _ = self._trimmed(self._start, end)
        furthest = min(self._window.guess(start), end)
        low = max(self._own, start + (furthest - start) // 2)
        # When one more chunk takes the rest, both become about as large: the last one shall not be a scrap.
        behind = self._window.back(furthest)
        if start < behind and furthest < end <= self._window.guess(behind):
            rest = end - behind
            furthest = min(furthest, start + (rest + 2 * (furthest - start)) // 3)
            low = max(self._own, start + rest, start + (furthest - start) // 2)
        for border in self._borders.before(furthest, low) if furthest > self._own else ():
            # Where the next chunk would not begin behind this one, this one would be repeated in whole.
            if self._window.back(border) > start and self._fits(start, border):
                return border
        if furthest > self._own and self._fits(start, furthest):
            return furthest
        return min(self._window.search(start, self._own), end)

    @cached_property
    def _borders(self) -> Borders:
        return Borders(self._text, self._detector)

    def _trimmed(self, start: int, end: int) -> Span:
        """Without empty lines at its beginning and blanks at its end. The first line keeps its indentation."""
        text = self._text[start:end]
        first = len(text) - len(text.lstrip(BLANK))
        line = max(text.rfind("\n", 0, first), text.rfind("\r", 0, first)) + 1
        if not line and start and self._text[start - 1] not in "\r\n":
            line = first
        return start + line, start + len(text.rstrip(BLANK))


def line_starts(text: str) -> list[int]:
    """Where each line begins; a line ends with LF, CR LF or CR."""
    return [0, *_ends(text)]


def _ends(text: str) -> Iterator[int]:
    return (match.end() for match in re.finditer(r"\r\n|\r|\n", text))
