"""Retrievers, indexers and rerankers of users: any form of function, checked options, nothing dropped silently."""

import sqlite3
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import pytest
from pydantic import BaseModel, Field

from flowkit import Document, F, Filter, Flowkit, IndexReport, RunContext, ScoredDocument
from flowkit.errors import ConfigError, InvalidInputError, InvalidOutputError, UnsupportedError
from flowkit.schema.filters import matches
from flowkit.schema.retrieval import RerankerRequest, RerankerResponse, RetrieverRequest, RetrieverResponse

MENU = [
    Document.from_text("tomato soup", {"price": 5}),
    Document.from_text("vegan lasagne", {"price": 12}),
    Document.from_text("apple cake", {"price": 4}),
]


class Options(BaseModel):
    k: int = 3
    pre_rerank_k: int = Field(default=10, le=1000)


def texts(documents: list[ScoredDocument]) -> list[str]:
    return [document.text for document in documents]


# Forms.


def of_text(query: str) -> list[Document]:
    return [document for document in MENU if query in document.text]


async def of_document(query: Document) -> list[Document]:
    return of_text(query.text)


async def of_text_or_nothing(query: str | None, ctx: RunContext) -> list[Document]:
    return of_text(query or "")


async def of_request(request: RetrieverRequest) -> RetrieverResponse:
    return RetrieverResponse(documents=tuple(ScoredDocument.of(doc, 0.5) for doc in of_text(request.query.text)))


def untyped(query):
    return of_text(query.text)


async def one_by_one(query: str):
    for document in of_text(query):
        yield document


@pytest.mark.parametrize("fn", [of_text, of_document, of_text_or_nothing, of_request, untyped, one_by_one])
async def test_a_retriever_takes_and_gives_what_is_natural(ai: Flowkit, fn: Callable[..., Any]):
    retriever = ai.retriever("menu")(fn)

    assert texts(await ai.retrieve("menu", "soup")) == ["tomato soup"]
    assert texts(await ai.retrieve(retriever, Document.from_text("soup"))) == ["tomato soup"]
    assert texts(await ai.retrieve(retriever, "xyz")) == []
    assert [doc.text for doc in (await retriever({"query": {"content": [{"text": "soup"}]}})).documents] == [
        "tomato soup"
    ]


async def test_a_retriever_that_is_called_like_its_function_says_how_it_is_called(ai: Flowkit):
    retriever = ai.retriever("menu")(of_text)

    with pytest.raises(InvalidInputError, match=r"call it as ai.retrieve\('menu', query\)"):
        await retriever("soup")
    with pytest.raises(InvalidInputError, match=r"call it as ai.retrieve\('menu', query\)"):
        retriever("soup", k=3)
    assert retriever.__wrapped__("soup") == [MENU[0]]


# Options.


async def test_k_reaches_a_retriever_that_has_it_and_is_cut_for_one_that_has_not(ai: Flowkit):
    asked: list[int] = []

    @ai.retriever()
    def counts(query: str, k: int = 99) -> list[Document]:
        asked.append(k)
        return MENU[:k]

    ai.retriever("gives_all")(lambda query: MENU)

    assert len(await ai.retrieve(counts, "q", k=2)) == 2
    assert len(await ai.retrieve(counts, "q", k=2, options={"k": 1})) == 1
    assert len(await ai.retrieve("gives_all", "q", k=2)) == 2
    assert asked == [2, 1]


async def test_a_condition_reaches_a_retriever_that_takes_conditions(ai: Flowkit):
    @ai.retriever()
    def menu(query: str, *, where: Filter | None = None, min_score: float = 0.0) -> list[ScoredDocument]:
        return [ScoredDocument.of(doc, min_score) for doc in MENU if where is None or matches(where, doc.metadata)]

    assert texts(await ai.retrieve(menu, "q", where=F("price") < 5)) == ["apple cake"]
    assert texts(await ai.retrieve(menu, "q", where="price > 10")) == ["vegan lasagne"]
    assert [hit.score for hit in await ai.retrieve(menu, "q", min_score=0.7)] == [0.7, 0.7, 0.7]


@pytest.mark.parametrize("given", [{"where": F("price") < 5}, {"where": "price < 5"}, {"min_score": 0.5}])
async def test_a_condition_that_a_retriever_cannot_do_is_refused(ai: Flowkit, given: dict[str, Any]):
    ai.retriever("menu")(of_text)

    with pytest.raises(UnsupportedError, match="retriever 'menu' has no option"):
        await ai.retrieve("menu", "soup", **given)


@pytest.mark.parametrize("given", [{"k": 0}, {"k": -1}, {"min_score": 1.1}, {"min_score": -0.1}])
async def test_numbers_out_of_range_are_refused(ai: Flowkit, given: dict[str, Any]):
    ai.retriever("menu")(of_text)

    with pytest.raises(InvalidInputError):
        await ai.retrieve("menu", "soup", **given)


