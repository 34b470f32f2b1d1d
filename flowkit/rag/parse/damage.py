"""Text layers that are missing or damaged: what gives them away, page by page, and how it is told.

notes = [noticed(text, has_pictures=True) for text in pages]
told = warnings(notes)          # ["pages 3–7: no text, only pictures; …"]
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from string import ascii_letters, ascii_uppercase
from typing import Any

__all__ = ["noticed", "span", "unreadable", "warnings"]

# What extraction gives for glyphs that a font does not name: marks of nothing, private and control characters.
_UNREADABLE = re.compile("[\0-\x08\x0e-\x1f\x7f-\x9f\ufffd\uffff\ue000-\uf8ff\U000f0000-\U0010ffff]")
_NAMES = (re.compile(r"\(cid:\d+\)"), re.compile(r"/(?:g|G|uni|u)[0-9A-Fa-f]{2,6}\b"))
# UTF-8 that was taken for Latin letters, as in "cafÃ©" and "donâ€™t".
_MOJIBAKE = re.compile(
    "[\u00c2\u00c3][\u0080-\u00bf\u0152-\u0192\u2018-\u203a]|\u00e2\u20ac[\u0080-\u00bf\u0152-\u2122]"
)
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
# UTF-8 is looked through many times as fast as characters are by a regular expression, and that for each page.
_READABLE = bytes(set(range(256)) - {*range(9), *range(0x0E, 0x20), 0x7F, 0xC2, 0xEE, 0xEF, 0xF3, 0xF4})
"""Bytes of UTF-8 with which no unreadable character begins."""
_BLANKS = b"\t\n\v\f\r\x1c\x1d\x1e\x1f "
_NO_LETTERS = bytes(set(range(256)) - set(ascii_letters.encode()))
_VOWELS = b"AEIOUYaeiouy"
_HUMP = re.compile(rb"[a-z][A-Z]")
_CAPITALS = ascii_uppercase.encode()
_DAMAGED_SHARE = 0.05
_FEW_VOWELS = 0.2
_ENOUGH_LETTERS = 80
_MARKS_SHARE = 0.4
# Of pages with so many letters, and hardly anything else: not of tables, formulas, listings or addresses.
_PROSE_LETTERS = 200
_PROSE_SHARE = 0.9
_PROSE_VOWELS = 0.3
_PROSE_CAPITALS = 0.15
_PROSE_ALPHABET = 15
_PROSE_HUMPS = 0.03
_LONGEST_WORDS = 40
"""On average; those of German have 7 letters."""
_SHORTEST_WORDS = 1.7

_OTHER_ENGINE = 'try another engine= ("pdfium" or "pypdf"), which may see where words end'
_HINTS = {
    "scanned": "no text, only pictures; run OCR over the file first (for instance ocrmypdf)",
    "glyphs": "the font does not say what its characters are, and some cannot be read; OCR over the file may help",
    "mojibake": "letters are garbled (as “Ã©” for “é”); make the file anew from its original",
    "cipher": "the text is no language, as its font hides which letter is which; OCR over the file may help",
    "glued": f"words run together; {_OTHER_ENGINE}",
    "torn": f"letters stand apart; {_OTHER_ENGINE}",
    "failed": "the page is broken, and left out; open the file in a PDF viewer and save it again",
}


def unreadable(text: str) -> int:
    """How many characters stand for glyphs that nobody can read."""
    return _unreadable(text, _utf8(text))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _unreadable(text: str, data: bytes) -> int:
    found = len(_UNREADABLE.findall(text)) if data.translate(None, _READABLE) else 0
    return found + sum(len(name.findall(text)) for name in _NAMES)


def noticed(text: str, *, has_pictures: bool) -> dict[str, Any]:
    """What is wrong with the text of a page: at most one of the keys of the hints, and how many glyphs it is about."""
    if not text:
        return {"scanned": True} if has_pictures else {}
    data = _utf8(text)
    is_ascii = len(data) == len(text)
    shown = len(data.translate(None, _BLANKS)) if is_ascii else len("".join(text.split()))
    glyphs = _unreadable(text, data)
    if glyphs and glyphs >= _DAMAGED_SHARE * shown:
        return {"glyphs": glyphs}
    garbled = 0 if is_ascii else len(_MOJIBAKE.findall(text))
    if garbled > 2 and garbled >= _DAMAGED_SHARE * shown:
        return {"mojibake": garbled}
    latin = data.translate(None, _NO_LETTERS)
    letters = len(latin)
    # Where many letters have accents, the vowels are among those.
    accented = 0 if is_ascii else len(_ACCENTED.findall(text))
    plain = letters >= _ENOUGH_LETTERS and letters > 0.5 * shown and accented < 0.05 * letters
    if plain and letters - len(latin.translate(None, _VOWELS)) < _FEW_VOWELS * letters:
        return {"cipher": letters}
    words = len(text) - shown + 1
    is_odd = shown > _LONGEST_WORDS * words or shown < _SHORTEST_WORDS * words
    if is_odd and letters + accented >= _PROSE_SHARE * shown and _reads_as_prose(latin):
        return {"glued" if shown > words * _LONGEST_WORDS else "torn": letters}
    if not is_ascii:
        marks = sum(text.count(each) for each in set(text) if unicodedata.category(each) == "Mn")
        if marks > _MARKS_SHARE * shown:
            return {"cipher": marks}
    return {}


def _reads_as_prose(latin: bytes) -> bool:
    """Whether letters are those of a language: not of genes, keys, names in programs or a puzzle."""
    letters = len(latin)
    vowels, capitals = (letters - len(latin.translate(None, each)) for each in (_VOWELS, _CAPITALS))
    if letters < _PROSE_LETTERS or vowels < _PROSE_VOWELS * letters or capitals > _PROSE_CAPITALS * letters:
        return False
    return len(set(latin.lower())) >= _PROSE_ALPHABET and len(_HUMP.findall(latin)) <= _PROSE_HUMPS * letters


def warnings(notes: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence for each kind of damage, with the pages that have it."""
    found = []
    for kind, hint in _HINTS.items():
        pages = [number for number, note in enumerate(notes, start=1) if kind in note]
        if pages:
            found.append(f"{span(pages)}: {hint}")
    return found


def span(pages: Sequence[int]) -> str:
    """`page 3`, or `pages 1–4, 7`, with no more than ten ranges."""
    ranges = [
        f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0])
        for run in ([number for _, number in group] for group in _runs(pages))
    ]
    shown = ", ".join(ranges[:10]) + (f" and {len(ranges) - 10} more" if len(ranges) > 10 else "")
    return f"page {shown}" if len(pages) == 1 else f"pages {shown}"


def _runs(pages: Sequence[int]) -> Iterator[Iterator[tuple[int, int]]]:
    for _, group in groupby(enumerate(pages), key=lambda pair: pair[1] - pair[0]):
        yield group
