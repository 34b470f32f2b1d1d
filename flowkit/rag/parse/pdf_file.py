"""PDF files: the text of all pages, and where each page begins in it.

document = pdf(Path("menu.pdf"))
document.metadata["pages"], document.metadata["page_starts"]
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from flowkit.errors import InvalidInputError, ParseError
from flowkit.rag.parse.damage import span, unreadable, warnings
from flowkit.rag.parse.files import Given, read
from flowkit.rag.parse.limits import DEFAULT_LIMITS, Limits
from flowkit.rag.parse.made import document_of
from flowkit.rag.parse.workers import read_apart
from flowkit.rag.parsed import PAGE_STARTS
from flowkit.schema.documents import Document
from flowkit.schema.text import clean_text

__all__ = ["PdfEngine", "joined_pages", "pdf"]

PdfEngine = Literal["auto", "pdfium", "pypdf"]
"""`pdfium` is the faster one (the extra of that name); `auto` takes it when it is installed."""

_BETWEEN_PAGES = "\n\n"
_DAMAGED_SHARE = 0.01


def pdf(
    source: Path | str | bytes,
    *,
    source_name: str | None = None,
    password: str = "",
    engine: PdfEngine = "auto",
    include_metadata: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Document:
    """The text of a PDF, its pages a blank line apart, in the order in which the file draws it.

    The file is read in a process of its own, with limits of time, memory and pages. Pages that have no text but
    pictures, whose text is garbled, or that are broken are told in `parse_warnings`; the others are read.

    Metadata: `source` (the path as given, with slashes; or `source_name`), `pages` (how many), `page_starts` (the
    character at which each page begins; splitters turn it into each chunk's `page`), and, where one glyph in a
    hundred or more cannot be read, `text_layer: "damaged"` and `unreadable_glyphs`, how many.

    Args:
        password: opens an encrypted file; files encrypted with an empty password open without.
        engine: what reads it.
        include_metadata: also keep what the file says of itself (`Author`, `Title`, …), as text.

    Raises:
        NotFoundError: there is no such file.
        ParseError: it is empty, a folder, no PDF, broken, over a limit, encrypted with another password, or no page
            has text.
        ConfigError: the engine that is asked for is not installed.
    """
    if engine not in get_args(PdfEngine):
        raise InvalidInputError(f"engine is {engine!r}", hint='use "auto", "pdfium" or "pypdf"')
    given = read(source, source_name, max_bytes=limits.max_bytes)
    options = {"password": password, "engine": engine, "include_metadata": include_metadata}
    found = read_apart("pdf", given, options, limits)
    _check_text(given, found.pages, found.notes)
    text, starts = joined_pages(found.pages)
    kept: dict[str, Any] = {**found.metadata, "pages": len(found.pages), PAGE_STARTS: starts}
    glyphs = unreadable(text)
    if glyphs and glyphs >= _DAMAGED_SHARE * len("".join(text.split())):
        kept |= {"text_layer": "damaged", "unreadable_glyphs": glyphs}
    return document_of(given, text, kept, warnings=[*warnings(found.notes), *found.warnings], limits=limits)


def joined_pages(pages: Sequence[str]) -> tuple[str, list[int]]:
    """The pages as one text, a blank line apart, and where each begins; one without text begins where the next does."""
    whole: list[str] = []
    starts: list[int] = []
    length = 0
    for text in pages:
        if text and whole:
            whole.append(_BETWEEN_PAGES)
            length += len(_BETWEEN_PAGES)
        starts.append(length)
        if text:
            whole.append(text)
        # The document removes NUL and surrogates itself (and counts them); page starts are of its text.
        length += len(clean_text(text)[0])
    return "".join(whole), starts


def _check_text(given: Given, pages: Sequence[str], notes: Sequence[Mapping[str, Any]]) -> None:
    if any(clean_text(text)[0].strip() for text in pages):
        return
    failed = [number for number, note in enumerate(notes, start=1) if "failed" in note]
    if failed:
        reason = notes[failed[0] - 1]["failed"]
        raise ParseError(
            f"{given.name!r} is a broken PDF: {span(failed)} cannot be read ({reason})",
            hint="open it in a PDF viewer and save it again",
        )
    told = f"its {len(pages)} pages are" if len(pages) > 1 else "its page is"
    raise ParseError(
        f"{given.name!r} has no text layer: {told} empty or scanned images",
        hint="reading images (OCR) is not done here; run an OCR tool over the file first, for instance ocrmypdf",
    )
