"""Which parser reads what, as long as nobody chooses one: by content type, else by the ending of the name.

document = default_parser(Path("menu.pdf"), source_name="docs/menu.pdf")
"""

import codecs
from pathlib import Path, PurePosixPath

from flowkit.rag import parse
from flowkit.rag.transform.html import html_to_text
from flowkit.schema.documents import Document

__all__ = ["default_parser", "is_binary", "known_encoding"]

_HTML = {".html", ".htm", ".xhtml"}
_HTML_TYPES = {"text/html", "application/xhtml+xml"}
_BINARY = (
    " .7z .a .avi .avif .bin .bmp .bz2 .class .db .dll .dylib .eot .exe .f32 .gif .gz .heic .ico .jar .jpeg .jpg .lib"
    " .mkv .mov .mp3 .mp4 .npy .npz .o .obj .onnx .ogg .otf .parquet .pickle .pkl .png .pt .pyc .pyd .rar .so .sqlite"
    " .tar .tgz .tif .tiff .ttf .wasm .wav .webm .webp .whl .woff .woff2 .xz .zip .zst "
)


def default_parser(
    content: Path | bytes, *, source_name: str, content_type: str | None = None, encoding: str | None = None
) -> Document:
    """The text of a file or of bytes.

    Raises:
        ParseError, ConfigError: it cannot be read.
    """
    suffix = PurePosixPath(source_name).suffix.lower()
    kind = (content_type or "").partition(";")[0].strip().lower()
    if kind == "application/pdf" or (not kind.startswith("text/") and suffix == ".pdf") or _is_pdf(content):
        return parse.pdf(content, source_name=source_name)
    document = parse.text(content, encoding, source_name=source_name)
    return html_to_text()(document) if kind in _HTML_TYPES or (not kind and suffix in _HTML) else document


def is_binary(name: str) -> bool:
    """Whether a name's ending is one of a format without text."""
    suffix = PurePosixPath(name).suffix.lower()
    return bool(suffix) and f" {suffix} " in _BINARY


def known_encoding(name: str | None) -> str | None:
    """The encoding, when Python knows it: what servers call theirs may be anything."""
    try:
        return codecs.lookup(name).name if name else None
    except LookupError:
        return None


def _is_pdf(content: Path | bytes) -> bool:
    return isinstance(content, bytes) and content[:5] == b"%PDF-"
