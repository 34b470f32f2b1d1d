"""Text layers that are missing or damaged: what gives them away, page by page, and how it is told.

notes = [noticed(text, has_pictures=True) for text in pages]
told = warnings(notes)          # ["pages 3–7: no text, only pictures; …"]
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from string import ascii_letters
from typing import Any

__all__ = ["noticed", "span", "unreadable", "warnings"]

# What extraction gives for glyphs that a font does not name: marks of nothing, private and control characters.
_UNREADABLE = re.compile("[\0-\x08\x0e-\x1f\x7f-\x9f\ufffd\uffff\ue000-\uf8ff\U000f0000-\U0010ffff]")
_NAMES = re.compile(r"\(cid:\d+\)|/(?:g|G|uni|u)[0-9A-Fa-f]{2,6}\b")
# UTF-8 that was taken for Latin letters, as in "cafÃ©" and "donâ€™t".
_MOJIBAKE = re.compile(
    "[\u00c2\u00c3][\u0080-\u00bf\u0152-\u0192\u2018-\u203a]|\u00e2\u20ac[\u0080-\u00bf\u0152-\u2122]"
)
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_NO_LETTERS = bytes(set(range(256)) - set(ascii_letters.encode()))
_VOWELS = b"AEIOUYaeiouy"
_DAMAGED_SHARE = 0.05
_FEW_VOWELS = 0.2
_ENOUGH_LETTERS = 80
_MARKS_SHARE = 0.4

_HINTS = {
    "scanned": "no text, only pictures; run OCR over the file first (for instance ocrmypdf)",
    "glyphs": "the font does not say what its characters are, and some cannot be read; OCR over the file may help",
    "mojibake": "letters are garbled (as “Ã©” for “é”); make the file anew from its original",
    "cipher": "the text is no language, as its font hides which letter is which; OCR over the file may help",
    "failed": "the page is broken, and left out; open the file in a PDF viewer and save it again",
}


def unreadable(text: str) -> int:
    """How many characters stand for glyphs that nobody can read."""
    named = len(_NAMES.findall(text)) if "/" in text or "(cid:" in text else 0
    return len(_UNREADABLE.findall(text)) + named


def noticed(text: str, *, has_pictures: bool) -> dict[str, Any]:
    """What is wrong with the text of a page: at most one of the keys of the hints, and how many glyphs it is about."""
    if not text:
        return {"scanned": True} if has_pictures else {}
    shown = len("".join(text.split()))
    glyphs = unreadable(text)
    if glyphs and glyphs >= _DAMAGED_SHARE * shown:
        return {"glyphs": glyphs}
    garbled = 0 if text.isascii() else len(_MOJIBAKE.findall(text))
    if garbled > 2 and garbled >= _DAMAGED_SHARE * shown:
        return {"mojibake": garbled}
    # Many times as fast as a regular expression, and that for each page.
    latin = text.encode("utf-8", "surrogatepass").translate(None, _NO_LETTERS)
    letters = len(latin)
    # Where many letters have accents, the vowels are among those.
    plain = letters >= _ENOUGH_LETTERS and letters > 0.5 * shown and len(_ACCENTED.findall(text)) < 0.05 * letters
    if plain and letters - len(latin.translate(None, _VOWELS)) < _FEW_VOWELS * letters:
        return {"cipher": letters}
    if not text.isascii():
        marks = sum(unicodedata.category(character) == "Mn" for character in text)
        if marks > _MARKS_SHARE * shown:
            return {"cipher": marks}
    return {}


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
