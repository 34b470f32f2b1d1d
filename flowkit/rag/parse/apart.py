"""Web pages, e-books, e-mails and Office files, each read in a process of its own.

document = html(Path("page.html"))
document = office(Path("offer.docx"))        # needs the extra `office`
"""

from pathlib import Path
from typing import Any

from flowkit.errors import ParseError
from flowkit.rag.parse.decoding import codec_of
from flowkit.rag.parse.files import Given, read
from flowkit.rag.parse.formats import Found, format_of
from flowkit.rag.parse.limits import DEFAULT_LIMITS, Limits
from flowkit.rag.parse.made import document_of
from flowkit.rag.parse.pdf_file import joined_pages
from flowkit.rag.parse.workers import read_apart
from flowkit.rag.parsed import PAGE_STARTS
from flowkit.schema.documents import Document

__all__ = ["OFFICE", "email", "epub", "html", "office"]

OFFICE = ("docx", "pptx", "xlsx", "doc", "ppt", "xls", "encrypted")
_PAGED = ("pptx", "ppt")


def html(
    source: Path | str | bytes,
    encoding: str | None = None,
    *,
    source_name: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Document:
    """The text of a web page, with headings, lists, tables and listings marked as in Markdown.

    Scripts, styles, navigation and the fields of forms are left out. To choose parts of a page by CSS selectors, read
    it with `parse.text` and use `transform.html_to_text`.

    Metadata: `source`, `title`, and `encoding` where it is not UTF-8.

    Args:
        encoding: What the page is in; by default what it says itself, or looks like.

    Raises:
        NotFoundError: there is no such file.
        ParseError: it is empty, has no text, or is over a limit.
    """
    if encoding is not None:
        codec_of(encoding)
    return _document(read(source, source_name, max_bytes=limits.max_bytes), "html", {"encoding": encoding}, limits)


def epub(source: Path | str | bytes, *, source_name: str | None = None, limits: Limits = DEFAULT_LIMITS) -> Document:
    """The chapters of an e-book in reading order, with headings, lists and tables marked as in Markdown.

    Metadata: `source`, `title`, `author`, `language`, `date`, as far as the book has them.

    Raises:
        NotFoundError: there is no such file.
        ParseError: it is empty, broken, locked (DRM), or over a limit.
    """
    return _document(read(source, source_name, max_bytes=limits.max_bytes), "epub", {}, limits)


def email(source: Path | str | bytes, *, source_name: str | None = None, limits: Limits = DEFAULT_LIMITS) -> Document:
    """Subject, sender, recipients, date and text of a message (.eml), and the names of what is attached.

    Of a message in plain text and HTML the plain text is taken. Messages in it (forwarded ones) follow with their own
    subject. Attachments are named and not read.

    Metadata: `source`, `title` (the subject), `from`, `to`, `date` (ISO 8601), `attachments` (names).

    Raises:
        NotFoundError: there is no such file.
        ParseError: it is empty, or no message.
    """
    return _document(read(source, source_name, max_bytes=limits.max_bytes), "email", {}, limits)


def office(
    source: Path | str | bytes,
    *,
    source_name: str | None = None,
    password: str = "",
    include_metadata: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Document:
    """The text of a Word, PowerPoint or Excel file, of today (docx, pptx, xlsx) or of 1997 to 2003 (doc, ppt, xls).

    Word: headings, lists and tables are marked as in Markdown; comments and footnotes come last, headers and footers
    are left out. PowerPoint: slides are pages, so each chunk knows its slide as `page`; titles are headings, and what
    is to be said stands behind `Notes:`. Excel: sheets are headings, and each row is a line with the name of the column
    before each value, as `parse.csv` makes it; numbers and dates are as they are shown.

    Metadata: `source`; `pages` and `page_starts` of slides.

    Args:
        password: opens an encrypted file.
        include_metadata: also keep what the file says of itself: `title`, `author`, `subject`, `keywords`, `created`,
            `modified` and others.

    Raises:
        NotFoundError: there is no such file.
        ParseError: it is empty, broken, over a limit, encrypted with another password, or no Office file.
        ConfigError: the extra `office` is not installed.
    """
    given = read(source, source_name, max_bytes=limits.max_bytes)
    found = format_of(given)
    if not isinstance(found, Found) or found.name not in OFFICE:
        what = found.what if not isinstance(found, Found) else f"in the format {found.name!r}"
        raise ParseError(f"{given.name!r} is no Office file, but {what}", hint="use parse.auto()")
    options = {"format": found.name, "password": password, "include_metadata": include_metadata}
    return _document(given, "office", options, limits)


def _document(given: Given, kind: str, options: dict[str, Any], limits: Limits) -> Document:
    found = read_apart(kind, given, options, limits)
    text, starts = joined_pages(found.pages)
    kept = {key: value for key, value in found.metadata.items() if value is not None}
    if options.get("format") in _PAGED:
        kept |= {"pages": len(found.pages), PAGE_STARTS: starts}
    return document_of(given, text, kept, markdown=True, warnings=found.warnings, limits=limits)
