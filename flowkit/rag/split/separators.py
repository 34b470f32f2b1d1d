"""What lies between the parts of a text, with Java's rules for splitting: empty parts at the end are dropped.

separated(re.compile(", "), "a, b, ")       # [(0, 1), (3, 4)]
paragraphs("one\\r\\n\\r\\n two")                # [(0, 3), (8, 11)]
"""

import re

__all__ = ["lines", "paragraphs", "separated", "words"]

# ASCII whitespace only: a no-break space is text.
_SPACE = r"[ \t\n\v\f\r]"
_BREAKS = "\n\v\f\r\x85\u2028\u2029"
_BREAK = rf"(?>\r\n|[{_BREAKS}])"
# All begin at the first line break of a run of whitespace, which Python finds quickly; blanks before it are added
# afterwards. Texts whose only line break is the newline are the rule and have simple patterns; in the others the
# lookbehinds tell whether that first break may itself be skipped as whitespace.
_PLAIN_LINE = re.compile(r"\n[ \t\n]*")
_PLAIN_PARAGRAPH = re.compile(r"\n[ \t]*\n[ \t\n]*")
_LINE = re.compile(rf"[{_BREAKS}](?:(?<=[\n\v\f\r]){_SPACE}*{_BREAK}{_SPACE}*|(?:(?<=\r)\n)?+{_SPACE}*)")
_PARAGRAPH = re.compile(
    rf"[{_BREAKS}](?:(?<=[\n\v\f\r]){_SPACE}*{_BREAK}{_SPACE}*{_BREAK}{_SPACE}*"
    rf"|(?:(?<=\r)\n)?+{_SPACE}*{_BREAK}{_SPACE}*)"
)
_WORD = re.compile(rf"{_SPACE}+")


def separated(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Spans of the parts of `text` between the matches of `pattern`.

    Empty parts at the end are left out, and so is the one before an empty match at the very beginning; a text without
    a match is one part.
    """
    parts = []
    at = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        if end:
            parts.append((at, start))
            at = end
    return _without_empty_end(parts, at, text)


def paragraphs(text: str) -> list[tuple[int, int]]:
    """Spans of what stands between two or more line breaks; blanks around these belong to the separator."""
    return _around_breaks(_PLAIN_PARAGRAPH if _is_plain(text) else _PARAGRAPH, text)


def lines(text: str) -> list[tuple[int, int]]:
    """Spans of what stands between line breaks; blanks around these, so indentation too, belong to the separator."""
    return _around_breaks(_PLAIN_LINE if _is_plain(text) else _LINE, text)


def words(text: str) -> list[tuple[int, int]]:
    """Spans of what stands between ASCII whitespace."""
    return separated(_WORD, text)


def _is_plain(text: str) -> bool:
    return not any(mark in text for mark in _BREAKS[1:])


def _around_breaks(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    parts = []
    at = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        while start > at and text[start - 1] in " \t\n\v\f\r":
            start -= 1
        parts.append((at, start))
        at = end
    return _without_empty_end(parts, at, text)


def _without_empty_end(parts: list[tuple[int, int]], at: int, text: str) -> list[tuple[int, int]]:
    parts.append((at, len(text)))
    while at and parts and parts[-1][0] == parts[-1][1]:
        parts.pop()
    return parts
