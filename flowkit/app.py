"""The app object: decorators that register actions, and verbs that run them.

    ai = Flowkit(plugins=[Local(), DevStore("menu", embedder="local/all-minilm-l6-v2")], model="local/extractive")

Nothing here does the work; every method hands over to `core`, `ai` or `rag`.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar, overload

from flowkit.ai.decorators import Decorators
from flowkit.ai.embed import EmbedderAction, embed, embed_many
from flowkit.ai.generate import ModelAction, Turns, generate
from flowkit.ai.index import IndexerAction, index
from flowkit.ai.rerank import RerankerAction, rerank
from flowkit.ai.retrieve import RetrieverAction, retrieve
from flowkit.ai.step import run_step
from flowkit.config import Settings
from flowkit.core.access import ContextProvider, FlowLimits, FlowPolicy
from flowkit.core.action import Action
from flowkit.core.context import Context, RunContext
from flowkit.core.loops import release_loop, run_sync
from flowkit.core.plugin import Plugin
from flowkit.core.registry import Registry
from flowkit.core.runtime import Runtime
from flowkit.core.signature import MISSING
from flowkit.core.stream import ActionStream
from flowkit.core.threads import run_in_thread, trim_threads
from flowkit.errors import ConfigError, InvalidInputError
from flowkit.rag.embedder import caches_in_use
from flowkit.rag.stores.contract import SearchMode, VectorStore
from flowkit.rag.stores.serve import STORE_KINDS, StoreActions
from flowkit.rag.verbs import IngestVerbs
from flowkit.schema.documents import Document, ScoredDocument
from flowkit.schema.embedding import Embedding, EmbedResponse, EmbedTask
from flowkit.schema.filters import Filter
from flowkit.schema.messages import Message
from flowkit.schema.model import GenerateResponse, GenerateResponseChunk
from flowkit.schema.parts import Part
from flowkit.schema.retrieval import IndexReport
from flowkit.tracing import start_tracing, stop_tracing

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["Flowkit"]

AnyAction = Action[Any, Any, Any]
P = ParamSpec("P")
T = TypeVar("T")
Run = Coroutine[Any, Any, T]


class Flowkit(Decorators, IngestVerbs):
    """An app: its actions, its plugins, and how its runs are traced.

    Args:
        plugins: What the app may use; each is set up when it is first needed.
        model: The model of `generate` when a call names none.
        settings: Instead of the environment's (tests, several apps in one process).
    """

    def __init__(
        self, *, plugins: Sequence[Plugin] = (), model: str | None = None, settings: Settings | None = None
    ) -> None:
        if not isinstance(model, str | Action | None):
            raise ConfigError(f"model is a {type(model).__name__}", hint='name it: model="local/extractive"')
        self.settings = settings or Settings.from_env()
        self.default_model = model
        self.runtime = Runtime(start_tracing(self.settings), self.settings)
        super().__init__(Registry(plugins, runtime=self.runtime))
        self._stores: dict[str, VectorStore] = {}
        if self.settings.dev:
            # The one thing that a constructor starts: so that a script needs no line for it.
            from flowkit.server.reflection.offer import offer

            offer(self)

    def vector_store(
        self, store: VectorStore, *, name: str, embedder: str | None = None, mode: SearchMode = "vector"
    ) -> None:
        """Offer a store as `/indexer/<name>` and `/retriever/<name>`, without it being a plugin."""
        actions = StoreActions(store, name, embedder=embedder, mode=mode)
        for kind in STORE_KINDS:
            self.registry.register(actions.action(kind, self.registry))
        self._stores[name] = store

    @property
    def stores(self) -> dict[str, VectorStore]:
        """Every vector store of this app, by the name of its indexer and retriever."""
        plugins = [plugin for plugin in self.registry.plugins if isinstance(plugin, VectorStore)]
        return {info.name: plugin for plugin in plugins for info in plugin.list()} | self._stores

    # Verbs. Most are plain functions that hand on a coroutine: one line less in each traceback.

    @overload
    def run(self, name: str, fn: Action[Any, T, Any], /, *args: Any, **kwargs: Any) -> Run[T]: ...
    @overload
    def run(self, name: str, fn: Callable[P, Awaitable[T] | T], /, *args: P.args, **kwargs: P.kwargs) -> Run[T]: ...
    def run(self, name: str, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Run[Any]:
        """A step: call `fn(*args, **kwargs)` under a span of that name. A sync function runs in a thread."""
        return run_step(self.runtime, name, fn, args, kwargs)

    def generate(
        self,
        prompt: str | Sequence[Part] | None = None,
        *,
        model: str | ModelAction | None = None,
        system: str | None = None,
        messages: Sequence[Message] = (),
        docs: Sequence[Document] = (),
        config: Any = None,
        on_chunk: Callable[[GenerateResponseChunk], None] | None = None,
    ) -> Run[GenerateResponse]:
        """Ask a model.

        Args:
            prompt: The user's turn, after `messages`.
            model: By name or as an action; default the app's.
            docs: Documents to answer from; what the answer rests on is in `response.citations`.
            config: The model's settings, a dict or a pydantic model.
            on_chunk: Called with each piece as it comes.

        Raises:
            ConfigError: no model is named.
            NotFoundError: there is none of that name.
            InvalidInputError: there is nothing to say, or the prompt is blank.
        """
        turns = Turns(prompt, system=system, messages=messages, docs=docs, config=config)
        return generate(self.registry, turns, model=model or self.default_model, on_chunk=on_chunk)

    def generate_stream(
        self,
        prompt: str | Sequence[Part] | None = None,
        *,
        model: str | ModelAction | None = None,
        system: str | None = None,
        messages: Sequence[Message] = (),
        docs: Sequence[Document] = (),
        config: Any = None,
    ) -> ActionStream[GenerateResponseChunk, GenerateResponse]:
        """As `generate`, giving a stream: iterate over the chunks, then await its `result`."""
        turns = Turns(prompt, system=system, messages=messages, docs=docs, config=config)
        named = model or self.default_model
        return ActionStream(lambda send: generate(self.registry, turns, model=named, on_chunk=send))

    def embed(
        self,
        embedder: str | EmbedderAction,
        content: str | Document,
        *,
        task: EmbedTask = "document",
        options: Mapping[str, Any] | None = None,
    ) -> Run[Embedding]:
        """The vector of one text; `task="query"` for questions."""
        return embed(self.registry, embedder, content, task=task, options=options)

    def embed_many(
        self,
        embedder: str | EmbedderAction,
        contents: Sequence[str | Document],
        *,
        task: EmbedTask = "document",
        options: Mapping[str, Any] | None = None,
    ) -> Run[EmbedResponse]:
        """One vector for each text, in order, in batches of what the embedder takes; an empty list makes no call.

        When a batch fails, those under way are cancelled.
        """
        return embed_many(self.registry, embedder, contents, task=task, options=options)

    def index(
        self, indexer: str | IndexerAction, documents: Sequence[Document], *, options: Any = None
    ) -> Run[IndexReport]:
        """Put documents into an index; what is there already is not embedded again.

        Batches are written as they are embedded: a run that fails keeps what it wrote, and a rerun goes on from there.
        """
        return index(self.registry, indexer, documents, options=options)

    def retrieve(
        self,
        retriever: str | RetrieverAction,
        query: str | Document,
        *,
        k: int = 3,
        min_score: float = 0.0,
        where: Filter | str | None = None,
        options: Any = None,
    ) -> Run[list[ScoredDocument]]:
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
        return retrieve(self.registry, retriever, query, k=k, min_score=min_score, where=where, options=options)

    def rerank(
        self,
        reranker: str | RerankerAction,
        query: str | Document,
        documents: Sequence[Document],
        *,
        k: int | None = None,
        options: Any = None,
    ) -> Run[list[ScoredDocument]]:
        """Documents in the reranker's order, cut to the `k` best; each has `rerank_score`."""
        return rerank(self.registry, reranker, query, documents, k=k, options=options)

    async def action(self, key: str) -> AnyAction:
        """An action by its key, `/flow/menuQA`."""
        return await self.registry.get(key)

    # Sync users, loops, closing.

    @overload
    def run_sync(
        self,
        what: Action[Any, T, Any],
        input: Any = MISSING,
        *,
        context: Context | RunContext | None = None,
        on_chunk: Callable[[Any], None] | None = None,
    ) -> T: ...
    @overload
    def run_sync(
        self,
        what: str,
        input: Any = MISSING,
        *,
        context: Context | RunContext | None = None,
        on_chunk: Callable[[Any], None] | None = None,
    ) -> Any: ...
    @overload
    def run_sync(self, what: Awaitable[T]) -> T: ...
    def run_sync(
        self,
        what: AnyAction | str | Awaitable[Any],
        input: Any = MISSING,
        *,
        context: Context | RunContext | None = None,
        on_chunk: Callable[[Any], None] | None = None,
    ) -> Any:
        """Run an action (or its key) with an input, or any awaitable of this app, and wait for the result.

        Works in scripts, notebooks, other threads and sync flows, also while an event loop runs here. `on_chunk` is
        called with each chunk, in the thread that sends it. Ctrl-C cancels the run.

        Raises:
            InvalidInputError: `what` can be neither run nor awaited.
            StateError: called from flowkit's own loop; await there instead.
        """
        if not isinstance(what, str | Action) and not inspect.isawaitable(what):
            raise InvalidInputError(
                f"run_sync cannot run a {type(what).__name__}", hint="give it an action, its key or an awaitable"
            )

        async def start() -> Any:
            if isinstance(what, str):
                return await (await self.registry.get(what)).run(input, context=context, on_chunk=on_chunk)
            if isinstance(what, Action):
                return await what.run(input, context=context, on_chunk=on_chunk)
            return await what

        try:
            return run_sync(start, user=self.runtime)
        finally:
            if inspect.iscoroutine(what) and inspect.getcoroutinestate(what) == inspect.CORO_CREATED:
                what.close()  # refused: nobody else would close it

    def attach(self) -> None:
        """Say that runs from outside (UI, CLI) are to use the running event loop; call it in your app's start-up."""
        self.runtime.attach(asyncio.get_running_loop())

    def run_main(self, main: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine as the program, then close the app.

        In dev the loop stays after it for the UI and the CLI, and their runs use it, until Ctrl-C or SIGTERM.

        Raises:
            StateError: an event loop runs here; await the coroutine instead.
            Exception: whatever the coroutine raises.
        """
        from flowkit.server.reflection.main import run_main

        return run_main(self, main)

    def asgi(
        self,
        flows: Sequence[str | AnyAction] | None = None,
        *,
        context_providers: Sequence[ContextProvider] = (),
        policies: Mapping[str, FlowPolicy] | None = None,
        path_prefix: str = "",
        limits: FlowLimits | None = None,
        openapi: bool = True,
    ) -> "ASGIApp":
        """The flows as an ASGI app that speaks Genkit's flow protocol: serve it with uvicorn, or mount it in yours.

        `POST /<path_prefix>/<flow>` with `{"data": input}` answers `{"result": …}`, or streams with the header
        `Accept: text/event-stream`. `/__health`, `/__ready` and `/openapi.json` are there too; no developer API is.

        Args:
            flows: Names, or the flows; default: every flow.
            context_providers: Make the context of a run from its request; `api_key("sk-…")` is one.
            policies: By flow name: who may call it.
            limits: Of size and time; see `FlowLimits`.
            openapi: Whether the flows are described to everybody.

        Raises:
            NotFoundError: `flows` or `policies` names a flow that does not exist.
        """
        from flowkit.server.flows.app import FlowApp

        return FlowApp(
            self,
            flows,
            context_providers=context_providers,
            policies=policies,
            path_prefix=path_prefix,
            limits=limits,
            openapi=openapi,
        )

    async def aclose(self) -> None:
        """Close every plugin and store that was used: pools, sessions, files, idle threads. Traces are on disk then.

        All are closed, even when one fails; its error is raised afterwards. The app can be used again.
        """
        try:
            await self.registry.aclose([*self._stores.values(), *caches_in_use(self.runtime)])
        finally:
            if self.settings.dev:
                from flowkit.server.reflection.offer import withdraw

                await withdraw(self)
            # After that the sink is the recorder again, and no longer one that feeds tools, too.
            if self.runtime.tracing.sink is not None:
                await run_in_thread(stop_tracing, (self.runtime.tracing,))
            release_loop(self.runtime)
            trim_threads()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
