"""The decorators that register actions. A name may be left out: the function's own is used.

@ai.flow                     # or @ai.flow(), or @ai.flow("menuQA")
async def menu_qa(question: str) -> str: ...
"""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar, cast, overload

from flowkit.ai.embed import EmbedderAction, make_embedder
from flowkit.ai.evaluate import EvaluatorAction, make_evaluator
from flowkit.ai.generate import ModelAction, make_model
from flowkit.ai.index import IndexerAction, make_indexer
from flowkit.ai.rerank import RerankerAction, make_reranker
from flowkit.ai.retrieve import RetrieverAction, make_retriever, make_simple_retriever
from flowkit.core.action import Action
from flowkit.core.functions import plain_function
from flowkit.core.registry import Registry
from flowkit.schema.embedding import EmbedderInfo
from flowkit.schema.model import ModelInfo

__all__ = ["Decorators", "PlainDecorator"]

Fn = Callable[..., Any]
R = TypeVar("R")
Chunk = TypeVar("Chunk")
AnyAction = TypeVar("AnyAction", bound=Action[Any, Any, Any])


# The overload for text generators is a special case of the one after it, and is meant to be.


class _Plain(Protocol):
    """Function → action that gives what the function gives: awaited, and of a generator all it yields."""

    @overload
    def __call__(self, fn: Callable[..., AsyncIterator[str]], /) -> Action[Any, str, str]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, fn: Callable[..., AsyncIterator[Chunk]], /) -> Action[Any, list[Chunk], Chunk]: ...
    @overload
    def __call__(self, fn: Callable[..., Coroutine[Any, Any, R]], /) -> Action[Any, R, Any]: ...
    @overload
    def __call__(self, fn: Callable[..., Iterator[str]], /) -> Action[Any, str, str]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, fn: Callable[..., Iterator[Chunk]], /) -> Action[Any, list[Chunk], Chunk]: ...
    @overload
    def __call__(self, fn: Callable[..., R], /) -> Action[Any, R, Any]: ...


class PlainDecorator(_Plain, Protocol):
    """`@ai.flow` and `@ai.tool`, with or without a name."""

    @overload
    def __call__(self, name: str | None = None, /, *, metadata: Mapping[str, Any] | None = None) -> _Plain: ...
    @overload
    def __call__(self, fn: Callable[..., AsyncIterator[str]], /) -> Action[Any, str, str]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, fn: Callable[..., AsyncIterator[Chunk]], /) -> Action[Any, list[Chunk], Chunk]: ...
    @overload
    def __call__(self, fn: Callable[..., Coroutine[Any, Any, R]], /) -> Action[Any, R, Any]: ...
    @overload
    def __call__(self, fn: Callable[..., Iterator[str]], /) -> Action[Any, str, str]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, fn: Callable[..., Iterator[Chunk]], /) -> Action[Any, list[Chunk], Chunk]: ...
    @overload
    def __call__(self, fn: Callable[..., R], /) -> Action[Any, R, Any]: ...


