"""The shapes of the vector store browser: what an app tells of its stores, and what the dev API hands on.

StoreList.from_wire(await apps.call(runtime, "/api/stores/list", {}))
"""

from typing import Literal

from pydantic import Field, model_validator

from flowkit.rag.stores.contract import SearchMode
from flowkit.schema.text import is_blank
from flowkit.schema.wire import JSON, Wire

__all__ = [
    "Abilities",
    "AskStore",
    "DeleteDocuments",
    "DeletedDocuments",
    "GetDocument",
    "ListDocuments",
    "NamespaceData",
    "SourceData",
    "SourceList",
    "StoreData",
    "StoreDetails",
    "StoreList",
    "StoreProblem",
    "StoredDocument",
    "StoredDocumentDetails",
    "StoredDocuments",
    "VectorData",
]


class StoreProblem(Wire):
    """Something is wrong with an index, or does not fit; `hint` says what to do."""

    code: Literal["embedder", "dimension", "noEmbedder", "embedderMissing", "failed"]
    message: str
    hint: str | None = None


class Abilities(Wire):
    """What the store can do."""

    modes: tuple[SearchMode, ...]
    unsupported_filters: tuple[str, ...]
    """Operators that filters cannot have here."""
    exact: bool
    """A vector search compares every row."""
    writes: bool
    """False: documents cannot be deleted."""
    namespaces: bool
    tells_size: bool


class NamespaceData(Wire):
    """A part of an index whose rows others do not see; each is a store of its own in an app."""

    name: str
    """"" is the one without a name."""
    count: int
    current: bool
    """The one that this store sees."""


class StoreData(Wire):
    """One index of the running app."""

    name: str
    """Names it in every other call: `devstore/menu`."""
    provider: str
    index: str
    indexer: str
    """The key of the action that writes it; `retriever` is that of the one that searches it."""
    retriever: str
    abilities: Abilities
    mode: SearchMode
    """How the retriever searches when it is not told."""
    built: bool
    """False: nothing was indexed so far, and there are no numbers."""
    count: int = 0
    dimension: int | None = None
    embedder: str | None = None
    """What the index was built with."""
    retriever_embedder: str | None = None
    """What the app would search it with."""
    retriever_dimension: int | None = None
    size_bytes: int | None = None
    key_types: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """The types that each metadata key has had: bool, number, string, list, object."""
    namespaces: tuple[NamespaceData, ...] = ()
    """Of the whole index, where the store has them; at most 200."""
    warnings: tuple[StoreProblem, ...] = ()
    problem: StoreProblem | None = None
    """Why it cannot be looked at."""


class StoreList(Wire):
    stores: tuple[StoreData, ...]
    """By name."""


class StoreDetails(Wire):
    store: StoreData


class AskStore(Wire):
    """Which index is meant."""

    store: str
    """Its name, or the last part of it when that is unique."""


class SourceData(Wire):
    source: str | None = None
    """Absent: documents without a source."""
    count: int


class SourceList(Wire):
    sources: tuple[SourceData, ...]
    """By name; at most 1,000."""
    complete: bool
    """False: there are more sources, or more documents than were counted (200,000)."""


class ListDocuments(AskStore):
    """A page of documents, in the order of their ids; or, with `q`, the best hits."""

    cursor: str | None = None
    limit: int = Field(50, ge=1, le=500)
    source: str | None = None
    where: str | None = None
    """A filter as text: `price < 10 AND cuisine = 'thai'`."""
    q: str | None = None
    """What is searched for; hits have scores, and no cursor."""
    mode: SearchMode | None = None
    """By default keyword, where the store can; else vector, which runs the app's retriever."""


class StoredDocument(Wire):
    id: str
    text: str
    """Its first 2,000 characters."""
    characters: int
    metadata: dict[str, JSON]
    source: str | None = None
    score: float | None = None
    """0…1, of a search."""


class StoredDocuments(Wire):
    documents: tuple[StoredDocument, ...]
    cursor: str | None = None
    """For the next page; absent at the end."""
    mode: SearchMode | None = None
    """How it was searched."""


class GetDocument(AskStore):
    id: str


class VectorData(Wire):
    dimension: int
    norm: float
    """Its length."""
    first: tuple[float, ...]
    """The first 16 numbers."""


class StoredDocumentDetails(Wire):
    """One document, whole."""

    id: str
    text: str
    content: tuple[JSON, ...]
    """Its parts, as Genkit has them."""
    metadata: dict[str, JSON]
    source: str | None = None
    text_hash: str
    metadata_hash: str
    vector: VectorData | None = None


class DeleteDocuments(AskStore):
    """Exactly one of `ids`, `source`, `where` and `all`."""

    ids: tuple[str, ...] | None = None
    source: str | None = None
    where: str | None = None
    """A filter as text."""
    all: bool = False
    dry_run: bool = False
    """Only count."""

    @model_validator(mode="after")
    def _one_selector(self) -> "DeleteDocuments":
        if sum((self.ids is not None, self.source is not None, self.where is not None, self.all)) != 1:
            raise ValueError("give exactly one of ids, source, where and all")
        if self.where is not None and is_blank(self.where):
            raise ValueError("where is blank, which is every document; all deletes every one")
        return self


class DeletedDocuments(Wire):
    deleted: int
    """How many went, or would go."""
    dry_run: bool = False
