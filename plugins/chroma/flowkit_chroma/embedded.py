"""Chroma in this process, on a folder: one process writes, and others see what it wrote.

link = Embedded.of(Path("data/chroma"))

A client keeps the vector index in memory and does not notice what other processes write. So before reading, the
folder's database file is looked at, and when it has changed, the client is made anew.
"""

import itertools
import shutil
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, ClassVar

from flowkit.errors import BackendError, ConfigError, FlowkitError, StateError
from flowkit.plugin import run_in_thread
from flowkit.rag.stores.turns import Turns
from flowkit_chroma.links import settings, translated
from flowkit_chroma.lock import WriterLock

__all__ = ["Embedded"]

_FILE = "chroma.sqlite3"
_TICK_NS = 20_000_000
"""Two writes so close may leave the same time stamp."""
_LEAST_BYTES = 4 * 1024 * 1024
"""With less room a write may fail: its journal has to be on the disk too."""
_HINT = "is the disk full, or the folder not writable?"


class _Client:
    """One client, its collections, and how many calls are in it."""

    def __init__(self, path: str) -> None:
        import chromadb

        self.api: Any = chromadb.PersistentClient(path, settings=settings())
        self.collections: dict[str, Any] = {}
        self.calls = 0
        self.leaving = False

    def collection(self, name: str) -> Any:
        found = self.collections.get(name)
        if found is None:
            found = self.collections[name] = self.api.get_collection(name, embedding_function=None)
        return found


