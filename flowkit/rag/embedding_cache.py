"""Vectors by text, so that nothing is embedded twice: a SQLite file that several processes may share.

    cache = EmbeddingCache(folder / "embeddings.db")
    vectors = await cache.through(VectorSpace("local/all-minilm-l6-v2", dimensions=384), texts, embed)

It holds nothing that could not be made again. So a damaged file is moved aside, an unusable one is done without, each
with a warning, and what was used longest ago goes when the file grows over its bound.
"""

import time
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from flowkit.core.threads import run_in_thread
from flowkit.errors import InvalidInputError, InvalidOutputError
from flowkit.schema.documents import text_hash
from flowkit.schema.embedding import EmbedTask

if TYPE_CHECKING:
    from sqlite3 import Connection

    import numpy as np
    from numpy.typing import NDArray

    Row = NDArray[np.float32]

__all__ = ["VERSION", "Cached", "EmbeddingCache", "VectorSpace"]

T = TypeVar("T")

VERSION = 1
"""Of the format, kept as SQLite's `user_version`."""
_MAX_SIZE_BYTES = 512 * 2**20
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


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """All that decides a text's vector besides the text. A vector is only found again under an equal one."""

    model: str
    revision: str | None = None
    dimensions: int | None = None
    task: EmbedTask = "document"
    normalized: bool | None = None
    """Whether vectors have length 1; None when the embedder does not say."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further options of the embedder, as JSON."""

    @property
    def key(self) -> str:
        """One text for equal spaces, whatever the order of the options."""
        import json

        parts = (self.model, self.revision, self.dimensions, self.task, self.normalized, dict(self.options))
        return json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


class Cached(NamedTuple):
    """What `EmbeddingCache.through` gives."""

    vectors: "list[Row]"
    """One vector per text, in order."""
    hits: int
    """How many texts did not have to be embedded."""


class EmbeddingCache:
    """Float32 vectors by space and text hash. Texts themselves are not stored.

    Args:
        file: where it lives, made when first written; None switches it off: nothing is found, nothing is kept.
        max_size_bytes: bound of the file; above it, the entries that were not used for longest go.
    """

    def __init__(self, file: Path | None, *, max_size_bytes: int = _MAX_SIZE_BYTES) -> None:
        if max_size_bytes < 1:
            raise InvalidInputError(
                f"max_size_bytes is {max_size_bytes}", hint="EmbeddingCache(None) switches the cache off"
            )
        self.file = file
        self.max_size_bytes = max_size_bytes
        self._said: set[str] = set()

    async def get_many(self, space: VectorSpace, texts: Sequence[str]) -> "list[Row | None]":
        """The vector of each text, in order, None where there is none. The arrays are read-only."""
        if self.file is None or not texts or not self.file.exists():
            return [None] * len(texts)
        keys = [_key(text) for text in texts]
        found = await run_in_thread(self._attempt, (lambda db: _read(db, space, keys), {}))
        return [found.get(key) for key in keys]

    async def put_many(self, space: VectorSpace, texts: Sequence[str], vectors: Sequence[Any]) -> None:
        """Keep a vector for each text, in place of an earlier one.

        Raises:
            InvalidInputError: there are more texts than vectors, or a vector has not `space.dimensions` numbers.
        """
        if len(texts) != len(vectors):
            raise InvalidInputError(f"there are {len(texts)} texts and {len(vectors)} vectors")
        if self.file is None or not texts:
            return
        rows = {_key(text): _blob(vector, space) for text, vector in zip(texts, vectors, strict=True)}
        await run_in_thread(self._attempt, (lambda db: _write(db, space, rows, self.max_size_bytes), None))

    async def through(
        self, space: VectorSpace, texts: Sequence[str], embed: Callable[[list[str]], Awaitable[Sequence[Any]]]
    ) -> Cached:
        """The vector of each text: from here, or else from `embed`, which is given each new text once and is kept.

        Raises:
            InvalidOutputError: `embed` gave another number of vectors than it was given texts.
        """
        known = await self.get_many(space, texts)
        new = list(dict.fromkeys(text for text, vector in zip(texts, known, strict=True) if vector is None))
        made: dict[str, Row] = {}
        if new:
            vectors = await embed(new)
            if len(vectors) != len(new):
                raise InvalidOutputError(f"{space.model} gave {len(vectors)} vectors for {len(new)} texts")
            made = {text: _vector(vector) for text, vector in zip(new, vectors, strict=True)}
            await self.put_many(space, new, vectors)
        rows = [made[text] if row is None else row for text, row in zip(texts, known, strict=True)]
        return Cached(rows, len(texts) - len(new))

    def _attempt(self, work: "Callable[[Connection], T]", otherwise: T) -> T:
        """Do it on a fresh connection, so that none is carried over a fork. The cache never makes a call fail."""
        import sqlite3

        if self.file is None:
            return otherwise
        for _ in range(2):
            inode = 0
            try:
                with closing(_connect(self.file)) as db:
                    inode = self.file.stat().st_ino
                    return work(db)
            except (sqlite3.Error, OSError) as error:
                if not _is_damage(error) or not self._move_aside(self.file, inode, error):
                    self._warn(f"embeddings are not cached in {self.file}: {error}")
                    break
        return otherwise

    def _move_aside(self, file: Path, inode: int, error: Exception) -> bool:
        """Rename a damaged file, unless another process was quicker; True when it is worth to try again."""
        aside = file.with_name(f"{file.name}.damaged-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}")
        try:
            if inode and file.stat().st_ino != inode:
                return True
            file.replace(aside)
            for side in ("-wal", "-shm"):
                file.with_name(file.name + side).unlink(missing_ok=True)
        except OSError:
            return False
        self._warn(f"the embedding cache {file} was damaged ({error}) and begins anew; the old file is {aside.name}")
        return True

    def _warn(self, text: str) -> None:
        """Say the same thing once: an index run asks hundreds of times."""
        if text not in self._said:
            self._said.add(text)
            warnings.warn(text, RuntimeWarning, stacklevel=2)


