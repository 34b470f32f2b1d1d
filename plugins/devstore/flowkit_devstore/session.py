"""An index that is open in this process: its connections, its mapped vectors, its one writing thread.

session = Session.open(folder, name="menu", create=True, dimension=384, embedder=None)
hits = session.read(lambda snapshot: search(snapshot, query))
"""

import os
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from flowkit.errors import IdentityError, NotFoundError, StateError, StoreError
from flowkit.rag.keyword import TERMS_VERSION
from flowkit_devstore.database import State, connect, explained, explanation, is_fixed, upgrade
from flowkit_devstore.database import create as create_index
from flowkit_devstore.folders import DATABASE, database_lost, has_vectors, near_names
from flowkit_devstore.snapshot import Snapshot
from flowkit_devstore.vectors import Views
from flowkit_devstore.writer import Writer

__all__ = ["Session"]

Result = TypeVar("Result")
_TRIES = 5
_MOST_IDLE = 8
_inherited: list["Session"] = []


class Session:
    """Reading uses any number of connections, each by one thread at a time; writing uses one, in one thread."""

    def __init__(self, folder: Path, snapshot: Snapshot, views: Views) -> None:
        self.folder = folder
        self.process = os.getpid()
        self.state = snapshot.state
        self.threads = ThreadPoolExecutor(1, thread_name_prefix="flowkit-devstore")
        """The writing thread."""
        self._views = views
        self._idle = [snapshot]
        self._writer: Writer | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._files = _files(folder)

    @classmethod
    def open(cls, folder: Path, *, name: str, dimension: int | None, embedder: str | None) -> "Session":
        """Open the index in `folder`. Takes a millisecond, at any size.

        Raises:
            NotFoundError: it is not there.
            IdentityError: it was built with another dimension or embedder.
            StoreError: its files are damaged or of a newer format.
        """
        views = Views(folder)
        with explained(folder):
            snapshot = _opened(folder, views)
            if snapshot is None:
                near = near_names(folder.parent, name)
                hint = f"did you mean {near[0]!r}?" if near else "index documents first"
                raise NotFoundError(f"there is no index {name!r} in {folder.parent}", hint=hint)
            with ExitStack() as opening:
                opening.callback(snapshot.connection.close)
                with snapshot:
                    session = cls(folder, snapshot, views)
                    _compare(session.state, dimension, embedder)
                    _check_vectors(session.state, views)
                opening.pop_all()  # it is good, and stays open
        return session

    @staticmethod
    def create(folder: Path, *, name: str, dimension: int | None, embedder: str | None) -> None:
        """Make an empty index, unless there is one.

        Raises:
            StoreError: there are remains of one; nothing is overwritten.
        """
        views = Views(folder)
        with explained(folder):
            snapshot = _opened(folder, views)
            if snapshot is None:
                create_index(folder, name=name, dimension=dimension, embedder=embedder, terms_version=TERMS_VERSION)
            else:
                snapshot.connection.close()

    @property
    def is_outdated(self) -> bool:
        """Whether the keyword index holds other terms than this version makes."""
        return self.state.terms_version != TERMS_VERSION

    def identify(self, *, create: bool, dimension: int | None, embedder: str | None) -> None:
        """Compare what the caller expects with what the index is; fill in what it does not know yet."""
        if create:
            self.state = self.write(lambda writer: writer.identify(dimension, embedder))
        else:
            self.state = self.read(lambda snapshot: snapshot.state)
        _compare(self.state, dimension, embedder)

    def expects(self, dimension: int | None, embedder: str | None) -> bool:
        """Whether the index is known to be what the caller expects, without looking."""
        return dimension in (None, self.state.dimension) and embedder in (None, self.state.embedder)

    def is_current(self) -> bool:
        """False when this is a forked child, or when the files are no longer those that were opened."""
        try:
            return self.process == os.getpid() and _files(self.folder) == self._files
        except OSError:
            return False

    def read(self, look: Callable[[Snapshot], Result]) -> Result:
        """Call `look` with a snapshot of the index as it is now."""
        snapshot = self._take()
        try:
            for _ in range(_TRIES):
                try:
                    with snapshot:
                        self.state = snapshot.state
                        return look(snapshot)
                except FileNotFoundError:
                    continue  # compacted by another process between the look at the database and the file
        except (sqlite3.Error, OSError) as error:
            raise explanation(error, self.folder) from error
        finally:
            self._give_back(snapshot)
        raise StoreError(
            f"the vector file of {self.folder} is missing",
            hint="bring the folder back from a copy, or move it away and index again",
        )

    def write(self, change: Callable[[Writer], Result]) -> Result:
        """Call `change` with the writer; in the writing thread only."""
        with explained(self.folder):
            if self._writer is None:
                self._writer = Writer(self.folder, connect(self.folder), self._views)
                self._writer.drop_old_files()
            return change(self._writer)

    def close(self) -> None:
        """Wait for the write under way, then close every connection. Twice is fine."""
        if self.process != os.getpid():
            # They are the parent's, whose files SQLite would tidy up from here. So they are kept, unused, to the end.
            _inherited.append(self)
            return
        with self._lock:
            self._closed = True
        self.threads.shutdown(wait=True)
        with explained(self.folder):
            while self._idle:
                self._idle.pop().connection.close()
            if self._writer is not None:
                self._writer.connection.close()

    def _take(self) -> Snapshot:
        with self._lock:
            if self._closed:
                raise StateError(f"the index in {self.folder} is closed", hint="await store.open(create=False) first")
            if self._idle:
                return self._idle.pop()
        with explained(self.folder):
            return Snapshot(self.folder, self._views)

    def _give_back(self, snapshot: Snapshot) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < _MOST_IDLE:
                self._idle.append(snapshot)
                return
        snapshot.connection.close()


def _opened(folder: Path, views: Views) -> Snapshot | None:
    """A reading connection to the index, None when there is none in the folder."""
    path = folder / DATABASE
    was_index = has_vectors(folder)
    if path.is_file() and path.stat().st_size:
        with ExitStack() as opening:
            snapshot = Snapshot(folder, views)
            opening.callback(snapshot.connection.close)
            if upgrade(snapshot.connection, folder):
                opening.pop_all()  # it is an index, and stays open
                return snapshot
    if was_index:
        raise database_lost(folder)
    return None


def _files(folder: Path) -> tuple[int, ...]:
    """What tells that the files are still those that were opened. Of ones that may only be read, SQLite itself would
    not notice a change."""
    found = (folder / DATABASE).stat()
    return (found.st_ino, found.st_mtime_ns, found.st_size) if is_fixed(folder) else (found.st_ino,)


def _check_vectors(state: State, views: Views) -> None:
    if state.slots and state.dimension is not None:
        views.check(state.generation, state.dimension, state.slots)


def _compare(state: State, dimension: int | None, embedder: str | None) -> None:
    for what, mine, given in (("dimension", state.dimension, dimension), ("embedder", state.embedder, embedder)):
        if mine is not None and given is not None and mine != given:
            raise IdentityError(
                f"index {state.name!r} was built with {what} {mine!r}, not {given!r}",
                hint=f"use {what} {mine!r}, or build a new index under another name",
            )
