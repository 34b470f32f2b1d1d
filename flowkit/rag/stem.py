"""An English stemmer: the suffix rules of Porter (1980), so that "indexes" and "indexing" meet.

stem("relational")     # "relat"
"""

import re
from collections.abc import Iterable

__all__ = ["stem"]

# M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980. A word is [C](VC){m}[V]; the patterns
# below test m of what precedes a suffix. `y` is a vowel after a consonant.
_C = "(?:[^aeiouy]|^y|(?<=[aeiou])y)"
_V = "(?:[aeiou]|(?<=[^aeiou])y)"
_SOME = re.compile(f"^{_C}*{_V}+{_C}")
_MORE = re.compile(f"^{_C}*{_V}+{_C}+{_V}+{_C}")
_ONE = re.compile(f"^{_C}*{_V}+{_C}+{_V}*$")
_VOWEL = re.compile(_V)
_SHORT = re.compile(f"^{_C}+{_V}[^aeiouwxy]$")
_DOUBLE = re.compile(r"([^aeiouylsz])\1$")

_STEP2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism", "ate", "iti", "ous",
    "ive", "ize", "sion", "tion",
)  # fmt: skip


def _longest_suffix(rules: Iterable[str]) -> re.Pattern[str]:
    # Leftmost match = longest suffix, as regular expressions try positions from the left.
    return re.compile(f"(?:{'|'.join(rules)})$")


_SUFFIX2, _SUFFIX3, _SUFFIX4 = map(_longest_suffix, (_STEP2, _STEP3, _STEP4))


def stem(word: str) -> str:
    """The stem of a lower-case English word; words of one or two letters stay as they are."""
    if len(word) < 3:
        return word
    word = _plural_and_past(word)
    if word[-1] == "y" and _VOWEL.search(word, 0, len(word) - 1):
        word = word[:-1] + "i"
    for suffix, rules in ((_SUFFIX2, _STEP2), (_SUFFIX3, _STEP3)):
        if (found := suffix.search(word)) and _SOME.match(word[: found.start()]):
            word = word[: found.start()] + rules[found[0]]
    if found := _SUFFIX4.search(word):
        # Of "-sion" and "-tion" only "ion" goes.
        cut = found.start() + (1 if found[0] in ("sion", "tion") else 0)
        if _MORE.match(word[:cut]):
            word = word[:cut]
    if word[-1] == "e" and (_MORE.match(word[:-1]) or (_ONE.match(word[:-1]) and not _SHORT.match(word[:-1]))):
        word = word[:-1]
    if word.endswith("ll") and _MORE.match(word):
        word = word[:-1]
    return word


def _plural_and_past(word: str) -> str:
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word[-1] == "s" and word[-2] != "s":
        word = word[:-1]
    if word.endswith("eed"):
        return word[:-1] if _SOME.match(word[:-3]) else word
    for ending in ("ed", "ing"):
        if word.endswith(ending) and _VOWEL.search(base := word[: -len(ending)]):
            if base.endswith(("at", "bl", "iz")) or (_SHORT.match(base) and _ONE.match(base)):
                return base + "e"
            return base[:-1] if _DOUBLE.search(base) else base
    return word
