"""A vector store as a plugin: one index becomes an indexer and a retriever.

    class MyStore(StorePlugin):          # plus the methods of VectorStore
        name = "mystore"
        def __init__(self, index, *, embedder=None): self.index, self.embedder = index, embedder

    ai = Flowkit(plugins=[MyStore("menu", embedder="local/all-minilm-l6-v2")])
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from flowkit.ai.embed import embedder_info
from flowkit.core.action import Action
from flowkit.core.context import RunContext
from flowkit.core.kinds import Kind
from flowkit.core.plugin import ActionInfo
from flowkit.core.registry import Registry
from flowkit.errors import ConfigError, InvalidInputError, NotFoundError
from flowkit.rag.embedder import CachedEmbedder
from flowkit.rag.stores.contract import EmbeddedDocument, SearchMode, SearchQuery, VectorStore
from flowkit.schema.documents import Document, document_id, metadata_hash, text_hash
from flowkit.schema.filters import Filter
from flowkit.schema.retrieval import IndexerRequest, IndexReport, RetrieverRequest, RetrieverResponse
from flowkit.schema.wire import Wire

__all__ = ["SearchOptions", "StoreActions", "StorePlugin"]

_BATCH = 256  # documents embedded and written together: an interrupted run keeps what was written


class SearchOptions(Wire):
    """What a vector store's retriever takes."""

    k: int = Field(default=3, ge=1, le=1000, description="How many documents to return")
    min_score: float = Field(default=0.0, ge=0, le=1, description="Leave out documents that score less")
    where: Filter | None = Field(default=None, description="A condition on metadata, for instance price < 10")
    mode: SearchMode | None = Field(default=None, description="vector, keyword or hybrid; the store's default if unset")


