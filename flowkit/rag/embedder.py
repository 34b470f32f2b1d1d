"""An embedder with the cache before it: what indexers and retrievers use.

embedder = await CachedEmbedder.of(registry, "local/all-minilm-l6-v2")
vectors = await embedder.embed(documents, task="document")
"""

from collections.abc import Sequence

from flowkit.ai.embed import BATCH, EmbedderAction, embed_many, embedder_info
from flowkit.core.registry import Registry
from flowkit.schema.documents import Document
from flowkit.schema.embedding import EmbedTask

__all__ = ["CachedEmbedder"]


class CachedEmbedder:
    """One embedder for the time of one call; counts what it did."""

    def __init__(self, registry: Registry, action: EmbedderAction) -> None:
        self.action = action
        self.name = action.name
        self.info = embedder_info(action)
        self.batch_size = self.info.max_batch_size or BATCH
        """Texts in one call of the embedder."""
        self.hits = 0
        """Vectors that came out of the cache."""
        self.windowed = 0
        """Texts over the embedder's limit, embedded by windows."""
        self._registry = registry

    @classmethod
    async def of(cls, registry: Registry, name: str) -> "CachedEmbedder":
        return cls(registry, await registry.find("embedder", name))

    async def embed(self, documents: Sequence[Document], *, task: EmbedTask = "document") -> list[Sequence[float]]:
        """A vector for each document, in order."""
        if not documents:
            return []
        response = await embed_many(self._registry, self.action, documents, task=task, options=None)
        self.windowed += int((response.custom or {}).get("windowed", 0))
        return [embedding.vector for embedding in response.embeddings]
