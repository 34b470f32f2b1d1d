"""Markdown by heading: a chunk holds one section or a part of one, and knows the headings that it stands under.

chunks = markdown(max_tokens=254, overlap_tokens=25, tokenizer=tokenizer)(document)
chunks[0].metadata["heading"]            # "Guide > Installing > Linux"
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from flowkit.rag.split.mapped import BLANK
from flowkit.rag.split.packing import Packing, Unit, line_starts
from flowkit.rag.split.sentences import SentenceDetector, sentences
from flowkit.rag.split.sizes import Sizes
from flowkit.rag.split.splitter import Piece, Splitter
from flowkit.rag.split.tokens import Tokenizer
from flowkit.schema.documents import Document

__all__ = ["Markdown", "markdown"]

_BETWEEN = " > "
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
# What a line of text cannot be when the next one underlines it.
_NO_TITLE = re.compile(r" {0,3}(?:[-*+>|]|\d{1,9}[.)])[ \t]|[ \t]*$|\t| {4}")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_MARKS = re.compile(r"\s*\{#[^}]*\}\s*$|[*`]|(?<!\w)_|_(?!\w)|<[^>]+>")


def markdown(
    *,
    max_chars: int | None = None,
    overlap_chars: int = 0,
    max_tokens: int | None = None,
    overlap_tokens: int = 0,
    tokenizer: Tokenizer | Callable[[str], int] | None = None,
    sentence_detector: SentenceDetector = sentences,
) -> "Markdown":
    """Chunks that are pieces of a Markdown text and never cross a heading.

    A section over the limit is cut between its blocks (paragraphs, lists, tables, fenced code), and only a block over
    the limit inside: between lines, sentences, words. There the overlap is repeated, exactly as large as it may be.
    A heading with nothing under it but a smaller heading goes with that one. Each chunk has `heading`: the headings
    that it stands under, the largest first, as text.

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
    return Markdown(sizes, sentence_detector)


class _Section(NamedTuple):
    start: int
    end: int
    body: int
    """Where what follows the heading begins."""
    headings: tuple[str, ...]
    blocks: tuple[int, ...]
    """Where its blocks begin."""


class Markdown(Splitter):
    """See `markdown`."""

    def __init__(self, sizes: Sizes, sentence_detector: SentenceDetector) -> None:
        self._sizes = sizes
        self._detector = sentence_detector

    def __call__(self, document: Document) -> list[Document]:
        """The chunks of one document, with `heading` where they stand under one."""
        chunks = super().__call__(document)
        sections = _sections(document.text)
        starts = [section.start for section in sections]
        for chunk in chunks:
            headings = sections[bisect_right(starts, chunk.metadata["start"]) - 1].headings
            if headings:
                chunk.metadata["heading"] = _BETWEEN.join(headings)
        return chunks

    def pieces(self, text: str) -> list[Piece]:
        packing = Packing(text, self._sizes, self._detector)
        found = []
        for section in _sections(text):
            edges = [section.start, *section.blocks, section.end]
            units = [Unit(start, end) for start, end in pairwise(edges) if start < end]
            found += [Piece(text[start:end], start, end) for start, end in packing.pack(units)]
        return found


def _sections(text: str) -> list[_Section]:
    """The sections in order, which together are the whole text."""
    found: list[_Section] = []
    headings: list[tuple[int, str]] = []
    start = body = 0
    blocks: list[int] = []
    for at, behind, level, title in _marks(text):
        if not level:
            if at > body:
                blocks.append(at)
            continue
        lone = bool(headings) and level > headings[-1][0] and not text[body:at].strip(BLANK)
        if not lone:
            if text[start:at].strip(BLANK):
                found.append(_Section(start, at, body, _path(headings), tuple(blocks)))
            else:
                at = start
            start = at
        headings = [each for each in headings if each[0] < level]
        headings.append((level, title))
        body, blocks = behind, []
    found.append(_Section(start, len(text), body, _path(headings), tuple(blocks)))
    return found


def _path(headings: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(title for _, title in headings if title)


def _marks(text: str) -> Iterator[tuple[int, int, int, str]]:
    """What stands in the text, in order: headings (start, end, level, title), other blocks as (start, start, 0, "")."""
    starts = [*line_starts(text), len(text)]
    lines = [text[start:end].rstrip("\r\n") for start, end in pairwise(starts)]
    at = _front_matter(lines)
    if at:
        yield 0, 0, 0, ""
    fence = ""
    inside = False
    while at < len(lines):
        line = lines[at]
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not line[mark.end() :].strip():
                fence, inside = "", False
        elif mark:
            fence = mark[1]
            yield starts[at], starts[at], 0, ""
        elif (heading := _ATX.match(line)) is not None:
            yield starts[at], starts[at + 1], len(heading[1]), _plain(heading[2] or "")
            inside = False
        elif not inside and _is_underlined(lines, at):
            yield starts[at], starts[at + 2], 1 if "=" in lines[at + 1] else 2, _plain(line)
            inside = False
            at += 1
        elif not line.strip():
            inside = False
        elif not inside:
            inside = True
            yield starts[at], starts[at], 0, ""
        at += 1


def _front_matter(lines: Sequence[str]) -> int:
    """How many lines the settings at the top of a file take (between two lines of three dashes)."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    return next((at + 1 for at in range(1, len(lines)) if lines[at].rstrip() in ("---", "...")), 0)


def _is_underlined(lines: Sequence[str], at: int) -> bool:
    return at + 1 < len(lines) and _UNDERLINE.match(lines[at + 1]) is not None and not _NO_TITLE.match(lines[at])


def _plain(title: str) -> str:
    """A heading without the marks of links, code and emphasis."""
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", title)).split())
