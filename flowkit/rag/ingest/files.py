"""The files of a folder as documents, by name and in order; what cannot be read is reported and left out.

folder = Files(Path("docs"), root=Path("."))
async for item in folder: ...            # Document | Skipped
"""

import os
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path, PurePosixPath

from flowkit.core.threads import run_in_thread
from flowkit.errors import FlowkitError, InvalidInputError, NotFoundError
from flowkit.rag import parse
from flowkit.rag.ingest.report import Skipped
from flowkit.rag.transform.html import html_to_text
from flowkit.schema.documents import Document

__all__ = ["Files", "parse_file"]

_HTML = {".html", ".htm", ".xhtml"}
_NO_FOLDERS = {"__pycache__", "node_modules", "venv", "site-packages"}
_BINARY = (
    " .7z .a .avi .avif .bin .bmp .bz2 .class .db .dll .dylib .eot .exe .f32 .gif .gz .heic .ico .jar .jpeg .jpg .lib"
    " .mkv .mov .mp3 .mp4 .npy .npz .o .obj .onnx .ogg .otf .parquet .pickle .pkl .png .pt .pyc .pyd .rar .so .sqlite"
    " .tar .tgz .tif .tiff .ttf .wasm .wav .webm .webp .whl .woff .woff2 .xz .zip .zst "
)


class Files:
    """One file, or the files of a folder and of those in it. Hidden ones (`.git`, `.venv`) are left out.

    A document's `source` is its path relative to `root`; a file that lies elsewhere has the name of the folder before
    its path in it.
    """

    def __init__(self, path: Path, *, root: Path) -> None:
        """
        Raises:
            NotFoundError: there is no such file or folder.
        """
        if not path.exists():
            raise NotFoundError(f"no file or folder {path.as_posix()!r}", hint="check the path and the working folder")
        self.path = path.resolve()
        root = root.resolve()
        self._base = root if self.path.is_relative_to(root) else self.path.parent
        self._listed: list[Path] | None = None

    @property
    def prefix(self) -> str | None:
        """What the source of every file begins with: "docs/", or "" when the folder is the root; None for a file."""
        if not self.path.is_dir():
            return None
        return "" if self.path == self._base else f"{self.source(self.path)}/"

    def source(self, file: Path) -> str:
        """The `source` of a file."""
        return PurePosixPath(file.relative_to(self._base)).as_posix()

    def includes(self, file: Path) -> bool:
        """Whether a file there would be listed, going by its path alone."""
        file = file.absolute()
        if not self.path.is_dir() or not file.is_relative_to(self.path):
            return file == self.path
        return not any(part.startswith(".") or part in _NO_FOLDERS for part in file.relative_to(self.path).parts)

    async def list(self) -> "list[Path]":
        """The files, in order of their names."""
        if self._listed is None:
            self._listed = await run_in_thread(lambda: list(_walk(self.path)))
        return self._listed

    async def __aiter__(self) -> AsyncGenerator[Document | Skipped, None]:
        for file in await self.list():
            item = await run_in_thread(self._read, (file,))
            if item is not None:
                yield item

    def _read(self, file: Path) -> Document | Skipped | None:
        source = self.source(file)
        if file != self.path and file.suffix and f" {file.suffix.lower()} " in _BINARY:
            return Skipped(source=source, reason="no text format")
        try:
            return parse_file(file, source)
        except NotFoundError:
            return None  # deleted since the folder was listed
        except FlowkitError as error:
            return Skipped(source=source, reason=error.message, hint=error.hint, empty=_is_blank(file))


def parse_file(file: Path, source: str) -> Document:
    """The text of a file, by the ending of its name.

    Raises:
        ParseError, ConfigError: it cannot be read.
    """
    suffix = file.suffix.lower()
    if suffix == ".pdf":
        return parse.pdf(file, source_name=source)
    document = parse.text(file, source_name=source)
    return html_to_text()(document) if suffix in _HTML else document


def _walk(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError as error:
        raise InvalidInputError(f"the folder {path.as_posix()!r} cannot be read: {error.strerror}") from error
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            # A link to a folder may lead back here.
            if not entry.is_symlink() and entry.name not in _NO_FOLDERS:
                yield from _walk(Path(entry.path))
        elif entry.is_file():
            yield Path(entry.path)


def _is_blank(file: Path) -> bool:
    """Whether a file that could not be parsed is one without text, and not one that cannot be read."""
    try:
        return file.stat().st_size < 1_000_000 and not file.read_bytes().strip()
    except OSError:
        return False
