"""Retrieve: query → scored documents. The decorator's machinery, and the verb.

    hits = await ai.retrieve("menu", "vegan soup", k=3, where=F("price") < 10)
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flowkit.ai.define import UserFunction
from flowkit.core.action import Action
from flowkit.core.context import RunContext
from flowkit.core.registry import Registry
from flowkit.core.values import to_plain
from flowkit.errors import InvalidInputError, InvalidOutputError, UnsupportedError
from flowkit.schema.documents import Document, ScoredDocument
from flowkit.schema.filters import Filter
from flowkit.schema.retrieval import RetrieverRequest, RetrieverResponse

__all__ = ["as_query", "define_retriever", "define_simple_retriever", "retrieve"]

Row = Any
AnyAction = Action[Any, Any, Any]


def define_retriever(registry: Registry, name: str, fn: Callable[..., Any], *, label: str | None = None) -> AnyAction:
    """Register `fn(query, options?, ctx?) -> documents` (or `fn(request)`) as a retriever.

    It may return documents with or without score, or a `RetrieverResponse`.
    """
    call = UserFunction(fn, f"retriever {name!r}", request=RetrieverRequest, lead=1)

    async def retriever(request: RetrieverRequest, ctx: RunContext) -> RetrieverResponse:
        return as_response(await call(request, (request.query,), request.options, ctx), name)

    metadata = {
        "type": "retriever",
        "info": {"label": label or name},
        "retriever": {"customOptions": call.options_schema or {}},
    }
    action: AnyAction = Action("retriever", name, retriever, description=call.description or "", metadata=metadata)
    registry.register(action)
    return action


def define_simple_retriever(
    registry: Registry,
    name: str,
    fn: Callable[..., Any],
    *,
    content: str | Callable[[Row], str],
    metadata: Sequence[str] | Callable[[Row], Mapping[str, Any]] | None,
) -> AnyAction:
    """Register a function that returns rows (dicts or objects); key or function say what is text and what metadata.

    `metadata=None` keeps every key but the content's.
    """
    call = UserFunction(fn, f"retriever {name!r}", request=RetrieverRequest, lead=1)

    def document(row: Row) -> Document:
        text = content(row) if callable(content) else _field(row, content, name)
        if callable(metadata):
            kept = metadata(row)
        elif metadata is not None:
            kept = {key: _field(row, key, name) for key in metadata}
        else:
            fields = row if isinstance(row, Mapping) else vars(row)
            kept = {key: value for key, value in fields.items() if key != content}
        return Document.from_text(str(text), kept)

    async def retriever(request: RetrieverRequest, ctx: RunContext) -> RetrieverResponse:
        rows = await call(request, (request.query,), request.options, ctx)
        return as_response([document(row) for row in rows], name)

    info = {"type": "retriever", "info": {"label": name}, "retriever": {"customOptions": call.options_schema or {}}}
    action: AnyAction = Action("retriever", name, retriever, description=call.description or "", metadata=info)
    registry.register(action)
    return action


async def retrieve(
    registry: Registry,
    retriever: str | AnyAction,
    query: str | Document,
    *,
    k: int,
    min_score: float,
    where: Filter | str | None,
    options: Any,
) -> list[ScoredDocument]:
    """Run a retriever; see `Flowkit.retrieve`."""
    action = retriever if isinstance(retriever, Action) else await registry.find("retriever", retriever)
    schema = action.metadata.get("retriever", {}).get("customOptions") or {}
    merged = common_options(schema, action.name, k=k, min_score=min_score, where=where)
    merged.update(to_plain(options) if options is not None else {})
    response: RetrieverResponse = await action(RetrieverRequest(query=as_query(query), options=merged or None))
    return list(response.documents)


def common_options(
    schema: Mapping[str, Any], name: str, *, k: int, min_score: float, where: Filter | str | None
) -> dict[str, Any]:
    """The verb's own options, as far as the retriever has them. A condition it lacks is refused, never dropped.

    Raises:
        UnsupportedError: the retriever has no `where` or no `min_score`, and one was given.
    """
    known = schema.get("properties", {})
    free = bool(schema) and ("properties" not in schema or bool(schema.get("additionalProperties")))
    condition = where.to_wire() if isinstance(where, Filter) else where
    found: dict[str, Any] = {"k": k} if free or "k" in known else {}
    for python_name, wire_name, value in (("min_score", "minScore", min_score or None), ("where", "where", condition)):
        if value is None:
            continue
        if not free and python_name not in known and wire_name not in known:
            options = ", ".join(known) or "none"
            raise UnsupportedError(f"retriever {name!r} has no option {python_name!r}", hint=f"its options: {options}")
        found[python_name if python_name in known else wire_name] = value
    return found


def as_query(query: str | Document) -> Document:
    """A query as a document.

    Raises:
        InvalidInputError: it is blank, or neither text nor a document.
    """
    if isinstance(query, Document):
        return query
    if not isinstance(query, str):
        raise InvalidInputError(f"a query is text or a Document, not {type(query).__name__}")
    if not query.strip():
        raise InvalidInputError("the query is blank", hint="ask something")
    return Document.from_text(query)


def as_response(result: Any, name: str) -> RetrieverResponse:
    """What a retriever returned, as a response."""
    if isinstance(result, RetrieverResponse):
        return result
    try:
        documents = [doc if isinstance(doc, ScoredDocument) else ScoredDocument.of(doc, 0.0) for doc in result or ()]
    except (TypeError, AttributeError):
        raise InvalidOutputError(
            f"retriever {name!r} returned {type(result).__name__}", hint="return a list of documents"
        ) from None
    return RetrieverResponse.model_construct(documents=tuple(documents))


def _field(row: Row, key: str, name: str) -> Any:
    try:
        return row[key] if isinstance(row, Mapping) else getattr(row, key)
    except (KeyError, AttributeError):
        raise InvalidOutputError(f"retriever {name!r}: a row has no {key!r}", hint="check content= and metadata=") from None
