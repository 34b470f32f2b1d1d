"""The in-memory store keeps the contract."""

from pathlib import Path

import pytest

from flowkit import Document, Flowkit
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.testing import FakeEmbedder, StoreContract


class TestInMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> InMemoryStore:
        return InMemoryStore("menu")


async def test_it_serves_an_app_as_any_store_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    ai = Flowkit(plugins=[FakeEmbedder(), InMemoryStore("menu", embedder="fake-embedder")])

    await ai.index("menu", [Document.from_text("tomato soup"), Document.from_text("chocolate cake")])

    (hit,) = await ai.retrieve("menu", "cake", k=1)
    assert hit.text == "chocolate cake"
