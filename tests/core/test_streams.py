"""Streams: chunks as they come, the result at the end, errors after the chunks before them."""

import asyncio
import gc
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from flowkit import Flowkit, RunContext
from flowkit.core.stream import ActionStream
from flowkit.errors import InvalidOutputError, StateError
from tests.support.traced import Spans


@pytest.fixture(autouse=True)
def no_complaints(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Neither asyncio nor OpenTelemetry has anything to complain about, whatever the reader does."""
    with caplog.at_level(logging.WARNING):
        yield
        gc.collect()
    assert [record.getMessage() for record in caplog.records] == []


async def read_into(seen: list[object], stream: ActionStream[Any, object]) -> None:
    async for chunk in stream:
        seen.append(chunk)  # noqa: PERF401  what was seen before an error counts


async def test_chunks_come_while_the_flow_runs_and_the_result_at_the_end(ai: Flowkit):
    running = asyncio.Event()

    @ai.flow()
    async def spell(word: str) -> AsyncIterator[str]:
        for letter in word:
            yield letter
            await running.wait()

    async with spell.stream("ab") as stream:
        assert await anext(stream) == "a"
        running.set()
        assert [chunk async for chunk in stream] == ["b"]
        assert await stream.result == "ab"


async def test_the_result_needs_no_reader(ai: Flowkit):
    @ai.flow()
    async def spell(word: str) -> AsyncIterator[str]:
        for letter in word:
            yield letter

    async with spell.stream("ab") as stream:
        assert await stream.result == "ab"
        assert [chunk async for chunk in stream] == ["a", "b"]


async def test_a_flow_that_is_no_generator_sends_chunks_through_its_context(ai: Flowkit):
    @ai.flow()
    async def think(ctx: RunContext) -> str:
        ctx.send_chunk("hm")
        await asyncio.sleep(0)
        ctx.send_chunk("aha" if ctx.streaming else "nobody listens")
        return "done"

    async with think.stream() as stream:
        assert [chunk async for chunk in stream] == ["hm", "aha"]
        assert await stream.result == "done"
    assert await think() == "done"


async def test_a_sync_flow_streams_from_its_thread_in_order(ai: Flowkit):
    threads = set()

    @ai.flow()
    def think(ctx: RunContext) -> str:
        threads.add(threading.current_thread())
        for n in range(100):
            ctx.send_chunk(n)
        return "done"

    @ai.flow()
    def numbers() -> Iterator[int]:
        threads.add(threading.current_thread())
        yield from range(100)

    for flow in (think, numbers):
        async with flow.stream() as stream:
            assert [chunk async for chunk in stream] == list(range(100))
    assert await stream.result == list(range(100))
    assert threading.main_thread() not in threads


async def test_an_error_comes_after_the_chunks_before_it(ai: Flowkit, spans: Spans):
    error = ValueError("x")

    @ai.flow()
    async def fails() -> AsyncIterator[str]:
        yield "a"
        yield "b"
        raise error

    @ai.flow()
    def fails_in_a_thread() -> Iterator[str]:
        yield "a"
        yield "b"
        raise error

    for flow in (fails, fails_in_a_thread):
        seen: list[object] = []
        with pytest.raises(ValueError, match="x") as caught:
            await read_into(seen, flow.stream())
        assert seen == ["a", "b"]
        assert caught.value is error
        assert spans.named(flow.name).state == "error"
        with pytest.raises(ValueError, match="x"):
            await flow.stream().result


async def test_a_chunk_of_a_wrong_type_ends_the_stream_with_an_error_and_closes_the_generator(ai: Flowkit):
    closed = []

    @ai.flow()
    async def wrong() -> AsyncIterator[int]:
        try:
            yield 1
            yield "x"  # type: ignore[misc]
        finally:
            closed.append(True)

    stream = wrong.stream()
    assert await anext(stream) == 1
    with pytest.raises(InvalidOutputError):
        await anext(stream)
    assert closed == [True]


async def test_two_readers_share_the_chunks_and_both_see_the_end(ai: Flowkit):
    @ai.flow()
    async def numbers() -> AsyncIterator[int]:
        for n in range(10):
            yield n
            await asyncio.sleep(0)

    async def read_all() -> list[int]:
        return [chunk async for chunk in stream]

    stream = numbers.stream()
    one, two = await asyncio.gather(read_all(), read_all())

    assert sorted(one + two) == list(range(10))


async def test_two_readers_both_see_the_error(ai: Flowkit):
    @ai.flow()
    async def fails() -> AsyncIterator[int]:
        await asyncio.sleep(0)
        raise ValueError("x")
        yield 1

    stream = fails.stream()
    seen = await asyncio.gather(anext(stream), anext(stream), return_exceptions=True)

    assert [type(error) for error in seen] == [ValueError, ValueError]


async def test_streams_follow_one_another(ai: Flowkit, spans: Spans):
    @ai.flow()
    async def spell(word: str) -> AsyncIterator[str]:
        for letter in word:
            yield letter

    for _ in range(3):
        assert [chunk async for chunk in spell.stream("ab")] == ["a", "b"]

    assert [(span.state, span.is_root) for span in spans] == [("success", True)] * 3


async def test_whoever_gives_up_on_the_result_does_not_stop_the_flow(ai: Flowkit):
    go = asyncio.Event()

    @ai.flow()
    async def waits() -> str:
        await go.wait()
        return "done"

    async with waits.stream() as stream:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(stream.result, 0.01)
        go.set()
        assert await stream.result == "done"


def test_a_stream_without_a_loop_says_what_to_do(ai: Flowkit):
    @ai.flow()
    async def spell(word: str) -> AsyncIterator[str]:
        for letter in word:
            yield letter

    with pytest.raises(StateError, match="run_sync"):
        spell.stream("ab")
    seen: list[str] = []
    assert ai.run_sync(spell, "ab", on_chunk=seen.append) == "ab"
    assert seen == ["a", "b"]
