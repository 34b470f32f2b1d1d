"""An embedder with the cache before it: what indexers and retrievers use.

embedder = await CachedEmbedder.of(registry, "local/all-minilm-l6-v2")
vectors = await embedder.embed(documents, task="document")
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from types import CodeType
from typing import Any
from weakref import WeakKeyDictionary

from flowkit.ai.embed import BATCH, EmbedderAction, embed_many, embedder_info
from flowkit.core.functions import origin, plain_function
from flowkit.core.registry import Registry
from flowkit.core.runtime import Runtime
from flowkit.errors import InvalidOutputError
from flowkit.rag.embedding_cache import EmbeddingCache, VectorSpace
from flowkit.rag.stores.contract import Vector
from flowkit.schema.documents import Document, embedded_text
from flowkit.schema.embedding import EmbedTask
from flowkit.schema.model import Usage
from flowkit.schema.parts import TextPart

__all__ = ["CachedEmbedder", "caches_in_use", "embedding_cache"]

_caches: WeakKeyDictionary[Runtime, EmbeddingCache] = WeakKeyDictionary()


def embedding_cache(runtime: Runtime) -> EmbeddingCache:
    """The cache of an app, `<data folder>/cache/embeddings.db`. It keeps nothing when it is off or has no project."""
    cache = _caches.get(runtime)
    if cache is None:
        settings = runtime.settings
        on = settings.embedding_cache and settings.root != Path()
        file = settings.data_folder / "cache" / "embeddings.db" if on else None
        cache = _caches.setdefault(runtime, EmbeddingCache(file))
    return cache


def caches_in_use(runtime: Runtime) -> list[EmbeddingCache]:
    """What an app has to close: its cache, if it was ever asked for."""
    cache = _caches.get(runtime)
    return [] if cache is None else [cache]


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
        self.usage: Usage | None = None
        """What the embedder says that it took."""
        self._registry = registry
        self._cache = embedding_cache(registry.runtime)

    @classmethod
    async def of(cls, registry: Registry, name: str) -> "CachedEmbedder":
        return cls(registry, await registry.find("embedder", name))

    async def embed(self, documents: Sequence[Document], *, task: EmbedTask = "document") -> list[Vector]:
        """A vector for each document, in order.

        Raises:
            InvalidOutputError: the embedder gave vectors of another dimension than it says.
        """
        if not documents:
            return []
        if self._cache.file is None or not all(_is_text(document) for document in documents):
            return await self._embed(documents, task)
        by_text = {embedded_text(document): document for document in documents}

        async def embed(texts: list[str]) -> list[Vector]:
            return await self._embed([by_text[text] for text in texts], task)

        found = await self._cache.through(self._space(task), list(map(embedded_text, documents)), embed)
        self.hits += found.hits
        return list(found.vectors)

    async def _embed(self, documents: Sequence[Document], task: EmbedTask) -> list[Vector]:
        response = await embed_many(self._registry, self.action, documents, task=task, options=None)
        self.windowed += int((response.custom or {}).get("windowed", 0))
        self.usage = Usage.sum([self.usage, response.usage])
        said, found = self.info.dimensions, response.embeddings[0].dimension
        if said is not None and said != found:
            raise InvalidOutputError(
                f"embedder {self.name!r} says that it has {said} dimensions and gave vectors of {found}",
                hint="correct EmbedderInfo(dimensions=…)",
            )
        return [embedding.vector for embedding in response.embeddings]

    def _space(self, task: EmbedTask) -> VectorSpace:
        revision = self.info.revision or _fingerprint(self.action)
        return VectorSpace(self.name, revision=revision, dimensions=self.info.dimensions, task=task)


def _is_text(document: Document) -> bool:
    return all(isinstance(part, TextPart) for part in document.content)


def _fingerprint(action: EmbedderAction) -> str:
    """A revision for an embedder that says none: its code, so that an edited one is not served old vectors."""
    fn = plain_function(action)
    facts: list[Any] = [origin(fn)]
    code = getattr(fn, "__code__", None)
    if code is not None:
        facts += [_code_facts(code), [cell.cell_contents for cell in fn.__closure__ or () if _is_plain(cell)]]
    return sha256(repr(facts).encode()).hexdigest()[:16]


def _code_facts(code: CodeType) -> list[Any]:
    """What tells two versions of a function apart, also in the functions inside it. Nothing that differs by run."""
    inner = [_code_facts(each) for each in code.co_consts if isinstance(each, CodeType)]
    return [code.co_code, code.co_names, [each for each in code.co_consts if _is_constant(each)], inner]


def _is_constant(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bytes)


def _is_plain(cell: Any) -> bool:
    try:
        return _is_constant(cell.cell_contents)
    except ValueError:  # not set yet
        return False