def _connect(file: Path) -> "Connection":
    import sqlite3

    missing = [folder for folder in file.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    db = sqlite3.connect(file, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version == 0:
            _create(db)
        elif version != VERSION:
            raise sqlite3.NotSupportedError(
                f"it has format {version}, this version knows {VERSION}: upgrade flowkit-ai"
            )
        # A lost entry is only embedded again.
        db.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        db.close()
        raise
    return db


def _create(db: "Connection") -> None:
    import sqlite3

    # Vectors of 1.5 to 12 kB fill pages of this size better.
    db.execute("PRAGMA page_size = 16384")
    db.execute("PRAGMA auto_vacuum = INCREMENTAL")
    for attempt in range(100):
        try:
            db.execute("PRAGMA journal_mode = WAL").fetchall()
            break
        except sqlite3.OperationalError as error:
            # SQLite does not wait here when several processes make the file at once.
            if attempt == 99 or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(0.01)
    with _transaction(db):
        if db.execute("PRAGMA user_version").fetchone() == (0,):
            for statement in _SCHEMA.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {VERSION}")


@contextmanager
def _transaction(db: "Connection") -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _read(db: "Connection", space: VectorSpace, keys: Sequence[bytes]) -> "dict[bytes, Row]":
    known = db.execute("SELECT id FROM spaces WHERE space = ?", (space.key,)).fetchone()
    if known is None:
        return {}
    found: dict[bytes, Row] = {}
    stale: list[tuple[int, int]] = []
    today = _today()
    unique = list(dict.fromkeys(keys))
    for at in range(0, len(unique), _IN_ONE_QUERY):
        some = unique[at : at + _IN_ONE_QUERY]
        marks = ",".join("?" * len(some))
        query = f"SELECT id, text, vector, day FROM vectors WHERE space = ? AND text IN ({marks})"
        for id, text, blob, day in db.execute(query, (known[0], *some)):
            found[text] = _vector(blob)
            if day != today:
                stale.append((today, id))
    if stale:
        # By the day is exact enough for what goes first, and keeps reading from being writing.
        with _transaction(db):
            db.executemany("UPDATE vectors SET day = ? WHERE id = ?", stale)
    return found


def _write(db: "Connection", space: VectorSpace, rows: Mapping[bytes, bytes], max_size_bytes: int) -> None:
    with _transaction(db):
        db.execute("INSERT OR IGNORE INTO spaces (space) VALUES (?)", (space.key,))
        (id,) = db.execute("SELECT id FROM spaces WHERE space = ?", (space.key,)).fetchone()
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
    with _transaction(db):
        (count,) = db.execute("SELECT count(*) FROM vectors").fetchone()
        kept = int(count * _KEPT_SHARE * max_size_bytes / _size_bytes(db))
        db.execute("DELETE FROM vectors WHERE id IN (SELECT id FROM vectors ORDER BY day, id LIMIT ?)", (count - kept,))
        db.execute("DELETE FROM spaces WHERE id NOT IN (SELECT DISTINCT space FROM vectors)")
    # As a script: a plain statement would be stepped once, and give back one page.
    db.executescript("PRAGMA incremental_vacuum")


def _is_damage(error: Exception) -> bool:
    import sqlite3

    code = getattr(error, "sqlite_errorcode", None) or 0
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "no such table" in str(error)


def _today() -> int:
    """Days since 1970."""
    return int(time.time() // 86_400)


def _key(text: str) -> bytes:
    return bytes.fromhex(text_hash(text))


def _vector(value: Any) -> "Row":
    """A read-only float32 array, of a blob or of any sequence of numbers."""
    import numpy as np

    row: Row = np.frombuffer(value, dtype="<f4") if isinstance(value, bytes) else np.array(value, dtype="<f4")
    row.flags.writeable = False
    return row


def _blob(vector: Any, space: VectorSpace) -> bytes:
    import numpy as np

    row = _vector(vector)
    if row.ndim != 1 or len(row) != (space.dimensions or len(row)):
        raise InvalidInputError(f"{space.model} has {space.dimensions} dimensions, a vector has shape {row.shape}")
    if not np.isfinite(row).all():
        raise InvalidInputError(f"a vector of {space.model} holds NaN or infinity")
    return row.tobytes()
