"""Which encoding bytes are in that do not say it: what a detector holds likely, if it reads as a language.

codec, confidence = guessed(data)          # "cp1252", 0.93

On a line or two a detector alone is lost: it takes `Crème brûlée` for Macedonian as readily as for French. So what each
of its candidates makes of the bytes is looked at, and encodings that files are seldom in need more to speak for them.
"""

import codecs
import re
from collections.abc import Iterator
from string import ascii_letters
from typing import NamedTuple

from flowkit.rag.parse.oddness import oddness

__all__ = ["guessed"]

_WESTERN = "cp1252"
_LIKELY = {
    _WESTERN: 1.0,
    **dict.fromkeys(("big5hkscs", "cp932", "cp949", "euc_jp", "gb18030"), 0.4),
    **dict.fromkeys(("cp1250", "cp1257"), 0.55),
    **dict.fromkeys(("cp1253", "cp1254", "cp1255", "cp1256", "cp874"), 0.4),
    **dict.fromkeys(("cp1251", "iso8859-2", "koi8-r"), 0.5),
    **dict.fromkeys(("iso8859-5", "iso8859-7", "iso8859-8", "iso8859-9", "iso8859-15", "koi8-u"), 0.3),
}
_RARE = 0.04
"""All others: of DOS, of old Macs and of mainframes, and those that never spread."""
_RARE_ODD = 0.1
# Subsets of what Windows calls so, and other names of it.
_SUPERSETS = {
    "ascii": _WESTERN,
    "iso8859-1": _WESTERN,
    "shift_jis": "cp932",
    "shift_jis_2004": "cp932",
    "shift_jisx0213": "cp932",
    "euc_jis_2004": "euc_jp",
    "euc_jisx0213": "euc_jp",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "tis-620": "cp874",
    "iso8859-11": "cp874",
}
_FIRST_VERSIONS = {"big5hkscs": "big5", "cp949": "euc_kr", "gb18030": "gb2312"}
_LATIN_LETTERS = re.compile(r"cp(125[0247]|437|85[0278]|86[0135]|775)|iso8859-(2|3|4|9|1[0356])|mac-(?!cyr|greek)\w+")

_BEFORE = 2_000
_SAMPLE = 200_000
_LOOKED_AT = 2_000
_CANDIDATES = 32
_BEYOND = re.compile(rb"[\x80-\xff]")
_ASCII = bytes(range(0x80))
_NO_LETTERS = bytes(set(range(256)) - set(ascii_letters.encode()))
_LEAST = 0.02
"""What the detector's confidence is worth where it has none, since it has little in any encoding of a short text."""
_FEW_BEYOND = 0.25
# All found by trying: messages of Vim in 20 languages, a line each, and all of them as one text.
_SWAY = 1.5
"""The detector's confidences lie close together on short texts."""
_HALF = 100
"""Bytes beyond ASCII after which what is likely beforehand counts half, and never less than a third."""
_LEAST_PRIOR = 1 / 3
_STEEPEST = 30
"""An oddity in a long text is more than chance, to that power of what is not odd."""


class _Reading(NamedTuple):
    """The words in one encoding; the best one has the highest `score`."""

    score: float
    codec: str
    odd: float
    text: str


def guessed(data: bytes) -> tuple[str, float]:
    """The encoding of bytes that are neither UTF-8 nor UTF-16, and how sure that is, 0…1.

    Sure means: far ahead of every encoding in which they would read otherwise, and seen on more than a letter or two.
    Where nothing speaks for any it is windows-1252.
    """
    first = _BEYOND.search(data)
    start = max(0, first.start() - _BEFORE) if first else 0
    sample = data[start : start + _SAMPLE]
    ranked = sorted(_readings(sample), reverse=True)
    if not ranked or not ranked[0].score:
        return _WESTERN, 0.0
    best, *others = ranked
    ahead = best.score / ((best.score + others[0].score) if others else best.score)
    seen = _beyond(sample)
    return best.codec, round(ahead * (1 - best.odd) * seen / (seen + 1), 2)


def _readings(sample: bytes) -> Iterator[_Reading]:
    """One for each text that the words may be, in the likeliest encoding that makes it."""
    words = _words(sample)
    is_whole = len(words) < _LOOKED_AT  # else the last character may be cut
    beyond = _beyond(sample)
    few = beyond <= _FEW_BEYOND * (beyond + len(sample.translate(None, _NO_LETTERS)))
    readings: dict[str, _Reading] = {}
    for codec, confidence, likely in _candidates(sample):
        text = codecs.getincrementaldecoder(codec)("replace").decode(words, final=is_whole)
        odd = min(1.0, oddness(text) + _unusual(text, codec))
        if codec not in _LIKELY and odd > _RARE_ODD:
            continue
        # A few letters among Latin ones are more often letters with accents than another script.
        if few and not _LATIN_LETTERS.fullmatch(codec):
            likely /= 3
        likely **= max(_HALF / (_HALF + beyond), _LEAST_PRIOR)
        score = likely * confidence**_SWAY * (1 - odd) ** min(6 + beyond / 20, _STEEPEST)
        if text not in readings or readings[text].score < score:
            readings[text] = _Reading(score, codec, odd, text)
    yield from readings.values()


def _beyond(sample: bytes) -> int:
    return len(sample.translate(None, _ASCII))


def _unusual(text: str, codec: str) -> float:
    """The share of characters, halved, that only a newer version of an encoding of East Asia has."""
    if not text or codec not in _FIRST_VERSIONS:
        return 0.0
    first = _FIRST_VERSIONS[codec]
    usual = len(text.encode(first, "ignore").decode(first, "ignore"))
    return 0.5 * (len(text) - usual) / len(text)


def _words(sample: bytes) -> bytes:
    """Those with bytes beyond ASCII, as many as are worth looking at. Blanks are in no character of two bytes."""
    words: dict[bytes, None] = {}  # each once
    size = 0
    for word in sample.split():
        if not word.isascii() and word not in words:
            words[word] = None
            size += len(word) + 1
            if size > _LOOKED_AT:
                break
    return b" ".join(words)[:_LOOKED_AT]


def _candidates(sample: bytes) -> list[tuple[str, float, float]]:
    """Encodings, how sure the detector is of each, and how likely each is before that; the likeliest first."""
    import chardet

    found = dict.fromkeys(_LIKELY, _LEAST)
    for each in chardet.detect_all(sample, ignore_threshold=True, compat_names=False):
        try:
            codec = codecs.lookup(each["encoding"] or "").name
        except LookupError:
            continue
        codec = _SUPERSETS.get(codec, codec)
        found[codec] = max(found.get(codec, 0.0), each["confidence"] + _LEAST)
    likely = [(codec, confidence, _LIKELY.get(codec, _RARE)) for codec, confidence in found.items()]
    return sorted(likely, key=lambda each: each[1] * each[2], reverse=True)[:_CANDIDATES]
