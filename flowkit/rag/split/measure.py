"""Measures: how large texts are, in characters, by a counter, or by the token offsets of the whole source.

    measure = Measures(source).of(sizes)
    measure.part(Mapped(source, 0), 10, 40)

A blank text costs its length in every measure, so a join string is never free.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Protocol

from flowkit.errors import InvalidInputError
from flowkit.rag.split.mapped import BLANK, Mapped
from flowkit.rag.split.search import furthest
from flowkit.rag.split.sizes import Sizes
from flowkit.rag.split.tokens import OffsetTokenizer, Tokenizer

__all__ = ["Measure", "Measures", "too_small"]

_PATIENCE = 2_000
"""Up to so many characters of an unbroken run are tried one by one; beyond, the limit is searched for by halving."""


class Measure(Protocol):
    additive: bool
    """Whether the size of joined parts is the sum of the parts' sizes and of `inner(join)` for each join."""

    def part(self, text: Mapped, start: int, end: int) -> int:
        """The size of `text[start:end]`."""
        ...

    def parts(self, text: Mapped, spans: Sequence[tuple[int, int]]) -> list[int]:
        """The size of each part, in order."""
        ...

    def inner(self, join: str) -> int:
        """What a join adds to a joined text (additive measures only)."""
        ...

    def alone(self, join: str) -> int:
        """The size of a join as a text of its own: what has to be free for it."""
        ...

    def reach(self, text: Mapped, start: int, head: Mapped | None, limit: int) -> int:
        """The furthest `end` for which head + text[start:end] may be one chunk; `start` when nothing fits."""
        ...