class Embedded:
    """The folder, shared by all stores of this process that use it."""

    _known: ClassVar[dict[Path, "Embedded"]] = {}
    _guard: ClassVar[threading.Lock] = threading.Lock()
    _generations: ClassVar[Iterator[int]] = itertools.count(1)

    def __init__(self, folder: Path) -> None:
        self.place = f"folder {str(folder)!r}"
        self.titles: dict[str, str] = {}
        self._folder = folder
        self._users = 0
        self._client: _Client | None = None
        self._generation = 0
        self._lock = threading.RLock()
        self._writer = WriterLock(folder)
        self._turns = Turns()
        self._stamp: object = None
        self._writes = 0
        self._max_batch = 0

    @classmethod
    def of(cls, folder: Path) -> "Embedded":
        """The link to this folder. Each user closes it once."""
        folder = folder.resolve()
        with cls._guard:
            link = cls._known.setdefault(folder, cls(folder))
            link._users += 1
            return link

    async def connect(self, name: str, *, create: bool) -> bool:
        def make() -> bool:
            if not create and self._look() == []:
                return False
            self._connect()
            return True

        there = True
        if self._client is None:
            there = await self._run(name, "open", make)
        return there

    async def metadata(self, name: str) -> Mapping[str, Any] | None:
        from chromadb.errors import NotFoundError

        def look() -> Mapping[str, Any] | None:
            with self._used() as client:
                try:
                    found = client.api.get_collection(name, embedding_function=None)
                except NotFoundError:
                    return None
                client.collections[name] = found
                return found.metadata or {}

        found: Mapping[str, Any] | None = await self._run(name, "open", look)
        return found

    async def create(self, name: str, metadata: Mapping[str, Any]) -> None:
        def make() -> None:
            with self._used() as client:
                client.api.get_or_create_collection(
                    name, metadata=dict(metadata), embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
                )

        await self._run(name, "create", make)

    async def call(self, name: str, method: str, **arguments: Any) -> Any:
        def work() -> Any:
            with self._used() as client:
                return getattr(client.collection(name), method)(**arguments)

        return await self._run(name, method, work)

    async def batch_size(self) -> int:
        def ask() -> int:
            with self._used() as client:
                return int(client.api.get_max_batch_size())

        if not self._max_batch:
            self._max_batch = await self._run("", "open", ask)
        return self._max_batch

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        async with self._turns.hold([""]):
            if not self._writer.held:
                await self._run(name, "upsert", lambda: self._writer.take(self.titles.get(name, name)))
                self._stamp = None  # another process may have been the writer until now
                await self._run(name, "open", self._connect)
            try:
                yield
            finally:
                self._writes += 1

    async def refresh(self, name: str) -> None:
        if self._writer.held:
            return
        try:
            changed = self._stamp != self._look()
        except OSError as error:
            raise self._translated(error, name, "get") from error
        if changed:
            await self._run(name, "get", self._connect)

    @property
    def version(self) -> object:
        return self._generation, self._writes

    @property
    def epoch(self) -> object:
        return self._generation

    def size_bytes(self) -> int:
        """Of the folder, whatever indexes are in it."""
        return sum(path.stat().st_size for path in self._folder.rglob("*") if path.is_file())

    async def aclose(self) -> None:
        with self._guard:
            self._users -= 1
            if self._users > 0:
                return
            self._known.pop(self._folder, None)
        with self._lock:
            client, self._client = self._client, None
            self._writer.release()
        if client is not None:
            await run_in_thread(self._leave, (client,))

    async def _run(self, name: str, method: str, work: Any) -> Any:
        try:
            return await run_in_thread(work)
        except FlowkitError:
            raise
        except Exception as error:
            raise self._translated(error, name, method) from error

    def _translated(self, error: Exception, name: str, method: str) -> FlowkitError:
        found = translated(error, place=self.place, name=self.titles.get(name, name), method=method, hint=_HINT)
        match error:
            case NotADirectoryError() | FileExistsError():
                what = f"{found.message}: a file is in the way of the folder"
                return ConfigError(what, hint="move it away, or give another path=")
            case PermissionError():
                return ConfigError(found.message, hint="check the owner and mode of the folder, or give another path=")
            case FileNotFoundError():
                return ConfigError(found.message, hint="no folder can be made there; give another path=")
        left = self._bytes_left() if isinstance(found, BackendError) else None
        if left is not None and left < _LEAST_BYTES:  # Chroma itself says "error in compaction", or less
            what = f"{found.message}: no space left, but {left // 1024:,} kB"
            return BackendError(what, status="RESOURCE_EXHAUSTED", hint="free some space and do it again")
        return found

    def _bytes_left(self) -> int | None:
        """Room on the disk; None where that is not told."""
        try:
            return shutil.disk_usage(self._folder).free
        except OSError:
            return None

    def _look(self) -> object:
        """The state of the database file, without opening it: that would drop the locks that SQLite holds on it."""
        found: list[object] = []
        for name in (_FILE, f"{_FILE}-wal"):
            try:
                state = (self._folder / name).stat()
            except FileNotFoundError:
                continue
            found.append((state.st_ino, state.st_size, state.st_mtime_ns))
            if time.time_ns() - state.st_mtime_ns < _TICK_NS:
                found.append(object())  # equals nothing, so the next look counts as a change
        return found

    def _connect(self) -> None:
        with self._lock:
            stamp = self._look()
            if self._client is not None and stamp == self._stamp:
                return
            # Clients of one path share a system, and its memory. Another spelling of the path gets its own.
            self._generation = next(self._generations)
            self._folder.mkdir(parents=True, exist_ok=True)
            fresh = _Client(f"{self._folder}/{'./' * (self._generation % 500)}")
            old, self._client = self._client, fresh
            self._stamp = stamp
        if old is not None:
            self._leave(old)

    @contextmanager
    def _used(self) -> Iterator[_Client]:
        with self._lock:
            client = self._client
            if client is None:
                raise StateError(f"the Chroma {self.place} is closed", hint="await store.open(create=…) first")
            client.calls += 1
        try:
            yield client
        finally:
            with self._lock:
                client.calls -= 1
                done = client.leaving and client.calls == 0
            if done:
                client.api.close()

    def _leave(self, client: _Client) -> None:
        """Close a client when the last call in it has ended."""
        with self._lock:
            client.leaving = True
            idle = client.calls == 0
        if idle:
            client.api.close()
