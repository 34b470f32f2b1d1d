"""Embedding: batches of what the embedder takes, in order, and never a call for nothing."""

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from flowkit import Document, EmbedderInfo, Embedding, EmbedRequest, EmbedResponse, Flowkit, Usage
from flowkit.errors import ConfigError, InvalidInputError, InvalidOutputError, UnsupportedError
from flowkit.schema.parts import DataPart, Media, MediaPart, TextPart
from tests.support.traced import Spans


class Counting:
    """An embedder that counts: text "7" has the vector [7.0]. It keeps the size of each call."""

    def __init__(self, ai: Flowkit, *, limit: int | None = None) -> None:
        self.sizes: list[int] = []
        self.most_at_once = self.at_once = 0
        ai.embedder("counting", info=EmbedderInfo(label="Counting", max_batch_size=limit))(self.embed)

    async def embed(self, texts: list[str]) -> EmbedResponse:
        self.sizes.append(len(texts))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        # Later batches answer sooner.
        for _ in range(10 - min(len(self.sizes), 9)):
            await asyncio.sleep(0)
        self.at_once -= 1
        vectors = tuple(Embedding(vector=(float(text),)) for text in texts)
        return EmbedResponse(embeddings=vectors, usage=Usage(input_tokens=len(texts)), custom={"windowed": 1})


@pytest.mark.parametrize(
    ("texts", "sizes"),
    [(0, []), (1, [1]), (99, [99]), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])],
)
async def test_texts_go_in_batches_of_a_hundred_and_come_back_in_order(ai: Flowkit, texts: int, sizes: list[int]):
    counting = Counting(ai)

    response = await ai.embed_many("counting", [str(n) for n in range(texts)])

    assert counting.sizes == sizes
    assert [embedding.vector for embedding in response.embeddings] == [(float(n),) for n in range(texts)]


async def test_an_embedder_says_how_many_texts_it_takes(ai: Flowkit):
    counting = Counting(ai, limit=2)

    response = await ai.embed_many("counting", ["0", "1", "2", "3", "4"])

    assert counting.sizes == [2, 2, 1]
    assert response.usage is not None
    assert response.usage.input_tokens == 5
    assert response.custom == {"windowed": 3}


async def test_four_batches_are_under_way_at_a_time(ai: Flowkit):
    counting = Counting(ai, limit=1)

    await ai.embed_many("counting", [str(n) for n in range(50)])

    assert counting.most_at_once == 4


async def test_a_batch_that_fails_cancels_the_others(ai: Flowkit, spans: Spans):
    calls: list[str] = []
    error = ConnectionError("no network")

    @ai.embedder(info=EmbedderInfo(label="flaky", max_batch_size=1))
    async def flaky(texts: list[str]) -> list[list[float]]:
        calls.append(texts[0])
        if texts == ["1"]:
            raise error
        await asyncio.Event().wait()
        return [[1.0]]

    with pytest.raises(ConnectionError) as caught:
        await asyncio.wait_for(ai.embed_many(flaky, [str(n) for n in range(50)]), 10)

    assert caught.value is error
    assert caught.value.__context__ is None
    assert len(calls) == 4
    assert sorted(span.state or "" for span in spans) == ["cancelled", "cancelled", "cancelled", "error"]


async def test_cancelling_cancels_all_batches(ai: Flowkit, spans: Spans):
    begun = asyncio.Event()

    @ai.embedder(info=EmbedderInfo(label="slow", max_batch_size=1))
    async def slow(texts: list[str]) -> list[list[float]]:
        begun.set()
        await asyncio.Event().wait()
        return [[1.0]]

    task = asyncio.create_task(ai.embed_many(slow, ["a", "b"]))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert [span.state for span in spans] == ["cancelled", "cancelled"]


# Forms of embedders.


class Options(BaseModel):
    scale: float = 1.0
    task: str = "?"


def of_texts(texts: list[str]) -> list[list[float]]:
    return [[float(len(text))] for text in texts]


async def of_documents(documents: list[Document]) -> list[list[float]]:
    return [[float(len(document.text))] for document in documents]


async def of_a_request(request: EmbedRequest) -> EmbedResponse:
    return EmbedResponse(embeddings=tuple(Embedding(vector=(float(len(d.text)),)) for d in request.input))


def untyped(documents):
    return np.array([[len(document.text)] for document in documents], dtype=np.float32)


def of_rows(texts: list[str]) -> list[Any]:
    return [np.array([len(text)]) for text in texts]


def one_by_one(texts: list[str]):
    for text in texts:
        yield [float(len(text))]


@pytest.mark.parametrize("fn", [of_texts, of_documents, of_a_request, untyped, of_rows, one_by_one, lambda t: [[4.0]]])
async def test_an_embedder_takes_and_gives_what_is_natural(ai: Flowkit, fn: Callable[..., Any]):
    embedder = ai.embedder("it")(fn)

    assert (await ai.embed(embedder, "soup")).vector == (4.0,)
    assert (await ai.embed("it", Document.from_text("soup"))).vector == (4.0,)
    assert (await embedder(EmbedRequest(input=(Document.from_text("soup"),)))).embeddings[0].dimension == 1


