"""What a parser is given: a path or bytes, and what to call it.

given = read(Path("menu.pdf"), None)
given.data, given.name, given.source
"""

import errno
import stat
from collections.abc import Callable
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from flowkit.errors import InvalidInputError, NotFoundError, ParseError

__all__ = ["HEAD_BYTES", "Given", "read"]

T = TypeVar("T")

HEAD_BYTES = 4096


class Given:
    """`name` is for messages; `source` goes into metadata, and is None for bytes that have no name.

    `head` are the first 4096 bytes and `size_bytes` is all of it; `data` reads a file whole, when it is asked for.
    """

    def __init__(self, path: Path | None, data: bytes | None, name: str, source: str | None) -> None:
        self.path = path
        self.name = name
        self.source = source
        self._data = data

    @cached_property
    def data(self) -> bytes:
        if self._data is not None:
            return self._data
        return _of(self.path or Path(), self.name, Path.read_bytes)

    @cached_property
    def head(self) -> bytes:
        return self.data[:HEAD_BYTES] if self.path is None else _of(self.path, self.name, _head)

    @cached_property
    def size_bytes(self) -> int:
        if self.path is None:
            return len(self.data)
        return _of(self.path, self.name, lambda path: path.stat().st_size)

    @property
    def suffix(self) -> str:
        """The ending of its name, as ".pdf", in small letters; of an address without what follows a question mark."""
        name = self.source or (self.path.name if self.path else "")
        if "://" in name:
            name = unquote(urlsplit(name).path)
        ending = PurePosixPath(name.replace("\\", "/")).suffix.lower()
        return ending or (self.path.suffix.lower() if self.path else "")


def read(source: Path | str | bytes, source_name: str | None, *, max_bytes: int | None = None) -> Given:
    """A file, or the bytes given; never empty.

    Raises:
        NotFoundError: there is no such file.
        ParseError: it is a folder, a pipe or a device, cannot be read, is empty, or is larger than `max_bytes`.
        InvalidInputError: it is neither a path nor bytes.
    """
    if isinstance(source, bytes):
        given = Given(None, source, source_name or "the document", source_name)
    elif isinstance(source, str | Path):
        path = Path(source)
        name = source_name or path.as_posix()
        given = Given(path, None, name, name)
        if not _of(path, name, _is_regular):  # a pipe cannot be read twice, and some devices never end
            raise ParseError(f"{name!r} is a pipe or a device, not a file", hint="write what comes out to a file")
    else:
        raise InvalidInputError(f"a {type(source).__name__} cannot be parsed", hint="give a path, or bytes")
    if not given.head:
        raise ParseError(f"{given.name!r} is empty (0 bytes)", hint="skip it, or get it again")
    if max_bytes is not None and given.size_bytes > max_bytes:
        raise ParseError(
            f"{given.name!r} has {given.size_bytes / 1e6:,.0f} MB, and {max_bytes / 1e6:,.0f} MB is the limit",
            hint="cut it into parts, or pass limits=parse.Limits(max_bytes=…)",
        )
    return given


def _is_regular(path: Path) -> bool:
    """A folder is told when it is opened."""
    mode = path.stat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


def _of(path: Path, name: str, what: Callable[[Path], T]) -> T:
    """Read something of a file, with the errors that users see."""
    try:
        return what(path)
    except FileNotFoundError as error:
        raise NotFoundError(f"no file {path.as_posix()!r}", hint="check the path and the working folder") from error
    except IsADirectoryError as error:
        raise ParseError(f"{name!r} is a folder, not a file", hint="parse the files in it one by one") from error
    except ValueError as error:  # a NUL in it
        raise ParseError(f"{name!r} is no path: {error}", hint="check the path") from error
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG and path.is_dir():  # Windows says "permission denied" of a folder
            raise ParseError(f"{name!r} is a folder, not a file", hint="parse the files in it one by one") from error
        raise ParseError(f"{name!r} cannot be read: {error.strerror}", hint="check who may read it") from error
