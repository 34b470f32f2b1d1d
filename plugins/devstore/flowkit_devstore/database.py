"""The SQLite file of an index: its tables, how it is opened and created, and what its errors mean.

connection = connect(folder)
state = read_state(connection)
"""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from flowkit.errors import ConfigError, FlowkitError, StateError, StoreError, UnsupportedError
from flowkit.plugin import make_private_file, transaction, use_wal
from flowkit_devstore.folders import DATABASE, make_folder

__all__ = [
    "FORMAT",
    "State",
    "connect",
    "create",
    "explained",
    "explanation",
    "is_fixed",
    "read_state",
    "upgrade",
    "write_state",
]

FORMAT = 1
"""`user_version` of the files that this version writes."""
_APPLICATION_ID = int.from_bytes(b"fkds")
_BUSY_SECONDS = 60.0
_CACHE_KIB = 16_000  # per connection, and only as far as it is used

# `rows.slot` is the row's place in the vector file. `entries` is the index over metadata: one row for each document
# and key, and one for its number of search terms. `words` holds terms only, so it can't give text back. `holes` are
# slots whose row has gone.
_SCHEMA = """
CREATE TABLE state (
  one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL, dimension INTEGER, embedder TEXT,
  generation INTEGER NOT NULL, slots INTEGER NOT NULL, count INTEGER NOT NULL, terms_version INTEGER NOT NULL);
CREATE TABLE rows (
  slot INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL, content TEXT, metadata TEXT NOT NULL,
  text_hash BLOB NOT NULL, metadata_hash BLOB NOT NULL, length REAL);
CREATE TABLE keys (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, types INTEGER NOT NULL);
CREATE TABLE entries (
  key INTEGER NOT NULL, type INTEGER NOT NULL, value NOT NULL, slot INTEGER NOT NULL,
  PRIMARY KEY (key, type, value, slot)) WITHOUT ROWID;
CREATE TABLE holes (seq INTEGER PRIMARY KEY, slot INTEGER NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(terms, content='', tokenize='ascii');
"""
_VITALS = """SELECT (SELECT count(*) FROM sqlite_schema), application_id, user_version, page_count, page_size
FROM pragma_application_id, pragma_user_version, pragma_page_count, pragma_page_size"""
# Version n → what brings it to n + 1, run in one transaction.
_UPGRADES: dict[int, str] = {}


class State(NamedTuple):
    """The one row of `state`: what the index is, and how much of the vector file counts."""

    name: str
    dimension: int | None
    embedder: str | None
    generation: int
    slots: int
    rows: int
    terms_version: int


def connect(folder: Path) -> sqlite3.Connection:
    """A connection in autocommit mode, for any thread, one at a time. It makes no index.

    In a folder that this process may not write to, where SQLite could not make its side files, it reads only.
    """
    how = "mode=ro&immutable=1" if is_fixed(folder) else "mode=rw"
    uri = f"{(folder / DATABASE).absolute().as_uri()}?{how}"
    with ExitStack() as opening:
        connection = sqlite3.connect(
            uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=64
        )
        opening.callback(connection.close)
        # FULL: a commit is on disk when upsert returns, also after a power cut.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        opening.pop_all()  # it is good, and stays open
    return connection


def is_fixed(folder: Path) -> bool:
    """Whether the index may not be written to by this process, and nobody else is doing so."""
    if os.access(folder, os.W_OK):
        return False
    log = folder / f"{DATABASE}-wal"
    return not log.exists() or not log.stat().st_size


def create(folder: Path, *, name: str, dimension: int | None, embedder: str | None, terms_version: int) -> None:
    """Make the folder and an empty index in it, unless another process has just done so."""
    make_folder(folder)
    # SQLite gives its side files the mode of this one, so it is private before they are made.
    make_private_file(folder / DATABASE)
    connection = connect(folder)
    try:
        use_wal(connection)
        with transaction(connection):
            if not connection.execute(_VITALS).fetchone()[0]:
                for statement in _SCHEMA.split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
                row = (name, dimension, embedder, 1, 0, 0, terms_version)
                connection.execute("INSERT INTO state VALUES (1, ?, ?, ?, ?, ?, ?, ?)", row)
    finally:
        connection.close()


def upgrade(connection: sqlite3.Connection, folder: Path) -> bool:
    """Bring an older index to this format; False when the file holds no index yet.

    Raises:
        StoreError: it is another program's file, cut short, or of a newer format.
    """
    path = folder / DATABASE
    tables, application, version, pages, page_bytes = connection.execute(_VITALS).fetchone()
    if not tables:
        return False
    if application != _APPLICATION_ID:
        raise StoreError(f"{path} is no index of the dev store", hint="choose another index name or folder")
    if version > FORMAT:
        raise StoreError(
            f"{path} has format {version}; this version reads up to {FORMAT}", hint="update flowkit-devstore"
        )
    size, log = path.stat().st_size, path.with_name(f"{DATABASE}-wal")
    if size < pages * page_bytes and not (log.exists() and log.stat().st_size):
        raise _damaged(path, f"has {size} bytes instead of {pages * page_bytes}")
    if version < FORMAT:
        with transaction(connection):
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            for step in range(version, FORMAT):
                for statement in _UPGRADES[step].split(";\n"):
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {FORMAT}")
    return True


def read_state(connection: sqlite3.Connection) -> State:
    row = connection.execute(
        "SELECT name, dimension, embedder, generation, slots, count, terms_version FROM state"
    ).fetchone()
    return State(*row)


def write_state(connection: sqlite3.Connection, state: State) -> None:
    connection.execute(
        "UPDATE state SET name=?, dimension=?, embedder=?, generation=?, slots=?, count=?, terms_version=?", state
    )


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turn what SQLite and the file system raise into errors that name the file and say what to do."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise explanation(error, folder) from error


def explanation(error: sqlite3.Error | OSError, folder: Path) -> FlowkitError:
    if isinstance(error, sqlite3.Error):
        return _explain(error, folder / DATABASE)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _full(folder)
    if isinstance(error, PermissionError):
        return ConfigError(f"no permission for {error.filename or folder}", hint="check its owner and mode")
    if isinstance(error, NotADirectoryError | FileExistsError):
        return ConfigError(
            f"a file is in the way of the folder {folder}", hint="move it away, or choose another folder"
        )
    return StoreError(f"cannot use index files in {folder}: {error}")


def _explain(error: sqlite3.Error, path: Path) -> FlowkitError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(path.parent)):
        return _full(path.parent)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StateError(
            f"another process has been writing to {path} for over {_BUSY_SECONDS:.0f} seconds", hint="try again"
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return ConfigError(f"cannot open {path} for writing: {error}", hint="check its owner and mode")
    if "no such module: fts5" in str(error):
        return UnsupportedError(
            "this Python's SQLite has no FTS5, which the dev store needs", hint="use a Python from python.org or uv"
        )
    return _damaged(path, f"cannot be read: {error}")


def _damaged(path: Path, what: str) -> StoreError:
    return StoreError(
        f"{path} {what}",
        hint="bring the folder back from a copy, or move it away and index again; nothing was overwritten",
    )


def _full(folder: Path) -> StateError:
    return StateError(
        f"no space left for index files in {folder}; what was written before stays",
        status="RESOURCE_EXHAUSTED",
        hint="free some space and run it again",
    )


def _is_full(folder: Path) -> bool:
    import shutil

    return shutil.disk_usage(folder).free < 1 << 20
