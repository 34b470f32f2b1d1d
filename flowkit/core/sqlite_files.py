"""SQLite files that several threads and processes may make at once.

make_private_file(path)
use_wal(sqlite3.connect(path))
"""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["make_private_file", "transaction", "use_wal"]

_ATTEMPTS, _PAUSE_SECONDS = 500, 0.01


def make_private_file(file: Path) -> None:
    """Make an empty file of mode 600 in a folder that exists, unless the file is there: then it stays as it is.

    SQLite gives its side files the same mode, and takes an empty file for an empty database.

    It is never opened under its own name. Where a process closes a file, it loses every lock that it has on it (POSIX);
    a database in it, which another thread is using, would be open to other processes in the midst of a transaction.

    Raises:
        OSError: it cannot be made.
    """
    if file.exists():
        return
    try:
        handle, draft = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)  # of mode 600
    except OSError as error:
        error.filename = str(file)  # nobody knows the draft
        raise
    os.close(handle)
    try:
        os.link(draft, file)
    except FileExistsError:  # another process has been faster
        pass
    except OSError:  # the file system has no links; nobody has a lock on a file that is new
        try:
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            pass
    finally:
        Path(draft).unlink()


def use_wal(connection: "Connection") -> None:
    """Switch a database to a write-ahead log. SQLite does not wait for others here, as it does elsewhere.

    Raises:
        sqlite3.OperationalError: another process has been writing all the time.
    """
    import sqlite3

    for attempt in range(1, _ATTEMPTS + 1):
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            return
        except sqlite3.OperationalError as error:
            if attempt == _ATTEMPTS or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(_PAUSE_SECONDS)


@contextmanager
def transaction(connection: "Connection") -> Iterator[None]:
    """A write transaction: taken at once, so that two processes queue up instead of failing half-way."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:  # commits; or rolls back whatever was raised, unless SQLite itself has done so
        yield
