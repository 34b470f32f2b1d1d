"""Models: any form of function, streamed or not, gives one response; documents reach models that take none."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from flowkit import (
    Document,
    Flowkit,
    GenerateRequest,
    GenerateResponse,
    GenerateResponseChunk,
    Message,
    ModelInfo,
    RunContext,
    Usage,
)
from flowkit.core.context import current_run
from flowkit.errors import ConfigError, InvalidInputError, InvalidOutputError
from flowkit.schema.model import ModelSupports
from flowkit.schema.parts import ReasoningPart, TextPart, ToolRequest, ToolRequestPart
from tests.support.traced import Spans

USAGE = Usage(input_tokens=3, output_tokens=2)
END = GenerateResponse(finish_reason="length", usage=USAGE)
WHOLE = GenerateResponse(message=Message.model("tomato soup"), finish_reason="length", usage=USAGE)


async def whole(request: GenerateRequest) -> GenerateResponse:
    return WHOLE


async def streamed(request: GenerateRequest) -> AsyncIterator[str | GenerateResponse]:
    yield "tomato "
    yield "soup"
    yield END


def streamed_in_a_thread(request: GenerateRequest) -> Iterator[str | GenerateResponse]:
    yield "tomato "
    yield "soup"
    yield END


async def streamed_and_whole(request: GenerateRequest) -> AsyncIterator[str | GenerateResponse]:
    yield "tomato "
    yield "soup"
    yield WHOLE


async def sent(request: GenerateRequest, ctx: RunContext) -> GenerateResponse:
    ctx.send_chunk("tomato ")
    ctx.send_chunk(GenerateResponseChunk.of_text("soup"))
    return END


def sent_in_a_thread(request: GenerateRequest, ctx: RunContext) -> GenerateResponse:
    ctx.send_chunk("tomato ")
    ctx.send_chunk(TextPart(text="soup"))
    return END


@pytest.mark.parametrize(
    ("fn", "chunks"),
    [
        (whole, []),
        (streamed, ["tomato ", "soup"]),
        (streamed_in_a_thread, ["tomato ", "soup"]),
        (streamed_and_whole, ["tomato ", "soup"]),
        (sent, ["tomato ", "soup"]),
        (sent_in_a_thread, ["tomato ", "soup"]),
    ],
)
async def test_the_answer_is_the_same_however_it_comes(
    ai: Flowkit, spans: Spans, fn: Callable[..., Any], chunks: list[str]
):
    model = ai.model("it")(fn)

    at_once = await ai.generate("?", model=model)
    async with ai.generate_stream("?", model=model) as stream:
        seen = [chunk async for chunk in stream]
        in_pieces = await stream.result

    assert [chunk.text for chunk in seen] == chunks
    assert [chunk.role for chunk in seen] == ["model"] * len(chunks)
    for response in (at_once, in_pieces):
        assert response.message == WHOLE.message
        assert (response.finish_reason, response.usage) == ("length", USAGE)
        assert response.latency_ms is not None
    facts = {
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.response.finish_reasons": ["length"],
    }
    assert [span.attributes for span in spans] == [facts, facts]


@pytest.mark.parametrize(
    ("answer", "text"),
    [("soup", "soup"), (Message.model("soup"), "soup"), (GenerateResponse(message=Message.model("soup")), "soup")],
)
async def test_a_model_may_return_text_a_message_or_a_response(ai: Flowkit, answer: Any, text: str):
    model = ai.model("it")(lambda request: answer)

    response = await ai.generate("?", model=model)

    assert (response.text, response.finish_reason) == (text, "stop")


@pytest.mark.parametrize("answer", [None, 3, ["soup"], {"text": "soup"}])
async def test_what_is_no_answer_is_refused(ai: Flowkit, answer: Any):
    returns = ai.model("returns")(lambda request: answer)

    @ai.model()
    async def yields(request: GenerateRequest) -> AsyncIterator[Any]:
        yield answer

    for model in (returns, yields):
        with pytest.raises(InvalidOutputError, match="give text"):
            await ai.generate("?", model=model)


async def test_parts_of_other_kinds_keep_their_place(ai: Flowkit):
    call = ToolRequestPart(tool_request=ToolRequest(name="weather", input={"city": "Oslo"}))

    @ai.model()
    async def model(request: GenerateRequest) -> AsyncIterator[Any]:
        yield ReasoningPart(reasoning="hm")
        yield "let me "
        yield "see"
        yield call
        yield "so"

    response = await ai.generate("?", model=model)

    assert response.message is not None
    assert response.message.content == (
        ReasoningPart(reasoning="hm"),
        TextPart(text="let me see"),
        call,
        TextPart(text="so"),
    )


async def test_an_aggregated_chunk_replaces_what_came_before(ai: Flowkit):
    @ai.model()
    async def model(request: GenerateRequest) -> AsyncIterator[GenerateResponseChunk]:
        for text in ("a", "ab", "abc"):
            yield GenerateResponseChunk(content=(TextPart(text=text),), aggregated=True)

    assert (await ai.generate("?", model=model)).text == "abc"


async def test_a_model_that_says_nothing_has_an_empty_answer(ai: Flowkit):
    @ai.model()
    async def silent(request: GenerateRequest) -> AsyncIterator[str]:
        return
        yield

    assert (await ai.generate("?", model=silent)).text == ""


async def test_a_model_sees_whether_somebody_reads(ai: Flowkit):
    @ai.model()
    async def model(request: GenerateRequest, ctx: RunContext) -> str:
        return f"{ctx.streaming} {ctx.auth} {current_run() is not None}"

    assert (await ai.generate("?", model=model)).text == "False None True"
    assert (await ai.generate_stream("?", model=model).result).text == "True None True"


async def test_an_error_comes_after_the_chunks_before_it(ai: Flowkit):
    @ai.model()
    async def fails(request: GenerateRequest) -> AsyncIterator[str]:
        yield "tomato "
        raise ConnectionError("no network")

    stream = ai.generate_stream("?", model=fails)
    assert (await anext(stream)).text == "tomato "
    with pytest.raises(ConnectionError):
        await anext(stream)


async def test_a_reader_that_leaves_stops_the_model_and_closes_its_generator(ai: Flowkit, spans: Spans):
    closed: list[str] = []
    stop = threading.Event()

    @ai.model()
    async def endless(request: GenerateRequest) -> AsyncIterator[str]:
        try:
            while True:
                yield "la"  # never waits
        finally:
            closed.append("endless")

    @ai.model()
    def endless_in_a_thread(request: GenerateRequest) -> Iterator[str]:
        try:
            while True:
                yield "la"
        finally:
            stop.set()

    for model in (endless, endless_in_a_thread):
        async with asyncio.timeout(10), ai.generate_stream("?", model=model) as stream:
            await anext(stream)
    assert closed == ["endless"]
    assert await asyncio.to_thread(stop.wait, 10)
    assert spans.states() == {"endless": "cancelled", "endless_in_a_thread": "cancelled"}


# What a model is asked.


async def asked(ai: Flowkit, *args: Any, **kwargs: Any) -> GenerateRequest:
    seen: list[GenerateRequest] = []

    @ai.model("asked", info=kwargs.pop("info", None))
    async def model(request: GenerateRequest) -> str:
        seen.append(request)
        return "ok"

    response = await ai.generate(*args, model="asked", **kwargs)
    assert response.request is not None
    return seen[0]


async def test_turns_are_in_order(ai: Flowkit):
    history = [Message.user("hi"), Message.model("hello")]

    request = await asked(ai, "and now?", system="Be brief.", messages=history, config={"temperature": 0})

    assert [(message.role, message.text) for message in request.messages] == [
        ("system", "Be brief."),
        ("user", "hi"),
        ("model", "hello"),
        ("user", "and now?"),
    ]
    assert request.config == {"temperature": 0}
    assert request.docs is None


async def test_documents_are_put_into_the_last_user_message_of_a_model_that_takes_none(ai: Flowkit):
    docs = [Document.from_text("Soup is hot.", {"ref": "menu"}), Document.from_text("Ice is cold.")]

    request = await asked(ai, "What is hot?", docs=docs)

    content = request.messages[-1].content
    assert content[0] == TextPart(text="What is hot?")
    assert content[1] == TextPart(
        text="\n\nUse the following information to complete your task:\n\n"
        "- [menu]: Soup is hot.\n- [1]: Ice is cold.\n\n",
        metadata={"purpose": "context"},
    )


async def test_a_model_that_takes_documents_gets_them_apart(ai: Flowkit):
    info = ModelInfo(label="Grounded", supports=ModelSupports(context=True))

    request = await asked(ai, "What is hot?", docs=[Document.from_text("Soup is hot.")], info=info)

    assert len(request.messages[-1].content) == 1
    assert request.docs is not None
    assert [doc.text for doc in request.docs] == ["Soup is hot."]


@pytest.mark.parametrize("metadata", [{"purpose": "context"}, {"purpose": "context", "pending": True}])
async def test_a_context_part_is_kept_or_filled_when_it_waits(ai: Flowkit, metadata: dict[str, Any]):
    part = TextPart(text="mine", metadata=metadata)
    message = Message(role="user", content=(TextPart(text="What is hot?"), part))

    request = await asked(ai, messages=[message], docs=[Document.from_text("Soup is hot.")])

    _, context = request.messages[-1].content
    assert isinstance(context, TextPart)
    assert (context.text == "mine") is ("pending" not in metadata)
    assert ("Soup is hot." in context.text) is ("pending" in metadata)


async def test_the_response_knows_what_was_asked(ai: Flowkit):
    ai.model("it")(lambda request: "ok")

    response = await ai.generate("What is hot?", model="it", docs=[Document.from_text("Soup is hot.")])

    assert [doc.text for doc in response.sources] == ["Soup is hot."]


@pytest.mark.parametrize("prompt", ["", " \n", None])
async def test_a_question_must_say_something(ai: Flowkit, prompt: str | None):
    ai.model("it")(lambda request: "ok")

    with pytest.raises(InvalidInputError):
        await ai.generate(prompt, model="it")


async def test_without_a_model_it_says_how_to_name_one(ai: Flowkit):
    with pytest.raises(ConfigError, match="no model was named"):
        await ai.generate("?")
