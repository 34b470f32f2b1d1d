"""Who is syncing which source, so that of two runs over the same source the later one decides what is outdated.

    async with Ledger.open(file) as ledger:
        stamp = await ledger.stamp()                       # before a source is read
        await ledger.claim(run_id, {"a.md": stamp})        # before it is compared with the index
        async with ledger.turn():                          # before anything is deleted
            ledger.is_mine(run_id, "a.md")

Runs write side by side; only what is outdated may be deleted by one of them alone: the one that read the source last.
Nothing here holds what could not be made again, and a killed process leaves no lock behind.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["Ledger"]

_VERSION = 1
"""Of the format, kept as SQLite's `user_version`."""
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS clock (id INTEGER PRIMARY KEY CHECK (id = 0), now INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS claims (source TEXT PRIMARY KEY, stamp INTEGER NOT NULL, run TEXT NOT NULL) WITHOUT ROWID;
INSERT OR IGNORE INTO clock VALUES (0, 0);
PRAGMA user_version = {_VERSION};
COMMIT;
"""
_CLAIM = (
    "INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET stamp = excluded.stamp, run = excluded.run "
    "WHERE excluded.stamp > stamp"
)
_WAIT_SECONDS = 0.02


class Ledger:
    """One run's view of the ledger of an index. Of use between processes that share the file, or tasks of one."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._mine = asyncio.Lock()  # one connection, so one transaction of this run at a time

    @classmethod
    def open(cls, where: Path | str) -> "Ledger":
        """The ledger in that file, made when it is not there; or, by name, one that only this process shares.

        Raises:
            sqlite3.Error, OSError: the file cannot be used.
        """
        if isinstance(where, Path):
            missing = [folder for folder in where.parents if not folder.exists()]
            for folder in reversed(missing):
                folder.mkdir(mode=0o700, exist_ok=True)
            where.touch(mode=0o600)
            name = where.absolute().as_uri()
        else:
            name = f"file:{where}?mode=memory&cache=shared"
        with ExitStack() as opening:
            db = sqlite3.connect(name, uri=True, timeout=5, isolation_level=None, check_same_thread=False)
            opening.callback(db.close)
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version == 0:  # else nothing is written: another run may have its turn just now, and a long one
                db.executescript(_SCHEMA)
            elif version != _VERSION:
                raise sqlite3.NotSupportedError(f"it has format {version}, this version knows {_VERSION}")
            db.execute("PRAGMA synchronous = OFF")  # after a crash of the machine, no run is there to mind
            db.execute("PRAGMA busy_timeout = 0")
            opening.pop_all()  # it is good, and stays open
        return cls(db)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    async def stamp(self) -> int:
        """A number above all earlier ones, whichever process asked for them."""
        async with self.turn():
            (now,) = self._db.execute("UPDATE clock SET now = now + 1 RETURNING now").fetchone()
        return int(now)

    async def claim(self, run_id: str, stamps: Mapping[str, int]) -> None:
        """Say which sources this run has read, and when (source → stamp). A later reader's claim stays."""
        if stamps:
            async with self.turn():
                self._db.executemany(_CLAIM, [(source, stamp, run_id) for source, stamp in stamps.items()])

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """While this is open, no other run claims or deletes. Keep it short."""
        async with self._mine:
            while True:
                try:
                    self._db.execute("BEGIN IMMEDIATE")
                    break
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                        raise
                await asyncio.sleep(_WAIT_SECONDS)
            with self._db:  # commits; or rolls back, whatever was raised
                yield

    def is_mine(self, run_id: str, source: str) -> bool:
        """Whether this run was the last to read that source."""
        found = self._db.execute("SELECT run FROM claims WHERE source = ?", (source,)).fetchone()
        return found is not None and found[0] == run_id

    def is_left_alone(self, source: str, since: int) -> bool:
        """Whether nobody has read that source after the stamp `since`."""
        found = self._db.execute("SELECT stamp FROM claims WHERE source = ?", (source,)).fetchone()
        return found is None or found[0] <= since
