"""The parser for a folder of anything: it looks what a file is, and reads it so.

parser = auto(password="secret")
document = parser(Path("offer.docx"))
"""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from flowkit.errors import UnsupportedError
from flowkit.rag.parse.apart import OFFICE, email, epub, html, office
from flowkit.rag.parse.decoding import codec_of, could_be
from flowkit.rag.parse.files import read
from flowkit.rag.parse.formats import Found, format_of
from flowkit.rag.parse.limits import DEFAULT_LIMITS, Limits
from flowkit.rag.parse.made import with_warnings
from flowkit.rag.parse.notebook_file import notebook
from flowkit.rag.parse.pdf_file import PdfEngine, pdf
from flowkit.rag.parse.plain import markdown, text
from flowkit.rag.parse.records import csv, json, yaml
from flowkit.schema.documents import Document

__all__ = ["Auto", "Parser", "auto"]

_WRITTEN = {"csv", "html", "json", "markdown", "text", "yaml"}


class Parser(Protocol):
    """What turns a file into a document: the contract between loaders and parsers.

    A loader has a path or bytes, and a name for them; the parser gives a Document whose `source` is that name. It is a
    plain function: it may take its time, so call it in a thread. What cannot be read raises ParseError,
    UnsupportedError or ConfigError, each with the name and a hint; a loader reports it and goes on.
    """

    def __call__(self, source: Path | str | bytes, *, source_name: str | None = None) -> Document: ...


def auto(
    *,
    encoding: str | None = None,
    password: str = "",
    engine: PdfEngine = "auto",
    include_metadata: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> "Auto":
    """A parser that tells the format by the first bytes, then by the name, then by what the text looks like.

    It reads PDF; Word, PowerPoint and Excel, new and old (the extra `office`); EPUB; HTML; Markdown; CSV; JSON; YAML
    (as plain text without the extra `yaml`); notebooks; e-mails; and all other text: XML, logs, source code. Where
    content and name differ the content decides, and it is told in `parse_warnings`.

    Args:
        encoding: of text, CSV, JSON, YAML, Markdown and HTML; by default it is found out.
        password: for encrypted PDF and Office files.
        engine: what reads PDF files, as in `parse.pdf`.
        include_metadata: also keep what PDF and Office files say of themselves (title, author, …).
        limits: of time, memory and size.

    Raises:
        InvalidInputError: there is no such encoding.
    """
    if encoding is not None:
        codec_of(encoding)
    return Auto(encoding, password, engine, include_metadata, limits)


class Auto:
    """See `auto`. It may be used from several threads."""

    def __init__(
        self, encoding: str | None, password: str, engine: PdfEngine, include_metadata: bool, limits: Limits
    ) -> None:
        self._encoding = encoding
        self._password = password
        self._engine: PdfEngine = engine
        self._include_metadata = include_metadata
        self._limits = limits

    def __call__(
        self,
        source: Path | str | bytes,
        *,
        source_name: str | None = None,
        media_type: str | None = None,
        encoding: str | None = None,
    ) -> Document:
        """
        Args:
            source: A path, or the bytes of a file.
            source_name: What to call it in `metadata["source"]`; its ending counts, as that of a path does.
            media_type: What a server says that it is, such as "text/html"; for names that say nothing.
            encoding: What a server says that text is in; taken where the bytes are so.

        Raises:
            NotFoundError: there is no such file.
            ParseError: it is empty, broken, encrypted, or over a limit.
            UnsupportedError: it is in a format that is not read; the hint says how to convert it.
            ConfigError: the extra for its format is not installed.
        """
        given = read(source, source_name, max_bytes=self._limits.max_bytes)
        found = format_of(given, media_type)
        if not isinstance(found, Found):
            raise UnsupportedError(f"{given.name!r} is {found.what}, which is not read", hint=found.hint)
        said = self._encoding
        if said is None and encoding and found.name in _WRITTEN and could_be(given.data, encoding):
            said = encoding
        document = self._parsers(found.name, said)(source, source_name)
        return with_warnings(document, found.surprise) if found.surprise else document

    def _parsers(self, name: str, encoding: str | None) -> Callable[[Path | str | bytes, str | None], Document]:
        limits = self._limits
        if name == "pdf":
            return lambda source, called: pdf(
                source,
                source_name=called,
                password=self._password,
                engine=self._engine,
                include_metadata=self._include_metadata,
                limits=limits,
            )
        if name in OFFICE:
            return lambda source, called: office(
                source,
                source_name=called,
                password=self._password,
                include_metadata=self._include_metadata,
                limits=limits,
            )
        if name in ("epub", "email", "notebook"):
            whole = {"epub": epub, "email": email, "notebook": notebook}[name]
            return lambda source, called: whole(source, source_name=called, limits=limits)
        if name == "yaml" and find_spec("yaml") is None:
            name = "text"
        written = {"html": html, "markdown": markdown, "csv": csv, "json": json, "yaml": yaml}.get(name, text)
        return lambda source, called: written(source, encoding, source_name=called, limits=limits)
