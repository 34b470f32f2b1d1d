"""The SQLite file of the trace store: made private, opened late, checked for its format, safe to fork.

with database.write() as db: db.execute("DELETE FROM traces")      # one transaction
with database.read() as db: ...                                    # None while there is no file
"""

import errno
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowkit.core.sqlite_files import make_private_file, transaction, use_wal
from flowkit.errors import FlowkitError, InvalidInputError, Status, StoreError

if TYPE_CHECKING:
    from sqlite3 import Connection, Error

__all__ = ["VERSION", "Database"]

VERSION = 1
"""Of the format, kept as SQLite's `user_version`."""

# rowid tables: in WITHOUT ROWID ones a value of a kilobyte already goes to overflow pages, at twice the cost.
_SCHEMA = """
CREATE TABLE traces (
    id INTEGER PRIMARY KEY,
    trace_id TEXT NOT NULL UNIQUE,
    start_ns INTEGER NOT NULL,
    end_ns INTEGER NOT NULL,
    status TEXT,
    rank INTEGER NOT NULL,
    root TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT,
    key TEXT,
    spans INTEGER NOT NULL,
    open INTEGER NOT NULL,
    internal INTEGER NOT NULL,
    indexed INTEGER NOT NULL,
    input_tokens INTEGER,
    output_tokens INTEGER,
    size_bytes INTEGER NOT NULL,
    process TEXT,
    error TEXT,
    labels TEXT NOT NULL,
    input TEXT,
    output TEXT,
    card TEXT NOT NULL
);
CREATE INDEX traces_by_start ON traces (start_ns, id);
CREATE TABLE spans (
    id INTEGER PRIMARY KEY,
    trace INTEGER NOT NULL,
    span_id TEXT NOT NULL,
    parent_id TEXT,
    ancestor_id TEXT,
    start_ns INTEGER NOT NULL,
    end_ns INTEGER NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    kind TEXT,
    key TEXT,
    state TEXT,
    marks INTEGER NOT NULL,
    input_bytes INTEGER NOT NULL,
    output_bytes INTEGER NOT NULL,
    input TEXT,
    output TEXT,
    input_hash BLOB,
    output_hash BLOB,
    more TEXT
);
CREATE UNIQUE INDEX spans_by_trace ON spans (trace, span_id);
CREATE TABLE big_values (
    trace INTEGER NOT NULL,
    hash BLOB NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (trace, hash)
);
"""

_BUSY_SECONDS = 5.0
_MODES = "check its owner and mode, and those of its folder"
_DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)


