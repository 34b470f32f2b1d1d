"""PDF files: the text of all pages, and where each page begins in it.

document = pdf(Path("menu.pdf"))
document.metadata["pages"], document.metadata["page_starts"]
"""

import logging
import re
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from flowkit.errors import ParseError
from flowkit.rag.parse.files import Given, read
from flowkit.schema.documents import Document
from flowkit.schema.text import clean_text

if TYPE_CHECKING:
    from pypdf import PdfReader

__all__ = ["pdf"]

_BETWEEN_PAGES = "\n\n"
# These seven only: full normalisation would rewrite Japanese full-width text.
_LIGATURES = str.maketrans(
    dict(zip("\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06", ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True))
)
# What extraction gives for glyphs that a font does not name.
_UNREADABLE = re.compile("[\0\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff]")
_DAMAGED_SHARE = 0.01


def pdf(source: Path | str | bytes, *, source_name: str | None = None, password: str = "") -> Document:
    """The text of a PDF, its pages a blank line apart, in the order in which the file draws it.

    Metadata: `source` (the path as given, with slashes; or `source_name`), `pages` (how many), `page_starts` (the
    character at which each page begins; splitters turn it into each chunk's `page`), and, where one glyph in a
    hundred or more cannot be read, `text_layer: "damaged"` and `unreadable_glyphs`, how many.

    Args:
        password: opens an encrypted file; files encrypted with an empty password open without.

    Raises:
        NotFoundError: there is no such file.
        ParseError: it is empty, a folder, no PDF, broken, encrypted with another password, or has no text layer.
    """
    given = read(source, source_name)
    texts = _page_texts(given, password)
    whole: list[str] = []
    starts: list[int] = []
    length = 0
    for text in texts:
        if text and whole:
            whole.append(_BETWEEN_PAGES)
            length += len(_BETWEEN_PAGES)
        starts.append(length)
        whole.append(text)
        # The document removes NUL and surrogates itself (and counts them); page starts are of its text.
        length += len(clean_text(text)[0])
    joined = "".join(whole)
    if not clean_text(joined)[0].strip():
        pages = f"its {len(texts)} pages are" if len(texts) > 1 else "its page is"
        raise ParseError(
            f"{given.name!r} has no text layer: {pages} empty or scanned images",
            hint="reading images (OCR) is not done here; run an OCR tool over the file first",
        )
    metadata = {"source": given.source, "pages": len(texts), "page_starts": starts}
    unreadable = len(_UNREADABLE.findall(joined))
    if unreadable and unreadable >= _DAMAGED_SHARE * len("".join(joined.split())):
        metadata |= {"text_layer": "damaged", "unreadable_glyphs": unreadable}
    return Document.from_text(joined, metadata)


def _page_texts(given: Given, password: str) -> list[str]:
    """The text of each page; pypdf can fail with almost any exception on a damaged file, and all end here."""
    _quiet()
    page = 0
    try:
        from pypdf import PdfReader

        reader = PdfReader(BytesIO(given.data))
        _unlock(reader, given, password)
        pages = reader.pages
        texts = []
        for page in range(1, len(pages) + 1):
            texts.append(pages[page - 1].extract_text().translate(_LIGATURES).strip())
    except ParseError:
        raise
    except Exception as error:
        raise _unreadable(given, page, error) from error
    if not texts:
        raise ParseError(f"{given.name!r} has no pages", hint="open it in a PDF viewer and save it again")
    return texts


def _unlock(reader: "PdfReader", given: Given, password: str) -> None:
    from pypdf import PasswordType

    if not reader.is_encrypted:
        return
    # The empty password has been tried; it is what "may be read but not changed" files have.
    if reader.decrypt(password) == PasswordType.NOT_DECRYPTED and (
        not password or reader.decrypt("") == PasswordType.NOT_DECRYPTED
    ):
        if password:
            raise ParseError(f"{given.name!r} does not open with the password given", hint="check password=")
        raise ParseError(f"{given.name!r} is encrypted and needs a password", hint="pass password=")


def _unreadable(given: Given, page: int, error: Exception) -> ParseError:
    reason = " ".join(str(error).split()).rstrip(".")[:200] or type(error).__name__
    if b"%PDF-" not in given.data[:1024]:
        return ParseError(
            f"{given.name!r} is not a PDF: it does not begin with %PDF-", hint="use the parser of its format"
        )
    where = f"at page {page} " if page else ""
    return ParseError(
        f"{given.name!r} is a broken PDF {where}({reason})", hint="open it in a PDF viewer and save it again"
    )


def _quiet() -> None:
    """Keep pypdf's remarks on each repaired flaw off the terminal, unless the user has set a level for it."""
    logger = logging.getLogger("pypdf")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.CRITICAL)
