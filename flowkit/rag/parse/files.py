"""What a parser is given: a path or bytes, and what to call it.

given = read(Path("menu.pdf"), None)
given.data, given.name, given.source
"""

import errno
from dataclasses import dataclass
from pathlib import Path

from flowkit.errors import NotFoundError, ParseError

__all__ = ["Given", "read"]


@dataclass(frozen=True, slots=True)
class Given:
    """`name` is for messages; `source` goes into metadata, and is None for bytes that have no name."""

    data: bytes
    name: str
    source: str | None


def read(source: Path | str | bytes, source_name: str | None) -> Given:
    """The bytes of a file, or the bytes given; never empty.

    Raises:
        NotFoundError: there is no such file.
        ParseError: it is a folder, cannot be read, or is empty.
    """
    if isinstance(source, bytes):
        given = Given(source, source_name or "the document", source_name)
    else:
        path = Path(source)
        name = source_name or path.as_posix()
        try:
            given = Given(path.read_bytes(), name, name)
        except FileNotFoundError as error:
            raise NotFoundError(f"no file {path.as_posix()!r}", hint="check the path and the working folder") from error
        except IsADirectoryError as error:
            raise ParseError(f"{name!r} is a folder, not a file", hint="parse the files in it one by one") from error
        except ValueError as error:  # a NUL in it
            raise ParseError(f"{name!r} is no path: {error}", hint="check the path") from error
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG and path.is_dir():  # Windows says "permission denied" of a folder
                raise ParseError(
                    f"{name!r} is a folder, not a file", hint="parse the files in it one by one"
                ) from error
            raise ParseError(f"{name!r} cannot be read: {error.strerror}", hint="check who may read it") from error
    if not given.data:
        raise ParseError(f"{given.name!r} is empty (0 bytes)", hint="skip it, or get it again")
    return given
