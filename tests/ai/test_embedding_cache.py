"""Embeddings are found again for the same model, dimension, task and text, for documents and questions."""

import sqlite3
from pathlib import Path

import pytest

from flowkit import EmbedderInfo, Flowkit
from flowkit.config import Settings
from flowkit.rag.stores.memory import InMemoryStore
from tests.support.stores import Counting, doc


def app(folder: Path, model: str, *, dimensions: int | None = None, texts: list[str]) -> Flowkit:
    """An app in a project folder, with an embedder that writes down what it embeds."""
    ai = Flowkit(settings=Settings(root=folder))

    @ai.embedder(model, info=EmbedderInfo(label=model, dimensions=dimensions))
    async def embed(documents: list[str]) -> list[list[float]]:
        texts.extend(documents)
        return [[float(len(text)), 1.0, 2.0, 3.0][: dimensions or 4] for text in documents]

    ai.vector_store(InMemoryStore("menu"), name="menu", embedder=model)
    return ai


async def test_vectors_are_found_again_only_for_the_same_model_dimension_task_and_text(tmp_path: Path):
    calls: list[tuple[str, int, str, str]] = [
        ("m1", 4, "doc", "x"),
        ("m1", 4, "doc", "x"),
        ("m2", 4, "doc", "x"),
        ("m1", 2, "doc", "x"),
        ("m1", 4, "query", "x"),
        ("m1", 4, "query", "x"),
        ("m1", 4, "doc", "x "),
    ]
    embedded = []
    for model, dimensions, task, text in calls:
        texts: list[str] = []
        async with app(tmp_path, model, dimensions=dimensions, texts=texts) as ai:
            await ai.index("menu", [doc(text if task == "doc" else "other")])
            before = len(texts)
            if task == "query":
                await ai.retrieve("menu", text)
                embedded.append(len(texts) - before)
            else:
                embedded.append(before)

    assert embedded == [1, 0, 1, 1, 1, 0, 1]


async def test_a_new_store_is_filled_from_the_cache_and_says_so(tmp_path: Path):
    texts: list[str] = []
    for cached in (0, 3):
        async with app(tmp_path, "m1", texts=texts) as ai:
            report = await ai.index("menu", [doc("soup"), doc("cake"), doc("tea")])
            assert (report.written, report.cached) == (3, cached)
            assert len(await ai.retrieve("menu", "soup", k=9)) == 3

    assert texts == ["soup", "cake", "tea", "soup"]
    assert (tmp_path / ".flowkit" / "cache" / "embeddings.db").is_file()


async def test_an_embedder_whose_code_was_changed_is_asked_again(tmp_path: Path):
    def define(ai: Flowkit, times: float) -> None:
        if times == 1:
            ai.embedder("mine")(lambda texts: [[1.0, 2.0] for _ in texts])
        else:
            ai.embedder("mine")(lambda texts: [[1.0, 3.0] for _ in texts])
        ai.vector_store(InMemoryStore("menu"), name="menu", embedder="mine")

    cached = []
    for times in (1, 1, 2):
        async with Flowkit(settings=Settings(root=tmp_path)) as ai:
            define(ai, times)
            cached.append((await ai.index("menu", [doc("soup")])).cached)

    assert cached == [0, 1, 0]


async def test_a_cache_that_cannot_be_used_fails_nothing(tmp_path: Path):
    file = tmp_path / ".flowkit" / "cache" / "embeddings.db"
    file.mkdir(parents=True)
    texts: list[str] = []

    async with app(tmp_path, "m1", texts=texts) as ai:
        with pytest.warns(RuntimeWarning, match="embeddings are not cached"):
            report = await ai.index("menu", [doc("soup")])
    assert (report.written, report.cached) == (1, 0)


async def test_an_app_without_a_project_writes_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    ai = Flowkit(settings=Settings())
    Counting(ai)
    ai.vector_store(InMemoryStore("menu"), name="menu", embedder="counting")

    await ai.index("menu", [doc("soup")])

    assert list(tmp_path.iterdir()) == []


async def test_closing_the_app_closes_the_cache(tmp_path: Path):
    texts: list[str] = []
    ai = app(tmp_path, "m1", texts=texts)
    await ai.index("menu", [doc("soup")])
    await ai.aclose()

    connection = sqlite3.connect(tmp_path / ".flowkit" / "cache" / "embeddings.db")
    connection.execute("BEGIN EXCLUSIVE")
    connection.close()
