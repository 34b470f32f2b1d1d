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
from flowkit.errors import BackendError, InvalidInputError, InvalidOutputError
from flowkit.schema.documents import Document
from flowkit.schema.embedding import EmbedderInfo, Embedding, EmbedRequest, EmbedResponse, EmbedTask
from flowkit.schema.model import Usage

__all__ = ["define_embedder", "embed", "embed_many", "embedder_info"]

AnyAction = Action[Any, Any, Any]

_BATCH = 100  # texts in one call when the embedder declares nothing; the smallest limit of the common services
_CONCURRENT = 4


def define_embedder(registry: Registry, name: str, fn: Callable[..., Any], *, info: EmbedderInfo | None) -> AnyAction:
    """Register `fn(documents, options?, ctx?) -> vectors` (or `fn(texts: list[str])`, or `fn(request)`)."""
    action = make_embedder(name, fn, info=info)
    registry.register(action)
    return action


def make_embedder(name: str, fn: Callable[..., Any], *, info: EmbedderInfo | None) -> AnyAction:
    """An embedder that is not registered yet, as plugins return it."""
    call = UserFunction(fn, f"embedder {name!r}", request=EmbedRequest, lead=1, soft=("task",))

    async def embedder(request: EmbedRequest, ctx: RunContext) -> EmbedResponse:
        response = _as_response(await call(request, (list(request.input),), request.options, ctx), name)
        if len(response.embeddings) != len(request.input):
            raise InvalidOutputError(
                f"embedder {name!r} gave {len(response.embeddings)} vectors for {len(request.input)} documents"
            )
        if response.usage is not None:
            annotate(ctx.record, {ATTRIBUTES.GEN_AI_INPUT_TOKENS: response.usage.input_tokens})
        return response

    shown = (info or EmbedderInfo(label=name)).to_wire()
    metadata = {"type": "embedder", "info": shown, "embedder": {"customOptions": call.options_schema or {}}}
    return Action("embedder", name, embedder, description=call.description or "", metadata=metadata)


def embedder_info(action: AnyAction) -> EmbedderInfo:
    """What the embedder says about itself."""
    info = action.metadata.get("info") or {}
    return EmbedderInfo.from_wire({"label": action.name, **info})


async def embed(
    registry: Registry,
    embedder: str | AnyAction,
    content: str | Document,
    *,
    task: EmbedTask,
    options: Mapping[str, Any] | None,
) -> Embedding:
    """One vector; see `Flowkit.embed`."""
    response = await embed_many(registry, embedder, [content], task=task, options=options)
    return response.embeddings[0]


async def embed_many(
    registry: Registry,
    embedder: str | AnyAction,
    contents: Sequence[str | Document],
    *,
    task: EmbedTask,
    options: Mapping[str, Any] | None,
) -> EmbedResponse:
    """One vector for each content, in order, in batches of what the embedder takes; see `Flowkit.embed_many`."""
    if isinstance(contents, str):
        raise InvalidInputError("embed_many takes a list of texts", hint="use embed for one text")
    documents = tuple(_as_document(content, at) for at, content in enumerate(contents))
    if not documents:
        return EmbedResponse(embeddings=())
    action = embedder if isinstance(embedder, Action) else await registry.find("embedder", embedder)
    size = embedder_info(action).max_batch_size or _BATCH
    given = {**(options or {}), "task": task}
    batches = [documents[at : at + size] for at in range(0, len(documents), size)]
    if len(batches) == 1:
        response: EmbedResponse = await action(EmbedRequest(input=batches[0], options=given))
        return response
    gate = asyncio.Semaphore(_CONCURRENT)

    async def one(batch: tuple[Document, ...]) -> EmbedResponse:
        async with gate:
            part: EmbedResponse = await action(EmbedRequest(input=batch, options=given))
            return part

    tasks: list[asyncio.Task[EmbedResponse]] = []
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(batch)) for batch in batches]
    except BaseExceptionGroup as group_error:
        raise group_error.exceptions[0] from None
    return merge([task.result() for task in tasks])


def merge(responses: Sequence[EmbedResponse]) -> EmbedResponse:
    """Several answers as one: vectors in order, usage and counts added."""
    usage: Usage | None = None
    custom: dict[str, Any] = {}
    for response in responses:
        if response.usage is not None:
            usage = response.usage if usage is None else usage + response.usage
        for key, value in (response.custom or {}).items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            custom[key] = custom.get(key, 0) + value if number else value
    embeddings = tuple(item for response in responses for item in response.embeddings)
    return EmbedResponse.model_construct(embeddings=embeddings, usage=usage, custom=custom or None)


def _as_document(content: str | Document, at: int) -> Document:
    if isinstance(content, Document):
        return content
    if not isinstance(content, str) or not content.strip():
        raise InvalidInputError(f"text {at} is blank or no text: {content!r}", hint="skip empty texts before embedding")
    return Document.from_text(content)


def _as_response(result: Any, name: str) -> EmbedResponse:
    if isinstance(result, EmbedResponse):
        return result
    rows = result.tolist() if hasattr(result, "tolist") else result
    try:
        vectors = [row if isinstance(row, Embedding) else Embedding(vector=_floats(row)) for row in rows]
    except (TypeError, ValueError) as error:
        raise BackendError(f"embedder {name!r} gave no vectors: {error}", hint="return a list of number lists") from error
    return EmbedResponse.model_construct(embeddings=tuple(vectors))


def _floats(row: Any) -> tuple[float, ...]:
    return tuple(row.tolist() if hasattr(row, "tolist") else row)
