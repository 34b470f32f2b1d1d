"""Stores as retrievers: modes, conditions, options, and the identity of an index."""

from typing import Any

import pytest

from flowkit import EmbedderInfo, F, Flowkit
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
from flowkit.plugin import StorePlugin
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.testing import FakeEmbedder
from tests.support.stores import Counting, doc
from tests.support.traced import Spans


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
    async def aclose(self) -> None: ...


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


async def test_a_filter_that_cannot_be_read_is_told_in_our_words(ai: Flowkit, menu: InMemoryStore):
    with pytest.raises(InvalidInputError, match=r"where: cannot read the filter 'price <': expected a value at"):
        await ai.retrieve("menu", "soup", where="price <")


def test_an_unknown_mode_is_refused(ai: Flowkit, store: InMemoryStore):
    with pytest.raises(ConfigError, match=r"'memory/odd' has no mode 'weird' .there are: vector, keyword, hybrid"):
        ai.vector_store(store, name="memory/odd", mode="weird")  # type: ignore[arg-type]
