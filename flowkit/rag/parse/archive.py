"""Zip archives that may be hostile: what is unpacked is counted while it is, whatever their headers promise.

with Archive(job) as archive:
    archive.names, archive.read("content.opf")
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from flowkit.errors import ParseError
from flowkit.rag.parse.pieces import Job

__all__ = ["UNREADABLE", "Archive", "office_format"]

UNREADABLE = (
    zipfile.BadZipFile,
    NotImplementedError,  # the archive has a compression or version that `zipfile` does not know
    RuntimeError,  # a file in it is encrypted
    EOFError,
    OSError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What `zipfile` raises for archives that it cannot read: not all of it is its own."""
_OFFICE_FOLDERS = (("word", "docx"), ("ppt", "pptx"), ("xl", "xlsx"))
_MOST_FILES = 100_000
_PIECE = 1 << 16


class Archive:
    """The files of a zip archive; all that is read of them together stays below `limits.max_bytes`."""

    def __init__(self, job: Job, what: str) -> None:
        """
        Args:
            what: What the archive is, for messages: "EPUB".

        Raises:
            ParseError: it is broken, or has too many files.
        """
        self._name = job.name
        self._what = what
        self._left = job.limits.max_bytes
        try:
            self._zip = zipfile.ZipFile(job.path if job.path is not None else io.BytesIO(job.content))
        except UNREADABLE as error:
            raise self._broken(error) from error
        self.names = self._zip.namelist()
        if len(self.names) > _MOST_FILES:
            raise ParseError(f"{self._name!r} holds {len(self.names):,} files: no {what} does", hint="leave it out")

    def read(self, name: str) -> bytes:
        """A file of the archive.

        Raises:
            KeyError: it has none of that name.
            ParseError: it cannot be unpacked, is encrypted, or is over the limit.
        """
        found = io.BytesIO()
        try:
            with self._zip.open(name) as packed:
                while self._left >= 0 and (piece := packed.read(_PIECE)):
                    self._left -= len(piece)
                    found.write(piece)
        except UNREADABLE as error:
            raise self._broken(error) from error
        if self._left < 0:
            raise ParseError(
                f"{self._name!r} unpacks to more than the limit: it may have been made to fill the memory",
                hint="leave it out; or pass limits=parse.Limits(max_bytes=…)",
            )
        return found.getvalue()

    def _broken(self, error: Exception) -> ParseError:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        return ParseError(f"{self._name!r} is a broken {self._what} ({reason})", hint="get it again, or save it anew")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()


def office_format(names: Iterable[str]) -> str | None:
    """The format of an Office file, by the names of what is packed in it; None when it is none."""
    folders = {name.partition("/")[0] for name in names if "/" in name}
    return next((form for folder, form in _OFFICE_FOLDERS if folder in folders), None)
