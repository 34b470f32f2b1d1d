"""An app with one index in memory, and an embedder that counts and can fail."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from flowkit import Document, EmbedderInfo, Embedding, EmbedRequest, EmbedResponse, Flowkit, Usage
from flowkit.config import Settings
from flowkit.errors import BackendError
from flowkit.plugin import VectorStore
from flowkit.rag.ingest import IngestReport
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.testing import FakeEmbedder


class Counting:
    """What was embedded, and when to fail: `fail_after` calls, once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls = 0
        self.fail_after: int | None = None
        self.before: Callable[[list[str]], Any] | None = None
        self._vectors = FakeEmbedder(32)

    async def embed(self, request: EmbedRequest) -> EmbedResponse:
        """Hashes words into vectors."""
        texts = [document.text for document in request.input]
        if self.before is not None:
            await self.before(texts)
        if self.fail_after is not None and self.calls >= self.fail_after:
            self.fail_after = None
            raise BackendError("429 too many requests", status="RESOURCE_EXHAUSTED")
        self.calls += 1
        self.texts += texts
        words = sum(len(text.split()) for text in texts)
        return EmbedResponse(
            embeddings=tuple(Embedding(vector=self._vectors.vector(text)) for text in texts),
            usage=Usage(input_tokens=words, total_tokens=words),
        )


def app(store: VectorStore, counting: Counting, root: Path, *, batch: int = 8) -> Flowkit:
    ai = Flowkit(plugins=[store], settings=Settings(root=root, embedding_cache=False))
    ai.embedder("counting", info=EmbedderInfo(label="counting", dimensions=32, max_batch_size=batch))(counting.embed)
    return ai


@pytest.fixture
def counting() -> Counting:
    return Counting()


@pytest.fixture
def store() -> InMemoryStore:
    return InMemoryStore("docs", embedder="counting")


@pytest.fixture
async def ai(store: InMemoryStore, counting: Counting, tmp_path: Path) -> AsyncIterator[Flowkit]:
    async with app(store, counting, tmp_path) as ai:
        yield ai


def doc(text: str, source: str | None = "a.md", **metadata: Any) -> Document:
    return Document.from_text(text, {"source": source, **metadata})


async def texts(store: VectorStore) -> list[str]:
    """What is stored, sorted."""
    page = await store.fetch(limit=100_000)
    return sorted(row.document.text for row in page.items)


def done(report: IngestReport) -> tuple[int, int, int, int]:
    """Written, updated, deleted, unchanged."""
    return report.written, report.updated, report.deleted, report.unchanged


def lines(document: Document) -> list[Document]:
    """A splitter: each line is a chunk."""
    return [
        document.model_copy(update={"content": Document.from_text(line).content}).with_metadata(index=at)
        for at, line in enumerate(document.text.splitlines())
        if line.strip()
    ]
