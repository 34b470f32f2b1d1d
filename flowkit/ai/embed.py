"""Embed: text → vectors. The decorator's machinery, and the verbs.

embedding = await ai.embed("local/all-minilm-l6-v2", "vegan soup", task="query")
many = await ai.embed_many("local/all-minilm-l6-v2", texts)
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flowkit.ai.define import UserFunction
from flowkit.core.action import Action
from flowkit.core.context import RunContext
from flowkit.core.registry import Registry
from flowkit.core.spans import ATTRIBUTES, annotate
from flowkit.core.types import problems, summary
from flowkit.errors import ConfigError, InvalidInputError, InvalidOutputError, UnsupportedError
from flowkit.schema.documents import Document
from flowkit.schema.embedding import EmbedderInfo, Embedding, EmbedRequest, EmbedResponse, EmbedTask
from flowkit.schema.model import Usage
from flowkit.schema.parts import content_kind
from flowkit.schema.text import is_blank

__all__ = ["BATCH", "EmbedderAction", "embed", "embed_many", "embedder_info", "make_embedder", "merge"]

EmbedderAction = Action[EmbedRequest, EmbedResponse, Any]

BATCH = 100  # texts in one call when the embedder declares nothing; the smallest limit of the common services
_CONCURRENT = 4


def make_embedder(name: str, fn: Callable[..., Any], *, info: EmbedderInfo | None = None) -> EmbedderAction:
    """An embedder of `fn(documents, options?, ctx?) -> vectors` (or `fn(texts: list[str])`, or `fn(request)`).

    It is not registered yet, as plugins return it. `options.task` reaches a function that has a parameter for it.
    """
    call = UserFunction(fn, f"embedder {name!r}", request=EmbedRequest, lead=1, soft=("task",))
    taken = _taken(info)

    async def embedder(request: EmbedRequest, ctx: RunContext) -> EmbedResponse:
        _check_content(request, name, taken)
        result = await call.start(request, (list(request.input),), request.options, ctx)
        response = _as_response(result, name)
        if len(response.embeddings) != len(request.input):
            raise InvalidOutputError(
                f"embedder {name!r} gave {len(response.embeddings)} vectors for {len(request.input)} documents",
                hint="return one vector for each document, in order",
            )
        _check_dimensions(response, name)
        if response.usage is not None:
            annotate(ctx.record, {ATTRIBUTES.GEN_AI_INPUT_TOKENS: response.usage.input_tokens})
        return response

    shown = (info or EmbedderInfo(label=name)).to_wire()
    metadata = {"type": "embedder", "info": shown, "embedder": {"customOptions": call.options_schema or {}}}
    return Action(
        "embedder",
        name,
        embedder,
        description=call.description or "",
        metadata=metadata,
        plain=call.fn,
        verb=f"ai.embed({name!r}, text)",
    )


def embedder_info(action: EmbedderAction) -> EmbedderInfo:
    """What the embedder says about itself."""
    return EmbedderInfo.from_wire({"label": action.name, **(action.metadata.get("info") or {})})


async def embed(
    registry: Registry,
    embedder: str | EmbedderAction,
    content: str | Document,
    *,
    task: EmbedTask,
    options: Mapping[str, Any] | None,
) -> Embedding:
    """One vector; see `Flowkit.embed`."""
    document = _as_document(content, "the text")
    action = embedder if isinstance(embedder, Action) else await registry.find("embedder", embedder)
    response = await action(EmbedRequest(input=(document,), options={"task": task, **(options or {})}))
    return response.embeddings[0]


async def embed_many(
    registry: Registry,
    embedder: str | EmbedderAction,
    contents: Sequence[str | Document],
    *,
    task: EmbedTask,
    options: Mapping[str, Any] | None,
) -> EmbedResponse:
    """One vector for each content, in order, in batches of what the embedder takes; see `Flowkit.embed_many`.

    Four batches are under way at a time. When one fails, the others are cancelled.
    """
    if isinstance(contents, str | Document):
        raise InvalidInputError("embed_many takes a list of texts", hint="use embed for one text")
    documents = tuple(_as_document(content, f"text {at}") for at, content in enumerate(contents))
    action = embedder if isinstance(embedder, Action) else await registry.find("embedder", embedder)
    if not documents:
        return EmbedResponse(embeddings=())
    size = embedder_info(action).max_batch_size or BATCH
    given = {"task": task, **(options or {})}
    requests = [EmbedRequest(input=documents[at : at + size], options=given) for at in range(0, len(documents), size)]
    if len(requests) == 1:
        return await action(requests[0])
    gate = asyncio.Semaphore(_CONCURRENT)
    failure: BaseException | None = None
    tasks: list[asyncio.Task[EmbedResponse]] = []
    try:
        async with asyncio.TaskGroup() as group:
            for request in requests:
                await gate.acquire()
                tasks.append(group.create_task(action(request)))
                tasks[-1].add_done_callback(lambda _: gate.release())
    except BaseExceptionGroup as together:
        failure = together.exceptions[0]
    if failure is not None:  # raised out here, so that it keeps the cause and context that it has
        raise failure
    response = merge([task.result() for task in tasks])
    _check_dimensions(response, action.name)
    return response


def merge(responses: Sequence[EmbedResponse]) -> EmbedResponse:
    """Several answers as one: vectors in order, usage and counts added."""
    custom: dict[str, Any] = {}
    for response in responses:
        for key, value in (response.custom or {}).items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            custom[key] = custom.get(key, 0) + value if number else value
    embeddings = tuple(item for response in responses for item in response.embeddings)
    usage = Usage.sum(response.usage for response in responses)
    return EmbedResponse.model_construct(embeddings=embeddings, usage=usage, custom=custom or None)


def _taken(info: EmbedderInfo | None) -> frozenset[str]:
    """What an embedder says that it takes: text, if it says nothing."""
    said = (info.supports or {}).get("input") if info is not None else None
    if said is None:
        return frozenset({"text"})
    if not isinstance(said, list) or not all(isinstance(kind, str) for kind in said):
        raise ConfigError(
            f"EmbedderInfo says that the input is {said!r}, which is no list of kinds", hint='write ["text", "image"]'
        )
    return frozenset(map(str, said))


def _check_content(request: EmbedRequest, name: str, taken: frozenset[str]) -> None:
    """Raises before anything is embedded: what an embedder does not see would be missing from its vector."""
    for at, document in enumerate(request.input):
        which = f"document {document.id!r}" if document.id else f"document {at}"
        kinds = {content_kind(part) for part in document.content}
        if not kinds - {"text"} and is_blank(document.text):
            raise InvalidInputError(
                f"{which} for embedder {name!r} has nothing in it", hint="skip empty documents before embedding"
            )
        if not kinds <= taken:
            raise UnsupportedError(
                f"embedder {name!r} takes {' and '.join(sorted(taken))}, and {which} has {', '.join(kinds - taken)}",
                hint='leave it out, or take an embedder that says EmbedderInfo(supports={"input": ["text", "image"]})',
            )


def _check_dimensions(response: EmbedResponse, name: str) -> None:
    """Raises InvalidOutputError when vectors have different lengths, or none."""
    found = sorted({embedding.dimension for embedding in response.embeddings})
    if len(found) > 1 or found == [0]:
        lengths = " and ".join(map(str, found))
        raise InvalidOutputError(
            f"embedder {name!r} gave vectors of {lengths} dimensions", hint="one model has one length"
        )


def _as_document(content: str | Document, what: str) -> Document:
    if isinstance(content, Document):
        return content
    if not isinstance(content, str):
        raise InvalidInputError(f"{what} is a {type(content).__name__}", hint="give text or a Document")
    if is_blank(content):
        raise InvalidInputError(f"{what} is blank", hint="skip empty texts before embedding")
    return Document.from_text(content)


def _as_response(result: Any, name: str) -> EmbedResponse:
    if isinstance(result, EmbedResponse):
        return result
    rows = result.tolist() if hasattr(result, "tolist") else result
    try:
        vectors = [row if isinstance(row, Embedding) else Embedding(vector=_floats(row)) for row in rows]
    except (TypeError, ValueError) as error:
        said = summary(problems(error)) if isinstance(error, ValueError) else str(error)
        raise InvalidOutputError(
            f"embedder {name!r} gave no vectors: {said}", hint="return a list of number lists"
        ) from error
    return EmbedResponse.model_construct(embeddings=tuple(vectors))


def _floats(row: Any) -> tuple[float, ...]:
    return tuple(row.tolist() if hasattr(row, "tolist") else row)
