"""Stores as indexers and retrievers: what is there is not embedded again, and nobody's work is lost."""

import asyncio
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from flowkit import Document, EmbedderInfo, F, Flowkit
from flowkit.config import Settings
from flowkit.errors import (
    ConfigError,
    FilterTypeError,
    IdentityError,
    InvalidInputError,
    InvalidOutputError,
    NotFoundError,
    UnsupportedError,
)
from flowkit.plugin import StorePlugin, VectorStore
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.testing import FakeEmbedder
from tests.support.traced import Spans


class Counting:
    """Text → a vector of its letters; what was embedded is in `texts`, and how many calls ran at once in `most`."""

    def __init__(self, ai: Flowkit, *, limit: int | None = None, name: str = "counting", fail_on: str = "") -> None:
        self.texts: list[str] = []
        self.fail_on = fail_on
        self.now = self.most = 0
        info = EmbedderInfo(label=name, max_batch_size=limit)
        self.action = ai.embedder(name, info=info)(self.embed)

    async def embed(self, texts: list[str]) -> list[list[float]]:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        if self.fail_on in texts:
            raise ConnectionError("429")
        self.texts.extend(texts)
        return [[float(text.count(letter)) + 0.1 for letter in "aeiou"] for text in texts]


@pytest.fixture
def counting(ai: Flowkit) -> Counting:
    return Counting(ai)


@pytest.fixture
def store(ai: Flowkit, counting: Counting) -> InMemoryStore:
    store = InMemoryStore("menu")
    ai.vector_store(store, name="memory/menu", embedder="counting")
    return store


def doc(text: str, source: str | None = "menu.pdf", **metadata: Any) -> Document:
    return Document.from_text(text, {"source": source, **metadata})


async def all_of(store: VectorStore) -> dict[str, dict[str, Any]]:
    page = await store.fetch(limit=10_000)
    return {row.document.text: dict(row.document.metadata) for row in page.items}


# Ids.


async def test_equal_texts_of_one_source_are_counted(ai: Flowkit, store: InMemoryStore):
    report = await ai.index("menu", [doc("soup"), doc("soup"), doc("soup", "other.pdf"), doc("cake")])

    assert len(set(report.ids)) == 4
    assert report.written == 4
    again = await ai.index("menu", [doc("cake"), doc("soup"), doc("soup")])
    assert again.ids == (report.ids[3], report.ids[0], report.ids[1])
    assert again.unchanged == 3


async def test_without_a_source_text_and_metadata_make_the_id(ai: Flowkit, store: InMemoryStore):
    report = await ai.index("menu", [doc("soup", None, page=1), doc("soup", None, page=2), doc("soup", None, page=1)])

    assert len(set(report.ids)) == 3


async def test_an_id_of_the_users_own_is_kept_and_the_last_of_equal_ones_wins(ai: Flowkit, store: InMemoryStore):
    report = await ai.index("menu", [doc("soup").with_id("a"), doc("cake").with_id("a")])

    assert report.ids == ("a", "a")
    assert report.written == 1
    assert list(await all_of(store)) == ["cake"]


async def test_hits_can_be_indexed_again_and_lose_their_score(ai: Flowkit, store: InMemoryStore):
    await ai.index("menu", [doc("soup")])
    hits = await ai.retrieve("menu", "soup")

    report = await ai.index("menu", hits)

    assert report.unchanged == 1
    assert type((await store.fetch()).items[0].document) is Document


# What is embedded.


async def test_indexing_again_embeds_nothing(ai: Flowkit, store: InMemoryStore, counting: Counting):
    first = await ai.index("menu", [doc("soup"), doc("cake")])
    counting.texts.clear()

    again = await ai.index("menu", [doc("soup"), doc("cake")])

    assert (first.written, again.written, again.unchanged) == (2, 0, 2)
    assert counting.texts == []


async def test_new_metadata_is_written_without_embedding(ai: Flowkit, store: InMemoryStore, counting: Counting):
    await ai.index("menu", [doc("soup", page=1), doc("cake", page=1)])
    counting.texts.clear()

    report = await ai.index("menu", [doc("soup", page=2), doc("cake", page=1)])

    assert (report.updated, report.unchanged, report.written) == (1, 1, 0)
    assert counting.texts == []
    assert (await all_of(store))["soup"]["page"] == 2
    assert [hit.metadata["page"] for hit in await ai.retrieve("menu", "soup", k=1)] == [2]


