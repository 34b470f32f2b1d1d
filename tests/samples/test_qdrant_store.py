"""The sample store in Qdrant keeps the contract of vector stores, in its local mode; an app uses it as any other."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from flowkit import Document, F, Flowkit
from flowkit.plugin import SearchMode, VectorStore
from flowkit.testing import FakeEmbedder, StoreContract
from samples.qdrant_store.qdrant_store import Qdrant
from tests.plugins.chroma.conftest import quick_folder

pytestmark = pytest.mark.heavy


class TestQdrant(StoreContract):
    modes: ClassVar[frozenset[SearchMode]] = frozenset({"vector"})
    zero_vectors = False  # it compares directions
    big_batch = 1_000

    @pytest.fixture
    def store(self) -> Iterator[Qdrant]:
        with quick_folder() as self.folder:
            yield Qdrant("menu", path=self.folder)

    def make_store(self, store: VectorStore) -> Qdrant:
        return Qdrant("menu", path=self.folder)


async def test_an_app_indexes_and_retrieves(tmp_path: Path):
    store = Qdrant("menu", path=tmp_path, embedder="fake-embedder")
    async with Flowkit(plugins=[FakeEmbedder(dimension=32), store]) as ai:
        await ai.index("menu", [Document.from_text(text, {"price": len(text)}) for text in ("tomato soup", "cake")])
        hits = await ai.retrieve("menu", "tomato soup", k=1, where=F("price") > 4)
        assert [(hit.text, hit.score) for hit in hits] == [("tomato soup", 1.0)]
