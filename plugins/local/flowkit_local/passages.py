"""Documents as sentences: what can be quoted, and what only leads up to it.

passage = Passage.of(document.text)
passage.quote(passage.sentences[0])
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from flowkit.rag.split import sentences as detect

__all__ = ["Passage", "Sentence"]

# Lines that begin something new, whatever stands before them: headings, list items, quotations, table rows.
_BEGINS = re.compile(r"\s*(?:#{1,6}\s|[-*+•‣·–]\s|\d{1,3}[.)]\s|>|\|)")
_HEADING = re.compile(r"\s*#{1,6}\s")
_ASKS = re.compile(r"[?？][\"'”’»)\]*_」』）]*$")
_LINE = re.compile(r"[^\n]*\n?")
# Prose that was wrapped has some line at least this long; lists, menus and poems have none.
_WRAPPED_CHARACTERS = 60
_SHORT_LINE = 0.6


@dataclass(frozen=True, slots=True)
class Sentence:
    """A span of a document's text."""

    start: int
    end: int
    leads: bool
    """A heading or a question: it says what the next sentence is about, and is no answer itself."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A document's text and its sentences, in order. Items of lists, rows of tables, lines of menus count as such."""

    text: str
    sentences: tuple[Sentence, ...]

    @classmethod
    def of(cls, text: str) -> "Passage":
        found: list[Sentence] = []
        for start, end in _blocks(text):
            heading = _HEADING.match(text, start) is not None
            for first, last in detect(text[start:end]):
                leads = heading or _ASKS.search(text, start + first, start + last) is not None
                found.append(Sentence(start + first, start + last, leads))
        return cls(text, tuple(found))

    def quote(self, sentence: Sentence) -> str:
        return self.text[sentence.start : sentence.end]


def _blocks(text: str) -> list[tuple[int, int]]:
    """Spans that no sentence crosses."""
    if "\n" not in text:
        return [(0, len(text))]
    lines = [match.span() for match in _LINE.finditer(text) if match.end() > match.start()]
    longest = max(end - start for start, end in lines)
    blocks: list[tuple[int, int]] = []
    begun = 0
    for (start, end), (after, after_end) in pairwise(lines):
        if _ends_here(text[start:end].strip(), text[after:after_end], longest):
            blocks.append((begun, end))
            begun = after
    blocks.append((begun, len(text)))
    return blocks


def _ends_here(line: str, following: str, longest: int) -> bool:
    """Whether a line break is more than the place where a line of prose was wrapped."""
    head = following.strip()[:1]
    if not line or not head or _BEGINS.match(following) or _HEADING.match(line):
        return True
    if head.islower():
        return False
    return longest < _WRAPPED_CHARACTERS or len(line) < _SHORT_LINE * longest
