"""Whatever way a stream is left, its spans end as cancelled, nothing logs an error, and siblings hang right."""

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from opentelemetry import trace as otel

from flowkit import Flowkit
from flowkit.core.context import current_run
from flowkit.testing.outline import MemorySink, trace_outline

Leave = Callable[[Flowkit], Awaitable[None]]


@pytest.fixture
def courses(ai: Flowkit):
    """A flow that streams three values, each out of a step."""

    async def cook(name: str) -> str:
        return name

    @ai.flow("courses")
    async def courses() -> AsyncIterator[str]:
        for name in ("soup", "main", "cake"):
            yield await ai.run("cook", cook, name)
        await asyncio.Event().wait()

    return courses


@pytest.fixture
def serve(courses):
    """A plain generator of the user around it."""

    async def serve() -> AsyncIterator[str]:
        async with courses.stream() as stream:
            async for course in stream:
                yield course

    return serve


async def close_in_another_task(courses, serve) -> None:
    generator = serve()
    assert await asyncio.create_task(anext(generator)) == "soup"
    await asyncio.create_task(generator.aclose())


async def break_out(courses, serve) -> None:
    async for _ in courses.stream():
        break


async def break_out_of_a_block(courses, serve) -> None:
    async with courses.stream() as stream:
        async for _ in stream:
            break


async def raise_in_the_consumer(courses, serve) -> None:
    async def consume() -> None:
        async with courses.stream() as stream:
            async for _ in stream:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await consume()


async def drop_without_closing(courses, serve) -> None:
    stream = courses.stream()
    await anext(stream)
    del stream
    gc.collect()


async def drop_the_generator(courses, serve) -> None:
    generator = serve()
    await anext(generator)
    del generator
    gc.collect()


async def cancel_the_consumer(courses, serve) -> None:
    async def consume() -> None:
        async for _ in serve():
            await asyncio.sleep(10)

    task = asyncio.create_task(consume())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


WAYS = [
    close_in_another_task,
    break_out,
    break_out_of_a_block,
    raise_in_the_consumer,
    drop_without_closing,
    drop_the_generator,
    cancel_the_consumer,
]


@pytest.mark.parametrize("provided", [False, True], ids=["own", "user's provider"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_leaving_a_stream_early(way, provided, ai, courses, serve, sink: MemorySink, set_provider):
    exporter = set_provider() if provided else None

    @ai.flow("evening")
    async def evening() -> None:
        await way(courses, serve)

        async def pay() -> None:
            return None

        await ai.run("pay", pay)

    await evening()
    for _ in range(10):
        await asyncio.sleep(0)

    assert sink.open == 0
    spans = {span.name: span for span in sink.spans}
    assert spans["courses"].state == "cancelled"
    assert spans["evening"].state == "success"
    assert spans["pay"].parent_id == spans["evening"].span_id
    assert spans["courses"].parent_id == spans["evening"].span_id
    assert otel.get_current_span() is otel.INVALID_SPAN
    assert current_run() is None
    if exporter is not None:
        assert {span.name for span in exporter.get_finished_spans()} == {"evening", "courses", "cook", "pay"}


@pytest.mark.parametrize("provided", [False, True], ids=["own", "user's provider"])
async def test_a_coroutine_that_is_closed_where_it_runs_gives_the_place_back(provided, ai, sink, set_provider):
    if provided:
        set_provider()
    gate = asyncio.Event()

    @ai.flow("slow")
    async def slow() -> None:
        await gate.wait()

    @ai.flow("quick")
    async def quick() -> None: ...

    call = slow().__await__()
    next(call)
    assert otel.get_current_span() is not otel.INVALID_SPAN
    call.close()

    assert otel.get_current_span() is otel.INVALID_SPAN
    await quick()
    assert trace_outline(sink.spans, states=True) == "slow  flow cancelled\nquick flow\n"


async def test_a_coroutine_that_is_closed_elsewhere_touches_nothing_there(ai, sink):
    gate = asyncio.Event()

    @ai.flow("slow")
    async def slow() -> None:
        await gate.wait()

    @ai.flow("other")
    async def other() -> None:
        inside = otel.get_current_span()
        call.close()
        assert otel.get_current_span() is inside
        assert current_run() is not None

    call = None

    async def begin() -> None:
        nonlocal call
        call = slow().__await__()
        next(call)

    await asyncio.create_task(begin())
    await other()

    assert {span.name: span.state for span in sink.spans} == {"slow": "cancelled", "other": "success"}


async def test_cancelling_a_call_ends_its_spans_as_cancelled(ai, sink):
    @ai.flow("slow")
    async def slow() -> None:
        await ai.run("sleep", asyncio.sleep, 10)

    task = asyncio.ensure_future(slow())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert trace_outline(sink.spans, states=True) == "slow    flow cancelled\n  sleep step cancelled\n"
    assert not any(span.failure_source for span in sink.spans)
