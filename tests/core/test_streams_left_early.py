"""A reader that leaves early stops the flow, by whatever way it goes, and leaves nothing behind."""

import asyncio
import gc
import logging
import threading
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from flowkit import Flowkit
from flowkit.core.stream import ActionStream
from flowkit.errors import StateError
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
        async with asyncio.timeout(10):
            await self.stopped.wait()
        await asyncio.sleep(0)
        return True


async def read(stream: ActionStream[int, object], chunks: int) -> list[int]:
    return [await anext(stream) for _ in range(chunks)]


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


async def test_a_closed_stream_has_no_result_and_says_so(ai: Flowkit):
    endless = Endless(ai)
    async with endless.flow.stream() as stream:
        await read(stream, 1)

    with pytest.raises(StateError, match="closed before"):
        await stream.result


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

    assert await asyncio.to_thread(closed.wait, 10)
    assert spans.named("endless").attributes == {"flowkit:abandoned": True}
