"""Easy RAG: a folder in, answers out, with the real embedder and the real store."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flowkit.config import Settings
from flowkit.errors import InvalidInputError, NotFoundError
from flowkit.rag import EasyRag, easy_rag
from flowkit.rag.easy import index_name
from flowkit.testing import FakeModel

GUIDE = (
    "# Guide\n\n## Paying\n\nCustomers pay by card.\n\n## Cancelling\n\nAn order can be cancelled within fourteen days."
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "guide.md").write_text(GUIDE)
    (tmp_path / "docs" / "soup.txt").write_text("Tomato soup costs 3.50 EUR.")
    return tmp_path / "docs"


@pytest.fixture
async def docs(folder: Path) -> AsyncIterator[EasyRag]:
    async with easy_rag(folder, settings=Settings(root=folder.parent)) as docs:
        yield docs


async def test_questions_are_answered_from_a_folder(docs: EasyRag, folder: Path):
    response, hits = await asyncio.gather(docs.ask("How can an order be cancelled?"), docs.retrieve("soup", k=1))

    assert response.text.startswith("An order can be cancelled within fourteen days")
    assert response.citations[0].source == "docs/guide.md"
    assert len(response.sources) == 3
    assert [hit.text for hit in hits] == ["Tomato soup costs 3.50 EUR."]
    assert (folder.parent / ".flowkit" / "indexes" / "docs").is_dir()

    (folder / "soup.txt").write_text("Tomato soup costs 4.00 EUR.")
    report = await docs.sync()
    assert (report.written, report.deleted, report.unchanged) == (1, 1, 2)
    where = "source = 'docs/soup.txt'"
    assert [hit.text for hit in await docs.retrieve("soup", where=where)] == ["Tomato soup costs 4.00 EUR."]


async def test_a_model_of_ones_own_answers_from_the_same_chunks(folder: Path):
    model = FakeModel(replies=["Within two weeks."])
    settings = Settings(root=folder.parent)
    async with easy_rag(folder / "guide.md", model="fake-model", plugins=[model], settings=settings) as docs:
        assert (await docs.ask("How long?", k=1)).text == "Within two weeks."

    assert "fourteen days" in model.requests[0].messages[-1].text
    assert docs.index == "docs/guide.md"


def test_code_that_is_not_async_waits(folder: Path):
    docs = easy_rag(folder, settings=Settings(root=folder.parent))
    try:
        hits = docs.run_sync(docs.retrieve("paying by card", k=1))
    finally:
        docs.run_sync(docs.aclose())

    assert [hit.metadata["heading"] for hit in hits] == ["Guide > Paying"]


async def test_a_folder_without_documents_is_told_and_tried_again(tmp_path: Path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "photo.jpg").write_bytes(b"\xff\xd8")
    async with easy_rag(tmp_path / "docs", settings=Settings(root=tmp_path)) as docs:
        with pytest.raises(InvalidInputError, match="nothing to index") as caught:
            await docs.ask("Anything?")
        assert "docs/photo.jpg: no text format" in (caught.value.hint or "")
        (tmp_path / "docs" / "a.md").write_text("Anything goes here.")
        assert (await docs.ask("What goes here?")).text.startswith("Anything goes")


def test_a_folder_must_be_there(tmp_path: Path):
    with pytest.raises(NotFoundError, match="nowhere"):
        easy_rag(tmp_path / "nowhere")


def test_an_index_is_named_after_the_place_of_its_folder(tmp_path: Path):
    assert index_name(tmp_path / "a" / "docs", tmp_path) == "a/docs"
    assert index_name(tmp_path, tmp_path) == tmp_path.name
    assert index_name(tmp_path, tmp_path / "project") == tmp_path.name