class StoreActions:
    """The indexer and the retriever of one index."""

    def __init__(self, store: VectorStore, name: str, *, embedder: str | None, mode: SearchMode = "vector") -> None:
        self.store = store
        self.name = name
        self.embedder = embedder
        self.mode: SearchMode = mode

    def infos(self) -> list[ActionInfo]:
        return [
            ActionInfo("indexer", self.name, f"Index documents into {self.name}", self._metadata("indexer")),
            ActionInfo("retriever", self.name, f"Search {self.name}", self._metadata("retriever")),
        ]

    def action(self, kind: Kind, name: str, registry: Registry) -> Action[Any, Any, Any] | None:
        if name != self.name or kind not in ("indexer", "retriever"):
            return None

        async def indexer(request: IndexerRequest, ctx: RunContext) -> IndexReport:
            return await self.index(registry, request.documents)

        async def retriever(request: RetrieverRequest, ctx: RunContext) -> RetrieverResponse:
            return await self.retrieve(registry, request.query, SearchOptions.from_wire(request.options or {}))

        fn = indexer if kind == "indexer" else retriever
        description = next(info.description for info in self.infos() if info.kind == kind)
        return Action(kind, name, fn, description=description, metadata=self._metadata(kind))

    def _metadata(self, kind: str) -> dict[str, Any]:
        options = SearchOptions.model_json_schema(by_alias=True) if kind == "retriever" else {}
        return {"type": kind, "info": {"label": self.name}, kind: {"customOptions": options}}

    async def _embedder(self, registry: Registry) -> CachedEmbedder:
        if self.embedder is None:
            raise ConfigError(
                f"index {self.name!r} has no embedder", hint='name one: embedder="local/all-minilm-l6-v2"'
            )
        return await CachedEmbedder.of(registry, self.embedder)

    async def _create(self, embedder: CachedEmbedder, sample: Document) -> None:
        """Open the index, or make it; its dimension is measured when the embedder does not say one."""
        try:
            await self.store.open(create=False, embedder=self.embedder)
        except NotFoundError:
            dimension = embedder_info(embedder.action).dimensions or len((await embedder.embed([sample]))[0])
            await self.store.open(create=True, dimension=dimension, embedder=self.embedder)

    async def index(self, registry: Registry, documents: Sequence[Document]) -> IndexReport:
        """Write what is new or changed; nothing that is there already is embedded again.

        Batches are written as they are embedded, so that a run which fails keeps its progress.
        """
        if not documents:
            return IndexReport()
        rows = with_ids(documents)
        embedder = await self._embedder(registry)
        await self._create(embedder, rows[0])
        written = updated = unchanged = 0
        unique = {doc.id: doc for doc in rows}  # the last of equal ids wins
        queue = list(unique.values())
        for at in range(0, len(queue), _BATCH):
            batch = queue[at : at + _BATCH]
            new, changed = await self._compare(batch)
            vectors = await embedder.embed(new)
            await self.store.upsert(
                [EmbeddedDocument(doc, vector) for doc, vector in zip(new, vectors, strict=True)]
                + [EmbeddedDocument(doc) for doc in changed]
            )
            written += len(new)
            updated += len(changed)
            unchanged += len(batch) - len(new) - len(changed)
        return IndexReport(
            written=written,
            updated=updated,
            unchanged=unchanged,
            ids=tuple(doc.id or "" for doc in rows),
            cleaned_characters=sum(doc.cleaned_characters for doc in documents),
            windowed=embedder.windowed,
            cached=embedder.hits,
        )

    async def _compare(self, batch: Sequence[Document]) -> tuple[list[Document], list[Document]]:
        """Which documents need a vector, and which only new metadata."""
        page = await self.store.fetch(ids=[doc.id or "" for doc in batch], limit=len(batch))
        stored = {row.id: row.document for row in page.items}
        new: list[Document] = []
        changed: list[Document] = []
        for doc in batch:
            old = stored.get(doc.id or "")
            if old is None or text_hash(old.text) != text_hash(doc.text):
                new.append(doc)
            elif metadata_hash(old.metadata) != metadata_hash(doc.metadata):
                changed.append(doc)
        return new, changed

    async def retrieve(self, registry: Registry, query: Document, options: SearchOptions) -> RetrieverResponse:
        mode = options.mode or self.mode
        await self.store.open(create=False, embedder=self.embedder)
        vector = None
        if mode != "keyword":
            embedder = await self._embedder(registry)
            vector = (await embedder.embed([query], task="query"))[0]
        text = None if mode == "vector" else query.text
        hits = await self.store.search(
            SearchQuery(vector=vector, text=text, k=options.k, min_score=options.min_score, where=options.where)
        )
        return RetrieverResponse.model_construct(documents=tuple(hits))


def with_ids(documents: Sequence[Document]) -> list[Document]:
    """Give each document without an id its own: a hash of source, text, and how many equal ones came before.

    Raises:
        InvalidInputError: a document has no text.
    """
    seen: Counter[tuple[str | None, str]] = Counter()
    rows: list[Document] = []
    for at, doc in enumerate(documents):
        if not doc.text.strip():
            raise InvalidInputError(f"document {at} has no text", hint="leave out empty pages and files")
        if doc.id is None:
            key = (doc.source, doc.text if doc.source is not None else f"{doc.text}\x00{metadata_hash(doc.metadata)}")
            doc = doc.with_id(document_id(doc.source, doc.text, seen[key], doc.metadata))
            seen[key] += 1
        rows.append(doc)
    return rows


class StorePlugin:
    """Mix-in that makes a one-index store a plugin. The store sets `name`, `index`, `embedder` and, if it likes, `mode`."""

    name: str
    index: str
    embedder: str | None
    mode: SearchMode = "vector"
    _registry: Registry | None = None
    _actions: StoreActions | None = None

    @property
    def _served(self) -> StoreActions:
        if self._actions is None:
            assert isinstance(self, VectorStore)  # the class that mixes this in implements it
            self._actions = StoreActions(self, f"{self.name}/{self.index}", embedder=self.embedder, mode=self.mode)
        return self._actions

    async def setup(self, registry: Registry) -> None:
        self._registry = registry

    async def resolve(self, kind: Kind, name: str) -> Action[Any, Any, Any] | None:
        return self._served.action(kind, name, self._registry) if self._registry is not None else None

    def list(self) -> Sequence[ActionInfo]:
        return self._served.infos()
