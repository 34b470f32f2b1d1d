"""The app object: decorators that register actions, and verbs that run them.

    ai = Flowkit(plugins=[Local(), DevStore("menu", embedder="local/all-minilm-l6-v2")], model="local/extractive")

Nothing here does the work; every method hands over to `core`, `ai` or `rag`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from flowkit.ai.embed import define_embedder, embed, embed_many
from flowkit.ai.evaluate import define_evaluator
from flowkit.ai.generate import build_request, define_model, generate
from flowkit.ai.index import define_indexer, index
from flowkit.ai.rerank import define_reranker, rerank
from flowkit.ai.retrieve import define_retriever, define_simple_retriever, retrieve
from flowkit.ai.step import run_step
from flowkit.config import Settings
from flowkit.core.action import Action
from flowkit.core.context import Context, RunContext
from flowkit.core.kinds import Kind
from flowkit.core.loops import run_sync
from flowkit.core.plugin import Plugin
from flowkit.core.registry import Registry
from flowkit.core.runtime import Runtime
from flowkit.core.signature import MISSING
from flowkit.core.stream import ActionStream
from flowkit.rag.stores.contract import SearchMode, VectorStore
from flowkit.rag.stores.serve import StoreActions
from flowkit.schema.documents import Document, ScoredDocument
from flowkit.schema.embedding import EmbedderInfo, Embedding, EmbedResponse, EmbedTask
from flowkit.schema.filters import Filter
from flowkit.schema.messages import Message
from flowkit.schema.model import GenerateResponse, GenerateResponseChunk, ModelInfo
from flowkit.schema.parts import Part
from flowkit.schema.retrieval import IndexReport
from flowkit.tracing import start_tracing

__all__ = ["Flowkit"]

AnyAction = Action[Any, Any, Any]
Decorator = Callable[[Callable[..., Any]], AnyAction]
Fn = Callable[..., Any]
T = TypeVar("T")


class Flowkit:
    """An app: its actions, its plugins, and how its runs are traced.

    Args:
        plugins: What the app may use; each is set up when it is first needed.
        model: The model of `generate` when a call names none.
        settings: Instead of the environment's (tests, several apps in one process).
    """

    def __init__(
        self, *, plugins: Sequence[Plugin] = (), model: str | None = None, settings: Settings | None = None
    ) -> None:
        self.settings = settings or Settings.from_env()
        self.default_model = model
        self.runtime = Runtime(start_tracing(self.settings), self.settings)
        self.registry = Registry(plugins, runtime=self.runtime)

    # Decorators. A name may be left out (`@ai.flow` or `@ai.flow()`): the function's own is used.

    def flow(self, name: str | Fn | None = None, *, metadata: Mapping[str, Any] | None = None) -> Any:
        """Register a function as a flow. Its annotations are its schema, its docstring's first line its description."""
        return self._decorate(name, lambda fn, named: self._plain("flow", named, fn, metadata))

    def tool(self, name: str | Fn | None = None, *, metadata: Mapping[str, Any] | None = None) -> Any:
        """Register a function as a tool that models may call."""
        return self._decorate(name, lambda fn, named: self._plain("tool", named, fn, {"type": "tool", **(metadata or {})}))

    def model(self, name: str | Fn | None = None, *, info: ModelInfo | None = None) -> Any:
        """Register `fn(request, ctx?)` as a model: it returns text or a GenerateResponse, or yields text or chunks."""
        return self._decorate(name, lambda fn, named: define_model(self.registry, named, fn, info=info))

    def embedder(self, name: str | Fn | None = None, *, info: EmbedderInfo | None = None) -> Any:
        """Register `fn(texts: list[str])` (or documents) as an embedder: it returns one vector for each."""
        return self._decorate(name, lambda fn, named: define_embedder(self.registry, named, fn, info=info))

    def indexer(self, name: str | Fn | None = None, *, label: str | None = None) -> Any:
        """Register `fn(documents, options?)` as an indexer."""
        return self._decorate(name, lambda fn, named: define_indexer(self.registry, named, fn, label=label))

    def retriever(self, name: str | Fn | None = None, *, label: str | None = None) -> Any:
        """Register `fn(query, options?)` as a retriever: it returns documents, best first."""
        return self._decorate(name, lambda fn, named: define_retriever(self.registry, named, fn, label=label))

    def simple_retriever(
        self,
        name: str | Fn | None = None,
        *,
        content: str | Callable[[Any], str],
        metadata: Sequence[str] | Callable[[Any], Mapping[str, Any]] | None = None,
    ) -> Any:
        """Register a function that returns rows; a key or a function says what is text and what is metadata."""
        return self._decorate(
            name,
            lambda fn, named: define_simple_retriever(self.registry, named, fn, content=content, metadata=metadata),
        )

    def reranker(self, name: str | Fn | None = None, *, label: str | None = None) -> Any:
        """Register `fn(query, documents, options?)` as a reranker: it returns scores, or documents in a new order."""
        return self._decorate(name, lambda fn, named: define_reranker(self.registry, named, fn, label=label))

    def evaluator(self, name: str, *, display_name: str, definition: str, billed: bool = False) -> Decorator:
        """Register `fn(case, options?)` as an evaluator: it returns a Score."""
        return lambda fn: define_evaluator(
            self.registry, name, fn, display_name=display_name, definition=definition, billed=billed
        )

    def vector_store(
        self, store: VectorStore, *, name: str, embedder: str | None = None, mode: SearchMode = "vector"
    ) -> None:
        """Offer a store as `/indexer/<name>` and `/retriever/<name>`, without it being a plugin."""
        actions = StoreActions(store, name, embedder=embedder, mode=mode)
        kinds: tuple[Kind, ...] = ("indexer", "retriever")
        for kind in kinds:
            action = actions.action(kind, name, self.registry)
            if action is not None:
                self.registry.register(action)

    # Verbs.

    def run(self, name: str, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Coroutine[Any, Any, Any]:
        """A step: call `fn(*args, **kwargs)` under a span of that name. A sync function runs in a thread."""
        return run_step(self.runtime, name, fn, args, kwargs)

    async def generate(
        self,
        prompt: str | Sequence[Part] | None = None,
        *,
        model: str | AnyAction | None = None,
        system: str | None = None,
        messages: Sequence[Message] = (),
        docs: Sequence[Document] = (),
        config: Any = None,
        on_chunk: Callable[[GenerateResponseChunk], None] | None = None,
    ) -> GenerateResponse:
        """Ask a model.

        Args:
            prompt: The user's turn, after `messages`.
            model: By name or as an action; default the app's.
            docs: Documents to answer from; what the answer rests on is in `response.citations`.
            config: The model's settings, a dict or a pydantic model.
            on_chunk: Called with each piece as it comes.

        Raises:
            ConfigError: no model is named. NotFoundError: there is none of that name.
        """
        request = build_request(prompt, system=system, messages=messages, docs=docs, config=config)
        return await generate(self.registry, request, model=model or self.default_model, on_chunk=on_chunk)

    def generate_stream(
        self,
        prompt: str | Sequence[Part] | None = None,
        *,
        model: str | AnyAction | None = None,
        system: str | None = None,
        messages: Sequence[Message] = (),
        docs: Sequence[Document] = (),
        config: Any = None,
    ) -> ActionStream[GenerateResponseChunk, GenerateResponse]:
        """As `generate`, giving a stream: iterate over the chunks, then await its `result`."""
        request = build_request(prompt, system=system, messages=messages, docs=docs, config=config)
        named = model or self.default_model
        return ActionStream(lambda send: generate(self.registry, request, model=named, on_chunk=send))

    async def embed(
        self,
        embedder: str | AnyAction,
        content: str | Document,
        *,
        task: EmbedTask = "document",
        options: Mapping[str, Any] | None = None,
    ) -> Embedding:
        """The vector of one text; `task="query"` for questions."""
        return await embed(self.registry, embedder, content, task=task, options=options)

    async def embed_many(
        self,
        embedder: str | AnyAction,
        contents: Sequence[str | Document],
        *,
        task: EmbedTask = "document",
        options: Mapping[str, Any] | None = None,
    ) -> EmbedResponse:
        """One vector for each text, in order, in batches of what the embedder takes; an empty list makes no call."""
        return await embed_many(self.registry, embedder, contents, task=task, options=options)

    async def index(
        self, indexer: str | AnyAction, documents: Sequence[Document], *, options: Any = None
    ) -> IndexReport:
        """Put documents into an index; what is there already is not embedded again."""
        return await index(self.registry, indexer, documents, options=options)

    async def retrieve(
        self,
        retriever: str | AnyAction,
        query: str | Document,
        *,
        k: int = 3,
        min_score: float = 0.0,
        where: Filter | str | None = None,
        options: Any = None,
    ) -> list[ScoredDocument]:
        """The `k` best documents for a query, best first.

        Args:
            retriever: A full name (`devstore/menu`), an index name that is unique (`menu`), or an action.
            min_score: 0…1; only a vector search's score says something about relevance.
            where: A condition on metadata, `F("price") < 10` or as text.
            options: The retriever's own options, a dict or a pydantic model; they win over the arguments.

        Raises:
            NotFoundError: no such retriever, or the index was never built.
            UnsupportedError: the retriever cannot do `where` or `min_score`.
        """
        return await retrieve(
            self.registry, retriever, query, k=k, min_score=min_score, where=where, options=options
        )

    async def rerank(
        self,
        reranker: str | AnyAction,
        query: str | Document,
        documents: Sequence[Document],
        *,
        k: int | None = None,
        options: Any = None,
    ) -> list[ScoredDocument]:
        """Documents in the reranker's order, cut to the `k` best; each has `rerank_score`."""
        return await rerank(self.registry, reranker, query, documents, k=k, options=options)

    async def action(self, key: str) -> AnyAction:
        """An action by its key, `/flow/menuQA`."""
        return await self.registry.get(key)

    # Sync users, loops, closing.

    def run_sync(
        self,
        what: AnyAction | str | Awaitable[T],
        input: Any = MISSING,
        *,
        context: Context | RunContext | None = None,
    ) -> Any:
        """Run an action (or its key) with an input, or any awaitable of this app, and wait for the result.

        Works in scripts, notebooks, other threads and sync flows, also while an event loop runs here.

        Raises:
            StateError: called from flowkit's own loop; await there instead.
        """

        async def start() -> Any:
            if isinstance(what, str):
                return await (await self.registry.get(what)).run(input, context=context)
            if isinstance(what, Action):
                return await what.run(input, context=context)
            return await what

        return run_sync(start, user=self.runtime)

    def attach(self) -> None:
        """Say that runs from outside (UI, CLI) are to use the running event loop; call it in your app's start-up."""
        self.runtime.attach(asyncio.get_running_loop())

    async def aclose(self) -> None:
        """Close every plugin that was used: pools, sessions, files."""
        await self.registry.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    # Helpers of the decorators.

    def _decorate(self, name: str | Fn | None, register: Callable[[Fn, str], AnyAction]) -> Any:
        if name is None or isinstance(name, str):
            return lambda fn: register(fn, name or _name_of(fn))
        return register(name, _name_of(name))

    def _plain(self, kind: Kind, name: str, fn: Fn, metadata: Mapping[str, Any] | None) -> AnyAction:
        action: AnyAction = Action(kind, name, fn, metadata=metadata)
        self.registry.register(action)
        return action


def _name_of(fn: Fn) -> str:
    inner = fn.__func__ if isinstance(fn, staticmethod) else fn
    return str(getattr(inner, "__name__", type(inner).__name__))
