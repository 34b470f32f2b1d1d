"""Transformers keep order and leave out; chunks get their title; a model draws graphs."""

import asyncio
import json

import pytest

from flowkit import Document, Flowkit
from flowkit.errors import InvalidInputError, InvalidOutputError
from flowkit.rag import transform
from flowkit.rag.transform import GraphEdge, GraphNode
from flowkit.testing import FakeModel

DOCUMENTS = [Document.from_text(text) for text in ("one", "two", "three")]


async def test_transformers_keep_the_order_and_leave_out():
    def shout(document: Document) -> Document | None:
        return None if document.text == "two" else Document.from_text(document.text.upper())

    async def later(document: Document) -> Document | None:
        await asyncio.sleep(0.03 if document.text == "one" else 0)
        return shout(document)

    for each in (shout, later, lambda document: later(document)):
        assert [made.text for made in await transform.transform_all(each, DOCUMENTS)] == ["ONE", "THREE"]


async def test_the_first_failure_stops_the_others():
    ended = []

    async def fail(document: Document) -> Document:
        try:
            if document.text == "two":
                raise ValueError("no two")
            await asyncio.sleep(30)
        finally:
            ended.append(document.text)
        return document

    with pytest.raises(ValueError, match="no two"):
        await transform.transform_all(fail, DOCUMENTS)
    assert sorted(ended) == ["one", "three", "two"]


def test_a_prefix_puts_metadata_before_the_text():
    chunk = Document.from_text("Add salt.", {"title": "Soup", "heading": "Cooking", "content_hash": "x"}, id="c")

    made = transform.prefix("title", "heading", "none")(chunk)

    assert made.text == "Soup\nCooking\n\nAdd salt."
    assert made.id == "c"
    assert made.metadata["content_hash"] != "x"
    assert transform.prefix("title")(made) is made
    with pytest.raises(InvalidInputError):
        transform.prefix()


FACTS = [
    {"head": "Ada", "head_type": "Person", "relation": "BORN_IN", "tail": "London", "tail_type": "Place"},
    {"head": "Ada", "head_type": "Person", "relation": "WROTE", "tail": "Notes"},
]


async def draw(*replies: str, **options: object) -> tuple[transform.GraphDocument | None, FakeModel]:
    model = FakeModel(replies=list(replies))
    async with Flowkit(plugins=[model]) as ai:
        drawer = transform.llm_graph(await ai.action("/model/fake-model"), **options)
        return await drawer(Document.from_text("Ada was born in London.")), model


async def test_a_model_draws_a_graph():
    graph, model = await draw(
        json.dumps(FACTS), allowed_nodes=["Person", "Place"], examples="[…]", instructions="Hurry"
    )

    ada, london, notes = GraphNode("Ada", "Person"), GraphNode("London", "Place"), GraphNode("Notes")
    assert graph is not None
    assert graph.nodes == {ada, london, notes}
    assert graph.edges == {GraphEdge(ada, london, "BORN_IN"), GraphEdge(ada, notes, "WROTE")}
    assert graph.source.text == "Ada was born in London."
    system, user = (message.text for message in model.requests[0].messages)
    assert "JSON list" in system
    for part in ("Person, Place", "[…]", "Hurry", "Ada was born in London."):
        assert part in user


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```{}```", "Here it is:\n```JSON {}```\nDone.", "``` \n{}```"])
async def test_an_answer_may_be_fenced(fence: str):
    graph, _ = await draw(fence.replace("{}", json.dumps(FACTS)))

    assert graph is not None
    assert len(graph.edges) == 2


async def test_an_answer_that_cannot_be_read_is_asked_for_again():
    graph, model = await draw("sorry", '{"head": 1}', json.dumps(FACTS), max_attempts=2)

    assert graph is not None
    assert len(model.requests) == 3
    with pytest.raises(InvalidOutputError, match="2 answers of the model cannot be read") as caught:
        await draw("sorry", "sorry")
    assert caught.value.details == {"answer": "sorry"}


async def test_a_prompt_of_ones_own_is_sent_as_it_is():
    _, model = await draw("[]", prompt="Draw nothing.", examples="unused")

    assert [message.text for message in model.requests[0].messages] == ["Draw nothing."]


async def test_documents_in_which_nothing_is_found_are_left_out():
    replies = iter(["[]", json.dumps(FACTS), '[{"head": "A"}]'])

    graphs = await transform.llm_graph(lambda request: next(replies)).transform_all(DOCUMENTS)

    assert len(graphs) == 1
    assert await transform.llm_graph(lambda request: "[]").transform_all([]) == []


def test_a_model_is_no_name():
    with pytest.raises(InvalidInputError, match="model is a str"):
        transform.llm_graph("fake-model")
