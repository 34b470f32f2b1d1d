"""What every parser ends with: a document, with its source and with what its splitter and its reader have to know.

return document_of(given, text, {"title": "Menu"}, markdown=True)
"""

from collections.abc import Mapping, Sequence
from typing import Any

from flowkit.errors import ParseError
from flowkit.rag.parse.files import Given
from flowkit.rag.parse.limits import DEFAULT_LIMITS, Limits
from flowkit.rag.parsed import MARKDOWN, PARSE_WARNINGS, TEXT_FORMAT
from flowkit.schema.documents import Document
from flowkit.schema.text import clean_text, is_blank

__all__ = ["document_of", "with_warnings"]


def document_of(
    given: Given,
    text: str,
    metadata: Mapping[str, Any] | None = None,
    *,
    markdown: bool = False,
    warnings: Sequence[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> Document:
    """
    Args:
        markdown: Whether headings in the text are marked as in Markdown, whatever the source is called.
        warnings: What could not be read.

    Raises:
        ParseError: there is no text, or more than the limit.
    """
    if is_blank(clean_text(text)[0]):
        raise ParseError(f"{given.name!r} has no text, only blanks", hint="skip it")
    if len(text) > limits.max_characters:
        raise ParseError(
            f"{given.name!r} has more than {limits.max_characters:,} characters of text",
            hint="cut it into parts, or pass limits=parse.Limits(max_characters=…)",
        )
    kept = {**(metadata or {}), "source": given.source}
    if markdown:
        kept[TEXT_FORMAT] = MARKDOWN
    if warnings:
        kept[PARSE_WARNINGS] = list(warnings)
    return Document.from_text(text, kept)


def with_warnings(document: Document, *warnings: str) -> Document:
    """The document with more to tell."""
    told = document.metadata.get(PARSE_WARNINGS)
    return document.with_metadata(**{PARSE_WARNINGS: [*(told if isinstance(told, list) else ()), *warnings]})