class Measures:
    """The measures of one document. A tokenizer that knows offsets tokenises it here, once for all levels."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._known: dict[int, Measure] = {}

    def of(self, sizes: Sizes) -> Measure:
        tokenizer = sizes.tokenizer
        measure = self._known.get(id(tokenizer))
        if measure is None:
            if tokenizer is None:
                measure = _Characters()
            elif isinstance(tokenizer, OffsetTokenizer):
                measure = _Offsets(tokenizer, self._source)
            else:
                measure = _Counted(tokenizer)
            self._known[id(tokenizer)] = measure
        return measure


class _Characters:
    additive = True

    def part(self, text: Mapped, start: int, end: int) -> int:
        return end - start

    def parts(self, text: Mapped, spans: Sequence[tuple[int, int]]) -> list[int]:
        return [end - start for start, end in spans]

    def inner(self, join: str) -> int:
        return len(join)

    alone = inner

    def reach(self, text: Mapped, start: int, head: Mapped | None, limit: int) -> int:
        return min(len(text.text), start + limit - (len(head.text) if head else 0))


class _Counted:
    """By a counter that must be asked about each candidate, since tokens may merge across a join."""

    additive = False

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._count = tokenizer.count

    def _size(self, text: str) -> int:
        return self._count(text) if text.strip(BLANK) else len(text)

    def part(self, text: Mapped, start: int, end: int) -> int:
        return self._size(text.text[start:end])

    def parts(self, text: Mapped, spans: Sequence[tuple[int, int]]) -> list[int]:
        return [self._size(text.text[start:end]) for start, end in spans]

    def inner(self, join: str) -> int:
        return self._size(join)

    def alone(self, join: str) -> int:
        return self._size(join)

    def reach(self, text: Mapped, start: int, head: Mapped | None, limit: int) -> int:
        before = head.text if head else ""
        run = text.text
        if len(run) - start > _PATIENCE:
            return furthest(
                lambda end: self._size(before + run[start:end]) <= limit, start, len(run), guess=start + 4 * limit
            )
        end = start
        while end < len(run):
            held = self._size(before + run[start:end]) if before or end > start else 0
            if held + self._size(run[end]) > limit:
                break
            end += 1
        return end


class _Offsets:
    """By the spans of the source's tokens; a text is asked about again only where it begins or ends inside a token."""

    additive = True

    def __init__(self, tokenizer: OffsetTokenizer, source: str) -> None:
        self._count = tokenizer.count
        self._spans: Sequence[tuple[int, int]] = tokenizer.offsets(source)
        self._source = source
        self._joins: dict[str, int] = {}

    def part(self, text: Mapped, start: int, end: int) -> int:
        if start >= end:
            return 0
        if text.text[start] <= " " and not text.text[start:end].strip(BLANK):
            return end - start
        if text.base is not None:
            size = self._between(text.base + start, text.base + end)
            return self._count(text.text[start:end]) if size < 0 else size
        total = 0
        behind = start
        for at, source, length in text.runs:
            low, high = max(at, start), min(at + length, end)
            if low >= high:
                continue
            size = self._between(source + low - at, source + high - at)
            if size < 0:
                return self._count(text.text[start:end])
            if low > behind:
                total += self.inner(text.text[behind:low])
            total += size
            behind = high
        return total + (self.inner(text.text[behind:end]) if behind < end else 0)

    def parts(self, text: Mapped, spans: Sequence[tuple[int, int]]) -> list[int]:
        if text.base is None:
            return [self.part(text, start, end) for start, end in spans]
        sizes = []
        shown, base, tokens = text.text, text.base, self._spans
        behind = 0
        for start, end in spans:
            first = bisect_left(tokens, (base + start,), behind)
            behind = bisect_left(tokens, (base + end,), first)
            # Whole tokens of a text that begins with one: the rule. All else goes the careful way.
            if first < behind and tokens[first][0] == base + start and tokens[behind - 1][1] <= base + end:
                sizes.append(behind - first if shown[start] > " " else self.part(text, start, end))
            else:
                sizes.append(self.part(text, start, end))
        return sizes

    def _between(self, low: int, high: int) -> int:
        """How many tokens lie in source[low:high]; -1 when an end of it cuts a token."""
        spans = self._spans
        first = bisect_left(spans, (low,))
        behind = bisect_left(spans, (high,), first)
        if first and spans[first - 1][1] > low and self._source[spans[first - 1][0] : low].strip():
            return -1
        if behind > first and spans[behind - 1][1] > high:
            return -1
        return behind - first

    def inner(self, join: str) -> int:
        size = self._joins.get(join)
        if size is None:
            size = self._joins[join] = self._count(join) if join else 0
        return size

    def alone(self, join: str) -> int:
        return self.inner(join) if join.strip(BLANK) else len(join)

    def reach(self, text: Mapped, start: int, head: Mapped | None, limit: int) -> int:
        """Ends at a token's end, so that no token is cut; the piece is counted once more, to be sure."""
        before = head.text if head else ""
        room = limit - (self.part(head, 0, len(before)) if head else 0)
        end = start
        spans = self._spans
        for at, source, length in text.runs:
            if at + length <= start or room < 1:
                continue
            low = source + max(start - at, 0)
            first = bisect_left(spans, (low,))
            if first and spans[first - 1][1] > low:
                first -= 1  # begins inside a token
            stop = first + room
            if stop < len(spans) and spans[stop][0] < source + length:
                end = max(start, at + spans[stop][0] - source)
                break
            room -= bisect_left(spans, (source + length,)) - first
            end = at + length
        if end == start or self._size(before + text.text[start:end]) <= limit:
            return end
        return furthest(lambda at: self._size(before + text.text[start:at]) <= limit, start, end - 1, guess=end - 1)

    def _size(self, text: str) -> int:
        return self._count(text) if text.strip(BLANK) else len(text)


def too_small(sizes: Sizes, text: str, size: int) -> InvalidInputError:
    """The error for a text that cannot be cut any further and still is too large."""
    shown = text if len(text) <= 30 else text[:30] + "…"
    return InvalidInputError(
        f"{shown!r} has {size} {sizes.unit}, more than max_{sizes.unit}={sizes.limit}, and is not cut any further",
        hint=f"raise max_{sizes.unit}" if len(text) == 1 else f"raise max_{sizes.unit}, or pass a sub_splitter",
    )
