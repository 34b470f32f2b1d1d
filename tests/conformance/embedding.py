"""Area embedding_request: what reaches an embedder, and what is refused before it is called.

ADAPTERS["embedding_request"]({"inputs": [[{"text": "hello"}]], "parameters": {"dimensions": 256}})
"""

from collections.abc import Mapping
from typing import Any

from pydantic import create_model

from flowkit import Document, EmbedderInfo, Flowkit
from flowkit.schema.documents import embedded_text
from flowkit.schema.parts import Media, MediaPart, Part, TextPart
from tests.conformance.vector import NoCounterpart

_TASK = "input_type"
"""Flowkit's own word for it is `task`: every embedder is told, and may leave it unread."""


async def embedding_request(given: Mapping[str, Any]) -> Any:
    asked: dict[str, Any] = dict(given.get("parameters", {}))
    defaults: dict[str, Any] = dict(given.get("model_defaults", {}))
    supported: set[str] = set(given.get("supported_parameters", ()))
    if _TASK in asked.keys() - supported or defaults.keys() - supported:
        raise NoCounterpart("a task, or a default, that the embedder itself does not know")
    seen: list[Document] = []
    effective: dict[str, Any] = {}

    def stub(documents: list[Document], options: Any = None) -> list[list[float]]:
        seen.extend(documents)
        effective.update({} if options is None else options.model_dump(exclude_none=True))
        return [[1.0] for _ in documents]

    fields: Any = {name: (Any, defaults.get(name)) for name in supported - {_TASK}}
    stub.__annotations__["options"] = create_model("Options", __config__={"extra": "forbid"}, **fields)
    ai = Flowkit()
    info = EmbedderInfo(label="stub", supports={"input": list(given.get("supported_content", ["text"]))})
    ai.embedder("stub", info=info)(stub)
    task = asked.pop(_TASK, None)
    documents = [Document(content=tuple(map(_part, parts))) for parts in given["inputs"]]
    response = await ai.embed_many("stub", documents, task=task or "document", options=asked or None)
    return {
        "embeddings": len(response.embeddings),
        "effective_parameters": effective | ({_TASK: task} if task else {}),
        "input_texts": list(map(embedded_text, seen)),
    }


def _part(given: Mapping[str, Any]) -> Part:
    if "image" in given:
        return MediaPart(media=Media(url=given["image"], content_type="image/png"))
    return TextPart(text=given["text"])


ADAPTERS = {"embedding_request": embedding_request}
