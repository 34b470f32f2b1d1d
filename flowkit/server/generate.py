"""`/util/generate`: the action through which Genkit's tools try out a model.

registry.register(generate_action(registry, default_model="local/extractive"))
"""

from typing import Any, Literal

from flowkit.ai.generate import generate
from flowkit.core.action import Action
from flowkit.core.context import RunContext
from flowkit.core.registry import Registry
from flowkit.errors import UnsupportedError
from flowkit.schema.documents import Document
from flowkit.schema.messages import Message
from flowkit.schema.model import GenerateRequest, GenerateResponse, OutputConfig
from flowkit.schema.wire import JSON, Wire

__all__ = ["GenerateActionOptions", "OutputOptions", "generate_action"]


class OutputOptions(Wire):
    format: str | None = None
    content_type: str | None = None
    json_schema: JSON = None
    constrained: bool | None = None


class GenerateActionOptions(Wire):
    """Genkit's form of a whole request: the model by name, the conversation, documents, settings."""

    messages: tuple[Message, ...]
    model: str | None = None
    docs: tuple[Document, ...] | None = None
    config: dict[str, JSON] | None = None
    tools: tuple[str, ...] | None = None
    tool_choice: Literal["auto", "required", "none"] | None = None
    output: OutputOptions | None = None


def generate_action(registry: Registry, *, default_model: str | None) -> Action[Any, Any, Any]:
    """The action, not registered yet. Tools are refused: a model called this way runs none."""

    async def generate_from_options(options: GenerateActionOptions, ctx: RunContext) -> GenerateResponse:
        if options.tools:
            raise UnsupportedError(
                f"/util/generate runs no tools, {options.tools[0]!r} among them", hint="call the tool or a flow"
            )
        given = options.output
        output = given and OutputConfig(
            format=given.format,
            schema_=given.json_schema,
            constrained=given.constrained,
            content_type=given.content_type,
        )
        request = GenerateRequest(
            messages=options.messages, config=options.config, docs=options.docs, output=output or None
        )
        on_chunk = ctx.send_chunk if ctx.streaming else None
        return await generate(registry, request, model=options.model or default_model, on_chunk=on_chunk)

    return Action("util", "generate", generate_from_options, description="Ask a model")
