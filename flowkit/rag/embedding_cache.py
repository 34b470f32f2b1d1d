"""Vectors by text, so that nothing is embedded twice: a SQLite file that several processes may share.

    cache = EmbeddingCache(folder / "embeddings.db")
    vectors = await cache.through(VectorSpace("local/all-minilm-l6-v2", dimensions=384), texts, embed)

It holds nothing that could not be made again. So a damaged file is moved aside, an unusable one is done without, each
with a warning, and what was used longest ago goes when the file grows over its bound.
"""

import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from flowkit.core.threads import run_in_thread
from flowkit.errors import InvalidInputError, InvalidOutputError
from flowkit.rag.embedding_file import CacheFile, is_damage, read, write
from flowkit.schema.documents import text_hash
from flowkit.schema.embedding import EmbedTask

if TYPE_CHECKING:
    from sqlite3 import Connection

    import numpy as np
    from numpy.typing import NDArray

    Row = NDArray[np.float32]

__all__ = ["Cached", "EmbeddingCache", "VectorSpace"]

T = TypeVar("T")

_MAX_SIZE_BYTES = 512 * 2**20


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """All that decides a text's vector besides the text. A vector is only found again under an equal one."""

    model: str
    revision: str | None = None
    dimensions: int | None = None
    task: EmbedTask = "document"
    normalized: bool | None = None
    """Whether vectors have length 1; None when the embedder does not say."""
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
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
        self._file = CacheFile(file) if file is not None else None

    async def get_many(self, space: VectorSpace, texts: Sequence[str]) -> "list[Row | None]":
        """The vector of each text, in order, None where there is none. The arrays are read-only."""
        if self._file is None or not texts or self._file.is_missing():
            return [None] * len(texts)
        keys = [_key(text) for text in texts]
        found = await run_in_thread(self._attempt, (lambda db: read(db, space.key, keys), {}))
        vectors = {key: _vector(blob) for key, blob in found.items()}
        return [vectors.get(key) for key in keys]

    async def put_many(self, space: VectorSpace, texts: Sequence[str], vectors: Sequence[Any]) -> None:
        """Keep a vector for each text, in place of an earlier one.

        Raises:
            InvalidInputError: there are more texts than vectors, or a vector has not `space.dimensions` numbers.
        """
        if len(texts) != len(vectors):
            raise InvalidInputError(f"there are {len(texts)} texts and {len(vectors)} vectors")
        if self._file is None or not texts:
            return
        rows = {_key(text): _blob(vector, space) for text, vector in zip(texts, vectors, strict=True)}
        await run_in_thread(self._attempt, (lambda db: write(db, space.key, rows, self.max_size_bytes), None))

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

    async def aclose(self) -> None:
        """Close the file; the next use opens it again."""
        if self._file is not None:
            await run_in_thread(self._file.close)

    def _attempt(self, work: "Callable[[Connection], T]", otherwise: T) -> T:
        """Do it if the file allows it. The cache never makes a call fail."""
        import sqlite3

        file = self._file
        if file is None:
            return otherwise
        for attempt in range(2):
            try:
                with file.open() as db:
                    return work(db)
            except (sqlite3.Error, OSError) as error:
                aside = file.move_aside() if attempt == 0 and is_damage(error) else None
                if aside is None:
                    self._warn(f"embeddings are not cached in {file.path}: {error} (the run goes on without)")
                    break
                self._warn(f"the embedding cache {file.path} was damaged ({error}) and begins anew; see {aside.name}")
        return otherwise

    def _warn(self, text: str) -> None:
        """Say the same thing once: an index run asks hundreds of times."""
        if text not in self._said:
            self._said.add(text)
            warnings.warn_explicit(text, RuntimeWarning, "flowkit", 0)  # no line of the user's is to blame


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
