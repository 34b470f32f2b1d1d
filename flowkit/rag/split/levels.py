"""The levels: paragraphs, lines, sentences, words, characters, and what a regular expression separates.

paragraph(max_chars=1000, overlap_chars=100)(document)
recursive(max_tokens=300, overlap_tokens=30, tokenizer=tokenizer)(document)
"""

import re
from collections.abc import Callable
from functools import partial

from flowkit.errors import InvalidInputError
from flowkit.rag.split.hierarchy import Characters, Hierarchy, Parts
from flowkit.rag.split.sentences import SentenceDetector, sentence_spans, sentences
from flowkit.rag.split.separators import lines, paragraphs, separated, words
from flowkit.rag.split.sizes import Sizes
from flowkit.rag.split.tokens import Tokenizer

__all__ = ["character", "line", "paragraph", "recursive", "regex", "sentence", "word"]

_Counter = Tokenizer | Callable[[str], int]


def paragraph(
    *,
    max_chars: int | None = None,
    overlap_chars: int = 0,
    max_tokens: int | None = None,
    overlap_tokens: int = 0,
    tokenizer: _Counter | None = None,
    sub_splitter: Hierarchy | None = None,
    sentence_detector: SentenceDetector = sentences,
) -> Hierarchy:
    """Chunks of whole paragraphs (two or more line breaks apart), joined by a blank line.

    A paragraph over the limit goes to `sub_splitter`: by default `sentence`, then `word`, then `character`.
    Give the sizes in characters, or in tokens with a tokenizer. The overlap is made of whole sentences, so it is often
    shorter than asked, or absent; `exact` cuts it to size instead.

    Raises:
        InvalidInputError: the maximum is below 1, the overlap is outside 0…maximum, or the units are mixed.
    """
    sizes = _sizes(max_chars, overlap_chars, max_tokens, overlap_tokens, tokenizer)
    return _level(paragraphs, "\n\n", sizes, sub_splitter, sentence_detector, _sentence)


def line(
    *,
    max_chars: int | None = None,
    overlap_chars: int = 0,
    max_tokens: int | None = None,
    overlap_tokens: int = 0,
    tokenizer: _Counter | None = None,
    sub_splitter: Hierarchy | None = None,
    sentence_detector: SentenceDetector = sentences,
) -> Hierarchy:
    """Chunks of whole lines, joined by a newline; see `paragraph`."""
    sizes = _sizes(max_chars, overlap_chars, max_tokens, overlap_tokens, tokenizer)
    return _level(lines, "\n", sizes, sub_splitter, sentence_detector, _sentence)


def sentence(
    *,
    max_chars: int | None = None,
    overlap_chars: int = 0,
    max_tokens: int | None = None,
    overlap_tokens: int = 0,
    tokenizer: _Counter | None = None,
    sub_splitter: Hierarchy | None = None,
    sentence_detector: SentenceDetector = sentences,
) -> Hierarchy:
    """Chunks of whole sentences, joined by a space; a sentence over the limit goes to `word`; see `paragraph`."""
    sizes = _sizes(max_chars, overlap_chars, max_tokens, overlap_tokens, tokenizer)
    return _sentence(sizes, sentence_detector, sub_splitter)


def word(
    *,
    max_chars: int | None = None,
    overlap_chars: int = 0,
    max_tokens: int | None = None,
    overlap_tokens: int = 0,
    tokenizer: _Counter | None = None,
    sub_splitter: Hierarchy | None = None,
    sentence_detector: SentenceDetector = sentences,
) -> Hierarchy:
    """Chunks of whole words, joined by a space; a word over the limit goes to `character`; see `paragraph`."""
    sizes = _sizes(max_chars, overlap_chars, max_tokens, overlap_tokens, tokenizer)
    return _word(sizes, sentence_detector, sub_splitter)


def character(
    *,
    max_chars: int | None = None,
    overlap_chars: int = 0,
    max_tokens: int | None = None,
    overlap_tokens: int = 0,
    tokenizer: _Counter | None = None,
    sentence_detector: SentenceDetector = sentences,
) -> Hierarchy:
    """Chunks of as many characters as fit; with token offsets no token is cut; see `paragraph`."""
    sizes = _sizes(max_chars, overlap_chars, max_tokens, overlap_tokens, tokenizer)
    return Characters(sizes, sentence_detector=sentence_detector)


