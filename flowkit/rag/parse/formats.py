"""Which format a file is in: by what its first bytes are, then by what it is called, then by what it looks like.

found = format_of(given)
found.name, found.surprise          # "pdf", "it is a PDF, though its name ends in .txt"
"""

import io
import re
import zipfile
from typing import NamedTuple

from flowkit.rag.parse.archive import UNREADABLE, office_format
from flowkit.rag.parse.decoding import is_binary
from flowkit.rag.parse.files import Given

__all__ = ["FORMATS", "Found", "Refused", "format_of"]

FORMATS: dict[str, tuple[str, ...]] = {
    "pdf": (".pdf",),
    "docx": (".docx", ".docm", ".dotx", ".dotm"),
    "pptx": (".pptx", ".pptm", ".ppsx", ".ppsm", ".potx"),
    "xlsx": (".xlsx", ".xlsm", ".xltx", ".xltm"),
    "doc": (".doc", ".dot"),
    "ppt": (".ppt", ".pps", ".pot"),
    "xls": (".xls", ".xlt"),
    "epub": (".epub",),
    "html": (".html", ".htm", ".xhtml", ".xht"),
    "markdown": (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd"),
    "csv": (".csv", ".tsv", ".tab"),
    "json": (".json", ".jsonl", ".ndjson", ".geojson", ".jsonld"),
    "yaml": (".yaml", ".yml"),
    "notebook": (".ipynb",),
    "email": (".eml",),
}
"""Names of formats, and the endings of their files. All other text is `text`."""

_BY_SUFFIX = {suffix: name for name, suffixes in FORMATS.items() for suffix in suffixes}
_BY_MEDIA_TYPE = {
    "application/pdf": "pdf",
    "application/msword": "doc",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/epub+zip": "epub",
    "application/json": "json",
    "application/x-ndjson": "json",
    "application/x-ipynb+json": "notebook",
    "application/x-yaml": "yaml",
    "application/yaml": "yaml",
    "application/xhtml+xml": "html",
    "message/rfc822": "email",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "markdown",
    "text/tab-separated-values": "csv",
    "text/x-yaml": "yaml",
    "text/yaml": "yaml",
}
_PLAIN = {".log", ".text", ".txt", ".xml"}
# These are known by their bytes alone: a file without them is something else, whatever it is called.
_MAGICAL = {"pdf", "docx", "pptx", "xlsx", "doc", "ppt", "xls", "epub"}


class Found(NamedTuple):
    """A format that has a parser. `surprise` says in a clause where name and content differ."""

    name: str
    surprise: str | None = None


class Refused(NamedTuple):
    """A format that has none: what it is, and what the user can do."""

    what: str
    hint: str


_OFFICE = "save it as {0}, for instance with: soffice --headless --convert-to {0} FILE"
_PICTURE = "reading images (OCR) is not done here; run an OCR tool over it first"
_PACKED = "unpack it first"
_NOTHING = "leave it out"

_MAGIC: tuple[tuple[bytes, Refused], ...] = (
    (b"{\\rtf", Refused("a Rich Text file", _OFFICE.format("docx"))),
    (b"\x89PNG\r\n\x1a\n", Refused("a PNG image", _PICTURE)),
    (b"\xff\xd8\xff", Refused("a JPEG image", _PICTURE)),
    (b"GIF87a", Refused("a GIF image", _PICTURE)),
    (b"GIF89a", Refused("a GIF image", _PICTURE)),
    (b"II*\0", Refused("a TIFF image", _PICTURE)),
    (b"MM\0*", Refused("a TIFF image", _PICTURE)),
    (b"\x1f\x8b", Refused("a gzip archive", _PACKED)),
    (b"BZh", Refused("a bzip2 archive", _PACKED)),
    (b"\xfd7zXZ\0", Refused("an xz archive", _PACKED)),
    (b"7z\xbc\xaf'\x1c", Refused("a 7z archive", _PACKED)),
    (b"Rar!\x1a\x07", Refused("a RAR archive", _PACKED)),
    (b"\x28\xb5\x2f\xfd", Refused("a zstd archive", _PACKED)),
    (b"SQLite format 3\0", Refused("an SQLite database", "export what is to be found as CSV")),
    (b"PAR1", Refused("a Parquet file", "export it as CSV")),
    (b"\x7fELF", Refused("a program", _NOTHING)),
    (b"MZ\x90", Refused("a program", _NOTHING)),
    (b"\xca\xfe\xba\xbe", Refused("a program", _NOTHING)),
    (b"\0asm", Refused("a program", _NOTHING)),
    (b"OggS", Refused("a recording", "transcribe it first")),
    (b"ID3", Refused("a recording", "transcribe it first")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Refused("an old Office file", "")),
)
_OPEN_DOCUMENT = {
    "text": Refused("an OpenDocument text", _OFFICE.format("docx")),
    "spreadsheet": Refused("an OpenDocument spreadsheet", _OFFICE.format("xlsx")),
    "presentation": Refused("an OpenDocument presentation", _OFFICE.format("pptx")),
}
_STREAMS = (
    ("EncryptedPackage", Found("encrypted")),
    ("WordDocument", Found("doc")),
    ("PowerPoint Document", Found("ppt")),
    ("Workbook", Found("xls")),
    ("Book", Found("xls")),
    ("__properties_version1.0", Refused("an Outlook message", "save it as .eml in the mail program")),
)
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_MAIL = re.compile(
    rb"(?:(?:Return-Path|Received|Delivered-To|MIME-Version|Message-ID|From|To|Cc|Subject|Date|Reply-To|X-[\w-]+|"
    rb"DKIM-Signature|Content-[\w-]+):[^\r\n]*\r?\n(?:[ \t][^\r\n]*\r?\n)*){3,}",
    re.IGNORECASE,
)
_MAIL_MARKS = (b"\nmessage-id:", b"\nmime-version:", b"\nreceived:", b"\nreturn-path:")


def format_of(given: Given, media_type: str | None = None) -> Found | Refused:
    """The format of what is given.

    Args:
        media_type: What a server calls it; decides where its name says nothing.
    """
    named = _BY_SUFFIX.get(given.suffix)
    if named is None and media_type and given.suffix in ("", ".php", ".asp", ".aspx", ".jsp", ".cgi", ".bin"):
        named = _BY_MEDIA_TYPE.get(media_type.partition(";")[0].strip().lower())
    magical = _by_magic(given)
    if isinstance(magical, Found):
        is_known = named is not None or given.suffix in _PLAIN
        return _surprised(magical, given) if is_known and named != magical.name else magical
    if magical is not None:
        return magical
    return _by_name(given, named)


def _by_name(given: Given, named: str | None) -> Found:
    looks = _looks(given.head)
    if named in _MAGICAL:
        # Programs like to call a web page or a table "report.xls".
        if named in ("xls", "doc") and looks == "html":
            return _surprised(Found("html"), given)
        if named == "xls" and b"\t" in given.head and b"\0" not in given.head:
            return _surprised(Found("csv"), given)
        return Found(named)
    if named is None and given.suffix in ("", ".txt", ".text", ".php", ".asp", ".aspx", ".jsp", ".mht", ".mhtml"):
        return Found(looks or "text")
    return Found(named or "text")


def _by_magic(given: Given) -> Found | Refused | None:
    head = given.head
    if b"%PDF-" in head[:1024]:
        return Found("pdf")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _packed(given)
    if head[4:8] == b"ftyp":
        return Refused("a recording or an image", "transcribe it first")
    if head.startswith(b"RIFF") and head[8:12] in (b"WAVE", b"AVI ", b"WEBP"):
        return Refused("a recording or an image", "transcribe it first")
    for magic, refused in _MAGIC:
        # A text may begin with the letters that some archives begin with.
        if head.startswith(magic) and not (magic.isalnum() and not is_binary(head)):
            return refused if refused.hint else _old_office(given)
    return None


def _old_office(given: Given) -> Found | Refused:
    """The streams in a compound file are named in its directory, in UTF-16."""
    data = given.data
    for stream, found in _STREAMS:
        if stream.encode("utf-16-le") in data:
            return found
    return Refused("an Office file of a kind that is not known", _OFFICE.format("docx"))


def _packed(given: Given) -> Found | Refused:
    """What a zip archive holds decides what it is."""
    try:
        with zipfile.ZipFile(given.path or io.BytesIO(given.data)) as archive:
            names = set(archive.namelist())
            kind = archive.open("mimetype").read(100).decode("latin-1").strip() if "mimetype" in names else ""
    except UNREADABLE:
        named = _BY_SUFFIX.get(given.suffix)
        # Broken: its parser says how.
        return Found(named) if named in _MAGICAL else Refused("a broken zip archive", "get it again")
    if kind == "application/epub+zip":
        return Found("epub")
    if kind.startswith("application/vnd.oasis.opendocument."):
        known = _OPEN_DOCUMENT.get(kind.split(".")[-1].partition("-")[0])
        return known or Refused("an OpenDocument file", _OFFICE.format("docx"))
    if "xl/workbook.bin" in names:
        return Refused("a binary Excel workbook", _OFFICE.format("xlsx"))
    if (name := office_format(names)) is not None:
        return Found(name)
    if "META-INF/container.xml" in names:
        return Found("epub")
    return Refused("a zip archive", _PACKED)


def _looks(head: bytes) -> str | None:
    """What text looks like that has no telling name."""
    if _HTML.match(head.removeprefix(b"\xef\xbb\xbf")):
        return "html"
    if _MAIL.match(head) and any(mark in b"\n" + head.lower() for mark in _MAIL_MARKS):
        return "email"
    return None


def _surprised(found: Found, given: Given) -> Found:
    if given.suffix in FORMATS.get(found.name, ()) or not given.suffix or found.name == "encrypted":
        return found
    what = {"pdf": "a PDF", "html": "a web page", "csv": "a table as text", "epub": "an EPUB"}.get(found.name)
    return Found(found.name, f"it is {what or f'a .{found.name} file'}, though its name ends in {given.suffix}")
