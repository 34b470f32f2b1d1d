"""Content parts: the atoms of documents and messages, in Genkit's JSON forms.

    TextPart(text="soup")             {"text": "soup"}
    ToolRequestPart(tool_request=…)   {"toolRequest": {"name": …, "input": …}}

A part has exactly one discriminating key, and may carry `metadata` and `custom`.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Discriminator, Field, SerializerFunctionWrapHandler, Tag, model_serializer

from flowkit.schema.wire import JSON, Wire

__all__ = [
    "CustomPart",
    "DataPart",
    "Media",
    "MediaPart",
    "Part",
    "ReasoningPart",
    "Resource",
    "ResourcePart",
    "TextPart",
    "ToolRequest",
    "ToolRequestPart",
    "ToolResponse",
    "ToolResponsePart",
    "content_kind",
]


class _Part(Wire):
    metadata: dict[str, JSON] | None = None
    custom: dict[str, JSON] | None = None


class TextPart(_Part):
    text: str


class Media(Wire):
    """A URL (also `data:`) and its MIME type."""

    url: str
    content_type: str | None = None


class MediaPart(_Part):
    media: Media


class ToolRequest(Wire):
    """A model's wish to call a tool; `ref` ties the response to it."""

    name: str
    ref: str | None = None
    input: JSON = None
    partial: bool | None = None


class ToolRequestPart(_Part):
    tool_request: ToolRequest


class ToolResponse(Wire):
    name: str
    ref: str | None = None
    output: JSON = None
    content: "tuple[Part, ...] | None" = None


class ToolResponsePart(_Part):
    tool_response: ToolResponse


class DataPart(_Part):
    data: JSON

    @model_serializer(mode="wrap")
    def _keep_null(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # `data: null` is a value here, so exclude_none must not drop the discriminator.
        shape: dict[str, Any] = handler(self)
        shape.setdefault("data", None)
        return shape


class CustomPart(_Part):
    custom: dict[str, JSON]


class ReasoningPart(_Part):
    reasoning: str


class Resource(Wire):
    uri: str


class ResourcePart(_Part):
    resource: Resource


_KINDS: dict[str, str] = {
    "text": "text",
    "media": "media",
    "toolRequest": "tool_request",
    "tool_request": "tool_request",
    "toolResponse": "tool_response",
    "tool_response": "tool_response",
    "data": "data",
    "reasoning": "reasoning",
    "resource": "resource",
    "custom": "custom",
}
_TAGS: dict[type, str] = {
    TextPart: "text",
    MediaPart: "media",
    ToolRequestPart: "tool_request",
    ToolResponsePart: "tool_response",
    DataPart: "data",
    ReasoningPart: "reasoning",
    ResourcePart: "resource",
    CustomPart: "custom",
}


def _kind(value: Any) -> str | None:
    """Which part this is; `custom` comes last because any other part may carry a `custom` key too."""
    if isinstance(value, Mapping):
        return next((tag for key, tag in _KINDS.items() if key in value), None)
    return _TAGS.get(type(value))


Part = Annotated[
    Annotated[TextPart, Tag("text")]
    | Annotated[MediaPart, Tag("media")]
    | Annotated[ToolRequestPart, Tag("tool_request")]
    | Annotated[ToolResponsePart, Tag("tool_response")]
    | Annotated[DataPart, Tag("data")]
    | Annotated[ReasoningPart, Tag("reasoning")]
    | Annotated[ResourcePart, Tag("resource")]
    | Annotated[CustomPart, Tag("custom")],
    Field(discriminator=Discriminator(_kind)),
]


_ENDINGS: dict[str, tuple[str, ...]] = {
    "image": ("png", "jpg", "jpeg", "gif", "webp", "svg", "bmp", "tif", "tiff", "avif", "heic"),
    "audio": ("mp3", "wav", "ogg", "oga", "flac", "m4a", "aac", "opus"),
    "video": ("mp4", "m4v", "webm", "mov", "mkv", "avi"),
}


def content_kind(part: Part) -> str:
    """What is in a part, as models and embedders say what they take: "text", "image", "audio", "video", "media" (one
    that tells no type), or the name of its key."""
    if not isinstance(part, MediaPart):
        return _TAGS[type(part)]
    url = part.media.url
    told = part.media.content_type or (url[len("data:") :] if url.startswith("data:") else "")
    family = told.partition("/")[0].lower()
    if family in _ENDINGS:
        return family
    ending = url.partition("?")[0].rpartition(".")[2].lower()
    return next((kind for kind, endings in _ENDINGS.items() if not told and ending in endings), "media")


ToolResponse.model_rebuild()
ToolResponsePart.model_rebuild()
