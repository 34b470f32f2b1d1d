"""Where sentences begin and end: punctuation, known abbreviations, and the marks of other scripts.

    sentences("Dr. Okafor met the ferry. She waited.")      # [(0, 25), (26, 37)]

Any function of the same form can replace it: `sentence_detector=` of the splitters.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from flowkit.errors import InvalidInputError
from flowkit.rag.split.mapped import BLANK

__all__ = ["SentenceDetector", "sentence_spans", "sentences"]

SentenceDetector = Callable[[str], Sequence[tuple[int, int]] | Sequence[str]]
"""Text → its sentences in order: spans (start, end), or the sentences themselves as they stand in the text."""

_CLOSE = "\"'”’»›)\\]}*_`」』）】〉》〕］｝＂＇"
# Full stops that need no space behind them: CJK, Devanagari, Arabic, Urdu, Armenian, Ethiopic, Burmese, Khmer, Tibetan.
_HARD = "。｡！？‼⁇⁈⁉।॥؟۔։።፧။៕།"
_SOFT = ".!?…．"
_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff「『（【〈《"
# It begins with the last mark of a run of marks, so that a million dots are looked at once each.
_END = re.compile(
    rf"[{_SOFT}{_HARD}](?![{_SOFT}{_HARD}])(?:(?<=[{_HARD}])|(?=[{_CLOSE}]*+(?:\s|\Z|[{_CJK}])))[{_CLOSE}]*+"
)
_HIRAGANA_BEHIND_QUOTE = re.compile("[とっなのはがをにもでや]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Never the last word of a sentence: a name or a thing follows.
_TITLES = _words(
    "mr mrs ms mx dr prof st rev hon gen col maj capt cpt lt sgt cmdr adm gov sen rep pres supt mt ft messrs mme mlle "
    "hr fr frl dipl ing sr sra srta dra fa vs cf e.g i.e eg ie viz z.b d.h u.a s.o s.u bzw ca approx resp abs ebd sog "
    "vgl evtl ggf"
)
# Followed by a number they are no end.
_NUMBERED = _words("no nos nr art fig figs eq eqs sec sect ch chap vol vols p pp para tab ref refs § ex bd")
# Followed by a name they are no end.
_NAMED = _words("inc ltd co corp jan feb mar apr jun jul aug sep sept oct nov dec ph.d m.d b.a m.a")
# They end a sentence when a capital letter follows; those above and acronyms (U.S.) when a usual first word follows.
_EITHER = _words("etc jr bros dept est a.m p.m am pm al usw z.t")
_FIRST_WORDS = _words(
    "the a an it he she we they i you this that these those there here in on at by for from with after before when "
    "while if as but and so or yet however no not what who why how where our his her their its my your one some many "
    "most all each every both such then now since although though because"
)
_WORD_BEFORE = re.compile(r"[^\s\"'“‘«(\[{„]*\Z")
_WORD_AFTER = re.compile(r"[\s\"'“‘«(\[{„*_`]*([^\W_]+)?")


def sentences(text: str) -> list[tuple[int, int]]:
    """The spans of the sentences of `text`, in order, blanks around them left out.

    Everything that is not blank lies in exactly one span. A line break alone ends no sentence.
    """
    spans = []
    start = 0
    for end in _ends(text):
        span = _trimmed(text, start, end)
        if span[0] < span[1]:
            spans.append(span)
        start = end
    span = _trimmed(text, start, len(text))
    if span[0] < span[1]:
        spans.append(span)
    return spans


def sentence_spans(detector: SentenceDetector, text: str) -> list[tuple[int, int]]:
    """What a detector finds, as spans.

    Raises:
        InvalidInputError: it gave a sentence that is not in the text (at this place), or spans out of order.
    """
    if detector is sentences:
        return sentences(text)
    spans: list[tuple[int, int]] = []
    behind = 0
    for found in detector(text):
        if isinstance(found, str):
            start = text.find(found, behind)
            span = (start, start + len(found))
        else:
            start = found[0]
            span = (found[0], found[1])
        if start < behind or not start <= span[1] <= len(text):
            raise InvalidInputError(
                f"the sentence detector gave {found!r}, which is not in the text behind character {behind}",
                hint="give sentences in order and exactly as they stand in the text, or their spans",
            )
        if span[0] < span[1]:
            spans.append(span)
        behind = span[1]
    return spans


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in BLANK:
        start += 1
    while end > start and text[end - 1] in BLANK:
        end -= 1
    return start, end


def _ends(text: str) -> Iterator[int]:
    """Behind each sentence that ends inside the text."""
    start = 0
    size = len(text)
    for match in _END.finditer(text):
        at, end = match.span()
        if end == size:
            return
        mark = text[at]
        if mark == ".":
            if not _full_stop(text, start, at, end):
                continue
        elif (end - at > 1 or mark == "…") and _goes_on(text, end):
            continue
        yield end
        start = end


def _goes_on(text: str, end: int) -> bool:
    """True behind a mark that ends a quotation or a pause, not the sentence: "Really?" she asked. 「何？」と言った。"""
    if text[end].isspace():
        return _next_word(text, end)[:1].islower()
    return _HIRAGANA_BEHIND_QUOTE.match(text, end) is not None


def _full_stop(text: str, start: int, at: int, end: int) -> bool:
    """Whether the dot at `at` ends the sentence that began at `start`; `end` is behind its closing quotes."""
    if not text[end].isspace():
        return not text[at - 1].isascii()  # CJK text with an ASCII dot, but not "Ver.日本"
    if at and text[at - 1] == ".":
        return not _next_word(text, end)[:1].islower()  # an ellipsis in dots
    if end - at > 1 and _goes_on(text, end):
        return False
    found = _WORD_BEFORE.search(text, max(start, at - 24), at)
    word = found[0] if found else ""
    if word.isdigit():
        # "1. First item" is one sentence; "It was 1999. Then …" is two.
        return len(word) > 3 or bool(text[start : at - len(word)].strip())
    if len(word) == 1 and word.isupper() and word != "I":
        return False
    lower = word.lower()
    if lower in _TITLES:
        return False
    if lower in _NUMBERED:
        return not _next_word(text, end)[:1].isdigit()
    named = lower in _NAMED or _dotted(lower)
    if named or lower in _EITHER:
        after = _next_word(text, end)
        return after[:1].isupper() and (lower in _EITHER or after.lower() in _FIRST_WORDS)
    return True


def _dotted(word: str) -> bool:
    """An acronym such as "u.s" or "j.r.r"."""
    return "." in word and all(len(letter) == 1 and letter.isalpha() for letter in word.split("."))


def _next_word(text: str, at: int) -> str:
    found = _WORD_AFTER.match(text, at)
    return (found[1] or "") if found else ""
