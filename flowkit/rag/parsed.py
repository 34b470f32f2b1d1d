"""What a parser tells of a document beside its text, in metadata keys that its chunks do not get.

told = take(metadata)                    # removes the keys from a dict
told.page_starts, told.text_format, told.warnings
"""

from typing import Any, NamedTuple

__all__ = ["MARKDOWN", "PAGE_STARTS", "PARSE_WARNINGS", "TEXT_FORMAT", "Told", "take"]

PAGE_STARTS = "page_starts"
"""Offsets (int, rising) at which pages or slides begin; splitters make each chunk's `page` of them."""
TEXT_FORMAT = "text_format"
"""How the text is written where the name of its source does not say it: `"markdown"`, so that headings are known."""
PARSE_WARNINGS = "parse_warnings"
"""Sentences (list of str) on what could not be read, for the report of whoever ingests."""
MARKDOWN = "markdown"


class Told(NamedTuple):
    """The values; anything else under those keys is some other program's, and is as if it were not there."""

    page_starts: list[int]
    text_format: str | None
    warnings: list[str]


def take(metadata: dict[str, Any]) -> Told:
    """Remove the keys, and return what they held."""
    starts, form, warnings = (metadata.pop(key, None) for key in (PAGE_STARTS, TEXT_FORMAT, PARSE_WARNINGS))
    whole = isinstance(starts, list) and all(type(start) is int for start in starts) and starts == sorted(starts)
    said = isinstance(warnings, list) and all(isinstance(each, str) for each in warnings)
    return Told(starts if whole else [], form if isinstance(form, str) else None, warnings if said else [])
