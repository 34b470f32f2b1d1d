"""The SQLite file of the embedding cache: opened late, safe to fork, kept within a bound.

file = CacheFile(path)
with file.open() as db: read(db, space, keys)
"""

import os
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flowkit.core.sqlite_files import make_private_file, transaction, use_wal

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["VERSION", "CacheFile", "is_damage", "read", "write"]

VERSION = 1
"""Of the format, kept as SQLite's `user_version`."""
_KEPT_SHARE = 0.75
"""What is left of the entries when the file has grown over its bound."""
_BUSY_SECONDS = 5.0
_IN_ONE_QUERY = 500
_SCHEMA = """
CREATE TABLE spaces (id INTEGER PRIMARY KEY, space TEXT NOT NULL UNIQUE);
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY, space INTEGER NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, day INTEGER NOT NULL);
CREATE UNIQUE INDEX vectors_by_text ON vectors (space, text);
CREATE INDEX vectors_by_day ON vectors (day, id)
"""


class CacheFile:
    """The connection of one process, used by one thread at a time. It is closed before a fork, and when dropped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = threading.Lock()
        self.db: Connection | None = None
        self.inode = 0
        _links.add(self)

    def is_missing(self) -> bool:
        """True when there is nothing to be found; what cannot be looked at is not missing."""
        try:
            self.path.stat()
        except OSError as error:
            return isinstance(error, FileNotFoundError | NotADirectoryError)
        return False

    @contextmanager
    def open(self) -> "Iterator[Connection]":
        """The connection; a damaged file raises sqlite3.DatabaseError here or in its use."""
        with self.lock:
            # Somebody may have removed the file, or moved it aside; then there is a new one.
            if self.db is not None and _inode(self.path) != self.inode:
                self._close()
            if self.db is None:
                self.inode = _inode(self.path)
                self.db = _connect(self.path)
                self.inode = _inode(self.path)
            yield self.db

    def close(self) -> None:
        with self.lock:
            self._close()

    def move_aside(self) -> Path | None:
        """Close the damaged file and rename it, unless another process was quicker; None when that is not possible."""
        aside = self.path.with_name(f"{self.path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}")
        with self.lock:
            self._close()
            try:
                if _inode(self.path) == self.inode:
                    self.path.replace(aside)
                    for side in ("-wal", "-shm"):
                        self.path.with_name(self.path.name + side).unlink(missing_ok=True)
            except OSError:
                return None
        return aside

    def _close(self) -> None:
        if self.db is not None:
            self.db.close()
            self.db = None

    def __del__(self) -> None:
        self._close()


_links: "weakref.WeakSet[CacheFile]" = weakref.WeakSet()
_held: list[CacheFile] = []
_abandoned: "list[Connection | None]" = []


def _before_fork() -> None:
    """SQLite's locks do not survive a fork, so no connection goes into a child."""
    for link in list(_links):
        if link.lock.acquire(timeout=_BUSY_SECONDS):
            link._close()
            _held.append(link)


def _after_fork_in_parent() -> None:
    while _held:
        _held.pop().lock.release()


def _after_fork_in_child() -> None:
    _held.clear()
    for link in list(_links):
        # One that was in use all the time is not closed here either: that would touch the parent's locks.
        _abandoned.append(link.db)
        link.db, link.lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):  # absent on Windows, which has no fork
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)


def _inode(file: Path) -> int:
    try:
        return file.stat().st_ino
    except FileNotFoundError:
        return 0


def _connect(file: Path) -> "Connection":
    import sqlite3

    missing = [folder for folder in file.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    # Private, and so are SQLite's side files, which take its mode.
    make_private_file(file)
    with ExitStack() as opening:
        db = sqlite3.connect(file, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        opening.callback(db.close)
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version == 0:
            _create(db)
        elif version != VERSION:
            raise sqlite3.NotSupportedError(
                f"it has format {version}, this version knows {VERSION}: upgrade flowkit-ai"
            )
        # A lost entry is only embedded again.
        db.execute("PRAGMA synchronous = NORMAL")
        opening.pop_all()  # it is good, and stays open
    return db


def _create(db: "Connection") -> None:
    # Vectors of 1.5 to 12 kB fill pages of this size better.
    db.execute("PRAGMA page_size = 16384")
    db.execute("PRAGMA auto_vacuum = INCREMENTAL")
    use_wal(db)
    with transaction(db):
        if db.execute("PRAGMA user_version").fetchone() == (0,):
            for statement in _SCHEMA.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {VERSION}")


def read(db: "Connection", space: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    """The vectors of those keys that are there."""
    known = db.execute("SELECT id FROM spaces WHERE space = ?", (space,)).fetchone()
    if known is None:
        return {}
    found: dict[bytes, bytes] = {}
    stale: list[tuple[int, int]] = []
    today = _today()
    unique = list(dict.fromkeys(keys))
    for at in range(0, len(unique), _IN_ONE_QUERY):
        some = unique[at : at + _IN_ONE_QUERY]
        marks = ",".join("?" * len(some))
        query = f"SELECT id, text, vector, day FROM vectors WHERE space = ? AND text IN ({marks})"
        for id, text, blob, day in db.execute(query, (known[0], *some)):
            found[text] = blob
            if day != today:
                stale.append((today, id))
    if stale:
        _note_use(db, stale)
    return found


def _note_use(db: "Connection", stale: Sequence[tuple[int, int]]) -> None:
    """By the day, which is exact enough for what goes first, and keeps reading from being writing.

    When that cannot be written (a full disk, a file that is read-only or held by another), what was read still counts.
    """
    import sqlite3

    try:
        with transaction(db):
            db.executemany("UPDATE vectors SET day = ? WHERE id = ?", stale)
    except sqlite3.OperationalError as error:
        if is_damage(error):
            raise


def write(db: "Connection", space: str, rows: Mapping[bytes, bytes], max_size_bytes: int) -> None:
    """Insert or replace, then keep the file within its bound."""
    with transaction(db):
        db.execute("INSERT OR IGNORE INTO spaces (space) VALUES (?)", (space,))
        (id,) = db.execute("SELECT id FROM spaces WHERE space = ?", (space,)).fetchone()
        db.executemany(
            "INSERT INTO vectors (space, text, vector, day) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (space, text) DO UPDATE SET vector = excluded.vector, day = excluded.day",
            [(id, text, blob, _today()) for text, blob in rows.items()],
        )
    if _size_bytes(db) > max_size_bytes:
        _shrink(db, max_size_bytes)


def _size_bytes(db: "Connection") -> int:
    (size,) = db.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
    return int(size)


def _shrink(db: "Connection", max_size_bytes: int) -> None:
    """Drop what was used longest ago, until the rest fills three quarters of the bound."""
    with transaction(db):
        (count,) = db.execute("SELECT count(*) FROM vectors").fetchone()
        kept = int(count * _KEPT_SHARE * max_size_bytes / _size_bytes(db))
        db.execute("DELETE FROM vectors WHERE id IN (SELECT id FROM vectors ORDER BY day, id LIMIT ?)", (count - kept,))
        db.execute("DELETE FROM spaces WHERE id NOT IN (SELECT DISTINCT space FROM vectors)")
    # As a script: a plain statement would be stepped once, and give back one page.
    db.executescript("PRAGMA incremental_vacuum")


def is_damage(error: Exception) -> bool:
    """Whether the file itself is at fault, and not what is around it."""
    import sqlite3

    code = getattr(error, "sqlite_errorcode", None) or 0
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "no such table" in str(error)


def _today() -> int:
    """Days since 1970."""
    return int(time.time() // 86_400)
