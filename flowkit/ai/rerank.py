"""Rerank: put documents into a better order. The decorator's machinery, and the verb.

    best = await ai.rerank("keyword-overlap", "vegan soup", hits, k=3)
"""

from collections.abc import Callable, Sequence
from typing import Any

from flowkit.ai.define import UserFunction
from flowkit.ai.retrieve import as_query
from flowkit.core.action import Action
from flowkit.core.context import RunContext
from flowkit.core.registry import Registry
from flowkit.core.values import to_plain
from flowkit.errors import InvalidInputError, InvalidOutputError
from flowkit.schema.documents import Document, ScoredDocument
from flowkit.schema.retrieval import RerankerRequest, RerankerResponse

__all__ = ["define_reranker", "rerank"]

AnyAction = Action[Any, Any, Any]


def define_reranker(registry: Registry, name: str, fn: Callable[..., Any], *, label: str | None = None) -> AnyAction:
    """Register `fn(query, documents, options?, ctx?)` (or `fn(request)`) as a reranker.

    It returns documents with `rerank_score` in their new order, or one score for each document given; those are sorted
    here, best first, equal scores in the order given.
    """
    call = UserFunction(fn, f"reranker {name!r}", request=RerankerRequest, lead=2)

    async def reranker(request: RerankerRequest, ctx: RunContext) -> RerankerResponse:
        parts = (request.query, list(request.documents))
        ranked = _ranked(await call(request, parts, request.options, ctx), request.documents, name)
        return RerankerResponse.model_construct(documents=tuple(ranked))

    metadata = {
        "type": "reranker",
        "info": {"label": label or name},
        "reranker": {"customOptions": call.options_schema or {}},
    }
    action: AnyAction = Action("reranker", name, reranker, description=call.description or "", metadata=metadata)
    registry.register(action)
    return action


async def rerank(
    registry: Registry,
    reranker: str | AnyAction,
    query: str | Document,
    documents: Sequence[Document],
    *,
    k: int | None,
    options: Any,
) -> list[ScoredDocument]:
    """Run a reranker; see `Flowkit.rerank`."""
    if k is not None and k < 1:
        raise InvalidInputError(f"k is {k}", hint="ask for 1 or more documents, or leave k out")
    if not documents:
        return []
    action = reranker if isinstance(reranker, Action) else await registry.find("reranker", reranker)
    scored = tuple(doc if isinstance(doc, ScoredDocument) else ScoredDocument.of(doc, 0.0) for doc in documents)
    request = RerankerRequest.model_construct(
        query=as_query(query), documents=scored, options=None if options is None else to_plain(options)
    )
    response: RerankerResponse = await action(request)
    return list(response.documents[:k])


def _ranked(result: Any, documents: Sequence[ScoredDocument], name: str) -> list[ScoredDocument]:
    if isinstance(result, RerankerResponse):
        return [_with_score(doc, name) for doc in result.documents]
    items = result.tolist() if hasattr(result, "tolist") else list(result or ())
    if items and all(isinstance(item, int | float) and not isinstance(item, bool) for item in items):
        if len(items) != len(documents):
            raise InvalidOutputError(f"reranker {name!r} gave {len(items)} scores for {len(documents)} documents")
        order = sorted(range(len(items)), key=lambda at: -items[at])
        return [
            _with_score(documents[at].model_copy(update={"rerank_score": float(items[at])}), name) for at in order
        ]
    return [_with_score(doc, name) for doc in items]


def _with_score(document: ScoredDocument, name: str) -> ScoredDocument:
    """Genkit requires `metadata.score` of a reranked document."""
    score = getattr(document, "rerank_score", None)
    if score is None:
        raise InvalidOutputError(
            f"reranker {name!r} returned a document without rerank_score",
            hint="return scores, one for each document, or documents with rerank_score",
        )
    return document.with_metadata(score=score)
