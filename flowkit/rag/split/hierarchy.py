"""Splitting by levels: cut a text into parts, re-join as many as fit, hand what is too large to the next finer level.

    Hierarchy(paragraph_parts, "\\n\\n", sizes, sub_splitter=…)(document)

The overlap is the last whole sentences of a chunk that fit into it. The rules are those of LangChain4j's document
splitters, so that chunks come out the same.
"""

from collections.abc import Callable, Sequence

from flowkit.rag.split.mapped import Mapped, glue
from flowkit.rag.split.measure import Measure, Measures, too_small
from flowkit.rag.split.sentences import SentenceDetector, sentence_spans
from flowkit.rag.split.sizes import Sizes
from flowkit.rag.split.splitter import Piece, Splitter

__all__ = ["Characters", "Hierarchy", "Parts"]

Parts = Callable[[str], Sequence[tuple[int, int]]]
"""Text → spans of its parts, in order."""


class Hierarchy(Splitter):
    """One level: `parts` says where to cut, `join` stands between parts that share a chunk.

    Sizes are those of the parts plus those of the joins, so a chunk may hold less than its limit allows. An overlap
    that leaves no room for the next part sends both together to the `sub_splitter`; without one, the overlap is
    dropped.
    """

    def __init__(
        self,
        parts: Parts,
        join: str,
        sizes: Sizes,
        *,
        sub_splitter: "Hierarchy | None",
        sentence_detector: SentenceDetector,
    ) -> None:
        self._parts = parts
        self._join = join
        self._sizes = sizes
        self._sub = sub_splitter
        self._detector = sentence_detector

    def pieces(self, text: str) -> list[Piece]:
        found = self._cut(Mapped(text, 0), Measures(text))
        return [Piece(piece.text, *piece.span) for piece in found]

    def overlap(self, text: str) -> str:
        """The end of a chunk that the next chunk repeats: whole sentences, joined as this level joins."""
        tail = self._tail(Mapped(text, 0), Measures(text).of(self._sizes))
        return tail.text if tail else ""

    def _cut(self, text: Mapped, measures: Measures) -> list[Mapped]:
        measure = measures.of(self._sizes)
        limit, join = self._sizes.limit, self._join
        parts = self._parts(text.text)
        alone = measure.alone(join)
        inner = measure.inner(join) if measure.additive else 0
        found: list[Mapped] = []
        # What the current chunk holds: the repeated tail of the chunk before, and parts[first:at], of `held` size.
        tail: Mapped | None = None
        first = 0
        held = 0

        sizes = measure.parts(text, parts)
        at = 0
        while at < len(parts):
            empty = tail is None and first == at
            if empty and parts[at][0] == parts[at][1]:
                first = at = at + 1
                continue
            size = sizes[at]
            if empty:
                fits = size <= limit
            else:
                if not measure.additive:
                    held = _size(measure, _held(text, tail, parts[first:at], join))
                fits = held + alone + size <= limit
            if fits:
                held = size if empty else held + inner + size
                at += 1
                continue

            if not empty:
                chunk = _held(text, tail, parts[first:at], join).strip()
                if tail is None or chunk.text != tail.text:
                    if chunk.text:
                        found.append(chunk)
                    # The same part again, behind what is repeated of this chunk.
                    tail = self._tail(chunk, measure)
                    first, held = at, _size(measure, tail)
                    continue

            if self._sub is None and size <= limit:
                tail = None
                continue
            found.extend(self._finer(_held(text, tail, parts[first : at + 1], join).strip(), size, measures))
            tail = self._tail(found[-1], measure) if found else None
            first = at = at + 1
            held = _size(measure, tail)

        if tail is not None or first < len(parts):
            chunk = _held(text, tail, parts[first:], join).strip()
            if chunk.text and (tail is None or chunk.text != tail.text):
                found.append(chunk)
        return found

    def _finer(self, text: Mapped, size: int, measures: Measures) -> list[Mapped]:
        if self._sub is None:
            raise too_small(self._sizes, text.text, size)
        return self._sub._cut(text, measures)

    def _tail(self, chunk: Mapped, measure: Measure) -> Mapped | None:
        room = self._sizes.overlap
        if not room or not chunk.text:
            return None
        spans = sentence_spans(self._detector, chunk.text) or [(0, len(chunk.text))]
        alone = measure.alone(self._join)
        taken: list[Mapped] = []
        held = 0
        for start, end in reversed(spans):
            size = measure.part(chunk, start, end)
            if taken:
                if not measure.additive:
                    held = _size(measure, glue(taken, self._join))
                if held + alone + size > room:
                    break
                held += measure.inner(self._join)
            elif size > room:
                break
            held += size
            taken.insert(0, chunk.cut(start, end))
        return glue(taken, self._join).strip() if taken else None


class Characters(Hierarchy):
    """The finest level: as many characters as fit. An overlap that fills a whole chunk is dropped there."""

    def __init__(self, sizes: Sizes, *, sentence_detector: SentenceDetector) -> None:
        super().__init__(_every_character, "", sizes, sub_splitter=None, sentence_detector=sentence_detector)

    def _cut(self, text: Mapped, measures: Measures) -> list[Mapped]:
        measure = measures.of(self._sizes)
        found: list[Mapped] = []
        tail: Mapped | None = None
        at, size = 0, len(text.text)
        while at < size:
            end = measure.reach(text, at, tail, self._sizes.limit)
            if end <= at:
                if tail is None:
                    raise too_small(self._sizes, text.text[at], measure.part(text, at, at + 1))
                tail = None
                continue
            chunk = _held(text, tail, [(at, end)], "").strip()
            if chunk.text and (tail is None or chunk.text != tail.text):
                found.append(chunk)
                tail = self._tail(chunk, measure)
            at = end
        return found


def _size(measure: Measure, text: Mapped | None) -> int:
    return 0 if text is None else measure.part(text, 0, len(text.text))


def _held(text: Mapped, tail: Mapped | None, spans: Sequence[tuple[int, int]], join: str) -> Mapped:
    """The tail and the parts, as one text; at least one of both."""
    if tail is None:
        return text.join(spans, join)
    if not spans:
        return tail
    if tail.base is not None and text.base is not None and tail.base >= text.base:
        # The tail stands in this text too: one more span of it, and the whole may well be one piece of the source.
        start = tail.base - text.base
        return text.join([(start, start + len(tail.text)), *spans], join)
    return glue([tail, text.join(spans, join)], join)


def _every_character(text: str) -> list[tuple[int, int]]:
    return [(at, at + 1) for at in range(len(text))]