class Database:
    """One connection for reading and one for writing; any thread may use them, one at a time each.

    Nothing is touched before the first use, and reading never makes a file. A file that is deleted or replaced while it
    is open is noticed and opened anew.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connections: dict[str, tuple[Connection, int]] = {}
        self._locks = _new_locks()
        _open_databases.add(self)

    @contextmanager
    def read(self) -> "Iterator[Connection | None]":
        """The reading connection, or None when there is no file, or nothing in it yet.

        Raises:
            StoreError: the file is damaged or of a newer format, or cannot be opened now.
        """
        with self._locks["read"], self._translated():
            yield self._connection("read") if self._size_bytes() else None

    @contextmanager
    def write(self) -> "Iterator[Connection]":
        """A transaction: committed at the end, rolled back when it is left by an exception.

        Raises:
            StoreError: the file is damaged or of a newer format (status DATA_LOSS), or it cannot be written now: the
                disk is full (RESOURCE_EXHAUSTED), the folder is read-only (PERMISSION_DENIED), another process holds
                it too long (UNAVAILABLE).
        """
        with self._locks["write"], self._translated():
            connection = self._connection("write")
            with transaction(connection):
                yield connection

    def reclaim(self) -> None:
        """Give the pages of deleted rows back to the file system, and empty the write-ahead log."""
        with self._locks["write"], self._translated():
            connection = self._connection("write")
            # As a script: a plain statement would be stepped once, and give back one page.
            connection.executescript("PRAGMA incremental_vacuum")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Close both connections; the next use opens them again."""
        for lock in self._locks.values():
            lock.acquire()
        try:
            self._drop()
        finally:
            for lock in self._locks.values():
                lock.release()

    def __del__(self) -> None:
        if hasattr(self, "_connections"):
            self._drop()

    def _drop(self) -> None:
        while self._connections:
            self._connections.popitem()[1][0].close()

    def _inode(self) -> int:
        try:
            return self.path.stat().st_ino
        except OSError:
            return 0

    def _size_bytes(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def _connection(self, use: str) -> "Connection":
        inode = self._inode()
        known = self._connections.get(use)
        if known is not None:
            if known[1] == inode:
                return known[0]
            self._connections.pop(use)[0].close()
        if not inode:
            self._create_file()
        fixed = use == "read" and self._is_fixed()
        connection = self._open(fixed=fixed)
        # Of a file that may only be read SQLite notices no change, so the next use opens it anew.
        self._connections[use] = (connection, -1 if fixed else self._inode())
        return connection

    def _is_fixed(self) -> bool:
        """In a folder that may not be written to SQLite cannot make its side files; while nobody writes, it may do
        without."""
        if os.access(self.path.parent, os.W_OK):
            return False
        log = self.path.with_name(f"{self.path.name}-wal")
        return not log.exists() or not log.stat().st_size

    def _create_file(self) -> None:
        """For its owner only: traces hold what people say to the app. SQLite gives its side files the same mode."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        make_private_file(self.path)

    def _open(self, *, fixed: bool) -> "Connection":
        import sqlite3

        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?{'mode=ro&immutable=1' if fixed else 'mode=rwc'}",
            uri=True,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=64,
        )
        with ExitStack() as opening:
            opening.callback(connection.close)
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                self._create(connection)
            elif version > VERSION:
                raise StoreError(
                    f"{self.path} was written by a newer flowkit (format {version}, this one knows {VERSION})",
                    hint="upgrade flowkit-ai, or move the file away",
                )
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA journal_size_limit = 16777216")
            opening.pop_all()  # it is good, and stays open
        return connection

    def _create(self, connection: "Connection") -> None:
        self._refuse_foreign(connection)
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        use_wal(connection)
        with transaction(connection):
            # Another process may have been quicker.
            if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                self._refuse_foreign(connection)
                for statement in _SCHEMA.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {VERSION}")

    def _refuse_foreign(self, connection: "Connection") -> None:
        filled = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        # In this order: another process may make the store just now.
        if filled and connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            raise StoreError(f"{self.path} is a database of something else", hint="move it away")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """SQLite's errors as ours, naming the file."""
        import sqlite3

        try:
            yield
        except sqlite3.DatabaseError as error:
            if type(error) not in (sqlite3.DatabaseError, sqlite3.OperationalError):
                raise  # about the values, not about the file
            raise self._error(error) from error
        except OverflowError as error:
            raise InvalidInputError("a number does not fit into 64 bits", hint="give a smaller one") from error
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise self._full() from error
            if isinstance(error, NotADirectoryError | FileExistsError):
                raise StoreError(
                    f"a file is in the way of the folder {self.path.parent}",
                    hint="move it away: traces are kept in a folder of that name",
                    status="FAILED_PRECONDITION",
                ) from error
            status: Status = "PERMISSION_DENIED" if error.errno in _DENIED else "UNAVAILABLE"
            hint = _MODES if error.errno in _DENIED else None
            raise StoreError(f"{self.path} cannot be opened: {error.strerror}", hint=hint, status=status) from error

    def _error(self, error: "Error") -> FlowkitError:
        import sqlite3

        code = (error.sqlite_errorcode or 0) & 0xFF if hasattr(error, "sqlite_errorcode") else 0
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "no such table" in str(error):
            return StoreError(
                f"{self.path} is damaged: {error}", hint="move the file away; the next run makes a new one"
            )
        if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(self.path.parent)):
            return self._full()
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            return StoreError(f"{self.path} cannot be opened: {error}", hint=_MODES, status="PERMISSION_DENIED")
        hint = "another process holds it" if code == sqlite3.SQLITE_BUSY else None
        return StoreError(f"{self.path} cannot be used: {error}", hint=hint, status="UNAVAILABLE")

    def _full(self) -> StoreError:
        return StoreError(f"no space left for {self.path}", hint="free some space", status="RESOURCE_EXHAUSTED")


def _is_full(folder: Path) -> bool:
    """SQLite calls a full disk an I/O error now and then."""
    import shutil

    return shutil.disk_usage(folder).free < 1 << 20


_open_databases: "weakref.WeakSet[Database]" = weakref.WeakSet()
_held: list[Any] = []
_abandoned: list[Any] = []


def _before_fork() -> None:
    """No connection may live on in a child: SQLite's locks do not survive it. They are opened again when needed."""
    for database in list(_open_databases):
        locks = [lock for lock in database._locks.values() if lock.acquire(timeout=_BUSY_SECONDS)]
        _held.extend(locks)
        if len(locks) == len(database._locks):
            database._drop()


def _after_fork_in_parent() -> None:
    while _held:
        _held.pop().release()


def _after_fork_in_child() -> None:
    _held.clear()
    for database in list(_open_databases):
        # Connections that could not be closed in time are never closed here either, as that would touch the parent's.
        _abandoned.extend(database._connections.values())
        database._connections = {}
        database._locks = _new_locks()


def _new_locks() -> "dict[str, threading.RLock]":
    return {"read": threading.RLock(), "write": threading.RLock()}


if hasattr(os, "register_at_fork"):  # absent on Windows, which has no fork
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
