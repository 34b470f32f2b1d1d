"""Inside Office files: Word, Excel and PowerPoint, of today and of 1997. Runs in the process that reads.

for piece in read(job): ...
"""

import io
import zipfile
from collections.abc import Iterator
from typing import Any

from flowkit.errors import ConfigError, ParseError
from flowkit.rag.parse.archive import Archive, office_format
from flowkit.rag.parse.office_text import slide, text_of, workbook
from flowkit.rag.parse.pieces import End, Job, Page, Piece, locked

__all__ = ["read"]

_PACKAGES = ("docx", "pptx", "xlsx")
_WHAT = {
    "docx": "Word file",
    "doc": "Word file",
    "pptx": "PowerPoint file",
    "ppt": "PowerPoint file",
    "xlsx": "Excel file",
    "xls": "Excel file",
}
_MEDIA = ("/media/", "/embeddings/", "/fonts/", "/activeX/", "vbaProject.bin", "docProps/thumbnail")
_INSTALL = "pip install 'flowkit-ai[office]'"


def read(job: Job) -> Iterator[Piece]:
    """A page for each slide; one for a text or a workbook. Then what the file says of itself."""
    form = job.options["format"]
    data = job.content
    if form == "encrypted" or (form in ("doc", "xls", "ppt") and data.startswith(b"\xd0\xcf\x11\xe0")):
        data, form = _unlocked(job, data, form)
    if form in _PACKAGES:
        data = _without_media(job, data, form)
    found = _opened(job, data, form)
    about = found.get("metadata", {})
    sections = found.get("sections", [])
    if form in ("pptx", "ppt"):
        for number, section in enumerate(sections, start=1):
            yield Page(slide(section, number))
    elif form in ("xlsx", "xls"):
        yield Page(workbook(sections))
    else:
        yield Page("\n\n".join(text for section in sections if (text := text_of(section.get("elements", [])))))
    warnings = ("a part of its text was too long, and is cut",) if about.get("text_truncated") else ()
    yield End(_described(about) if job.options.get("include_metadata") else {}, warnings)


def _opened(job: Job, data: bytes, form: str) -> dict[str, Any]:
    try:
        from office_oxide import Document, OfficeOxideError
    except ImportError:
        raise ConfigError("reading Office files needs office-oxide", hint=_INSTALL) from None
    known: Any = form
    try:
        with Document.from_bytes(data, known) as document:
            found: dict[str, Any] = document.to_ir()
    except OfficeOxideError as error:
        reason = " ".join(str(error).split()).rstrip(".")[:200]
        if "encrypted" in reason or "password" in reason:
            raise locked(job) from error
        if "out of memory" in reason:
            raise MemoryError from error
        raise ParseError(
            f"{job.name!r} is a broken {_WHAT[form]} ({reason})", hint="open it in an Office program and save it again"
        ) from error
    return found


def _without_media(job: Job, data: bytes, form: str) -> bytes:
    """The same package without pictures, fonts and programs: they have no text, and take most of the room.

    What is unpacked here is counted, so that nothing unpacks more later.
    """
    slim = io.BytesIO()
    with Archive(Job(job.name, None, data, {}, job.limits), _WHAT[form]) as package, zipfile.ZipFile(slim, "w") as copy:
        for name in package.names:
            if not name.endswith("/"):
                copy.writestr(name, b"" if any(part in name for part in _MEDIA) else package.read(name))
    return slim.getvalue()


def _unlocked(job: Job, data: bytes, form: str) -> tuple[bytes, str]:
    """The file without its encryption, and its format, which is only known then."""
    try:
        from msoffcrypto import OfficeFile
        from msoffcrypto.exceptions import DecryptionError, FileFormatError, InvalidKeyError
    except ImportError:
        if form != "encrypted":
            return data, form  # most are not; the reader says so of those that are
        raise ConfigError(f"{job.name!r} is encrypted, and opening it needs msoffcrypto-tool", hint=_INSTALL) from None
    plain = io.BytesIO()
    try:
        file = OfficeFile(io.BytesIO(data))
        if not file.is_encrypted():
            return data, form
        password = job.options.get("password")
        # Excel writes this one where a workbook is only protected from changes.
        for candidate in (password, "VelvetSweatshop") if password else ("VelvetSweatshop",):
            try:
                file.load_key(password=candidate)
                file.decrypt(plain)
                break
            except (InvalidKeyError, DecryptionError):
                plain = io.BytesIO()
        else:
            raise locked(job)
    except ParseError:
        raise
    except FileFormatError:
        return data, form
    except Exception as error:  # it can fail with almost anything on a damaged file
        if form != "encrypted":
            return data, form
        raise ParseError(f"{job.name!r} is encrypted, and cannot be opened: {error}", hint="save it anew") from error
    opened = plain.getvalue()
    if form != "encrypted":
        return opened, form
    with Archive(Job(job.name, None, opened, {}, job.limits), "Office file") as package:
        if (name := office_format(package.names)) is not None:
            return opened, name
    raise ParseError(f"{job.name!r} is encrypted, and no Office file is in it", hint="save it anew")


def _described(about: dict[str, Any]) -> dict[str, Any]:
    names = ("title", "author", "subject", "description", "company", "created", "modified", "last_modified_by")
    found: dict[str, Any] = {name: about[name] for name in names if isinstance(about.get(name), str) and about[name]}
    keywords = about.get("keywords")
    return found | ({"keywords": keywords} if isinstance(keywords, list) and keywords else {})
