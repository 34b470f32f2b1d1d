"""Requests and responses of retrievers, indexers and rerankers, in Genkit's JSON forms.

RetrieverRequest(query=Document.from_text("vegan"), options={"k": 3})
"""

from pydantic import Field

from flowkit.schema.documents import Document, ScoredDocument
from flowkit.schema.wire import JSON, Wire

__all__ = [
    "IndexReport",
    "IndexerRequest",
    "RerankerRequest",
    "RerankerResponse",
    "RetrieverRequest",
    "RetrieverResponse",
]


class RetrieverRequest(Wire):
    query: Document
    options: JSON = None


class RetrieverResponse(Wire):
    """Hits, best first. Plain documents from other tools are read with score 0."""

    documents: tuple[ScoredDocument, ...]


class IndexerRequest(Wire):
    documents: tuple[Document, ...]
    options: JSON = None


class IndexReport(Wire):
    """What one call of an indexer did."""

    written: int = 0
    """Documents that were embedded and stored."""
    updated: int = 0
    """Documents whose text was there already, and whose metadata was changed without embedding again."""
    unchanged: int = 0
    """Documents that were there already."""
    ids: tuple[str, ...] = ()
    """The id of each document given, in order."""
    cleaned_characters: int = 0
    """NUL and lone surrogates that were removed or replaced."""
    windowed: int = 0
    """Texts over the embedder's limit, embedded as the mean of their windows."""
    cached: int = 0
    """Embeddings that came out of the embedding cache."""
    warnings: tuple[str, ...] = Field(default=())


class RerankerRequest(Wire):
    query: Document
    documents: tuple[ScoredDocument, ...]
    options: JSON = None


class RerankerResponse(Wire):
    """Hits in their new order; each has `rerank_score` and, as Genkit requires, `metadata.score`."""

    documents: tuple[ScoredDocument, ...]
