"""What is known of an index beside its rows: identity, and the types of metadata keys.

Both stand in a namespace of their own, one record for the identity and one for each key and type, so that writers who
add some at the same time lose nothing. They can be read before the rows that they speak of are written.
"""

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from flowkit.errors import IdentityError, StoreError
from flowkit.plugin import joined_types
from flowkit_pinecone.link import Link, Place
from flowkit_pinecone.names import CATALOG
from flowkit_pinecone.waiting import Waiting

__all__ = ["FORMAT", "Catalog", "Identity"]

FORMAT = 1
_IDENTITY = "identity"
_PAGE = 1_000
_RECENT_SECONDS = 1.0
_FIELD = "flowkit:{}"


@dataclass(frozen=True, slots=True)
class Identity:
    """What an index was built with; None where it is not known yet."""

    index: str
    embedder: str | None = None
    dimension: int | None = None
    words: str | None = None
    """By which rules its texts are searchable by words; None where they are not."""

    @classmethod
    def read(cls, index: str, metadata: Mapping[str, Any], dimension: int | None) -> "Identity":
        """Raises StoreError: the record is not ours, is another index's, or has a newer format."""
        format = metadata.get(_FIELD.format("format"))
        if not isinstance(format, int | float):
            raise StoreError(
                f"pinecone index {index!r} was not made by flowkit", hint="take another name for the index"
            )
        if format > FORMAT:
            raise StoreError(
                f"pinecone index {index!r} has format {format:g}, this version reads up to {FORMAT}",
                hint="upgrade flowkit-pinecone",
            )
        name = metadata.get(_FIELD.format("name"))
        if name != index:
            raise StoreError(f"the place of pinecone index {index!r} belongs to {name!r}")
        return cls(index, metadata.get(_FIELD.format("embedder")), dimension, metadata.get(_FIELD.format("words")))

    def metadata(self) -> dict[str, Any]:
        entries = {"format": FORMAT, "name": self.index, "embedder": self.embedder, "words": self.words}
        return {_FIELD.format(key): value for key, value in entries.items() if value is not None}

    def joined(self, *, embedder: str | None, dimension: int | None) -> "Identity":
        """With what is new in it. Raises IdentityError where both sides say something, and not the same."""
        for what, mine, given in (("dimension", self.dimension, dimension), ("embedder", self.embedder, embedder)):
            if mine is not None and given is not None and mine != given:
                raise IdentityError(
                    f"pinecone index {self.index!r} was built with {what} {mine!r}, not {given!r}",
                    hint=f"use {what} {mine!r}, or build a new index",
                )
        return replace(self, embedder=self.embedder or embedder, dimension=self.dimension or dimension)


@dataclass
class Catalog:
    """The records beside the rows of one namespace."""

    link: Link
    rows: Place
    waiting: Waiting
    kinds: Mapping[str, set[str]] = field(default_factory=dict)
    """Replaced when it changes, and never changed."""
    _read_at: float = -math.inf

    @property
    def is_recent(self) -> bool:
        """Whether it was read in this moment, so that a search need not read it again."""
        return time.monotonic() - self._read_at < _RECENT_SECONDS

    @property
    def place(self) -> Place:
        return replace(self.rows, namespace=CATALOG)

    async def identity(self) -> Mapping[str, Any] | None:
        """The metadata of the identity's record."""
        answer = await self.link.call(self.place, "open", "fetch", ids=[_IDENTITY])
        found = answer.value.vectors.get(_IDENTITY)
        return None if found is None else found.metadata or {}

    async def identify(self, identity: Identity) -> None:
        """Write the identity down; when this returns, others can read it."""
        await self._write([(_IDENTITY, identity.metadata())], identity.dimension or 0)

    async def read(self) -> None:
        """Know what others have written."""
        kinds: dict[str, set[str]] = {}
        before = self.kinds
        token: str | None = None
        began = time.monotonic()
        while True:
            answer = await self.link.call(
                self.place,
                "read the keys of",
                "fetch_by_metadata",
                filter={"flowkit:of": {"$eq": self._of}},
                limit=_PAGE,
                pagination_token=token,
            )
            for record in answer.value.vectors.values():
                entries = record.metadata or {}
                kinds.setdefault(entries["flowkit:key"], set()).add(entries["flowkit:kind"])
            token = answer.value.pagination.next if answer.value.pagination else None
            if not token:
                break
        self._read_at = began
        if self.kinds is not before:  # a write has added some, which this may not have seen
            kinds = joined_types(kinds, self.kinds)
        if kinds != self.kinds:
            self.kinds = kinds

    async def add(self, kinds: Iterable[tuple[str, str]], dimension: int) -> None:
        """Write what is new of these keys and types; when this returns, others can read it."""
        new = sorted((key, kind) for key, kind in set(kinds) if kind not in self.kinds.get(key, ()))
        if not new:
            return
        records = []
        for key, kind in new:
            id = sha256(f"{self._of}\0{kind}\0{key}".encode()).hexdigest()
            records.append((f"kind-{id}", {"flowkit:of": self._of, "flowkit:key": key, "flowkit:kind": kind}))
        await self._write(records, dimension)
        self.kinds = joined_types(self.kinds, *({key: (kind,)} for key, kind in new))

    @property
    def _of(self) -> str:
        return f"namespace {self.rows.namespace}"

    async def _write(self, records: list[tuple[str, dict[str, Any]]], dimension: int) -> None:
        step = max(1, min(_PAGE, 1_000_000 // (dimension * 4 + 1_000)))
        values = [1.0] + [0.0] * (dimension - 1)
        for at in range(0, len(records), step):
            answer = await self.link.call(
                self.place,
                "describe",
                "upsert",
                vectors=[{"id": id, "values": values, "metadata": entries} for id, entries in records[at : at + step]],
            )
            self.waiting.wrote(self.place, answer)
        await self.waiting.until_visible(self.place, dimension)
