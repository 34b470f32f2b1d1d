"""Where pages begin in what Docling writes: it marks that a page ends, and not which.

text, starts = paged(markdown, json_content)
"""

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["PAGE_BREAK", "paged"]

PAGE_BREAK = "<!-- flowkit:page-break -->"
"""What the service is asked to put between pages."""
_KINDS = ("texts", "tables", "pictures", "key_value_items", "form_items")


def paged(markdown: str, about: Any) -> tuple[str, list[int]]:
    """The text without the marks, and where each page begins in it.

    A page with nothing on it has no mark, so what is known of each piece of the text tells which pages the parts are.
    Where that does not agree with the marks, no pages are told rather than wrong ones.
    """
    parts = [part.strip() for part in markdown.split(PAGE_BREAK)]
    numbers = sorted(set(_page_numbers(about)))
    if len(parts) != len(numbers):
        return "\n\n".join(part for part in parts if part), []
    length = 0
    whole: list[str] = []
    starts: list[int] = []
    for number, part in zip(numbers, parts, strict=True):
        if part and whole:
            length += 2
        starts += [length] * (number - len(starts))
        if part:
            whole.append(part)
            length += len(part)
    return "\n\n".join(whole), starts


def _page_numbers(about: Any) -> Iterator[int]:
    """The pages that have something on them, headers and footers not counted."""
    if not isinstance(about, Mapping):
        return
    for kind in _KINDS:
        for item in about.get(kind) or ():
            if isinstance(item, Mapping) and item.get("content_layer", "body") == "body":
                for place in item.get("prov") or ():
                    number = place.get("page_no") if isinstance(place, Mapping) else None
                    if isinstance(number, int) and number > 0:
                        yield number
