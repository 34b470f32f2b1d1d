"""Plain text, and Markdown with the settings at its top.

document = text(Path("notes.txt"))
document = markdown(Path("guide.md"))       # title: … at the top becomes metadata
"""

from pathlib import Path

from flowkit.rag.parse.decoding import Decoded, as_text, codec_of, decode
from flowkit.rag.parse.files import Given, read
from flowkit.rag.parse.front_matter import front_matter
from flowkit.rag.parse.limits import DEFAULT_LIMITS, Limits
from flowkit.rag.parse.made import document_of
from flowkit.schema.documents import Document

__all__ = ["decoded", "markdown", "text"]


def text(
    source: Path | str | bytes,
    encoding: str | None = None,
    *,
    source_name: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Document:
    """The text of a file (or of bytes), untouched but for a byte order mark at its beginning.

    Metadata: `source`; `encoding` where the text is not in UTF-8, and `encoding_confidence` (0…1) where that is a
    guess. A guess that is not sure is told in `parse_warnings`.

    Args:
        encoding: What it is in. By default a byte order mark decides, then whether it is UTF-8, and then what the
            bytes look like.
        source_name: what to call it in `metadata["source"]`, instead of its path.

    Raises:
        NotFoundError: there is no such file.
        ParseError: it is empty, blank, a folder, binary, or not in this encoding.
        InvalidInputError: there is no such encoding.
    """
    if encoding is not None:
        codec_of(encoding)
    given = read(source, source_name, max_bytes=limits.max_bytes)
    found = decoded(given, encoding)
    return document_of(given, found.text, found.metadata, warnings=found.warnings, limits=limits)


def markdown(
    source: Path | str | bytes,
    encoding: str | None = None,
    *,
    source_name: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Document:
    """As `text`; what the settings at the top say (between lines of `---` or `+++`) is metadata, too.

    The text stays as it is in the file, so that headings, lists and offsets are those of the file. Of the settings,
    values and lists of values are taken, such as `title`, `date` and `tags`; nested ones are not.
    """
    given = read(source, source_name, max_bytes=limits.max_bytes)
    found = decoded(given, encoding)
    kept = {**front_matter(found.text), **found.metadata}
    return document_of(given, found.text, kept, markdown=True, warnings=found.warnings, limits=limits)


def decoded(given: Given, encoding: str | None) -> Decoded:
    """The text of what is given, in that encoding or in the one that is found out."""
    if encoding is not None:
        return Decoded(as_text(given.data, encoding, given.name), "utf-8")
    return decode(given.data, given.name)
