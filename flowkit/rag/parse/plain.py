"""Plain text files.

document = text(Path("notes.txt"))
"""

import codecs
from pathlib import Path

from flowkit.errors import InvalidInputError, ParseError
from flowkit.rag.parse.files import read
from flowkit.schema.documents import Document
from flowkit.schema.text import is_blank

__all__ = ["text"]


def text(source: Path | str | bytes, encoding: str | None = None, *, source_name: str | None = None) -> Document:
    """The text of a file (or of bytes), untouched but for a byte order mark at its beginning.

    Args:
        encoding: UTF-8 when None; nothing is guessed.
        source_name: what to call it in `metadata["source"]`, instead of its path.

    Raises:
        NotFoundError: there is no such file.
        ParseError: it is empty, blank, a folder, or not in this encoding.
        InvalidInputError: there is no such encoding.
    """
    try:
        codec = codecs.lookup(encoding or "utf-8").name
    except LookupError as error:
        raise InvalidInputError(f"no encoding {encoding!r}", hint='for instance "cp1252" or "shift_jis"') from error
    given = read(source, source_name)
    try:
        decoded = given.data.decode("utf-8-sig" if codec == "utf-8" else codec)
    except UnicodeDecodeError as error:
        where = f"byte 0x{given.data[error.start]:02x} at position {error.start}"
        raise ParseError(
            f"{given.name!r} is not {codec} text: {where}",
            hint='pass encoding=, for instance "cp1252", "utf-16" or "shift_jis"',
        ) from error
    except (UnicodeError, ValueError) as error:
        raise ParseError(f"{given.name!r} is not {codec} text: {error}", hint="pass another encoding=") from error
    if decoded.count("\0") > len(decoded) // 10:
        raise ParseError(
            f"{given.name!r} is full of NUL characters, so it is no {codec} text",
            hint='a binary file, or text in UTF-16: encoding="utf-16-le"',
        )
    if is_blank(decoded.replace("\0", "")):
        raise ParseError(f"{given.name!r} has no text, only blanks", hint="skip it")
    return Document.from_text(decoded, {"source": given.source})