@pytest.mark.parametrize("query", ["", " \n", None, 3])
async def test_a_query_must_say_something(ai: Flowkit, query: Any):
    ai.retriever("menu")(of_text)

    with pytest.raises(InvalidInputError):
        await ai.retrieve("menu", query)


def by_keywords(query: str, *, k: int = 3, pre_rerank_k: Annotated[int, Field(le=1000)] = 10) -> list[Document]:
    return MENU[: min(k, pre_rerank_k)]


def by_options(query: str, options: Options) -> list[Document]:
    return MENU[: min(options.k, options.pre_rerank_k)]


def by_options_of_another_name(query: str, settings: Options = Options()) -> list[Document]:  # noqa: B008  as users write it
    return by_options(query, settings)


def by_optional_options(query: str, options: Options | None = None) -> list[Document]:
    return by_options(query, options or Options())


async def by_request_and_options(request: RetrieverRequest, options: Options) -> list[Document]:
    return by_options("", options)


@pytest.mark.parametrize(
    "fn", [by_keywords, by_options, by_options_of_another_name, by_optional_options, by_request_and_options]
)
async def test_options_have_a_schema_and_are_checked(ai: Flowkit, fn: Callable[..., Any]):
    retriever = ai.retriever("menu")(fn)

    schema = retriever.metadata["retriever"]["customOptions"]
    assert schema["type"] == "object"
    assert schema["properties"]["pre_rerank_k"]["maximum"] == 1000
    assert schema["properties"]["k"]["default"] == 3
    assert len(await ai.retrieve(retriever, "q", k=2)) == 2
    assert len(await ai.retrieve(retriever, "q", options={"pre_rerank_k": 1})) == 1
    assert len(await ai.retrieve(retriever, "q", options=Options(pre_rerank_k=1))) == 1
    with pytest.raises(InvalidInputError) as caught:
        await ai.retrieve(retriever, "q", options={"pre_rerank_k": 1001})
    (problem,) = caught.value.details["errors"]
    assert problem["path"] == "pre_rerank_k"
    assert "1000" in problem["message"]


async def test_untyped_options_take_any_key(ai: Flowkit):
    @ai.retriever()
    def menu(query: str, options) -> list[Document]:
        return [Document.from_text(str(sorted(options.items())))]

    found = await ai.retrieve(menu, "q", k=2, options={"deep": True})

    assert texts(found) == ["[('deep', True), ('k', 2)]"]


@pytest.mark.parametrize("fn", [of_text, by_keywords])
async def test_an_option_that_a_retriever_lacks_is_refused(ai: Flowkit, fn: Callable[..., Any]):
    ai.retriever("menu")(fn)

    with pytest.raises(InvalidInputError):
        await ai.retrieve("menu", "q", options={"depth": 3})


@pytest.mark.parametrize("options", [3, "k=3", ["k"]])
async def test_options_are_an_object(ai: Flowkit, options: Any):
    ai.retriever("menu")(of_text)

    with pytest.raises(InvalidInputError, match="options are a"):
        await ai.retrieve("menu", "q", options=options)


def no_query() -> list[Document]:
    return []


def only_context(ctx: RunContext) -> list[Document]:
    return []


@pytest.mark.parametrize("fn", [no_query, only_context])
def test_a_retriever_without_a_query_is_refused(ai: Flowkit, fn: Callable[..., Any]):
    with pytest.raises(ConfigError, match="takes 0 parameters"):
        ai.retriever("menu")(fn)


@pytest.mark.parametrize("answer", [3, "soup", ["soup"], [None]])
async def test_what_are_no_documents_is_refused(ai: Flowkit, answer: Any):
    retriever = ai.retriever("menu")(lambda query: answer)

    with pytest.raises(InvalidOutputError, match="return a list of documents"):
        await ai.retrieve(retriever, "q")


# Rows.


class Dish:
    def __init__(self, name: str, price: int) -> None:
        self.name = name
        self.price = price


def database() -> list[sqlite3.Row]:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    rows = connection.execute("select 'soup' as name, 5 as price union all select '', 0").fetchall()
    connection.close()
    return rows


@pytest.mark.parametrize(
    "rows",
    [[{"name": "soup", "price": 5}, {"name": " ", "price": 0}], [Dish("soup", 5), Dish("", 0)], database()],
    ids=["dicts", "objects", "a database"],
)
async def test_rows_become_documents_and_those_without_text_are_left_out(ai: Flowkit, rows: list[Any]):
    keep_all = ai.simple_retriever("all", content="name")(lambda query: rows)
    keep_some = ai.simple_retriever("some", content="name", metadata=["price"])(lambda query: rows)
    by_functions = ai.simple_retriever(
        "functions",
        content=lambda row: f"{dict(vars(row)) if isinstance(row, Dish) else dict(row)}",
        metadata=lambda row: {"x": 1},
    )(lambda query: rows)

    for retriever in (keep_all, keep_some):
        (found,) = await ai.retrieve(retriever, "q")
        assert (found.text, dict(found.metadata)) == ("soup", {"price": 5})
    assert [dict(found.metadata) for found in await ai.retrieve(by_functions, "q")] == [{"x": 1}] * 2