class Decorators:
    """What an app object offers to write actions with. Each returns the action, in the function's place."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry

    @property
    def flow(self) -> PlainDecorator:
        """Register a function as a flow. Its annotations are its schema, its docstring's first line its description."""
        return self._plain("flow", {})

    @property
    def tool(self) -> PlainDecorator:
        """Register a function as a tool that models may call."""
        return self._plain("tool", {"type": "tool"})

    @overload
    def model(self, name: Fn, /) -> ModelAction: ...
    @overload
    def model(
        self,
        name: str | None = None,
        /,
        *,
        info: ModelInfo | None = None,
        config_schema: Mapping[str, Any] | None = None,
    ) -> Callable[[Fn], ModelAction]: ...
    def model(
        self,
        name: str | Fn | None = None,
        /,
        *,
        info: ModelInfo | None = None,
        config_schema: Mapping[str, Any] | None = None,
    ) -> ModelAction | Callable[[Fn], ModelAction]:
        """Register `fn(request, ctx?)` as a model: it returns text or a GenerateResponse, or yields text or chunks."""
        return self._add(name, lambda named, fn: make_model(named, fn, info=info, config_schema=config_schema))

    @overload
    def embedder(self, name: Fn, /) -> EmbedderAction: ...
    @overload
    def embedder(
        self, name: str | None = None, /, *, info: EmbedderInfo | None = None
    ) -> Callable[[Fn], EmbedderAction]: ...
    def embedder(
        self, name: str | Fn | None = None, /, *, info: EmbedderInfo | None = None
    ) -> EmbedderAction | Callable[[Fn], EmbedderAction]:
        """Register `fn(texts: list[str])` (or documents) as an embedder: it returns one vector for each."""
        return self._add(name, lambda named, fn: make_embedder(named, fn, info=info))

    @overload
    def indexer(self, name: Fn, /) -> IndexerAction: ...
    @overload
    def indexer(self, name: str | None = None, /, *, label: str | None = None) -> Callable[[Fn], IndexerAction]: ...
    def indexer(
        self, name: str | Fn | None = None, /, *, label: str | None = None
    ) -> IndexerAction | Callable[[Fn], IndexerAction]:
        """Register `fn(documents, options?)` as an indexer."""
        return self._add(name, lambda named, fn: make_indexer(named, fn, label=label))

    @overload
    def retriever(self, name: Fn, /) -> RetrieverAction: ...
    @overload
    def retriever(self, name: str | None = None, /, *, label: str | None = None) -> Callable[[Fn], RetrieverAction]: ...
    def retriever(
        self, name: str | Fn | None = None, /, *, label: str | None = None
    ) -> RetrieverAction | Callable[[Fn], RetrieverAction]:
        """Register `fn(query, options?)` as a retriever: it returns documents, best first."""
        return self._add(name, lambda named, fn: make_retriever(named, fn, label=label))

    def simple_retriever(
        self,
        name: str | None = None,
        /,
        *,
        content: str | Callable[[Any], str],
        metadata: Sequence[str] | Callable[[Any], Mapping[str, Any]] | None = None,
    ) -> Callable[[Fn], RetrieverAction]:
        """Register a function that returns rows; a key or a function says what is text and what is metadata."""

        def register(fn: Fn) -> RetrieverAction:
            action = make_simple_retriever(name or _name_of(fn), fn, content=content, metadata=metadata)
            self.registry.register(action)
            return action

        return register

    @overload
    def reranker(self, name: Fn, /) -> RerankerAction: ...
    @overload
    def reranker(self, name: str | None = None, /, *, label: str | None = None) -> Callable[[Fn], RerankerAction]: ...
    def reranker(
        self, name: str | Fn | None = None, /, *, label: str | None = None
    ) -> RerankerAction | Callable[[Fn], RerankerAction]:
        """Register `fn(query, documents, options?)` as a reranker: it returns one score for each document."""
        return self._add(name, lambda named, fn: make_reranker(named, fn, label=label))

    def evaluator(
        self, name: str | None = None, /, *, display_name: str, definition: str, billed: bool = False
    ) -> Callable[[Fn], EvaluatorAction]:
        """Register `fn(case, options?)` as an evaluator: it returns a Score, a number or a bool."""

        def register(fn: Fn) -> EvaluatorAction:
            named = name or _name_of(fn)
            action = make_evaluator(named, fn, display_name=display_name, definition=definition, billed=billed)
            self.registry.register(action)
            return action

        return register

    def _plain(self, kind: Literal["flow", "tool"], known: Mapping[str, Any]) -> PlainDecorator:
        def decorate(name: str | Fn | None = None, /, *, metadata: Mapping[str, Any] | None = None) -> Any:
            return self._add(name, lambda named, fn: Action(kind, named, fn, metadata={**known, **(metadata or {})}))

        return cast(PlainDecorator, decorate)

    def _add(
        self, name: str | Fn | None, make: Callable[[str, Fn], AnyAction]
    ) -> AnyAction | Callable[[Fn], AnyAction]:
        def register(fn: Fn) -> AnyAction:
            action = make(name if isinstance(name, str) else _name_of(fn), fn)
            self.registry.register(action)
            return action

        return register if name is None or isinstance(name, str) else register(name)


def _name_of(fn: Fn) -> str:
    """A function's own name; of a callable object, that of its class."""
    if isinstance(fn, Action):
        return fn.name
    inner = plain_function(fn)
    known = str(getattr(inner, "__name__", ""))
    return type(fn).__name__ if known in ("", "__call__") else known
