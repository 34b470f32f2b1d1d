"""What goes into a model and what comes out, in Genkit's JSON forms.

GenerateRequest(messages=(Message.user("Hi"),), docs=hits)
"""

import functools
from collections.abc import Iterable
from typing import Any, Literal, TypeVar

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from flowkit.schema.documents import Document, ScoredDocument
from flowkit.schema.messages import Message, Role
from flowkit.schema.parts import Part, TextPart
from flowkit.schema.told import Told
from flowkit.schema.wire import JSON, Wire

__all__ = [
    "Citation",
    "FinishReason",
    "GenerateRequest",
    "GenerateResponse",
    "GenerateResponseChunk",
    "ModelConfig",
    "ModelInfo",
    "ModelSupports",
    "OutputConfig",
    "ToolDefinition",
    "Usage",
]

FinishReason = Literal["stop", "length", "blocked", "aborted", "failed", "interrupted", "other", "unknown"]


class ModelConfig(Wire):
    """The settings that most models share; further keys are kept and passed to the model."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, populate_by_name=True, extra="allow", protected_namespaces=()
    )

    version: str | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    top_k: int | None = None
    top_p: float | None = None
    stop_sequences: tuple[str, ...] | None = None


class ToolDefinition(Wire):
    name: str
    description: str
    key: str | None = None
    input_schema: JSON = None
    output_schema: JSON = None
    metadata: dict[str, JSON] | None = None


class OutputConfig(Wire):
    format: str | None = None
    schema_: JSON = Field(default=None, alias="schema")
    constrained: bool | None = None
    content_type: str | None = None


class GenerateRequest(Wire):
    """A call of a model: the conversation, settings, tools, output format and the documents to answer from."""

    messages: tuple[Message, ...]
    config: dict[str, JSON] | None = None
    tools: tuple[ToolDefinition, ...] | None = None
    tool_choice: Literal["auto", "required", "none"] | None = None
    output: OutputConfig | None = None
    docs: tuple[Document | ScoredDocument, ...] | None = None


class Usage(Wire):
    """Token and character counts; None means that the model did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    input_characters: int | None = None
    output_characters: int | None = None
    input_images: int | None = None
    output_images: int | None = None
    input_videos: float | None = None
    output_videos: float | None = None
    input_audio_files: float | None = None
    output_audio_files: float | None = None
    thoughts_tokens: int | None = None
    cached_content_tokens: int | None = None
    custom: dict[str, float] | None = None

    def __add__(self, other: "Usage") -> "Usage":
        """Field by field; None counts as nothing, and None + None stays None. A missing total is input + output."""
        total: dict[str, Any] = {}
        for name in type(self).model_fields:
            ours, theirs = getattr(self, name), getattr(other, name)
            match name:
                case "custom":
                    keys = (ours or {}).keys() | (theirs or {}).keys()
                    total[name] = {k: (ours or {}).get(k, 0) + (theirs or {}).get(k, 0) for k in sorted(keys)} or None
                case "total_tokens":
                    total[name] = _add(self._total(), other._total())
                case _:
                    total[name] = _add(ours, theirs)
        return Usage(**total)

    def _total(self) -> int | None:
        return _add(self.input_tokens, self.output_tokens) if self.total_tokens is None else self.total_tokens

    @classmethod
    def sum(cls, usages: Iterable["Usage | None"]) -> "Usage | None":
        """All of them together; None when none of them said anything."""
        known = [usage for usage in usages if usage is not None]
        return functools.reduce(Usage.__add__, known, Usage()) if known else None


Number = TypeVar("Number", int, float)


def _add(a: Number | None, b: Number | None) -> Number | None:
    return b if a is None else a if b is None else a + b


class Citation(Wire):
    """A quotation from a document. `start` and `end` are its span in the parsed text, where that is known."""

    document_id: str | None = None
    source: str | None = None
    page: int | None = None
    start: int | None = None
    end: int | None = None
    quote: str = ""


class GenerateResponse(Wire):
    """A model's answer."""

    message: Message | None = None
    finish_reason: FinishReason = "stop"
    finish_message: str | None = None
    latency_ms: float | None = None
    usage: Usage | None = None
    custom: JSON = None
    raw: JSON = None
    request: GenerateRequest | None = None

    @property
    def text(self) -> str:
        return self.message.text if self.message else ""

    @property
    def citations(self) -> list[Citation]:
        """What the text rests on, read from `message.metadata.citations`."""
        found = (self.message.metadata or {}).get("citations", ()) if self.message else ()
        return [Citation.from_wire(item) for item in found]

    @property
    def sources(self) -> list[Document]:
        """The documents that were given to the model, in the order given."""
        return list(self.request.docs or ()) if self.request else []


class GenerateResponseChunk(Wire):
    """A piece of a streamed answer."""

    content: tuple[Part, ...]
    role: Role | None = None
    index: int | None = None
    custom: JSON = None
    aggregated: bool | None = None

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.content if isinstance(part, TextPart))

    @classmethod
    def of_text(cls, text: str) -> "GenerateResponseChunk":
        return cls(role="model", index=0, content=(TextPart(text=text),))


class ModelSupports(Wire):
    multiturn: bool | None = None
    media: bool | None = None
    tools: bool | None = None
    system_role: bool | None = None
    output: tuple[str, ...] | None = None
    content_type: tuple[str, ...] | None = None
    context: bool | None = None
    constrained: Literal["none", "all", "no-tools"] | None = None
    tool_choice: bool | None = None
    long_running: bool | None = None


class ModelInfo(Told):
    """What tools show about a model.

    Raises:
        ConfigError: there is no label, or a value is of the wrong type.
    """

    label: str
    versions: tuple[str, ...] | None = None
    supports: ModelSupports | None = None
    stage: Literal["featured", "stable", "unstable", "legacy", "deprecated"] | None = None
