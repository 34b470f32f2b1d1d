"""What is known of an index beside its rows: identity, the types of metadata keys, and a mark of the last write.

Identity stands in the metadata of the index's collection. Types stand in a small collection beside it, one record for
each key and type, so that writers who add some at the same time lose nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from uuid import uuid4

from flowkit import Filter
from flowkit.errors import IdentityError, StoreError
from flowkit.plugin import check, joined_types
from flowkit_chroma.links import Link
from flowkit_chroma.names import catalog_name
from flowkit_chroma.rows import ODD, WHOLE

__all__ = ["FORMAT", "Catalog", "Identity"]

FORMAT = 1
_PREFIX = "flowkit:"
_MARK = "mark"
_WATCHED = "watched"


@dataclass(frozen=True, slots=True)
class Identity:
    """What an index was built with; None where it is not known yet."""

    index: str
    embedder: str | None = None
    dimension: int | None = None

    @classmethod
    def read(cls, index: str, metadata: Mapping[str, Any], place: str) -> "Identity":
        """Raises StoreError: the collection is not ours, is another index's, or has a newer format."""
        format = metadata.get(f"{_PREFIX}format")
        if not isinstance(format, int):
            raise StoreError(
                f"the collection for index {index!r} in {place} was not made by flowkit",
                hint="take another name for the index; the collection is left as it is",
            )
        if format > FORMAT:
            raise StoreError(
                f"index {index!r} in {place} has format {format}, this version reads up to {FORMAT}",
                hint="upgrade flowkit-chroma",
            )
        name = metadata.get(f"{_PREFIX}name")
        if name != index:
            raise StoreError(f"the collection for index {index!r} in {place} belongs to {name!r}")
        return cls(index, metadata.get(f"{_PREFIX}embedder"), metadata.get(f"{_PREFIX}dimension"))

    def metadata(self) -> dict[str, Any]:
        entries = {"format": FORMAT, "name": self.index, "embedder": self.embedder, "dimension": self.dimension}
        return {_PREFIX + key: value for key, value in entries.items() if value is not None}

    def joined(self, *, embedder: str | None, dimension: int | None) -> "Identity":
        """With what is new in it. Raises IdentityError where both sides say something, and not the same."""
        for what, mine, given in (("dimension", self.dimension, dimension), ("embedder", self.embedder, embedder)):
            if mine is not None and given is not None and mine != given:
                raise IdentityError(
                    f"chroma index {self.index!r} was built with {what} {mine!r}, not {given!r}",
                    hint=f"use {what} {mine!r}, or build a new index",
                )
        return Identity(self.index, self.embedder or embedder, self.dimension or dimension)


@dataclass
class Catalog:
    """The collection beside an index's."""

    link: Link
    collection: str
    kinds: Mapping[str, set[str]] = field(default_factory=dict)
    """Replaced when it changes, and never changed."""
    mark: str | None = None
    _epoch: object = None
    _watching: bool = False

    @property
    def name(self) -> str:
        return catalog_name(self.collection)

    def check(self, where: Filter) -> None:
        """Raises FilterTypeError: a value is of a type that its key has never had here, as far as is known."""
        check(where, {key: kinds - {ODD, WHOLE} for key, kinds in self.kinds.items()})

    async def create(self, index: str) -> None:
        await self.link.create(self.name, {f"{_PREFIX}format": FORMAT, f"{_PREFIX}of": index})

    async def read(self) -> None:
        """Know what others have written. Asks the server, or nobody when the folder is unchanged."""
        epoch = self.link.epoch
        if epoch is not None and epoch == self._epoch:
            return
        before = self.kinds
        found = await self.link.call(self.name, "get", include=["metadatas"])
        kinds: dict[str, set[str]] = {}
        mark = None
        for id, entry in zip(found["ids"], found["metadatas"], strict=True):
            if id == _MARK:
                mark = entry["mark"]
            elif id != _WATCHED:
                kinds.setdefault(entry["key"], set()).add(entry["kind"])
        if self.kinds is not before:  # a write has added some, which this may not have seen
            kinds = joined_types(kinds, self.kinds)
        self.kinds, self.mark, self._epoch = kinds, mark, epoch

    async def add(self, kinds: Iterable[tuple[str, str]]) -> None:
        """Write what is new of these keys and types."""
        new = sorted((key, kind) for key, kind in set(kinds) if kind not in self.kinds.get(key, ()))
        if not new:
            return
        ids = [sha256(f"{kind} {key}".encode()).hexdigest() for key, kind in new]
        entries = [{"key": key, "kind": kind} for key, kind in new]
        step = await self.link.batch_size()
        for at in range(0, len(new), step):
            some = ids[at : at + step]
            await self.link.call(
                self.name,
                "upsert",
                ids=some,
                embeddings=[[1.0]] * len(some),
                documents=[""] * len(some),
                metadatas=entries[at : at + step],
            )
        self.kinds = joined_types(self.kinds, *({key: (kind,)} for key, kind in new))

    async def watch(self) -> None:
        """Ask all writers, from now on, to mark what they write. To be called before the rows are read."""
        if not self._watching:
            await self._put(_WATCHED, "yes")
            self._watching = True

    async def touch(self) -> None:
        """Mark a write that has been done, if somebody watches.

        Who begins to watch after this has looked will read the rows that it was called for.
        """
        if self.link.epoch is None:
            watched = self._watching or (await self.link.call(self.name, "get", ids=[_WATCHED], include=[]))["ids"]
            if watched:
                await self._put(_MARK, uuid4().hex)

    async def _put(self, id: str, mark: str) -> None:
        await self.link.call(
            self.name, "upsert", ids=[id], embeddings=[[1.0]], documents=[""], metadatas=[{"mark": mark}]
        )