def regex(
    pattern: str | re.Pattern[str],
    join: str,
    *,
    max_chars: int | None = None,
    overlap_chars: int = 0,
    max_tokens: int | None = None,
    overlap_tokens: int = 0,
    tokenizer: _Counter | None = None,
    sub_splitter: Hierarchy | None = None,
    sentence_detector: SentenceDetector = sentences,
) -> Hierarchy:
    """Chunks of the parts between matches of `pattern`, joined by `join` (which need not be what the pattern matched).

    A part over the limit goes to `sub_splitter`; there is none by default, and then such a part is an error.

    Raises:
        InvalidInputError: as for `paragraph`, or the pattern is no regular expression.
    """
    sizes = _sizes(max_chars, overlap_chars, max_tokens, overlap_tokens, tokenizer)
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError) as error:
        raise InvalidInputError(f"{pattern!r} is no regular expression: {error}") from error
    return _level(partial(separated, compiled), join, sizes, sub_splitter, sentence_detector, None)


def recursive(
    *,
    max_tokens: int | None = None,
    overlap_tokens: int | None = None,
    tokenizer: _Counter | None = None,
    max_chars: int | None = None,
    overlap_chars: int = 0,
    sentence_detector: SentenceDetector = sentences,
) -> Hierarchy:
    """Paragraphs, and what is too large by lines, then sentences, words and characters; all of the same sizes.

    Without sizes: `max_tokens=300, overlap_tokens=30`. Otherwise the overlap is 0 unless given.

    Raises:
        InvalidInputError: as for `paragraph`.
    """
    if max_chars is None and max_tokens is None and not overlap_chars:
        max_tokens = 300
        overlap_tokens = 30 if overlap_tokens is None else overlap_tokens
    sizes = _sizes(max_chars, overlap_chars, max_tokens, overlap_tokens or 0, tokenizer)
    by_line = _level(lines, "\n", sizes, None, sentence_detector, _sentence)
    return _level(paragraphs, "\n\n", sizes, by_line, sentence_detector, None)


def _sizes(
    max_chars: int | None,
    overlap_chars: int,
    max_tokens: int | None,
    overlap_tokens: int,
    tokenizer: _Counter | None,
) -> Sizes:
    return Sizes.of(
        max_chars=max_chars,
        overlap_chars=overlap_chars,
        max_tokens=max_tokens,
        overlap_tokens=overlap_tokens,
        tokenizer=tokenizer,
    )


def _level(
    parts: Parts,
    join: str,
    sizes: Sizes,
    sub_splitter: Hierarchy | None,
    detector: SentenceDetector,
    default: Callable[[Sizes, SentenceDetector], Hierarchy] | None,
) -> Hierarchy:
    if sub_splitter is None:
        sub_splitter = default(sizes, detector) if default else None
    elif not isinstance(sub_splitter, Hierarchy):
        raise InvalidInputError(
            f"sub_splitter is a {type(sub_splitter).__name__}",
            hint="pass one of paragraph, line, sentence, word, character, regex and recursive",
        )
    return Hierarchy(parts, join, sizes, sub_splitter=sub_splitter, sentence_detector=detector)


def _sentence(sizes: Sizes, detector: SentenceDetector, sub_splitter: Hierarchy | None = None) -> Hierarchy:
    def parts(text: str) -> list[tuple[int, int]]:
        return sentence_spans(detector, text) or [(0, len(text))]

    return _level(parts, " ", sizes, sub_splitter, detector, _word)


def _word(sizes: Sizes, detector: SentenceDetector, sub_splitter: Hierarchy | None = None) -> Hierarchy:
    return _level(words, " ", sizes, sub_splitter, detector, _character)


def _character(sizes: Sizes, detector: SentenceDetector) -> Hierarchy:
    return Characters(sizes, sentence_detector=detector)
