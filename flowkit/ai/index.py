"""Index: put documents into a vector store through its indexer. The decorator's machinery, and the verb.

report = await ai.index("menu", chunks)
"""

from collections.abc import Callable, Sequence
from typing import Any

from flowkit.ai.define import UserFunction
from flowkit.ai.retrieve import merged_options
from flowkit.core.action import Action
from flowkit.core.context import RunContext
from flowkit.core.registry import Registry
from flowkit.errors import InvalidInputError, InvalidOutputError
from flowkit.schema.documents import Document
from flowkit.schema.retrieval import IndexerRequest, IndexReport

__all__ = ["IndexerAction", "index", "make_indexer"]

IndexerAction = Action[IndexerRequest, IndexReport, Any]


def make_indexer(name: str, fn: Callable[..., Any], *, label: str | None = None) -> IndexerAction:
    """An indexer of `fn(documents, options?, ctx?) -> None | int | IndexReport`, or `fn(request)`; not registered."""
    call = UserFunction(fn, f"indexer {name!r}", request=IndexerRequest, lead=1)

    async def indexer(request: IndexerRequest, ctx: RunContext) -> IndexReport:
        result = await call.start(request, (list(request.documents),), request.options, ctx)
        if isinstance(result, IndexReport):
            return result
        if result is None or (isinstance(result, int) and not isinstance(result, bool)):
            return IndexReport(written=len(request.documents) if result is None else result)
        raise InvalidOutputError(
            f"indexer {name!r} returned {type(result).__name__}", hint="return nothing, a count, or an IndexReport"
        )

    metadata = {
        "type": "indexer",
        "info": {"label": label or name},
        "indexer": {"customOptions": call.options_schema or {}},
    }
    return Action(
        "indexer",
        name,
        indexer,
        description=call.description or "",
        metadata=metadata,
        plain=call.fn,
        verb=f"ai.index({name!r}, documents)",
    )


async def index(
    registry: Registry, indexer: str | IndexerAction, documents: Sequence[Document], *, options: Any
) -> IndexReport:
    """Run an indexer; see `Flowkit.index`."""
    if isinstance(documents, Document | str):
        raise InvalidInputError("index takes a list of documents", hint="write [document]")
    documents = list(documents)
    wrong = next((at for at, doc in enumerate(documents) if not isinstance(doc, Document)), None)
    if wrong is not None:
        raise InvalidInputError(
            f"item {wrong} is a {type(documents[wrong]).__name__}, not a Document",
            hint="use Document.from_text(text, metadata)",
        )
    action = indexer if isinstance(indexer, Action) else await registry.find("indexer", indexer)
    merged = merged_options(action, {}, options)
    return await action(IndexerRequest(documents=tuple(documents), options=merged or None))
