"""Text → vector: what goes into an embedder and what comes out.

EmbedResponse(embeddings=(Embedding(vector=(0.6, 0.8)),))
"""

import math
from collections.abc import Sequence
from typing import Literal

from pydantic import Field, field_validator

from flowkit.errors import InvalidInputError
from flowkit.schema.documents import Document
from flowkit.schema.model import Usage
from flowkit.schema.told import Told
from flowkit.schema.wire import JSON, Wire

__all__ = [
    "EmbedRequest",
    "EmbedResponse",
    "EmbedTask",
    "EmbedderInfo",
    "Embedding",
    "cosine",
    "cosine_from_relevance",
    "relevance",
]

EmbedTask = Literal["document", "query"]


class EmbedRequest(Wire):
    """Documents to embed. `options.task` is "document" (default) or "query"; other keys are the embedder's own."""

    input: tuple[Document, ...]
    options: dict[str, JSON] | None = None


class Embedding(Wire):
    """One vector, as `{"embedding": […]}` on the wire."""

    vector: tuple[float, ...] = Field(alias="embedding")
    metadata: dict[str, JSON] | None = None

    @property
    def dimension(self) -> int:
        return len(self.vector)

    def normalized(self) -> "Embedding":
        """The same direction at length 1; a vector shorter than 1e-10 has none and is returned as it is."""
        length = math.hypot(*self.vector)
        if length < 1e-10:
            return self
        return self.model_copy(update={"vector": tuple(x / length for x in self.vector)})

    @field_validator("vector")
    @classmethod
    def _finite(cls, vector: tuple[float, ...]) -> tuple[float, ...]:
        if not all(map(math.isfinite, vector)):
            raise ValueError("an embedding holds NaN or infinity")
        return vector


class EmbedResponse(Wire):
    """One embedding per input document, in order. `usage` and `custom` are extra keys that Genkit's tools ignore."""

    embeddings: tuple[Embedding, ...]
    usage: Usage | None = None
    custom: dict[str, JSON] | None = None


class EmbedderInfo(Told):
    """What tools and stores know about an embedder.

    `supports["input"]` lists what it takes, as "text" (which stands for itself when nothing is said), "image", "audio"
    and "video"; a document with anything else is refused before it is called.

    Raises:
        ConfigError: there is no label, or a value is of the wrong type.
    """

    label: str
    dimensions: int | None = None
    max_input_tokens: int | None = None
    max_batch_size: int | None = None
    revision: str | None = None
    supports: dict[str, JSON] | None = None


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """Cosine similarity, -1…1: dot(a, b) / max(|a| |b|, 1e-8), so a zero vector gives 0.

    Raises:
        InvalidInputError: the lengths differ.
    """
    if len(a) != len(b):
        raise InvalidInputError(
            f"vectors of {len(a)} and {len(b)} dimensions cannot be compared", hint="embed both with one model"
        )
    # One root of the product, so that a vector and itself give exactly 1.
    lengths = math.sqrt(math.fsum(x * x for x in a) * math.fsum(y * y for y in b))
    found = math.fsum(x * y for x, y in zip(a, b, strict=True)) / max(lengths, 1e-8)
    return min(1.0, max(-1.0, found))  # rounding may leave the interval by an ulp


def relevance(cos: float) -> float:
    """Cosine as a score: (1 + cos) / 2, in 0…1."""
    return (1 + cos) / 2


def cosine_from_relevance(score: float) -> float:
    """The inverse of `relevance`: 2 score - 1, in -1…1."""
    return 2 * score - 1
