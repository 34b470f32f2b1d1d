"""A vector store as a plugin: one index becomes an indexer and a retriever.

class MyStore(StorePlugin):          # plus the methods of VectorStore
    name = "mystore"
    def __init__(self, index, *, embedder=None): self.index, self.embedder = index, embedder

ai = Flowkit(plugins=[MyStore("menu", embedder="local/all-minilm-l6-v2")])
"""

from collections.abc import Sequence
from typing import Any, get_args
from weakref import WeakKeyDictionary

from pydantic import ConfigDict, Field, ValidationError

from flowkit.ai.index import IndexerAction
from flowkit.ai.retrieve import RetrieverAction
from flowkit.core.action import Action
from flowkit.core.context import RunContext
from flowkit.core.kinds import Kind
from flowkit.core.plugin import ActionInfo
from flowkit.core.registry import Registry
from flowkit.core.spans import ATTRIBUTES, annotate
from flowkit.core.types import problems, summary
from flowkit.errors import ConfigError, InvalidInputError, NotFoundError
from flowkit.rag.embedder import CachedEmbedder
from flowkit.rag.stores.abilities import StoreAbilities
from flowkit.rag.stores.contract import SearchMode, SearchQuery, VectorStore
from flowkit.rag.stores.turns import Turns
from flowkit.rag.stores.write import Writer
from flowkit.schema.documents import Document, text_hash
from flowkit.schema.filters import Filter
from flowkit.schema.retrieval import IndexerRequest, IndexReport, RetrieverRequest, RetrieverResponse
from flowkit.schema.wire import Wire

__all__ = ["STORE_KINDS", "SearchOptions", "StoreActions", "StorePlugin", "served_by"]

STORE_KINDS: tuple[Kind, Kind] = ("indexer", "retriever")


class SearchOptions(Wire):
    """What a vector store's retriever takes. Other keys are refused: a mistyped condition must not vanish."""

    model_config = ConfigDict(extra="forbid")

    k: int = Field(default=3, ge=1, le=1000, description="How many documents to return")
    min_score: float = Field(default=0.0, ge=0, le=1, description="Leave out documents that score less")
    where: Filter | None = Field(default=None, description="A condition on metadata, for instance price < 10")
    mode: SearchMode | None = Field(default=None, description="vector, keyword or hybrid; the store's default if unset")

    @classmethod
    def of(cls, options: Any, where: str) -> "SearchOptions":
        """Read a request's options.

        Raises:
            InvalidInputError: with the path and message of each field in `details`.
        """
        try:
            return cls.from_wire(options or {})
        except ValidationError as error:
            found = problems(error)
            details = {"errors": found, "schema": cls.model_json_schema(by_alias=True)}
            raise InvalidInputError(f"bad options for {where}: {summary(found)}", details=details) from error


_served: "WeakKeyDictionary[Action[Any, Any, Any], StoreActions]" = WeakKeyDictionary()


def served_by(action: Action[Any, Any, Any]) -> "StoreActions | None":
    """The index behind an indexer or retriever; None when it is a function."""
    return _served.get(action)


