"""Index: put documents into a vector store through its indexer. The decorator's machinery, and the verb.

    report = await ai.index("menu", chunks)
"""

from collections.abc import Callable, Sequence
from typing import Any

from flowkit.ai.define import UserFunction
from flowkit.core.action import Action
from flowkit.core.context import RunContext
from flowkit.core.registry import Registry
from flowkit.core.values import to_plain
from flowkit.errors import InvalidInputError, InvalidOutputError
from flowkit.schema.documents import Document
from flowkit.schema.retrieval import IndexerRequest, IndexReport

__all__ = ["define_indexer", "index"]

AnyAction = Action[Any, Any, Any]


def define_indexer(registry: Registry, name: str, fn: Callable[..., Any], *, label: str | None = None) -> AnyAction:
    """Register `fn(documents, options?, ctx?) -> None | int | IndexReport` (or `fn(request)`) as an indexer."""
    call = UserFunction(fn, f"indexer {name!r}", request=IndexerRequest, lead=1)

    async def indexer(request: IndexerRequest, ctx: RunContext) -> IndexReport:
        result = await call(request, (list(request.documents),), request.options, ctx)
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
    action: AnyAction = Action("indexer", name, indexer, description=call.description or "", metadata=metadata)
    registry.register(action)
    return action


async def index(
    registry: Registry, indexer: str | AnyAction, documents: Sequence[Document], *, options: Any
) -> IndexReport:
    """Run an indexer; see `Flowkit.index`."""
    if isinstance(documents, Document | str):
        raise InvalidInputError("index takes a list of documents", hint="write [document]")
    wrong = next((at for at, doc in enumerate(documents) if not isinstance(doc, Document)), None)
    if wrong is not None:
        raise InvalidInputError(
            f"item {wrong} is a {type(documents[wrong]).__name__}, not a Document",
            hint="use Document.from_text(text, metadata)",
        )
    action = indexer if isinstance(indexer, Action) else await registry.find("indexer", indexer)
    request = IndexerRequest(documents=tuple(documents), options=None if options is None else to_plain(options))
    report: IndexReport = await action(request)
    return report
