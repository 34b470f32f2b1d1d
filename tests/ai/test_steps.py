"""Steps: a named part of a run, whatever is called in it."""

import asyncio
import functools
import threading
from typing import Any

import pytest

from flowkit import Flowkit
from flowkit.errors import InvalidInputError
from tests.support.traced import Spans


async def slow(x: int = 1, *, y: int = 2) -> int:
    await asyncio.sleep(0)
    return x + y


class Adder:
    async def __call__(self, x: int) -> int:
        return x + 2


@pytest.mark.parametrize(
    ("fn", "args", "kwargs", "result"),
    [
        (slow, (), {}, 3),
        (slow, (2,), {"y": 3}, 5),
        (functools.partial(slow, 5), (), {}, 7),
        (lambda x: slow(x), (5,), {}, 7),
        (Adder(), (5,), {}, 7),
        (len, ("abc",), {}, 3),
        (str, (), {}, ""),
    ],
)
async def test_any_function_may_be_a_step(ai: Flowkit, fn: Any, args: Any, kwargs: Any, result: Any):
    assert await ai.run("step", fn, *args, **kwargs) == result


async def test_a_step_is_a_span_under_its_flow(ai: Flowkit, spans: Spans):
    @ai.flow()
    async def flow() -> int:
        return await ai.run("outer", lambda: ai.run("inner", slow, 1, y=2))

    assert await flow() == 3

    inner, outer, root = spans
    assert [(s.name, s.type, s.kind, s.key) for s in (inner, outer)] == [
        ("inner", "flowStep", None, None),
        ("outer", "flowStep", None, None),
    ]
    assert inner.parent is outer
    assert outer.parent is root
    assert (inner.input, inner.output) == (b'{"0":1,"y":2}', b"3")
    assert inner.path == "/{flow,t:flow}/{outer,t:flowStep}/{inner,t:flowStep}"


async def test_a_step_outside_a_flow_is_a_trace_of_its_own(ai: Flowkit, spans: Spans):
    await ai.run("alone", len, "abc")

    assert spans.named("alone").is_root


async def test_an_action_may_be_a_step(ai: Flowkit, spans: Spans):
    @ai.flow()
    async def double(n: int) -> int:
        return n * 2

    assert await ai.run("step", double, 2) == 4
    assert spans.named("double").parent is spans.named("step")


async def test_a_sync_step_runs_in_a_thread(ai: Flowkit):
    assert await ai.run("step", threading.current_thread) is not threading.current_thread()


async def test_names_of_parameters_do_not_clash(ai: Flowkit):
    def clash(name: str, fn: str, self: str) -> str:
        return name + fn + self

    assert await ai.run("step", clash, name="a", fn="b", self="c") == "abc"


async def test_a_call_in_place_of_a_function_is_refused(ai: Flowkit):
    running = slow()

    with pytest.raises(InvalidInputError, match=r'write ai.run\("name", function, argument\)'):
        await ai.run("step", running)  # type: ignore[call-overload]
    running.close()


async def test_an_error_of_a_step_is_the_users_with_a_note(ai: Flowkit, spans: Spans):
    with pytest.raises(ValueError, match="invalid literal") as caught:
        await ai.run("bad", int, "x")

    assert caught.value.__notes__ == [f"in step 'bad', trace {spans.named('bad').trace_hex}"]
    assert spans.named("bad").failure_source


async def test_a_stop_iteration_does_not_end_anything_silently(ai: Flowkit):
    def stops() -> None:
        raise StopIteration

    with pytest.raises(RuntimeError, match="StopIteration"):
        await ai.run("step", stops)


@pytest.mark.parametrize("name", ["", " ", None])
async def test_a_step_without_a_name_is_refused(ai: Flowkit, name: Any):
    with pytest.raises(InvalidInputError, match="a step needs a name"):
        await ai.run(name, len, "abc")
