"""How odd a text reads, as those do that were decoded in another encoding than they were written in.

oddness("Crème brûlée")          # 0.0
oddness("CrЏme brъlйe")          # 1.0

What a wrong encoding makes of a right text: words of two scripts, capitals and signs in the middle of words, and
letters in a word that no language has together.
"""

import re
from collections import Counter

__all__ = ["oddness"]

_LANGUAGES = tuple(
    frozenset(letters)
    for letters in (
        # French, German, Spanish, Portuguese, Italian, Swedish and Finnish, Danish and Norwegian, Icelandic, Catalan,
        # Dutch.
        "àâæçèéêëîïôœùûüÿ",
        "äöüß",
        "áéíñóúüªº",
        "áâãàçéêíóôõúü",
        "àèéìíîòóùú",
        "åäöé",
        "æøåéóòô",
        "áðéíóúýþæö",
        "àçèéíïòóúü",
        "éëèêïöü",
        "áéíóúëïöü",
        # Polish, Czech, Slovak, Hungarian, Croatian and Slovene, Romanian, Turkish, Lithuanian, Latvian, Estonian,
        # Albanian, Maltese.
        "ąćęłńóśźż",
        "áčďéěíňóřšťúůýž",
        "áäčďéíĺľňóôŕšťúýž",
        "áéíóöőúüű",
        "čćđšž",
        "ăâîşţșț",
        "çğıöşüâîû\u0307",  # the dot of a small İ
        "ąčęėįšųūž",
        "āčēģīķļņšūž",
        "äõöüšž",
        "çë",
        "ċġħż",
        # Russian, Ukrainian, Belarusian, Serbian, Macedonian, Greek.
        "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
        "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
        "абвгдеёжзійклмнопрстуўфхцчшыьэюя",
        "абвгдђежзијклљмнњопрстћуфхцчџш",
        "абвгдѓежзѕијклљмнњопрстќуфхцчџш",
        "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",
    )
)
_FEW_WRITE = {"ð": 0.15, "þ": 0.15, "ý": 0.08}
"""Icelandic; of all who write these bytes, most mean the letters of Turkish."""

_HAN = "\u3400-\u9fff\uf900-\ufaff"
_CJK = "\u3040-\u30ff\u3131-\u318e\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f"
_WORD = re.compile(rf"[^\W\d_{_CJK}]+")
_SCRIPTS = tuple(
    re.compile(f"[{letters}]")
    for letters in (
        "A-Za-zÀ-ÖØ-öø-ɏḀ-ỿ",
        "\u0370-\u03ff",  # Greek, Cyrillic, Hebrew, Arabic, Thai
        "\u0400-\u052f",
        "\u0590-\u05ff",
        "\u0600-\u06ff\ufb50-\ufdff\ufe70-\ufeff",
        "\u0e00-\u0e7f",
    )
)
_WITH_CASE = re.compile("[À-ɏ\u0370-\u03ff\u0400-\u052fḀ-ỿ]")
_NOTHING = re.compile("[\x7f-\x9f\ufffd\ue000-\uf8ff]")
_LETTER = r"[^\W\d_]"
_JOINING = "/\u00ad\u00b7\u2010-\u2014\u2018\u2019\u2026"
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0e31-\u0e4e\u3000-\u30ff\uff00-\uffef"
_SIGNS = (
    re.compile(rf"(?<={_LETTER})[^\w\s\x00-\x7f{_JOINING}{_MARKS}](?={_LETTER})"),
    re.compile(rf"(?<={_LETTER})[¿¡£¤¥€¦§¨¬¯´¸¹¼½¾±¶]|(?<={_LETTER})(?<![nN])[ªº]"),
    re.compile(rf"[¹²³°´¸¨¯¦¬±»”†‡•‰€](?={_LETTER})"),
    re.compile("[¤\u02c6-\u02dd\u2190-\u2bff]"),
)
# A Latin letter that was taken for half of an ideograph.
_HALF_WIDTH = re.compile("[\uff66-\uff9f]")
_HALF_WIDTH_ODD = 0.3
"""Kana of one byte, which no text in another encoding than Japanese ones is without."""
_TORN = re.compile(
    f"(?<=[a-z])[{_HAN}](?![{_CJK}])|(?<![{_CJK}])[{_HAN}](?=[a-z])|(?<=[A-Za-z])[{_CJK}]{{1,2}}(?=[A-Za-z])"
)


def oddness(text: str) -> float:
    """The share of the characters beyond ASCII that stand where no writer puts them, 0…1."""
    beyond = sum(char > "\x7f" for char in text)
    if not beyond:
        return 0.0
    odd = _HALF_WIDTH_ODD * len(_HALF_WIDTH.findall(text))
    odd += 3 * len(_NOTHING.findall(text)) + 2 * len(_TORN.findall(text))
    odd += sum(len(signs.findall(text)) for signs in _SIGNS)
    letters: Counter[str] = Counter()
    for word in _WORD.findall(text):
        if word.isascii():
            continue
        special = [letter for letter in word.lower() if letter > "\x7f"]
        if sum(script.search(word) is not None for script in _SCRIPTS) > 1:
            odd += len(special)
        if _has_odd_capitals(word):
            odd += len(special)
        if _WITH_CASE.match(special[0]):
            letters.update(special)
            odd += _foreign(Counter(special)) / 2 + sum(_FEW_WRITE.get(each, 0) for each in special)
    return min(1.0, (odd + _foreign(letters) / 2) / beyond)


def _has_odd_capitals(word: str) -> bool:
    """Whether a letter beyond ASCII makes capitals and small letters change places, as in `naÔve`."""
    if word[1:] == word[1:].lower() or word == word.upper():
        return False
    last = max(at for at, letter in enumerate(word) if letter.isupper())
    return any(letter > "\x7f" and (at > 0 if letter.isupper() else at < last) for at, letter in enumerate(word))


def _foreign(letters: Counter[str]) -> int:
    """How many of them the language does not have that has the most of them."""
    if any(known.issuperset(letters) for known in _LANGUAGES):
        return 0
    return letters.total() - max(
        sum(count for letter, count in letters.items() if letter in known) for known in _LANGUAGES
    )