async def test_a_new_text_of_an_id_is_embedded(ai: Flowkit, store: InMemoryStore, counting: Counting):
    await ai.index("menu", [doc("soup").with_id("a")])
    counting.texts.clear()

    report = await ai.index("menu", [doc("cake").with_id("a"), doc("tea").with_id("b")])

    assert (report.written, report.updated, report.unchanged) == (2, 0, 0)
    assert counting.texts == ["cake", "tea"]


async def test_nothing_to_index_makes_nothing(ai: Flowkit, store: InMemoryStore, counting: Counting):
    report = await ai.index("menu", [])

    assert report.written == 0
    with pytest.raises(NotFoundError):
        await ai.retrieve("menu", "soup")


async def test_cleaned_characters_and_windows_are_reported(ai: Flowkit, store: InMemoryStore):
    report = await ai.index("menu", [doc("so\x00up"), doc("ca\ud800ke")])

    assert report.cleaned_characters == 2


@pytest.mark.parametrize("content", [[], [{"text": " "}], [{"media": {"url": "https://example.org/soup.png"}}]])
async def test_a_document_without_text_is_refused_before_anything_is_written(
    ai: Flowkit, store: InMemoryStore, counting: Counting, content: Any
):
    blank = Document.from_wire({"content": content})

    with pytest.raises(InvalidInputError, match="document 1 has no text"):
        await ai.index("menu", [doc("soup"), blank])
    assert counting.texts == []


# Failures and resuming.


async def test_finished_batches_stay_when_one_fails_and_a_rerun_embeds_the_rest(ai: Flowkit):
    counting = Counting(ai, limit=10, name="flaky", fail_on="dish 15")
    store = InMemoryStore("menu")
    ai.vector_store(store, name="memory/menu", embedder="flaky")
    dishes = [doc(f"dish {n}") for n in range(100)]

    with pytest.raises(ConnectionError):
        await ai.index("menu", dishes)
    kept = len(await all_of(store))
    assert "dish 0" in counting.texts
    assert 10 <= kept < 90
    assert kept == len(counting.texts)

    counting.fail_on = ""
    report = await ai.index("menu", dishes)

    assert (report.written, report.unchanged) == (100 - kept, kept)
    assert sorted(counting.texts) == sorted(f"dish {n}" for n in range(100))


async def test_a_first_run_that_fails_leaves_no_index(ai: Flowkit):
    Counting(ai, name="flaky", fail_on="soup")
    ai.vector_store(InMemoryStore("menu"), name="memory/menu", embedder="flaky")

    with pytest.raises(ConnectionError):
        await ai.index("menu", [doc("soup")])
    with pytest.raises(NotFoundError):
        await ai.retrieve("menu", "soup")


async def test_cancelling_stops_all_batches(ai: Flowkit, spans: Spans):
    counting = Counting(ai, limit=1, name="slow")
    store = InMemoryStore("menu")
    ai.vector_store(store, name="memory/menu", embedder="slow")
    task = asyncio.create_task(ai.index("menu", [doc(f"dish {n}") for n in range(1000)]))
    while not counting.texts:
        await asyncio.sleep(0.001)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    done = len(counting.texts)
    await asyncio.sleep(0.01)
    assert len(counting.texts) == done < 1000
    assert len(await all_of(store)) <= done
    await ai.index("menu", [doc("after")])


# At the same time.


async def test_two_calls_at_once_lose_nothing(ai: Flowkit, store: InMemoryStore, counting: Counting):
    a, b = [doc(f"a {n}") for n in range(150)], [doc(f"b {n}") for n in range(150)]

    await asyncio.gather(ai.index("menu", a), ai.index("menu", b))

    assert len(await all_of(store)) == 300


async def test_the_same_documents_at_once_are_embedded_once(ai: Flowkit, store: InMemoryStore, counting: Counting):
    dishes = [doc(f"dish {n}") for n in range(150)]

    reports = await asyncio.gather(*(ai.index("menu", dishes) for _ in range(3)))

    assert sorted(report.written for report in reports) == [0, 0, 150]
    assert len(counting.texts) == 150


