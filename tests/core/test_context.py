"""The context of a run: who asked goes down with the calls, and never sideways."""

import asyncio
from collections.abc import AsyncIterator
from contextvars import ContextVar

import pytest

from flowkit import Flowkit, RunContext
from flowkit.core.context import current_run
from flowkit.errors import InvalidInputError
from tests.support.traced import Spans

language: ContextVar[str] = ContextVar("language", default="none")


@pytest.fixture
def whoami(ai: Flowkit):
    @ai.flow("whoami")
    async def whoami(ctx: RunContext) -> str:
        return str(ctx.auth)

    return whoami


async def test_auth_goes_down_to_every_action_and_step(ai: Flowkit, whoami):
    @ai.flow()
    async def outer() -> list[str]:
        inside = await ai.run("step", lambda: str(current_run().auth))
        return [await whoami(), inside]

    assert await outer(context={"auth": "ada"}) == ["ada", "ada"]


async def test_a_call_may_have_a_context_of_its_own(ai: Flowkit, whoami):
    @ai.flow()
    async def outer(ctx: RunContext) -> list[str]:
        return [
            await whoami(context={"auth": "bob"}),
            await whoami(context={}),
            await whoami(),
            await whoami(context=ctx),
        ]

    assert await outer(context={"auth": "ada"}) == ["bob", "None", "ada", "ada"]


async def test_runs_at_the_same_time_do_not_see_each_other(ai: Flowkit):
    @ai.flow()
    async def inner(ctx: RunContext) -> str:
        await asyncio.sleep(0)
        return str(ctx.auth)

    @ai.flow()
    def middle(ctx: RunContext) -> str:
        return ai.run_sync(inner)

    @ai.flow()
    async def outer(ctx: RunContext) -> tuple[str, str, str]:
        await asyncio.sleep(0)
        return str(ctx.auth), await inner(), await middle()

    names = [f"user {n}" for n in range(20)]
    found = await asyncio.gather(*(outer(context={"auth": name}) for name in names))

    assert found == [(name, name, name) for name in names]


async def test_without_a_context_there_is_none(whoami):
    assert await whoami() == "None"
    assert current_run() is None


async def test_after_a_run_its_context_is_gone(ai: Flowkit, whoami):
    @ai.flow()
    async def fails() -> None:
        raise ValueError("x")

    await whoami(context={"auth": "ada"})
    with pytest.raises(ValueError, match="x"):
        await fails(context={"auth": "ada"})

    assert current_run() is None
    assert await whoami() == "None"


async def test_parts_of_a_run_may_tell_each_other_things(ai: Flowkit):
    @ai.flow()
    async def inner(ctx: RunContext) -> None:
        ctx.params["found"] = ctx.params["asked"] + 1

    @ai.flow()
    async def outer(n: int, ctx: RunContext) -> int:
        ctx.params["asked"] = n
        await inner()
        return int(ctx.params["found"])

    assert await asyncio.gather(outer(1), outer(2)) == [2, 3]


async def test_a_step_streams_for_its_flow_and_a_nested_flow_does_not(ai: Flowkit):
    def say(word: str) -> bool:
        run = current_run()
        run.send_chunk(word)
        return run.streaming

    @ai.flow()
    async def nested() -> bool:
        return say("from the nested flow")

    @ai.flow()
    async def outer() -> list[bool]:
        return [await ai.run("step", say, "from the step"), await nested()]

    async with outer.stream() as stream:
        assert [chunk async for chunk in stream] == ["from the step"]
        assert await stream.result == [True, False]
    assert await outer() == [False, False]


@pytest.mark.parametrize("given", ["ada", 3, ["auth"]])
async def test_a_context_is_a_mapping(whoami, given):
    with pytest.raises(InvalidInputError, match="context is a"):
        await whoami(context=given)


async def test_context_variables_of_the_caller_are_seen_everywhere(ai: Flowkit):
    @ai.flow()
    def in_a_thread() -> str:
        return language.get()

    @ai.flow()
    async def on_the_loop() -> str:
        return language.get()

    @ai.flow()
    async def streamed() -> AsyncIterator[str]:
        yield language.get()

    @ai.flow()
    def through_run_sync() -> str:
        return ai.run_sync(on_the_loop)

    language.set("fr")
    for flow in (in_a_thread, on_the_loop, streamed, through_run_sync):
        assert await flow() == "fr"
        assert await ai.run("step", language.get) == "fr"


async def test_a_sync_function_cannot_change_the_callers_variables(ai: Flowkit):
    language.set("fr")
    await ai.run("step", language.set, "de")
    assert language.get() == "fr"


async def test_ids_of_the_run_are_known_where_it_is_traced(ai: Flowkit, spans: Spans):
    @ai.flow()
    async def ids(ctx: RunContext) -> tuple[str | None, str | None]:
        return ctx.trace_id, ctx.span_id

    found = await ids()

    span = spans.named("ids")
    assert found == (span.trace_hex, span.span_hex)
    ai.runtime.tracing.sink = None
    assert await ids() == (None, None)


async def test_the_span_shows_the_context_without_who_asked(ai: Flowkit, spans: Spans, whoami):
    await whoami(context={"auth": {"uid": "ada"}, "secrets": {"k": "v"}, "tenant": "café"})

    assert spans.named("whoami").context_json == (
        '{"auth":"<redacted>","secrets":"<redacted>","tenant":"café"}'.encode()
    )


async def test_a_rejected_input_leaves_an_error_span_with_the_input(ai: Flowkit, spans: Spans):
    @ai.flow()
    async def menu(day: int) -> str:
        return "soup"

    with pytest.raises(InvalidInputError):
        await menu("Monday")

    span = spans.named("menu")
    assert (span.state, span.input, span.output) == ("error", b'"Monday"', None)
    assert span.failure_source
    assert span.error is not None
    assert span.error[0] == "InvalidInputError"
