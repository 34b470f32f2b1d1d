"""A model and an embedder for tests: real actions that appear in traces, without weights or network.

ai = Flowkit(plugins=[FakeModel(replies=["Soup."]), FakeEmbedder(dimension=8)], model="fake-model")
"""

import hashlib
import math
import re
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from flowkit.errors import StateError
from flowkit.plugin import (
    Action,
    ActionInfo,
    EmbedderInfo,
    Embedding,
    EmbedRequest,
    EmbedResponse,
    GenerateRequest,
    GenerateResponse,
    Kind,
    ModelInfo,
    ModelSupports,
    Registry,
    Usage,
    make_embedder,
    make_model,
)
from flowkit.schema.documents import embedded_text
from flowkit.schema.messages import Message

__all__ = ["FakeEmbedder", "FakeModel", "Reply"]

Reply = str | GenerateResponse | BaseException | Callable[[GenerateRequest], "str | GenerateResponse"]

_WORD = re.compile(r"\w+")
_PIECE = re.compile(r"\S+\s*|\s+")


class FakeModel:
    """A model that says what it is told to. It streams word by word, and keeps what it was asked in `requests`.

    Args:
        replies: One for each call, in order: a text, a response, an error to raise, or a function of the request.
            None: the last user message comes back.
        name: Its name, `fake-model`; may have a slash.
        context: Take documents apart from the messages. By default they come as text in the last message, as they do
            for most models.
    """

    def __init__(
        self, replies: Sequence[Reply] | None = None, *, name: str = "fake-model", context: bool = False
    ) -> None:
        self.name = name
        self.requests: list[GenerateRequest] = []
        self._replies = None if replies is None else list(replies)
        self._context = context

    async def setup(self, registry: Registry) -> None:
        """Nothing to set up."""

    async def resolve(self, kind: Kind, name: str) -> Action[Any, Any, Any] | None:
        if kind != "model" or name != self.name:
            return None

        async def fake_model(request: GenerateRequest) -> AsyncIterator[str | GenerateResponse]:
            """Says what a test tells it to."""
            response = self._next(request)
            for piece in _PIECE.findall(response.text):
                yield piece
            yield response

        supports = ModelSupports(multiturn=True, system_role=True, context=self._context or None)
        return make_model(name, fake_model, info=ModelInfo(label=name, supports=supports))

    def list(self) -> Sequence[ActionInfo]:
        return [ActionInfo("model", self.name, "Says what a test tells it to.")]

    async def aclose(self) -> None:
        """Nothing to close."""

    def _next(self, request: GenerateRequest) -> GenerateResponse:
        self.requests.append(request)
        asked = "".join(message.text for message in request.messages if message.role == "user")
        if self._replies is None:
            reply: Reply = next((m.text for m in reversed(request.messages) if m.role == "user"), "")
        elif len(self.requests) > len(self._replies):
            raise StateError(
                f"{self.name} was called {len(self.requests)} times and has {len(self._replies)} replies",
                hint="give it one reply for each call",
            )
        else:
            reply = self._replies[len(self.requests) - 1]
        if isinstance(reply, BaseException):
            raise reply
        answer = reply if isinstance(reply, str | GenerateResponse) else reply(request)
        if isinstance(answer, GenerateResponse):
            return answer
        usage = Usage(input_tokens=len(asked.split()), output_tokens=len(answer.split()))
        return GenerateResponse(message=Message.model(answer), usage=usage)


class FakeEmbedder:
    """An embedder made of hashes: the same text always has the same vector, and shared words bring texts nearer.

    Each word (lower case) counts at one position, which its hash gives; the vector has length 1. So texts without a
    common word have cosine 0, as long as no two words fall on one position. `texts` keeps what was embedded.
    """

    def __init__(self, dimension: int = 64, *, name: str = "fake-embedder") -> None:
        self.name = name
        self.dimension = dimension
        self.texts: list[str] = []

    async def setup(self, registry: Registry) -> None:
        """Nothing to set up."""

    async def resolve(self, kind: Kind, name: str) -> Action[Any, Any, Any] | None:
        if kind != "embedder" or name != self.name:
            return None

        async def fake_embedder(request: EmbedRequest) -> EmbedResponse:
            """Hashes words into vectors."""
            texts = list(map(embedded_text, request.input))
            self.texts.extend(texts)
            return EmbedResponse(embeddings=tuple(Embedding(vector=self.vector(text)) for text in texts))

        return make_embedder(name, fake_embedder, info=EmbedderInfo(label=name, dimensions=self.dimension))

    def list(self) -> Sequence[ActionInfo]:
        return [ActionInfo("embedder", self.name, "Hashes words into vectors.")]

    async def aclose(self) -> None:
        """Nothing to close."""

    def vector(self, text: str) -> tuple[float, ...]:
        """The vector of a text: `dimension` numbers, length 1."""
        counts = [0.0] * self.dimension
        for word in _WORD.findall(text.lower()) or [text]:
            counts[int(hashlib.sha256(word.encode("utf-8", "surrogatepass")).hexdigest(), 16) % self.dimension] += 1
        length = math.hypot(*counts)
        return tuple(count / length for count in counts)