def test_the_same_documents_from_many_threads_are_embedded_once(ai: Flowkit, store: InMemoryStore, counting: Counting):
    dishes = [doc(f"dish {n}") for n in range(20)]
    together = threading.Barrier(4)
    reports: list[int] = []

    async def index() -> None:
        together.wait(5)
        reports.append((await ai.index("menu", dishes)).written)

    threads = [threading.Thread(target=asyncio.run, args=(index(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)

    assert sorted(reports) == [0, 0, 0, 20]
    assert len(counting.texts) == 20


async def test_a_change_of_text_and_one_of_metadata_at_once_leave_a_text_with_its_own_vector(
    ai: Flowkit, store: InMemoryStore, counting: Counting
):
    for _ in range(5):
        await ai.index("menu", [doc("aaa", page=1).with_id("x")])

        await asyncio.gather(
            ai.index("menu", [doc("eee", page=1).with_id("x")]), ai.index("menu", [doc("aaa", page=2).with_id("x")])
        )

        (row,) = (await store.fetch(with_vectors=True)).items
        (expected,) = await counting.embed([row.document.text])
        assert row.vector == pytest.approx(expected)


async def test_few_calls_of_an_embedder_run_at_once(ai: Flowkit):
    counting = Counting(ai, limit=10, name="limited")
    ai.vector_store(InMemoryStore("menu"), name="memory/menu", embedder="limited")

    await ai.index("menu", [doc(f"dish {n}") for n in range(500)])

    assert counting.most == 4


# Searching.


@pytest.fixture
async def menu(ai: Flowkit, store: InMemoryStore) -> InMemoryStore:
    await ai.index("menu", [doc("banana", price=3), doc("tomato soup", price=5), doc("eel pie", price=12)])
    return store


@pytest.mark.parametrize("mode", ["vector", "keyword", "hybrid"])
async def test_the_best_comes_first_in_every_mode(ai: Flowkit, menu: InMemoryStore, mode: str):
    hits = await ai.retrieve("menu", "tomato soup", k=2, options={"mode": mode})

    assert hits[0].text == "tomato soup"
    assert len(hits) == (1 if mode == "keyword" else 2)
    assert all(0 <= hit.score <= 1 for hit in hits)


async def test_keyword_search_needs_no_embedder(ai: Flowkit, menu: InMemoryStore, counting: Counting):
    ai.vector_store(menu, name="memory/words", mode="keyword")
    counting.texts.clear()

    assert [hit.text for hit in await ai.retrieve("memory/words", "eel")] == ["eel pie"]
    assert counting.texts == []
    with pytest.raises(ConfigError, match="has no embedder"):
        await ai.retrieve("memory/words", "eel", options={"mode": "vector"})
    with pytest.raises(ConfigError, match="has no embedder"):
        await ai.index("memory/words", [doc("soup")])


async def test_conditions_in_every_form(ai: Flowkit, menu: InMemoryStore):
    for where in (F("price") < 6, "price < 6", (F("price") < 6).to_wire()):
        hits = await ai.retrieve("menu", "soup", k=9, where=where)
        assert sorted(hit.text for hit in hits) == ["banana", "tomato soup"]
    with pytest.raises(FilterTypeError):
        await ai.retrieve("menu", "soup", where=F("price") < "6")
    assert await ai.retrieve("menu", "tomato soup", min_score=0.9999) != []


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"k": 0}, "k"),
        ({"k": 1001}, "k"),
        ({"minScore": 2}, "minScore"),
        ({"min_score": -1}, "min_score"),
        ({"mode": "magic"}, "mode"),
        ({"filter": "price < 6"}, "filter"),
        ({"where": "price <"}, "where"),
    ],
)
async def test_bad_options_are_refused_with_their_path(ai: Flowkit, menu: InMemoryStore, options: Any, path: str):
    with pytest.raises(InvalidInputError) as caught:
        await ai.retrieve("menu", "soup", options=options)

    assert [problem["path"] for problem in caught.value.details["errors"]] == [path]


async def test_options_win_over_arguments_in_both_spellings(ai: Flowkit, menu: InMemoryStore):
    for options in ({"k": 1, "min_score": 0.0}, {"k": 1, "minScore": 0.0}):
        assert len(await ai.retrieve("menu", "soup", k=3, min_score=0.9999, options=options)) == 1


async def test_a_question_never_makes_an_index(ai: Flowkit, store: InMemoryStore, counting: Counting):
    for mode in ("vector", "keyword", "hybrid"):
        with pytest.raises(NotFoundError, match="no index 'menu'"):
            await ai.retrieve("menu", "soup", options={"mode": mode})
    assert counting.texts == []


async def test_questions_are_embedded_as_questions(ai: Flowkit, spans: Spans):
    tasks: list[str] = []

    @ai.embedder()
    def asks(texts: list[str], *, task: str) -> list[list[float]]:
        tasks.append(task)
        return [[1.0, 0.0]] * len(texts)

    ai.vector_store(InMemoryStore("menu"), name="menu", embedder="asks")
    await ai.index("menu", [doc("soup")])
    await ai.retrieve("menu", "soup")

    assert tasks == ["document", "query"]


