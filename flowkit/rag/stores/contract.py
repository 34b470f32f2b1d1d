"""The vector store contract: what a store author writes, and the values that go in and out.

    class MyStore:                      # no base class: VectorStore is a Protocol
        async def search(self, query: SearchQuery) -> list[ScoredDocument]: ...

`flowkit.testing.StoreContract` proves an implementation; docs/how-to/write-a-vector-store.md explains it.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, runtime_checkable

from flowkit.errors import InvalidInputError
from flowkit.schema.documents import Document, ScoredDocument
from flowkit.schema.filters import Filter

if TYPE_CHECKING:
    import numpy as np

    Vector = Sequence[float] | np.ndarray[Any, np.dtype[np.float32]]
else:
    Vector = Any

__all__ = ["EmbeddedDocument", "Page", "RowKey", "SearchMode", "SearchQuery", "StoreStats", "Vector", "VectorStore"]

Item = TypeVar("Item")
SearchMode = Literal["vector", "keyword", "hybrid"]


@dataclass(frozen=True, slots=True)
class EmbeddedDocument:
    """A document (its `id` set) and its float32 vector; vector None means "keep the stored one"."""

    document: Document
    vector: Vector | None = None

    @property
    def id(self) -> str:
        assert self.document.id is not None  # upsert refuses rows without an id
        return self.document.id


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One search: by vector, by text (keyword), or by both (hybrid).

    Raises:
        InvalidInputError: neither vector nor text, k < 1, or min_score outside 0…1.
    """

    vector: Vector | None = None
    text: str | None = None
    k: int = 3
    min_score: float = 0.0
    where: Filter | None = None

    def __post_init__(self) -> None:
        if self.vector is None and self.text is None:
            raise InvalidInputError("a search needs a vector, a text, or both")
        if not isinstance(self.k, int) or isinstance(self.k, bool) or self.k < 1:
            raise InvalidInputError(f"k is {self.k!r}", hint="ask for 1 or more documents")
        if not 0 <= self.min_score <= 1:
            raise InvalidInputError(f"min_score is {self.min_score!r}", hint="scores lie in 0…1")

    @property
    def mode(self) -> SearchMode:
        if self.vector is None:
            return "keyword"
        return "vector" if self.text is None else "hybrid"


@dataclass(frozen=True, slots=True)
class RowKey:
    """What a sync needs to know of a stored row: no text, no vector."""

    id: str
    source: str | None
    text_hash: str
    metadata_hash: str


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some rows, and the cursor for the next page (None at the end)."""

    items: tuple[Item, ...] = ()
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class StoreStats:
    """What is in an index. `key_types` gives the type names that each metadata key has had."""

    count: int
    dimension: int | None = None
    embedder: str | None = None
    key_types: Mapping[str, frozenset[str]] = field(default_factory=dict)
    size_bytes: int | None = None


@runtime_checkable
class VectorStore(Protocol):
    """One index. Methods are called after `open`, else they raise StateError; several tasks may call them at once.

    Scores: cosine as (1 + cos) / 2, keyword as bm25 / (bm25 + 1), hybrid as reciprocal rank fusion (k 60, the first
    100 of each) divided by its maximum. Order: score descending, then id ascending. `flowkit.rag.stores.rules` has
    these formulas, and the checks of what comes in, ready for use.

    What comes out is a copy: changing a document's metadata changes nothing stored.
    """

    async def open(self, *, create: bool, dimension: int | None = None, embedder: str | None = None) -> None:
        """Open the index; idempotent. `create=False` raises NotFoundError when it is not there.

        Raises:
            IdentityError: it was built with another dimension or embedder.
            StoreError: its files are damaged or of a newer format.
        """
        ...

    async def upsert(self, rows: Sequence[EmbeddedDocument]) -> None:
        """Insert or replace by id, all or nothing; the last of equal ids in one call wins; durable when it returns.

        The first vector fixes the dimension of an index that was opened without one. Splitting into what the
        backend takes at once is the store's business.

        Raises:
            InvalidInputError: a row without id, a vector of another dimension or with a non-finite number,
                or vector None for an id that is not stored. Nothing is written then.
        """
        ...

    async def search(self, query: SearchQuery) -> list[ScoredDocument]:
        """The best `query.k` rows with score ≥ `min_score`, best first; fewer when there are no more.

        Scores and `min_score` are compared to 7 digits, which is what float32 vectors are good for. Keyword hits
        have a score above 0.

        Raises:
            InvalidInputError: a vector of another dimension, with NaN or infinity, or all zeros.
            FilterTypeError: the filter compares a key with a type that it has never had in this index.
            UnsupportedFilter: the backend cannot do an operator; it is never left out in silence.
            UnsupportedError: the backend has no such mode.
        """
        ...

    async def fetch(
        self,
        *,
        ids: Sequence[str] | None = None,
        where: Filter | None = None,
        cursor: str | None = None,
        limit: int = 100,
        with_vectors: bool = False,
    ) -> Page[EmbeddedDocument]:
        """Rows by id (in the order asked, missing ones left out) or by filter (in id order), a page at a time.

        With both, the rows of `ids` that match. `cursor` is the one of the page before, for the same arguments.

        Raises:
            InvalidInputError: limit < 1, or ids is one string.
        """
        ...

    def manifest(self, source: str | None = None) -> AsyncIterator[RowKey]:
        """The keys of all rows, or of one source's, each once; `rules.row_key` makes them."""
        ...

    async def delete(self, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        """Delete by exactly one selector; returns how many rows went. Unknown ids are ignored.

        Raises:
            InvalidInputError: both selectors or none, or an id that is empty or no string.
        """
        ...

    async def clear(self) -> None:
        """Delete every row; the index stays, with its dimension and embedder."""
        ...

    async def stats(self) -> StoreStats: ...

    async def aclose(self) -> None:
        """Let go of files and connections; twice is fine, and `open` opens again."""
        ...
