"""Generate: ask a model. The decorator's machinery, and the verb.

response = await ai.generate(prompt="What is vegan?", docs=hits)
print(response.text, response.citations, response.usage)
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from flowkit.ai.define import UserFunction
from flowkit.ai.reply import Reply
from flowkit.core.action import Action
from flowkit.core.context import RunContext
from flowkit.core.registry import Registry
from flowkit.core.spans import ATTRIBUTES, annotate
from flowkit.core.values import to_plain
from flowkit.errors import ConfigError, InvalidInputError
from flowkit.schema.documents import Document
from flowkit.schema.messages import Message
from flowkit.schema.model import GenerateRequest, GenerateResponse, GenerateResponseChunk, ModelInfo
from flowkit.schema.parts import Part, TextPart
from flowkit.schema.text import is_blank

__all__ = ["ModelAction", "Turns", "generate", "make_model", "with_docs"]

ModelAction = Action[GenerateRequest, GenerateResponse, GenerateResponseChunk]

_GROUNDING = "\n\nUse the following information to complete your task:\n\n"


def make_model(
    name: str,
    fn: Callable[..., Any],
    *,
    info: ModelInfo | None = None,
    config_schema: Mapping[str, Any] | None = None,
) -> ModelAction:
    """A model of `fn(request, ctx?) -> GenerateResponse | Message | str`, not registered yet, as plugins return it.

    A generator streams: it yields text, parts or chunks, and a GenerateResponse where it has more to say (usage, finish
    reason). What a function gives to `ctx.send_chunk` is streamed too. The answer holds what was streamed, unless the
    function returns a message.
    """
    call = UserFunction(fn, f"model {name!r}", request=GenerateRequest, lead=1)
    described = info or ModelInfo(label=name)
    grounded = bool(described.supports and described.supports.context)

    async def model(request: GenerateRequest, ctx: RunContext) -> GenerateResponse:
        started = time.monotonic_ns()
        asked = request if grounded or not request.docs else with_docs(request)
        reply = Reply(name, ctx)
        if call.style == "async_stream":
            items = call.stream(asked, (asked,), None, reply.ctx)
            try:
                async for item in items:
                    await reply.take(item)
            finally:
                await items.aclose()
        elif call.style == "sync_stream":
            await call.start(asked, (asked,), None, reply.ctx, each=reply.add)
        else:
            reply.end(await call.start(asked, (asked,), None, reply.ctx))
        response = reply.response((time.monotonic_ns() - started) / 1e6)
        if response.usage is not None:
            annotate(
                ctx.record,
                {
                    ATTRIBUTES.GEN_AI_INPUT_TOKENS: response.usage.input_tokens,
                    ATTRIBUTES.GEN_AI_OUTPUT_TOKENS: response.usage.output_tokens,
                },
            )
        annotate(ctx.record, {ATTRIBUTES.GEN_AI_FINISH_REASONS: (response.finish_reason,)})
        return response

    shown = {**described.to_wire(), "customOptions": dict(config_schema or {})}
    metadata = {"model": shown, "type": "model"}
    description = call.description or described.label
    return Action(
        "model",
        name,
        model,
        description=description,
        metadata=metadata,
        plain=call.fn,
        verb=f"ai.generate(prompt, model={name!r})",
    )


@dataclass(frozen=True, slots=True)
class Turns:
    """What is said to a model, in the words of the verb."""

    prompt: str | Sequence[Part] | None
    _: KW_ONLY
    system: str | None = None
    messages: Sequence[Message] = ()
    docs: Sequence[Document] = ()
    config: Any = None

    def request(self) -> GenerateRequest:
        """Messages in order: system, history, prompt.

        Raises:
            InvalidInputError: there is nothing to say, or the prompt is blank.
        """
        turns = [Message.system(self.system)] if self.system else []
        turns.extend(self.messages)
        if isinstance(self.prompt, str) and is_blank(self.prompt):
            raise InvalidInputError("the prompt is blank", hint="ask something")
        if self.prompt is not None:
            parts = (TextPart(text=self.prompt),) if isinstance(self.prompt, str) else tuple(self.prompt)
            turns.append(Message(role="user", content=parts))
        if not any(message.role != "system" for message in turns):
            raise InvalidInputError("there is nothing to say", hint="give a prompt or messages")
        settings = None if self.config is None else to_plain(self.config)
        return GenerateRequest(messages=tuple(turns), docs=tuple(self.docs) or None, config=settings)


async def generate(
    registry: Registry,
    asked: Turns | GenerateRequest,
    *,
    model: str | ModelAction | None,
    on_chunk: Callable[[GenerateResponseChunk], None] | None,
) -> GenerateResponse:
    """Run a model; see `Flowkit.generate`."""
    if model is None:
        raise ConfigError("no model was named", hint='pass model="local/extractive", or Flowkit(model=…)')
    request = asked.request() if isinstance(asked, Turns) else asked
    action = model if isinstance(model, Action) else await registry.find("model", model)
    response = await action.run(request, on_chunk=on_chunk)
    return response.model_copy(update={"request": request})


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
