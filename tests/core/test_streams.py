"""Streams: chunks as they come, the result at the end, and nothing left behind when the reader goes early."""

import asyncio
import gc
import logging
import threading
import time
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


class Endless:
    """A flow that counts until it is stopped, and what became of it."""

    def __init__(self, ai: Flowkit) -> None:
        self.stopped = asyncio.Event()
        self.steps = 0

        @ai.flow("endless")
        async def endless() -> AsyncIterator[int]:
            try:
                while True:
                    yield self.steps
                    self.steps += await ai.run("step", self.step)
            finally:
                self.stopped.set()

        self.flow = endless

    async def step(self) -> int:
        await asyncio.sleep(0.001)
        return 1

    async def is_stopped(self) -> bool:
        async with asyncio.timeout(1):
            await self.stopped.wait()
        await asyncio.sleep(0)
        return True


async def read(stream: ActionStream[int, object], chunks: int) -> list[int]:
    return [await anext(stream) for _ in range(chunks)]


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


async def test_break_stops_the_flow(ai: Flowkit, spans: Spans):
    endless = Endless(ai)

    async for number in endless.flow.stream():
        if number == 2:
            break

    assert await endless.is_stopped()
    assert spans.named("endless").state == "cancelled"


async def test_an_error_of_the_reader_stops_the_flow(ai: Flowkit, spans: Spans):
    endless = Endless(ai)

    async def fail_at_two() -> None:
        async with endless.flow.stream() as stream:
            async for number in stream:
                1 // (2 - number)

    with pytest.raises(ZeroDivisionError):
        await fail_at_two()

    assert endless.stopped.is_set()
    assert spans.named("endless").state == "cancelled"


async def test_leaving_the_block_waits_for_finally(ai: Flowkit, spans: Spans):
    endless = Endless(ai)

    async with endless.flow.stream() as stream:
        await read(stream, 3)

    assert endless.stopped.is_set()
    steps = endless.steps
    await asyncio.sleep(0.02)
    assert endless.steps == steps
    assert spans.named("endless").state == "cancelled"


async def test_closing_in_another_task_stops_the_flow(ai: Flowkit, spans: Spans):
    endless = Endless(ai)
    stream = endless.flow.stream()
    await read(stream, 1)

    await asyncio.create_task(stream.aclose())

    assert endless.stopped.is_set()
    assert spans.named("endless").state == "cancelled"
    assert [chunk async for chunk in stream] == []


async def test_closing_ends_the_iteration_of_a_reader_that_waits(ai: Flowkit):
    @ai.flow()
    async def silent() -> AsyncIterator[str]:
        await asyncio.Event().wait()
        yield "never"

    async def read_all() -> list[str]:
        return [chunk async for chunk in stream]

    stream = silent.stream()
    reader = asyncio.create_task(read_all())
    await asyncio.sleep(0)
    await stream.aclose()

    assert await reader == []


async def test_dropping_the_stream_stops_the_flow(ai: Flowkit, spans: Spans):
    endless = Endless(ai)
    stream = endless.flow.stream()
    await read(stream, 1)

    del stream
    gc.collect()

    assert await endless.is_stopped()
    assert spans.named("endless").state == "cancelled"


async def test_dropping_the_stream_in_another_thread_stops_the_flow(ai: Flowkit):
    endless = Endless(ai)
    held = [endless.flow.stream()]
    await read(held[0], 1)

    await asyncio.to_thread(held.clear)

    assert await endless.is_stopped()


async def test_cancelling_the_reader_stops_the_flow(ai: Flowkit, spans: Spans):
    endless = Endless(ai)
    reading = asyncio.Event()

    async def read_all() -> None:
        async for _ in endless.flow.stream():
            reading.set()

    reader = asyncio.create_task(read_all())
    await reading.wait()
    reader.cancel()

    with pytest.raises(asyncio.CancelledError):
        await reader
    assert await endless.is_stopped()
    assert spans.named("endless").state == "cancelled"


async def test_a_stream_that_is_closed_before_it_begins_leaves_nothing(ai: Flowkit, spans: Spans):
    entered = []

    @ai.flow()
    async def never() -> AsyncIterator[str]:
        entered.append(True)
        yield "x"

    async with never.stream():
        pass
    await never.stream().aclose()

    assert entered == []
    assert spans == []


async def test_the_callers_spans_are_not_mixed_up_with_those_of_a_stream_that_was_left(ai: Flowkit, spans: Spans):
    endless = Endless(ai)

    @ai.flow()
    async def outer() -> str:
        async for _ in endless.flow.stream():
            await ai.run("between", endless.step)
            break
        await ai.run("after", endless.step)
        return "ok"

    assert await outer() == "ok"
    await endless.is_stopped()

    outside = spans.named("outer")
    assert spans.named("between").parent is outside
    assert spans.named("after").parent is outside
    assert spans.named("endless").parent is outside
    assert all(span.end_ns for span in spans)


async def test_a_step_that_is_open_while_the_generator_yields_stays_inside_the_flow(ai: Flowkit, spans: Spans):
    @ai.flow()
    async def flow() -> AsyncIterator[int]:
        for n in range(3):
            await ai.run("inside", asyncio.sleep, 0)
            yield n

    @ai.flow()
    async def outer() -> None:
        stream = flow.stream()
        await anext(stream)
        await asyncio.create_task(stream.aclose())
        await ai.run("sibling", asyncio.sleep, 0)

    await outer()

    assert spans.named("sibling").parent is spans.named("outer")
    assert spans.named("flow").state == "cancelled"
    assert [span.parent for span in spans if span.name == "inside"] == [spans.named("flow")] * 2
    assert all(span.end_ns for span in spans)


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


async def test_a_closed_stream_has_no_result_and_says_so(ai: Flowkit):
    endless = Endless(ai)
    async with endless.flow.stream() as stream:
        await read(stream, 1)

    with pytest.raises(StateError, match="closed before"):
        await stream.result


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


def test_a_loop_that_ends_takes_its_streams_along(ai: Flowkit, spans: Spans):
    held = []

    @ai.flow()
    async def waits() -> AsyncIterator[str]:
        yield "x"
        await asyncio.Event().wait()

    async def main() -> None:
        held.append(waits.stream())
        await anext(held[0])

    asyncio.run(main())
    held.clear()

    assert spans.named("waits").state == "cancelled"


async def test_a_sync_generator_is_closed_when_its_reader_goes(ai: Flowkit, spans: Spans):
    closed = threading.Event()

    @ai.flow()
    def endless() -> Iterator[int]:
        try:
            n = 0
            while True:
                yield n
                n += 1
                time.sleep(0.001)
        finally:
            closed.set()

    async with endless.stream() as stream:
        await read(stream, 2)

    assert await asyncio.to_thread(closed.wait, 1)
    assert spans.named("endless").attributes == {"flowkit:abandoned": True}
