"""Keyword search: how text becomes search terms, and BM25 over them.

index = KeywordIndex()
index.add("doc-1", terms("Refunds within 3 days"))
index.scores(query_terms("refund"))          # {"doc-1": 0.28…}, BM25, above 0 only
"""

import math
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

from flowkit.errors import InvalidInputError
from flowkit.rag.stem import stem

__all__ = ["BM25_B", "BM25_K1", "TERMS_VERSION", "KeywordIndex", "checked_language", "idf", "query_terms", "terms"]

TERMS_VERSION = 2
"""Goes up when `terms` gives other terms for the same text: stored keyword indexes are then built anew."""
BM25_K1 = 1.2
BM25_B = 0.75
LONGEST_TERM = 64
"""Characters; longer terms (base64, hashes) are cut, in documents and queries alike."""

# Scripts written without spaces, so that a run of them is no word: kana, Han, Hangul, Thai, Lao, Burmese, Khmer.
_RUN = (
    "々-〇぀-ゖゝ-ゟァ-ヺー-ヿㄅ-ㄯ㐀-䶿一-鿿\uf900-\ufaff가-힣ᄀ-ᇿ"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1050-\u109f\u1780-\u17d3\U00020000-\U000323af"
)
# Vowel signs of Indic scripts and accents that belong to no composed letter are marks, which \w leaves out.
_MARKS = "\u0300-\u036f\u06d6-\u06dc\u0900-\u0963\u0966-\u0dff"
_ASCII_WORD = re.compile("[a-z0-9]+")
_PIECE = re.compile(f"(?P<run>[{_RUN}]+)|(?:(?![{_RUN}_])[\\w{_MARKS}])+")
# Accents go from Latin and Greek letters; elsewhere a mark makes another letter (か and が, и and й).
_ACCENTS = re.compile("(?<=[a-zα-ω])[\u0300-\u036f]+")
_POINTS = re.compile("[\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]")  # Hebrew, Arabic
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ё": "е"})

# Left out of queries when something else remains: they match nearly everything and say nothing.
_STOP_ENGLISH = frozenset(
    word
    for line in (
        "a about above after again all also am an and any are as at be because been before being below between both",
        "but by can could did do does doing don down during each few for from further had has have having he her here",
        "hers him his how i if in into is it its just may me might more most must my no nor not now of off on once",
        "only or other our out over own s same shall she should so some such t than that the their them then there",
        "these they this those through to too under until up upon us very was we were what when where which while who",
        "whom whose why will with would you your yours",
    )
    for word in line.split()
)
_STOP_RUNS = frozenset(
    word
    for line in ("的 了 是 在 和 也", "です ます した して する いる ある から まで こと もの れる では には とは のは")
    for word in line.split()
)


class _Stems(dict[str, str]):
    """Stems that were worked out before. Bounded, as a corpus can hold millions of words."""

    def __init__(self, stem: Callable[[str], str]) -> None:
        super().__init__()
        self._stem = stem

    def __missing__(self, word: str) -> str:
        if len(self) >= 100_000:
            self.clear()
        short = word[:LONGEST_TERM]
        found = self[word] = self._stem(short) if short.isalpha() else short
        return found


def checked_language(language: str) -> str:
    """The language, when words of it can lose their endings here: "english", "simple" (none do), or one of Snowball's.

    Raises:
        InvalidInputError: there are no rules for it; the hint lists the languages.
    """
    if language not in ("english", "simple"):
        import snowballstemmer

        known = snowballstemmer.algorithms()
        if language not in known:
            raise InvalidInputError(f"there are no stems for {language!r}", hint=f"simple, {', '.join(sorted(known))}")
    return language


@cache
def _stems(language: str) -> Callable[[str], str]:
    if language == "english":
        return _Stems(lambda word: stem(word) if word.isascii() else word).__getitem__
    if checked_language(language) == "simple":
        return _Stems(str).__getitem__
    import snowballstemmer

    snowball = snowballstemmer.stemmer(language)
    lock = threading.Lock()  # a Snowball stemmer works on its own fields

    def stemmed(word: str) -> str:
        with lock:
            return str(snowball.stemWord(word))

    return _Stems(stemmed).__getitem__


_stem = _stems("english")


def terms(text: str, language: str = "english") -> list[str]:
    """The search terms of a text, in order, repeated ones too.

    Words are lower-cased, lose their accents and, by the rules of the language, their endings. A run of a script that
    is written without spaces (Chinese, Japanese, Thai, …) gives each character and each pair of neighbours. Terms hold
    letters, digits and marks only, the ASCII ones lower-case, so a store may join them with spaces.
    """
    return list(map(_stem if language == "english" else _stems(language), _words(text)))


def query_terms(text: str, language: str = "english") -> list[str]:
    """The terms of a question: without stop words, unless there is nothing else in it."""
    words = _words(text)
    telling = [word for word in words if not _is_stop(word, language)]
    return list(map(_stems(language), telling or words))


def idf(count: int, having: int) -> float:
    """Weight of a term that `having` of `count` documents have; above 0 even when all of them do.

    Robertson and Zaragoza (2009), with the 1 inside the logarithm that keeps it positive.
    """
    return math.log(1 + (count - having + 0.5) / (having + 0.5))


def _words(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    words: list[str] = []
    for found in _PIECE.finditer(_folded(text)):
        if found["run"] is None:
            words.append(found[0])
        else:
            run = found[0]
            words.extend(run)
            words.extend(map("".join, pairwise(run)))
    return words


def _folded(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold()
    text = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return _POINTS.sub("", unicodedata.normalize("NFC", text)).translate(_LETTERS)


def _is_stop(word: str, language: str) -> bool:
    # A single hiragana is a particle or an ending nearly always.
    return (
        (language == "english" and word in _STOP_ENGLISH)
        or word in _STOP_RUNS
        or (len(word) == 1 and "぀" <= word <= "ゟ")
    )


class KeywordIndex:
    """BM25 (k1 1.2, b 0.75) over documents in memory, each a list of terms under an id."""

    def __init__(self) -> None:
        self._postings: dict[str, dict[str, int]] = {}
        self._terms: dict[str, Counter[str]] = {}
        self._lengths: dict[str, int] = {}
        self._total = 0

    def __len__(self) -> int:
        return len(self._terms)

    def add(self, id: str, document: Sequence[str]) -> None:
        """Add a document's `terms`, in place of an earlier one of that id."""
        self.remove(id)
        counts = self._terms[id] = Counter(document)
        self._lengths[id] = len(document)
        self._total += len(document)
        for term, count in counts.items():
            self._postings.setdefault(term, {})[id] = count

    def remove(self, id: str) -> None:
        """Forget a document; an unknown id is ignored."""
        for term in self._terms.pop(id, ()):
            having = self._postings[term]
            del having[id]
            if not having:
                del self._postings[term]
        self._total -= self._lengths.pop(id, 0)

    def scores(self, query: Sequence[str]) -> dict[str, float]:
        """BM25 of every document that has one of the query's terms; a term given twice counts twice."""
        found: dict[str, float] = {}
        mean = self._total / len(self) if self._total else 1.0
        for term, times in Counter(query).items():
            having = self._postings.get(term, {})
            weight = times * idf(len(self), len(having)) * (BM25_K1 + 1)
            for id, count in having.items():
                length = 1 - BM25_B + BM25_B * self._lengths[id] / mean
                found[id] = found.get(id, 0.0) + weight * count / (count + BM25_K1 * length)
        return found
