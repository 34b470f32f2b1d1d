"""Inside a PDF: the text of each page. Runs in the process that reads.

for piece in read(job): ...
"""

import logging
import re
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any

from flowkit.errors import ConfigError, ParseError
from flowkit.rag.parse.damage import noticed
from flowkit.rag.parse.pieces import End, Job, Page, Piece, locked

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

__all__ = ["read"]

# These only: full normalisation would rewrite Japanese full-width text.
_LIGATURES = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st"}
    | {"\u017f": "s"}
)
_HYPHEN = re.compile("[\ufffe\x02]\n")
_NONE = re.compile(r"\n{3,}")
_SPACES = re.compile("[ \t](?<=\\S[ \t])[ \t]+")

_WHOLE_BYTES = 16_000_000


def read(job: Job) -> Iterator[Piece]:
    """The pages, and what was noticed of each; then what the file says of itself, when that is asked for."""
    engine = job.options.get("engine", "auto")
    if engine == "pypdf" or (engine == "auto" and not _has_pdfium()):
        return _with_pypdf(job)
    return _with_pdfium(job, fall_back=engine == "auto")


def _has_pdfium() -> bool:
    from importlib.util import find_spec

    return find_spec("pypdfium2") is not None


def _page(text: str, *, has_pictures: bool) -> Page:
    """The text of a page without the blanks that its layout leaves at both ends of lines."""
    # Each search goes through all of a page, and most pages have nothing of what is searched for.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x02" in text or "\ufffe" in text:
        text = _HYPHEN.sub("", text).replace("\ufffe", "")
    if not text.isascii():
        text = text.translate(_LIGATURES)
    text = "\n".join([line.strip(" \t\u00a0") for line in text.split("\n")])
    if "  " in text or "\t" in text:
        text = _SPACES.sub(" ", text)
    if "\n\n\n" in text:
        text = _NONE.sub("\n\n", text)
    text = text.strip()
    return Page(text, noticed(text, has_pictures=has_pictures))


def _failed(error: Exception) -> Page:
    return Page("", {"failed": _reason(error)})


def _counted(job: Job, pages: int) -> None:
    if not pages:
        raise ParseError(f"{job.name!r} has no pages", hint="open it in a PDF viewer and save it again")
    if pages > job.limits.max_pages:
        raise ParseError(
            f"{job.name!r} has {pages:,} pages, and {job.limits.max_pages:,} are the limit",
            hint="cut it into parts, or pass limits=parse.Limits(max_pages=…)",
        )


# pypdf


def _with_pypdf(job: Job) -> Iterator[Piece]:
    """pypdf can fail with almost any exception on a damaged file, and all end here."""
    _quiet()
    from pypdf import PdfReader

    try:
        reader = PdfReader(job.path if job.path is not None else BytesIO(job.content))
        _unlock(reader, job)
        count = len(reader.pages)
    except (ParseError, MemoryError):
        raise
    except Exception as error:
        raise _broken(job, error) from error
    _counted(job, count)
    for number in range(count):
        try:
            page = reader.pages[number]
            piece = _page(page.extract_text(), has_pictures=_shows_pictures(page))
            # It keeps each object that it has read; a long file would fill the memory.
            reader.resolved_objects.clear()
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001
            piece = _failed(error)
        yield piece
    yield End(_information(reader) if job.options.get("include_metadata") else {})


def _unlock(reader: "PdfReader", job: Job) -> None:
    from pypdf import PasswordType

    if not reader.is_encrypted:
        return
    password = job.options.get("password", "")
    # The empty password has been tried; it is what "may be read but not changed" files have.
    if reader.decrypt(password) == PasswordType.NOT_DECRYPTED and (
        not password or reader.decrypt("") == PasswordType.NOT_DECRYPTED
    ):
        raise locked(job)


def _shows_pictures(page: "PageObject") -> bool:
    try:
        resources: Any = page["/Resources"]
        objects = resources["/XObject"]
        return any(objects[name]["/Subtype"] in ("/Image", "/Form") for name in objects)
    except Exception:  # noqa: BLE001  most pages have none, and only a remark depends on it
        return False


def _information(reader: "PdfReader") -> dict[str, Any]:
    try:
        found: Any = reader.metadata or {}
        return {str(key).lstrip("/"): str(value) for key, value in found.items() if value}
    except Exception:  # noqa: BLE001  a file is not less for it
        return {}


def _quiet() -> None:
    """Keep pypdf's remarks on each repaired flaw off the terminal, unless the user has set a level for it."""
    logger = logging.getLogger("pypdf")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.CRITICAL)


# PDFium


def _with_pdfium(job: Job, *, fall_back: bool) -> Iterator[Piece]:
    try:
        import pypdfium2

        from flowkit.rag.parse.pdfium_pages import Pages
    except ImportError:
        raise ConfigError("the engine 'pdfium' needs pypdfium2", hint="pip install 'flowkit-ai[pdfium]'") from None
    password = job.options.get("password", "")
    document = None
    # PDFium asks for a file bit by bit; most are small enough to be given whole.
    is_small = job.path is None or job.path.stat().st_size <= _WHOLE_BYTES
    content = job.content if is_small else job.path
    for each in (password, "") if password else ("",):
        try:
            document = pypdfium2.PdfDocument(content, password=each or None)
            count = len(document)
            break
        except pypdfium2.PdfiumError as error:
            failure = error
    if document is None and "assword" in str(failure):
        raise locked(job) from failure
    if document is None:
        if fall_back:
            # It repairs what this one does not.
            yield from _with_pypdf(job)
            return
        raise _broken(job, failure) from failure
    try:
        _counted(job, count)
        pages = Pages(document)
        for number in range(count):
            try:
                text = pages.text(number)
                pictures = not text.strip() and pages.draws_pictures(number)
                piece = _page(text, has_pictures=pictures)
            except pypdfium2.PdfiumError as error:
                piece = _failed(error)
            yield piece
        found = document.get_metadata_dict(skip_empty=True) if job.options.get("include_metadata") else {}
        yield End({key: value for key, value in found.items() if isinstance(value, str)})
    finally:
        document.close()


# Errors


def _broken(job: Job, error: Exception) -> ParseError:
    if b"%PDF-" not in job.content[:1024]:
        return ParseError(
            f"{job.name!r} is not a PDF: it does not begin with %PDF-", hint="use the parser of its format"
        )
    return ParseError(
        f"{job.name!r} is a broken PDF ({_reason(error)})", hint="open it in a PDF viewer and save it again"
    )


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")[:200] or type(error).__name__
