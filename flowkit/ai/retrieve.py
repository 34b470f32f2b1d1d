"""Retrieve: query → scored documents. The decorator's machinery, and the verb.

hits = await ai.retrieve("menu", "vegan soup", k=3, where=F("price") < 10)
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flowkit.ai.define import UserFunction, wants
from flowkit.core.action import Action
from flowkit.core.context import RunContext
from flowkit.core.registry import Registry
from flowkit.core.values import to_plain
from flowkit.errors import InvalidInputError, InvalidOutputError, UnsupportedError
from flowkit.schema.documents import Document, ScoredDocument
from flowkit.schema.filters import Filter
from flowkit.schema.retrieval import RetrieverRequest, RetrieverResponse
from flowkit.schema.text import is_blank

__all__ = ["RetrieverAction", "as_query", "make_retriever", "make_simple_retriever", "merged_options", "retrieve"]

Row = Any
RetrieverAction = Action[RetrieverRequest, RetrieverResponse, Any]


def make_retriever(name: str, fn: Callable[..., Any], *, label: str | None = None) -> RetrieverAction:
    """A retriever of `fn(query, options?, ctx?) -> documents` (or `fn(request)`), not registered yet.

    It may return documents with or without score, or a `RetrieverResponse`.
    """
    call = UserFunction(fn, f"retriever {name!r}", request=RetrieverRequest, lead=1, soft=("k",))

    async def retriever(request: RetrieverRequest, ctx: RunContext) -> RetrieverResponse:
        return _as_response(await call.start(request, (request.query,), request.options, ctx), name)

    return _action(name, retriever, call, label)


def make_simple_retriever(
    name: str,
    fn: Callable[..., Any],
    *,
    content: str | Callable[[Row], str],
    metadata: Sequence[str] | Callable[[Row], Mapping[str, Any]] | None,
) -> RetrieverAction:
    """A retriever of a function that returns rows, dicts or objects; keys or functions say what is text and metadata.

    `metadata=None` keeps every key but the content's. Rows without text are left out.
    """
    call = UserFunction(fn, f"retriever {name!r}", request=RetrieverRequest, lead=1, soft=("k",))

    def document(row: Row, text: str) -> Document:
        if callable(metadata):
            kept = metadata(row)
        elif metadata is not None:
            kept = {key: _field(row, key, name) for key in metadata}
        else:
            kept = {key: value for key, value in _fields(row, name).items() if key != content}
        return Document.from_text(text, kept)

    async def retriever(request: RetrieverRequest, ctx: RunContext) -> RetrieverResponse:
        rows = await call.start(request, (request.query,), request.options, ctx)
        texts = [str(content(row) if callable(content) else _field(row, content, name)) for row in rows]
        documents = [document(row, text) for row, text in zip(rows, texts, strict=True) if not is_blank(text)]
        return _as_response(documents, name)

    return _action(name, retriever, call, None)


def _action(name: str, fn: Callable[..., Any], call: UserFunction, label: str | None) -> RetrieverAction:
    metadata = {
        "type": "retriever",
        "info": {"label": label or name},
        "retriever": {"customOptions": call.options_schema or {}},
    }
    return Action(
        "retriever",
        name,
        fn,
        description=call.description or "",
        metadata=metadata,
        plain=call.fn,
        verb=f"ai.retrieve({name!r}, query)",
    )


async def retrieve(
    registry: Registry,
    retriever: str | RetrieverAction,
    query: str | Document,
    *,
    k: int,
    min_score: float,
    where: Filter | str | None,
    options: Any,
) -> list[ScoredDocument]:
    """Run a retriever; see `Flowkit.retrieve`."""
    if k < 1:
        raise InvalidInputError(f"k is {k}", hint="ask for 1 or more documents")
    if not 0 <= min_score <= 1:
        raise InvalidInputError(f"min_score is {min_score}", hint="scores lie in 0…1")
    action = retriever if isinstance(retriever, Action) else await registry.find("retriever", retriever)
    given = {
        "k": k,
        "min_score": min_score or None,
        "where": where.to_wire() if isinstance(where, Filter) else where,
    }
    merged = merged_options(action, given, options, soft=("k",))
    response = await action(RetrieverRequest(query=as_query(query), options=merged or None))
    most = merged.get("k", k)
    return list(response.documents[: most if isinstance(most, int) else None])


def merged_options(
    action: Action[Any, Any, Any], given: Mapping[str, Any], options: Any, *, soft: Sequence[str] = ()
) -> dict[str, Any]:
    """A verb's own arguments, as far as the action has such options, and over them the caller's options.

    What the action lacks is refused, never dropped; except `soft` ones, which the verb sees to itself.

    Raises:
        UnsupportedError: an argument was given for which the action has no option.
        InvalidInputError: the options are no object.
    """
    schema = action.metadata.get(action.kind, {}).get("customOptions")
    known = (schema or {}).get("properties", {})
    own = {} if options is None else to_plain(options)
    if not isinstance(own, dict):
        raise InvalidInputError(f"options are a {type(options).__name__}", hint="pass a dict or a pydantic model")
    found: dict[str, Any] = {}
    for name, value in given.items():
        wire = "".join(part.title() if at else part for at, part in enumerate(name.split("_")))
        key = wire if wire in known else name
        if value is None or name in own or wire in own or (name in soft and not wants(schema, key)):
            continue
        if not wants(schema, key):
            listed = ", ".join(known) or "none"
            raise UnsupportedError(
                f"{action.kind} {action.name!r} has no option {name!r}", hint=f"its options: {listed}"
            )
        found[key] = value
    return found | own


def as_query(query: str | Document) -> Document:
    """A query as a document.

    Raises:
        InvalidInputError: it is blank, or neither text nor a document.
    """
    if isinstance(query, Document):
        return query
    if not isinstance(query, str):
        raise InvalidInputError(f"a query is text or a Document, not {type(query).__name__}")
    if is_blank(query):
        raise InvalidInputError("the query is blank", hint="ask something")
    return Document.from_text(query)


def _as_response(result: Any, name: str) -> RetrieverResponse:
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


def _fields(row: Row, name: str) -> Mapping[str, Any]:
    if hasattr(row, "keys"):  # mappings, and the rows of database drivers
        return {key: row[key] for key in row.keys()}  # noqa: SIM118  rows iterate over their values
    if not hasattr(row, "__dict__"):
        raise InvalidOutputError(f"retriever {name!r}: a row is a {type(row).__name__}", hint="say metadata=[…]")
    return vars(row)


def _field(row: Row, key: str, name: str) -> Any:
    try:
        return row[key] if hasattr(row, "keys") else getattr(row, key)
    except (LookupError, AttributeError):
        raise InvalidOutputError(
            f"retriever {name!r}: a row has no {key!r}", hint="check content= and metadata="
        ) from None
