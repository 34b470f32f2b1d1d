"""Text hygiene, applied once, when a document is made.

clean_text("a\\x00b\\ud800")     ("ab\\ufffd", 2)
"""

import re

__all__ = ["clean_text", "is_blank"]

_BAD = re.compile("[\x00\ud800-\udfff]")
_BLANK = "".join(map(chr, range(0x21)))


def clean_text(text: str) -> tuple[str, int]:
    """Remove NUL, turn each lone surrogate into U+FFFD.

    Returns:
        The text and the number of characters changed. PDF text holds both, and SQLite, Postgres and UTF-8 refuse them.
    """
    if text.isascii() and "\x00" not in text:
        return text, 0
    return _BAD.subn(lambda bad: "" if bad[0] == "\x00" else "�", text)


def is_blank(text: str) -> bool:
    """True when the text has only characters up to U+0020 (so a no-break space is not blank)."""
    return text[:1] <= " " and not text.strip(_BLANK)
