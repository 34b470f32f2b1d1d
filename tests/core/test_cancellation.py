"""Cancelling: it reaches what runs, is never taken for anything else, and the spans say what happened."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from flowkit import Flowkit, RunContext
from tests.support.traced import Spans


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not true():
            await asyncio.sleep(0.001)


async def cancelled(task: "asyncio.Task[object]") -> bool:
    """Cancel a task and see that it ends so."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 10)
    return task.cancelled()


async def test_a_plain_await_is_cancelled_with_all_that_it_waits_for(ai: Flowkit, spans: Spans):
    ended: list[str] = []
    inside = asyncio.Event()

    async def forever() -> None:
        try:
            inside.set()
            await asyncio.Event().wait()
        finally:
            ended.append("step")

    @ai.flow()
    async def inner() -> None:
        try:
            await ai.run("forever", forever)
        finally:
            ended.append("inner")

    @ai.flow()
    async def outer() -> None:
        await inner()

    task = asyncio.create_task(outer())
    await inside.wait()

    assert await cancelled(task)
    assert ended == ["step", "inner"]
    assert [(span.name, span.state) for span in spans] == [
        ("forever", "cancelled"),
        ("inner", "cancelled"),
        ("outer", "cancelled"),
    ]
    assert not any(span.failure_source for span in spans)


async def test_a_time_limit_of_the_user_ends_the_run_as_cancelled(ai: Flowkit, spans: Spans):
    @ai.flow()
    async def forever() -> None:
        await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(forever(), 0.01)

    assert spans.named("forever").state == "cancelled"


async def test_a_task_group_cancels_the_siblings_of_a_flow_that_fails(ai: Flowkit, spans: Spans):
    @ai.flow()
    async def forever() -> None:
        await asyncio.Event().wait()

    @ai.flow()
    async def fails() -> None:
        await asyncio.sleep(0)
        raise ValueError("x")

    async def both() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(forever())
            group.create_task(fails())

    with pytest.raises(ExceptionGroup) as caught:
        await both()

    assert [type(error) for error in caught.value.exceptions] == [ValueError]
    assert spans.states() == {"forever": "cancelled", "fails": "error"}


async def test_an_error_group_of_the_users_own_passes_through(ai: Flowkit, spans: Spans):
    @ai.flow()
    async def fails() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(ai.run("bad", int, "x"))

    with pytest.raises(ExceptionGroup):
        await fails()

    assert spans.states() == {"bad": "error", "fails": "error"}


async def test_a_flow_that_handles_its_cancellation_ends_as_it_says(ai: Flowkit, spans: Spans):
    inside = asyncio.Event()

    @ai.flow()
    async def stubborn() -> str:
        try:
            inside.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "tidied up"
        return ""

    task = asyncio.create_task(stubborn())
    await inside.wait()
    task.cancel()

    assert await task == "tidied up"
    assert spans.named("stubborn").state == "success"


async def test_a_thread_goes_on_without_result_and_the_span_says_so(ai: Flowkit, spans: Spans):
    begun, go, seen = threading.Event(), threading.Event(), list[bool]()

    @ai.flow()
    def slow(ctx: RunContext) -> str:
        begun.set()
        go.wait(10)
        seen.append(ctx.cancelled)
        return "nobody has this"

    task = asyncio.create_task(slow())
    await until(begun.is_set)

    assert await cancelled(task)
    span = spans.named("slow")
    assert (span.state, span.output, span.attributes) == ("cancelled", None, {"flowkit:abandoned": True})
    go.set()
    await until(lambda: seen == [True])


async def test_a_step_in_a_thread_says_so_too(ai: Flowkit, spans: Spans):
    begun, go = threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        go.wait(10)

    @ai.flow()
    async def flow() -> None:
        await ai.run("slow", slow)

    task = asyncio.create_task(flow())
    await until(begun.is_set)

    assert await cancelled(task)
    assert spans.named("slow").attributes == {"flowkit:abandoned": True}
    assert spans.named("flow").attributes is None
    go.set()


async def test_a_sync_flow_that_is_not_cancelled_sees_that(ai: Flowkit):
    @ai.flow()
    def quick(ctx: RunContext) -> bool:
        return ctx.cancelled

    assert await quick() is False


async def test_cancelling_a_sync_flow_cancels_what_it_waits_for(ai: Flowkit, spans: Spans):
    inside, left, after = threading.Event(), threading.Event(), list[object]()

    @ai.flow()
    async def forever() -> None:
        try:
            inside.set()
            await asyncio.Event().wait()
        finally:
            left.set()

    @ai.flow()
    def outer() -> None:
        try:
            ai.run_sync(forever)
        except asyncio.CancelledError as error:
            after.append(error)
            try:
                ai.run_sync(forever)  # nobody waits: it must not begin
            except asyncio.CancelledError as again:
                after.append(again)

    task = asyncio.create_task(outer())
    await until(inside.is_set)

    assert await cancelled(task)
    await until(left.is_set)
    await until(lambda: len(after) == 2)
    assert [(span.name, span.state) for span in spans if span.name == "forever"] == [("forever", "cancelled")]


async def test_it_reaches_through_many_sync_flows(ai: Flowkit, spans: Spans):
    inside = threading.Event()

    @ai.flow()
    async def forever() -> None:
        inside.set()
        await asyncio.Event().wait()

    @ai.flow()
    def down(depth: int) -> None:
        ai.run_sync(down, depth - 1) if depth else ai.run_sync(forever)

    task = asyncio.create_task(down(5))
    await until(inside.is_set)

    assert await cancelled(task)
    await until(lambda: len(spans) == 7)
    assert {span.state for span in spans} == {"cancelled"}


async def test_a_coroutine_that_is_thrown_away_closes_its_span(ai: Flowkit, spans: Spans):
    @ai.flow()
    async def waits() -> None:
        await asyncio.sleep(0)

    run = waits()
    run.send(None)
    run.close()

    @ai.flow()
    async def after() -> None: ...

    await after()
    assert spans.named("waits").state == "cancelled"
    assert spans.named("after").is_root


@pytest.mark.parametrize("sync", [False, True])
def test_an_exit_passes_through(ai: Flowkit, spans: Spans, sync: bool):
    if sync:

        @ai.flow()
        def leaves() -> None:
            raise SystemExit(3)
    else:

        @ai.flow()
        async def leaves() -> None:
            raise SystemExit(3)

    async def main() -> None:
        await leaves()

    with pytest.raises(SystemExit) as caught:
        asyncio.run(main())

    assert caught.value.code == 3
    assert spans.named("leaves").state == "error"


def test_an_interrupt_passes_through(ai: Flowkit, spans: Spans):
    @ai.flow()
    async def interrupted() -> None:
        raise KeyboardInterrupt

    async def main() -> None:
        await interrupted()

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())

    assert spans.named("interrupted").state == "error"