async def test_the_task_reaches_an_embedder_that_asks_for_it(ai: Flowkit):
    seen: list[tuple[str, float]] = []

    @ai.embedder()
    def by_keyword(texts: list[str], *, task: str = "?", scale: float = 1.0) -> list[list[float]]:
        seen.append((task, scale))
        return [[1.0]] * len(texts)

    @ai.embedder()
    def by_model(texts: list[str], options: Options) -> list[list[float]]:
        seen.append((options.task, options.scale))
        return [[1.0]] * len(texts)

    for embedder in (by_keyword, by_model):
        await ai.embed(embedder, "soup")
        await ai.embed(embedder, "soup", task="query", options={"scale": 2})

    assert seen == [("document", 1.0), ("query", 2.0)] * 2


async def test_an_option_that_an_embedder_lacks_is_refused(ai: Flowkit):
    embedder = ai.embedder("it")(of_texts)

    with pytest.raises(InvalidInputError, match="takes no options"):
        await ai.embed(embedder, "soup", options={"scale": 2})


# What is refused.


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ("soup", "takes a list of texts"),
        (Document.from_text("soup"), "takes a list of texts"),
        (["soup", " "], "text 1 is blank"),
        (["soup", None], "text 1 is a NoneType"),
        ([b"soup"], "text 0 is a bytes"),
    ],
)
async def test_what_is_no_list_of_texts_is_refused_without_a_call(ai: Flowkit, contents: Any, message: str):
    counting = Counting(ai)

    with pytest.raises(InvalidInputError, match=message):
        await ai.embed_many("counting", contents)
    assert counting.sizes == []


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0]], "gave 1 vectors for 2 documents"),
        ([[1.0], [1.0, 2.0]], "vectors of 1 and 2 dimensions"),
        ([[], []], "vectors of 0 dimensions"),
        ([[1.0], [float("nan")]], "NaN or infinity"),
        ([[1.0], ["x"]], "gave no vectors"),
        (None, "gave no vectors"),
        (7, "gave no vectors"),
    ],
)
async def test_an_embedder_that_gives_no_vectors_is_told(ai: Flowkit, vectors: Any, message: str):
    embedder = ai.embedder("it")(lambda texts: vectors)

    with pytest.raises(InvalidOutputError, match=message):
        await ai.embed_many(embedder, ["a", "b"])


async def test_batches_of_different_dimensions_are_no_answer(ai: Flowkit):
    @ai.embedder(info=EmbedderInfo(label="growing", max_batch_size=1))
    def growing(texts: list[str]) -> list[list[float]]:
        return [[1.0] * len(texts[0])]

    with pytest.raises(InvalidOutputError, match="vectors of 1 and 2 dimensions"):
        await ai.embed_many(growing, ["a", "bb"])


async def test_an_unknown_embedder_is_not_found_even_for_an_empty_list(ai: Flowkit):
    with pytest.raises(LookupError, match="no embedder 'nowhere'"):
        await ai.embed_many("nowhere", [])


IMAGE = MediaPart(media=Media(url="https://shop.test/soup.png?size=2"))


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        (IMAGE, "image"),
        (MediaPart(media=Media(url="data:audio/wav;base64,AAAA")), "audio"),
        (MediaPart(media=Media(url="https://shop.test/7", content_type="video/mp4")), "video"),
        (MediaPart(media=Media(url="https://shop.test/menu.png", content_type="application/pdf")), "media"),
        (MediaPart(media=Media(url="https://shop.test/7")), "media"),
        (DataPart(data={"price": 4}), "data"),
    ],
)
async def test_what_an_embedder_does_not_take_is_refused_without_a_call(ai: Flowkit, part: Any, kind: str):
    counting = Counting(ai)

    with pytest.raises(UnsupportedError, match=f"embedder 'counting' takes text, and document 1 has {kind} .*supports"):
        await ai.embed_many("counting", ["soup", Document(content=(TextPart(text="soup"), part))])
    assert counting.sizes == []


async def test_an_embedder_that_takes_images_is_given_them(ai: Flowkit):
    seen: list[Document] = []

    @ai.embedder(info=EmbedderInfo(label="both", supports={"input": ["text", "image"]}))
    def both(documents: list[Document]) -> list[list[float]]:
        seen.extend(documents)
        return [[1.0] for _ in documents]

    picture = Document(content=(IMAGE,))
    await ai.embed_many(both, [picture, "soup"])

    assert seen[0] == picture


@pytest.mark.parametrize("said", ["image", [3], {"text": True}])
def test_what_an_embedder_takes_is_a_list(ai: Flowkit, said: Any):
    with pytest.raises(ConfigError, match=r"input is .* no list of kinds"):
        ai.embedder("it", info=EmbedderInfo(label="it", supports={"input": said}))(lambda texts: [])


@pytest.mark.parametrize("content", [(), (TextPart(text=" \n"),)], ids=["no parts", "blanks"])
async def test_a_document_with_nothing_in_it_is_refused(ai: Flowkit, content: Any):
    counting = Counting(ai)

    with pytest.raises(InvalidInputError, match="document 'c1' for embedder 'counting' has nothing in it"):
        await ai.embed("counting", Document(content=content, id="c1"))
    assert counting.sizes == []
