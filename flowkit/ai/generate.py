"""Generate: ask a model. The decorator's machinery, and the verb.

    response = await ai.generate(prompt="What is vegan?", docs=hits)
    print(response.text, response.citations, response.usage)
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flowkit.ai.define import UserFunction
from flowkit.core.action import Action
from flowkit.core.context import RunContext
from flowkit.core.registry import Registry
from flowkit.core.spans import ATTRIBUTES, annotate
from flowkit.core.values import to_plain
from flowkit.errors import ConfigError, InvalidInputError, InvalidOutputError
from flowkit.schema.documents import Document
from flowkit.schema.messages import Message
from flowkit.schema.model import GenerateRequest, GenerateResponse, GenerateResponseChunk, ModelInfo
from flowkit.schema.parts import Part, TextPart

__all__ = ["build_request", "define_model", "generate", "make_model"]

AnyAction = Action[Any, Any, Any]

_GROUNDING = "\n\nUse the following information to complete your task:\n\n"


def define_model(registry: Registry, name: str, fn: Callable[..., Any], *, info: ModelInfo | None) -> AnyAction:
    """Register `fn(request, ctx?) -> GenerateResponse | str` as a model; an async generator streams its text or chunks."""
    action = make_model(name, fn, info=info)
    registry.register(action)
    return action


def make_model(
    name: str, fn: Callable[..., Any], *, info: ModelInfo | None, config_schema: Mapping[str, Any] | None = None
) -> AnyAction:
    """A model that is not registered yet, as plugins return it."""
    call = UserFunction(fn, f"model {name!r}", request=GenerateRequest, lead=1)
    described = info or ModelInfo(label=name)
    grounded = bool(described.supports and described.supports.context)

    async def model(request: GenerateRequest, ctx: RunContext) -> GenerateResponse:
        started = time.monotonic_ns()
        asked = request if grounded or not request.docs else with_docs(request)
        if call.streams:
            response = await _collect(call, asked, ctx)
        else:
            response = _as_response(await call(asked, (asked,), None, ctx), name)
        if response.latency_ms is None:
            response = response.model_copy(update={"latency_ms": (time.monotonic_ns() - started) / 1e6})
        usage = response.usage
        if usage is not None:
            annotate(
                ctx.record,
                {
                    ATTRIBUTES.GEN_AI_INPUT_TOKENS: usage.input_tokens,
                    ATTRIBUTES.GEN_AI_OUTPUT_TOKENS: usage.output_tokens,
                },
            )
        annotate(ctx.record, {ATTRIBUTES.GEN_AI_FINISH_REASONS: (response.finish_reason,)})
        return response

    shown = {**described.to_wire(), "customOptions": dict(config_schema or {})}
    metadata = {"model": shown, "type": "model"}
    return Action("model", name, model, description=call.description or described.label, metadata=metadata)


async def generate(
    registry: Registry,
    request: GenerateRequest,
    *,
    model: str | AnyAction | None,
    on_chunk: Callable[[GenerateResponseChunk], None] | None,
) -> GenerateResponse:
    """Run a model; see `Flowkit.generate`."""
    if model is None:
        raise ConfigError("no model was named", hint='pass model="local/extractive", or Flowkit(model=…)')
    action = model if isinstance(model, Action) else await registry.find("model", model)
    response: GenerateResponse = await action.run(request, on_chunk=on_chunk)
    return response.model_copy(update={"request": request})


def build_request(
    prompt: str | Sequence[Part] | None,
    *,
    system: str | None,
    messages: Sequence[Message],
    docs: Sequence[Document],
    config: Any,
) -> GenerateRequest:
    """Messages in order: system, history, prompt.

    Raises:
        InvalidInputError: there is nothing to say, or the prompt is blank.
    """
    turns: list[Message] = []
    if system:
        turns.append(Message.system(system))
    turns.extend(messages)
    if prompt is not None:
        parts = (TextPart(text=prompt),) if isinstance(prompt, str) else tuple(prompt)
        if isinstance(prompt, str) and not prompt.strip():
            raise InvalidInputError("the prompt is blank", hint="ask something")
        turns.append(Message(role="user", content=parts))
    if not any(message.role != "system" for message in turns):
        raise InvalidInputError("generate needs a prompt or messages")
    settings = None if config is None else to_plain(config)
    return GenerateRequest(messages=tuple(turns), docs=tuple(docs) or None, config=settings)


def with_docs(request: GenerateRequest) -> GenerateRequest:
    """For models that take no documents: append them to the last user message, as Genkit does.

    An existing context part is kept, or filled when its metadata says `pending`.
    """
    at = next((i for i in reversed(range(len(request.messages))) if request.messages[i].role == "user"), None)
    if at is None:
        return request
    lines = [f"- [{_label(doc, i)}]: {doc.text}\n" for i, doc in enumerate(request.docs or ())]
    part = TextPart(text=_GROUNDING + "".join(lines) + "\n", metadata={"purpose": "context"})
    message = request.messages[at]
    content = list(message.content)
    there = next((i for i, p in enumerate(content) if (p.metadata or {}).get("purpose") == "context"), None)
    if there is None:
        content.append(part)
    elif (content[there].metadata or {}).get("pending"):
        content[there] = part
    else:
        return request
    grounded = message.model_copy(update={"content": tuple(content)})
    return request.model_copy(update={"messages": (*request.messages[:at], grounded, *request.messages[at + 1 :])})


def _label(document: Document, at: int) -> str:
    return str(document.metadata.get("ref") or document.metadata.get("id") or at)


async def _collect(call: UserFunction, request: GenerateRequest, ctx: RunContext) -> GenerateResponse:
    """Drive a streaming model: its chunks go out as they come, and together they are the answer."""
    parts: list[Part] = []
    last: GenerateResponse | None = None
    async for item in call.stream(request, (request,), None, ctx):
        if isinstance(item, GenerateResponse):
            last = item
            continue
        chunk = GenerateResponseChunk.of_text(item) if isinstance(item, str) else item
        parts.extend(chunk.content)
        ctx.send_chunk(chunk)
    message = Message(role="model", content=_merged(parts))
    if last is None:
        return GenerateResponse(message=message)
    return last if last.message is not None else last.model_copy(update={"message": message})


def _merged(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Neighbouring plain text parts as one."""
    merged: list[Part] = []
    for part in parts:
        before = merged[-1] if merged else None
        if isinstance(part, TextPart) and isinstance(before, TextPart) and part.metadata == before.metadata:
            merged[-1] = before.model_copy(update={"text": before.text + part.text})
        else:
            merged.append(part)
    return tuple(merged)


def _as_response(result: Any, name: str) -> GenerateResponse:
    if isinstance(result, GenerateResponse):
        return result
    if isinstance(result, str):
        return GenerateResponse(message=Message.model(result))
    if isinstance(result, Message):
        return GenerateResponse(message=result)
    raise InvalidOutputError(
        f"model {name!r} returned {type(result).__name__}", hint="return a GenerateResponse, a Message, or text"
    )