# Identity.


async def test_another_embedder_is_refused_before_it_is_asked(ai: Flowkit, menu: InMemoryStore):
    other = Counting(ai, name="other")
    ai.vector_store(menu, name="again/menu", embedder="other")

    for run in (lambda: ai.retrieve("again/menu", "soup"), lambda: ai.index("again/menu", [doc("tea")])):
        with pytest.raises(IdentityError, match="counting") as caught:
            await run()
        assert "other" in str(caught.value)
    assert other.texts == []


async def test_a_bare_embedder_name_is_the_same_embedder(menu: InMemoryStore):
    ai = Flowkit(plugins=[FakeEmbedder(name="fake/words")], settings=Settings())
    store = InMemoryStore("menu")
    ai.vector_store(store, name="a", embedder="words")
    ai.vector_store(store, name="b", embedder="fake/words")

    await ai.index("a", [doc("soup")])

    assert (await store.stats()).embedder == "fake/words"
    assert len(await ai.retrieve("b", "soup")) == 1


async def test_an_embedder_that_is_wrong_about_itself_is_told(ai: Flowkit):
    @ai.embedder(info=EmbedderInfo(label="liar", dimensions=3))
    def liar(texts: list[str]) -> list[list[float]]:
        return [[1.0, 2.0]] * len(texts)

    ai.vector_store(InMemoryStore("menu"), name="menu", embedder="liar")

    with pytest.raises(InvalidOutputError, match="says that it has 3 dimensions and gave vectors of 2"):
        await ai.index("menu", [doc("soup")])


async def test_another_dimension_is_refused_and_both_are_named(ai: Flowkit, menu: InMemoryStore):
    wide = FakeEmbedder(32, name="counting")
    other = Flowkit(plugins=[wide], settings=Settings())
    other.vector_store(menu, name="menu", embedder="counting")

    with pytest.raises(IdentityError, match=r"5.*32") as caught:
        await other.index("menu", [doc("tea")])
    assert caught.value.hint
    with pytest.raises(IdentityError):
        await other.retrieve("menu", "tea")
    assert wide.texts == []


# Stores and the app.


class Shop(InMemoryStore, StorePlugin):
    """A store that is a plugin."""

    def __init__(self, index: str, embedder: str) -> None:
        super().__init__(index)
        self.name = "shop"
        self.embedder = embedder


class Half(StorePlugin):
    name = "half"
    index = "x"
    embedder = None

    async def open(self, *, create: bool, dimension: int | None = None, embedder: str | None = None) -> None: ...


async def test_a_store_class_is_a_plugin():
    ai = Flowkit(
        plugins=[FakeEmbedder(), Shop("menu", "fake-embedder"), Shop("wine", "fake-embedder")], settings=Settings()
    )

    await ai.index("menu", [doc("soup")])
    await ai.index("wine", [doc("riesling")])

    assert [hit.text for hit in await ai.retrieve("shop/wine", "riesling")] == ["riesling"]
    assert ai.registry.keys("retriever") == ["/retriever/shop/menu", "/retriever/shop/wine"]
    assert sorted(ai.stores) == ["shop/menu", "shop/wine"]


def test_a_store_that_lacks_methods_is_told_which():
    ai = Flowkit(plugins=[Half()], settings=Settings())

    with pytest.raises(ConfigError, match=r"Half is no VectorStore: it lacks .*search.*upsert"):
        ai.registry.list()


def test_two_stores_of_one_name_are_refused(ai: Flowkit, store: InMemoryStore):
    with pytest.raises(InvalidInputError, match="there are two indexers named 'memory/menu'"):
        ai.vector_store(Shop("menu", "counting"), name="memory/menu", embedder="counting")


async def test_a_trace_shows_what_was_embedded_for_what(ai: Flowkit, menu: InMemoryStore, spans: Spans):
    @ai.flow()
    async def ask(question: str) -> int:
        return len(await ai.retrieve("menu", question))

    await ask("soup")

    embedder, retriever, flow = spans
    assert [(span.name, span.kind) for span in spans] == [
        ("counting", "embedder"),
        ("memory/menu", "retriever"),
        ("ask", "flow"),
    ]
    assert (embedder.parent, retriever.parent) == (retriever, flow)


async def test_a_condition_of_another_retriever_is_no_condition_of_a_store(ai: Flowkit, menu: InMemoryStore):
    ai.retriever("plain")(lambda query: [])

    with pytest.raises(UnsupportedError):
        await ai.retrieve("plain", "q", where=F("price") < 3)


# The embedding cache.


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
