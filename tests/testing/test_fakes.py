"""The fakes are real actions: they stream, count, fail and appear in traces."""

import math

import pytest

from flowkit import Document, Flowkit, GenerateRequest, GenerateResponse, Message
from flowkit.errors import StateError
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.testing import FakeEmbedder, FakeModel, trace_outline


async def test_replies_come_in_order_word_by_word():
    ai = Flowkit(plugins=[FakeModel(["Tomato soup.", "Beef."])], model="fake-model")

    async with ai.generate_stream("What is vegan?") as stream:
        chunks = [chunk.text async for chunk in stream]
    response = await stream.result

    assert chunks == ["Tomato ", "soup."]
    assert response.text == "Tomato soup."
    assert (response.usage.input_tokens, response.usage.output_tokens) == (3, 2)
    assert (await ai.generate("And else?")).text == "Beef."


async def test_a_reply_may_be_a_response_a_function_or_an_error():
    def count(request: GenerateRequest) -> str:
        return f"{len(request.messages)} messages"

    whole = GenerateResponse(message=Message.model("cut off"), finish_reason="length")
    model = FakeModel([whole, count, TimeoutError("too slow")])
    ai = Flowkit(plugins=[model], model="fake-model")

    assert (await ai.generate("one")).finish_reason == "length"
    assert (await ai.generate("two", system="Be brief.")).text == "2 messages"
    with pytest.raises(TimeoutError, match="too slow"):
        await ai.generate("three")
    assert [request.messages[-1].text for request in model.requests] == ["one", "two", "three"]


async def test_a_model_without_replies_left_says_so():
    ai = Flowkit(plugins=[FakeModel(["only one"])], model="fake-model")
    await ai.generate("one")

    with pytest.raises(StateError, match="called 2 times and has 1 replies"):
        await ai.generate("two")


async def test_a_model_without_replies_repeats_the_question():
    assert (await Flowkit(plugins=[FakeModel()], model="fake-model").generate("Soup?")).text == "Soup?"


async def test_documents_come_as_text_unless_the_model_takes_them():
    hits = [Document.from_text("Tomato soup")]
    plain, grounded = FakeModel(name="fake/plain"), FakeModel(name="fake/grounded", context=True)
    ai = Flowkit(plugins=[plain, grounded])

    await ai.generate("Vegan?", model="fake/plain", docs=hits)
    await ai.generate("Vegan?", model="fake/grounded", docs=hits)

    assert "Tomato soup" in plain.requests[0].messages[0].text
    assert grounded.requests[0].messages[0].text == "Vegan?"
    assert [document.text for document in grounded.requests[0].docs] == ["Tomato soup"]


@pytest.mark.parametrize("dimension", [1, 8, 384])
def test_vectors_have_length_one_and_are_always_the_same(dimension: int):
    for text in ("vegan soup", "以上", "?!", "a " * 1000):
        vector = FakeEmbedder(dimension).vector(text)
        assert len(vector) == dimension
        assert math.hypot(*vector) == pytest.approx(1)
        assert vector == FakeEmbedder(dimension).vector(text)


def test_shared_words_bring_texts_nearer():
    embedder = FakeEmbedder()

    def cosine(a: str, b: str) -> float:
        return math.fsum(x * y for x, y in zip(embedder.vector(a), embedder.vector(b), strict=True))

    assert cosine("vegan tomato soup", "Tomato soup") > cosine("vegan tomato soup", "vegan pie") > 0
    assert cosine("vegan tomato soup", "beef steak") == 0


async def test_fakes_appear_in_traces(traces):
    ai = Flowkit(plugins=[FakeModel(["Soup."]), FakeEmbedder()], model="fake-model")
    ai.vector_store(InMemoryStore("menu"), name="menu", embedder="fake-embedder")
    await ai.index("menu", [Document.from_text("vegan soup"), Document.from_text("beef")])

    @ai.flow("menuQA")
    async def menu_qa(question: str) -> str:
        return (await ai.generate(question, docs=await ai.retrieve("menu", question, k=1))).text

    seen = traces(ai)
    await menu_qa("What is vegan?")

    assert (
        trace_outline(seen.spans)
        == """\
menuQA            flow
  menu            retriever
    fake-embedder embedder
  fake-model      model
"""
    )
