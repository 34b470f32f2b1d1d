"""Rerank: put documents into a better order. The decorator's machinery, and the verb.

best = await ai.rerank("keyword-overlap", "vegan soup", hits, k=3)
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from flowkit.ai.define import UserFunction
from flowkit.ai.retrieve import as_query, merged_options
from flowkit.core.action import Action
from flowkit.core.context import RunContext
from flowkit.core.registry import Registry
from flowkit.errors import InvalidInputError, InvalidOutputError
from flowkit.schema.documents import Document, ScoredDocument
from flowkit.schema.retrieval import RerankerRequest, RerankerResponse

__all__ = ["RerankerAction", "make_reranker", "rerank"]

RerankerAction = Action[RerankerRequest, RerankerResponse, Any]


def make_reranker(name: str, fn: Callable[..., Any], *, label: str | None = None) -> RerankerAction:
    """A reranker of `fn(query, documents, options?, ctx?)` (or `fn(request)`), not registered yet.

    It returns documents with `rerank_score` in their new order, or one score for each document given; those are sorted
    here, best first, equal scores in the order given.
    """
    call = UserFunction(fn, f"reranker {name!r}", request=RerankerRequest, lead=2, soft=("k",))

    async def reranker(request: RerankerRequest, ctx: RunContext) -> RerankerResponse:
        result = await call.start(request, (request.query, list(request.documents)), request.options, ctx)
        return RerankerResponse.model_construct(documents=tuple(_ranked(result, request.documents, name)))

    metadata = {
        "type": "reranker",
        "info": {"label": label or name},
        "reranker": {"customOptions": call.options_schema or {}},
    }
    return Action(
        "reranker",
        name,
        reranker,
        description=call.description or "",
        metadata=metadata,
        plain=call.fn,
        verb=f"ai.rerank({name!r}, query, documents)",
    )


async def rerank(
    registry: Registry,
    reranker: str | RerankerAction,
    query: str | Document,
    documents: Sequence[Document],
    *,
    k: int | None,
    options: Any,
) -> list[ScoredDocument]:
    """Run a reranker; see `Flowkit.rerank`."""
    if k is not None and k < 1:
        raise InvalidInputError(f"k is {k}", hint="ask for 1 or more documents, or leave k out")
    asked = as_query(query)
    action = reranker if isinstance(reranker, Action) else await registry.find("reranker", reranker)
    if not documents:
        return []
    scored = tuple(doc if isinstance(doc, ScoredDocument) else ScoredDocument.of(doc, 0.0) for doc in documents)
    merged = merged_options(action, {"k": k}, options, soft=("k",))
    response = await action(RerankerRequest.model_construct(query=asked, documents=scored, options=merged or None))
    return list(response.documents[:k])


def _ranked(result: Any, documents: Sequence[ScoredDocument], name: str) -> list[ScoredDocument]:
    if isinstance(result, RerankerResponse):
        return [_with_score(doc, name) for doc in result.documents]
    items = _items(result, name)
    if not items or not all(isinstance(item, int | float) and not isinstance(item, bool) for item in items):
        return [_with_score(doc, name) for doc in items]
    if len(items) != len(documents):
        raise InvalidOutputError(f"reranker {name!r} gave {len(items)} scores for {len(documents)} documents")
    order = sorted(range(len(items)), key=lambda at: -items[at])
    return [_with_score(documents[at].model_copy(update={"rerank_score": float(items[at])}), name) for at in order]


def _items(result: Any, name: str) -> list[Any]:
    """What was returned as a list; numpy's numbers become Python's."""
    if hasattr(result, "tolist"):
        result = result.tolist()
    try:
        return [item.item() if hasattr(item, "item") else item for item in result or ()]
    except TypeError:
        raise InvalidOutputError(
            f"reranker {name!r} returned {type(result).__name__}", hint="return scores, one for each document"
        ) from None


def _with_score(document: ScoredDocument, name: str) -> ScoredDocument:
    """Genkit requires `metadata.score` of a reranked document."""
    score = getattr(document, "rerank_score", None)
    if score is None or not math.isfinite(score):
        raise InvalidOutputError(
            f"reranker {name!r} returned " + ("no rerank_score" if score is None else f"the score {score}"),
            hint="return finite scores, one for each document, or documents with rerank_score",
        )
    return document.with_metadata(score=score)