class StoreActions:
    """The indexer and the retriever of one index."""

    def __init__(self, store: VectorStore, name: str, *, embedder: str | None, mode: SearchMode = "vector") -> None:
        self.store = store
        self.name = name
        self.embedder = embedder
        self.mode = _checked_mode(mode, name)
        self._turns = Turns()

    def infos(self) -> list[ActionInfo]:
        return [
            ActionInfo("indexer", self.name, f"Index documents into {self.name}", self._metadata("indexer")),
            ActionInfo("retriever", self.name, f"Search {self.name}", self._metadata("retriever")),
        ]

    def action(self, kind: Kind, registry: Registry) -> IndexerAction | RetrieverAction:
        """The indexer or the retriever, for the actions of that registry."""

        async def indexer(request: IndexerRequest, ctx: RunContext) -> IndexReport:
            report = await self.index(registry, request.documents)
            annotate(ctx.record, {ATTRIBUTES.CACHED_EMBEDDINGS: report.cached or None})
            return report

        async def retriever(request: RetrieverRequest, ctx: RunContext) -> RetrieverResponse:
            options = SearchOptions.of(request.options, f"retriever {self.name!r}")
            return await self.retrieve(registry, request.query, options, ctx)

        info = next(info for info in self.infos() if info.kind == kind)
        action: Action[Any, Any, Any] = Action(
            kind,
            self.name,
            indexer if kind == "indexer" else retriever,
            description=info.description,
            metadata=info.metadata,
            plain=type(self.store),
        )
        _served[action] = self
        return action

    def _metadata(self, kind: str) -> dict[str, Any]:
        options = SearchOptions.model_json_schema(by_alias=True) if kind == "retriever" else {}
        return {"type": kind, "info": {"label": self.name}, kind: {"customOptions": options}}

    @property
    def place(self) -> str:
        """A name for what is stored, the same in every process: of the index, and of where it lives if that is told."""
        return text_hash(f"{self.name}\x00{getattr(self.store, 'path', '')}")

    async def writer(self, registry: Registry) -> Writer:
        """What writes into this index, for one run."""
        return Writer(self.store, await self.cached_embedder(registry), self._turns)

    async def cached_embedder(self, registry: Registry) -> CachedEmbedder:
        """The embedder of this index, for one run.

        Raises:
            ConfigError: the index has none.
        """
        if self.embedder is None:
            raise ConfigError(
                f"index {self.name!r} has no embedder", hint='name one: embedder="local/all-minilm-l6-v2"'
            )
        return await CachedEmbedder.of(registry, self.embedder)

    async def index(self, registry: Registry, documents: Sequence[Document]) -> IndexReport:
        """Write what is new or changed; nothing that is there already is embedded again.

        Raises:
            InvalidInputError: a document has no text.
            IdentityError: the index was built with another embedder or dimension; nothing is written.
        """
        if not documents:
            return IndexReport()
        writer = await self.writer(registry)
        return await writer.write(documents)

    async def retrieve(
        self, registry: Registry, query: Document, options: SearchOptions, ctx: RunContext
    ) -> RetrieverResponse:
        """Search. Never makes an index.

        Raises:
            NotFoundError: the index was never built.
            IdentityError: it was built with another embedder.
        """
        mode = options.mode or self.mode
        vector = None
        if mode == "keyword":
            await self.store.open(create=False)
        else:
            embedder = await self.cached_embedder(registry)
            await self.store.open(create=False, dimension=embedder.info.dimensions, embedder=embedder.name)
            vector = (await embedder.embed([query], task="query"))[0]
            annotate(ctx.record, {ATTRIBUTES.CACHED_EMBEDDINGS: embedder.hits or None})
        text = None if mode == "vector" else query.text
        hits = await self.store.search(
            SearchQuery(vector=vector, text=text, k=options.k, min_score=options.min_score, where=options.where)
        )
        return RetrieverResponse.model_construct(documents=tuple(hits))


def _checked_mode(mode: SearchMode, index: str) -> SearchMode:
    modes = get_args(SearchMode)
    if mode not in modes:
        import difflib  # for this message only

        near = difflib.get_close_matches(str(mode), modes, n=1)
        there = f"there are: {', '.join(modes)}"
        raise ConfigError(
            f"index {index!r} has no mode {mode!r}", hint=f"did you mean {near[0]!r}? {there}" if near else there
        )
    return mode


class StorePlugin:
    """Mix-in that makes a one-index store a plugin. The store sets `name`, `index`, `embedder` and, maybe, `mode`.

    A store that cannot do everything declares its `abilities`, as a class attribute or as a property.
    """

    name: str
    index: str
    embedder: str | None
    _mode: SearchMode = "vector"
    _registry: Registry | None = None
    _actions: StoreActions | None = None

    @property
    def mode(self) -> SearchMode:
        """How retrieving searches when it does not say.

        Raises:
            ConfigError: it is set to what is no mode.
        """
        return self._mode

    @mode.setter
    def mode(self, mode: SearchMode) -> None:
        self._mode = _checked_mode(mode, getattr(self, "index", self.name))

    @property
    def abilities(self) -> StoreAbilities:
        """What this store can do; everything, unless it says otherwise."""
        return StoreAbilities()

    @property
    def _served(self) -> StoreActions:
        if self._actions is None:
            if not isinstance(self, VectorStore):
                missing = sorted(name for name in _METHODS if not hasattr(self, name))
                raise ConfigError(f"{type(self).__name__} is no VectorStore: it lacks {', '.join(missing)}")
            self._actions = StoreActions(self, f"{self.name}/{self.index}", embedder=self.embedder, mode=self.mode)
        return self._actions

    async def setup(self, registry: Registry) -> None:
        self._registry = registry

    async def resolve(self, kind: Kind, name: str) -> Action[Any, Any, Any] | None:
        if self._registry is None or name != self._served.name or kind not in STORE_KINDS:
            return None
        return self._served.action(kind, self._registry)

    def list(self) -> Sequence[ActionInfo]:
        return self._served.infos()

    async def check(self) -> str:
        """Whether the store can be reached, and what is in the index; makes none.

        Raises:
            FlowkitError: it cannot be reached, or the index does not fit its embedder.
        """
        store = self._served.store
        try:
            await store.open(create=False)
        except NotFoundError:
            return "reachable; the index is not built yet"
        count = (await store.stats()).count
        return f"{count} document{'' if count == 1 else 's'}"


_METHODS = ("open", "upsert", "search", "fetch", "manifest", "delete", "clear", "stats", "aclose")