async def test_a_row_without_the_key_is_named(ai: Flowkit):
    ai.simple_retriever("dishes", content="title")(lambda query: [{"name": "soup"}])
    ai.simple_retriever("tuples", content=str)(lambda query: [("soup", 5)])

    with pytest.raises(InvalidOutputError, match="a row has no 'title'"):
        await ai.retrieve("dishes", "q")
    with pytest.raises(InvalidOutputError, match="a row is a tuple"):
        await ai.retrieve("tuples", "q")


# Rerankers.


def scores(query: str, documents: list[str]) -> list[float]:
    return [float(text.count(query)) for text in documents]


def as_array(query: str, documents: list[str]) -> Any:
    return np.array(scores(query, documents), dtype=np.float32)


def as_numpy_numbers(query: str, documents: list[str]) -> list[Any]:
    return list(as_array(query, documents))


async def as_documents(query: Document, documents: list[ScoredDocument]) -> list[ScoredDocument]:
    found = [ScoredDocument.of(doc, doc.score, rerank_score=float(doc.text.count(query.text))) for doc in documents]
    return sorted(found, key=lambda doc: -(doc.rerank_score or 0))


async def as_response(request: RerankerRequest) -> RerankerResponse:
    return RerankerResponse(documents=tuple(await as_documents(request.query, list(request.documents))))


@pytest.mark.parametrize("fn", [scores, as_array, as_numpy_numbers, as_documents, as_response])
async def test_a_reranker_gives_scores_or_documents_and_equal_ones_keep_their_order(
    ai: Flowkit, fn: Callable[..., Any]
):
    reranker = ai.reranker("count")(fn)

    best = await ai.rerank(reranker, "vegan", MENU)

    assert texts(best) == ["vegan lasagne", "tomato soup", "apple cake"]
    assert [doc.rerank_score for doc in best] == [1.0, 0.0, 0.0]
    assert [doc.metadata["score"] for doc in best] == [1.0, 0.0, 0.0]
    assert texts(await ai.rerank("count", "vegan", MENU, k=1)) == ["vegan lasagne"]


async def test_k_reaches_a_reranker_that_has_it(ai: Flowkit):
    asked: list[int] = []

    @ai.reranker()
    def short(query: str, documents: list[str], *, k: int = 1) -> list[float]:
        asked.append(k)
        return [1.0] * len(documents)

    await ai.rerank(short, "q", MENU, k=2)
    await ai.rerank(short, "q", MENU)

    assert asked == [2, 1]


async def test_a_reranker_keeps_the_score_of_the_search(ai: Flowkit):
    ai.reranker("count")(scores)

    (hit,) = await ai.rerank("count", "soup", [ScoredDocument.of(MENU[0], 0.9)])

    assert (hit.score, hit.rerank_score) == (0.9, 1.0)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([1.0], "gave 1 scores for 3 documents"),
        ([1.0, float("nan"), 0.0], "the score nan"),
        ([True, False, True], "no rerank_score"),
        (MENU, "no rerank_score"),
        (3, "returned int"),
    ],
)
async def test_what_are_no_scores_is_refused(ai: Flowkit, answer: Any, message: str):
    reranker = ai.reranker("it")(lambda query, documents: answer)

    with pytest.raises(InvalidOutputError, match=message):
        await ai.rerank(reranker, "q", MENU)


async def test_nothing_to_rerank_makes_no_call_but_names_are_checked(ai: Flowkit):
    reranker = ai.reranker("it")(lambda query, documents: 1 / 0)

    assert await ai.rerank(reranker, "q", []) == []
    with pytest.raises(InvalidInputError, match="k is 0"):
        await ai.rerank(reranker, "q", MENU, k=0)
    with pytest.raises(LookupError):
        await ai.rerank("nowhere", "q", [])


# Indexers.


async def test_an_indexer_may_return_nothing_a_count_or_a_report(ai: Flowkit):
    for number, (answer, written) in enumerate([(None, 3), (2, 2), (IndexReport(written=1, unchanged=2), 1)]):
        indexer = ai.indexer(f"menu{number}")(lambda documents, answer=answer: answer)
        assert (await ai.index(indexer, MENU)).written == written


async def test_an_indexer_that_returns_something_else_is_told(ai: Flowkit):
    indexer = ai.indexer("menu")(lambda documents: True)

    with pytest.raises(InvalidOutputError, match="returned bool"):
        await ai.index(indexer, MENU)


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ("soup", "takes a list of documents"),
        (MENU[0], "takes a list of documents"),
        (["soup"], "item 0 is a str"),
        ([MENU[0], None], "item 1 is a NoneType"),
    ],
)
async def test_what_are_no_documents_is_not_indexed(ai: Flowkit, documents: Any, message: str):
    indexer = ai.indexer("menu")(lambda documents: None)

    with pytest.raises(InvalidInputError, match=message):
        await ai.index(indexer, documents)
