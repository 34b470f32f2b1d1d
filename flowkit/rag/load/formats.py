"""What is read how, as long as nobody chooses a parser: `parse.auto()`, and which files are not worth opening.

document = default_parser(Path("menu.pdf"), source_name="docs/menu.pdf")
"""

from pathlib import Path, PurePosixPath

from flowkit.rag import parse
from flowkit.schema.documents import Document

__all__ = ["default_parser", "is_binary"]

_parser = parse.auto()
_BINARY = (
    " .7z .a .avi .avif .bin .bmp .bz2 .class .db .dll .dylib .eot .exe .f32 .gif .gz .heic .ico .jar .jpeg .jpg .lib"
    " .mkv .mov .mp3 .mp4 .npy .npz .o .obj .onnx .ogg .otf .parquet .pickle .pkl .png .pt .pyc .pyd .rar .so .sqlite"
    " .tar .tgz .tif .tiff .ttf .wasm .wav .webm .webp .whl .woff .woff2 .xz .zip .zst "
)


def default_parser(
    content: Path | bytes, *, source_name: str, media_type: str | None = None, encoding: str | None = None
) -> Document:
    """The text of a file or of bytes.

    Raises:
        ParseError, UnsupportedError, ConfigError: it cannot be read.
    """
    return _parser(content, source_name=source_name, media_type=media_type, encoding=encoding)


def is_binary(name: str) -> bool:
    """Whether a name's ending is one of a format without text."""
    suffix = PurePosixPath(name).suffix.lower()
    return bool(suffix) and f" {suffix} " in _BINARY
