"""The dev store in an app: indexed and searched through actions, kept from one run to the next."""

from pathlib import Path

import pytest

from flowkit import Document, F, Flowkit
from flowkit.errors import NotFoundError
from flowkit.testing import FakeEmbedder
from flowkit_devstore import DevStore

MENU = [
    Document.from_text("Tomato soup with basil", {"price": 6}),
    Document.from_text("Vegan lasagne", {"price": 12}),
    Document.from_text("Chocolate cake", {"price": 5}),
]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The app's own files go to a project of its own."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")


def app(folder: Path, embedder: FakeEmbedder) -> Flowkit:
    return Flowkit(plugins=[embedder, DevStore("menu", embedder="fake-embedder", folder=folder)])


async def test_documents_are_indexed_once_and_found_in_every_mode(tmp_path: Path):
    embedder = FakeEmbedder(dimension=64)
    async with app(tmp_path / "indexes", embedder) as ai:
        with pytest.raises(NotFoundError):
            await ai.retrieve("menu", "soup")
        assert not (tmp_path / "indexes").exists()

        assert (await ai.index("menu", MENU)).written == 3
        assert (await ai.index("devstore/menu", MENU)).unchanged == 3

        best, *_ = await ai.retrieve("menu", "vegan lasagne", k=2)
        assert (best.text, best.score) == ("Vegan lasagne", 1)
        (hit,) = await ai.retrieve("menu", "something", k=3, where=F("price") < 6)
        assert hit.text == "Chocolate cake"


async def test_an_index_outlives_the_app(tmp_path: Path):
    async with app(tmp_path / "indexes", FakeEmbedder()) as ai:
        await ai.index("menu", MENU)
    async with app(tmp_path / "indexes", FakeEmbedder()) as ai:
        assert [doc.text for doc in await ai.retrieve("menu", "chocolate cake", k=1)] == ["Chocolate cake"]


def test_it_lists_what_it_could_do_without_touching_the_disk(tmp_path: Path):
    store = DevStore("menu", folder=tmp_path / "indexes")

    assert [info.key for info in store.list()] == ["/indexer/devstore/menu", "/retriever/devstore/menu"]
    assert not (tmp_path / "indexes").exists()
