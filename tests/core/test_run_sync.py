"""Sync users: `run_sync` works wherever sync code runs, and refuses where it would wait for itself."""

import asyncio
import concurrent.futures
import gc
import signal
import subprocess
import sys
import textwrap
import threading
import warnings

import pytest

from flowkit import Flowkit, RunContext
from flowkit.errors import InvalidInputError, NotFoundError, StateError
from tests.support.modules import ROOT
from tests.support.traced import Spans


@pytest.fixture
def double(ai: Flowkit):
    @ai.flow("double")
    async def double(n: int) -> int:
        await asyncio.sleep(0)
        return n * 2

    return double


def test_in_a_script(ai: Flowkit, double):
    assert ai.run_sync(double, 2) == 4
    assert ai.run_sync("/flow/double", 3) == 6
    assert ai.run_sync(double(4)) == 8
    assert ai.run_sync(ai.run("a step", len, "abc")) == 3


def test_errors_come_as_they_are(ai: Flowkit, double):
    error = ValueError("x")

    @ai.flow()
    async def fails() -> None:
        raise error

    with pytest.raises(ValueError, match="x") as caught:
        ai.run_sync(fails)
    assert caught.value is error
    with pytest.raises(InvalidInputError):
        ai.run_sync(double, "many")
    with pytest.raises(NotFoundError, match="double"):
        ai.run_sync("/flow/dubble", 1)


def test_the_context_may_be_given(ai: Flowkit):
    @ai.flow()
    async def whoami(ctx: RunContext) -> str:
        return str(ctx.auth)

    assert ai.run_sync(whoami, context={"auth": "ada"}) == "ada"


def test_in_many_threads_at_once(ai: Flowkit, double):
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda n: ai.run_sync(double, n), range(100)))

    assert found == [n * 2 for n in range(100)]


async def test_under_a_running_loop_which_is_blocked_meanwhile(ai: Flowkit, double):
    assert ai.run_sync(double, 2) == 4
    assert ai.run_sync(double(2)) == 4


async def test_in_a_sync_flow(ai: Flowkit, spans: Spans, double):
    @ai.flow()
    def quadruple(n: int) -> int:
        return ai.run_sync(double, ai.run_sync(double, n))

    assert await quadruple(1) == 4
    assert [span.parent for span in spans if span.name == "double"] == [spans.named("quadruple")] * 2


async def test_fifty_levels_deep(ai: Flowkit):
    @ai.flow()
    def down(depth: int) -> int:
        return 1 + ai.run_sync(down, depth - 1) if depth else 0

    assert await down(50) == 50


async def test_two_hundred_at_once(ai: Flowkit):
    """Each waits until all are there, so that there must be a thread for each."""
    everybody = threading.Barrier(200)

    @ai.flow()
    def meet(n: int) -> int:
        everybody.wait(60)
        return n

    assert sum(await asyncio.gather(*(meet(n) for n in range(200)))) == sum(range(200))


async def test_nested_runs_of_many_do_not_starve_each_other(ai: Flowkit, double):
    @ai.flow()
    def down(depth: int) -> int:
        return ai.run_sync(down, depth - 1) if depth else ai.run_sync(double, 1)

    assert await asyncio.gather(*(down(5) for _ in range(30))) == [2] * 30


def test_on_flowkits_own_loop_it_says_to_await(ai: Flowkit, double):
    @ai.flow()
    async def waits_for_itself() -> int:
        return ai.run_sync(double, 1)

    with pytest.raises(StateError, match="await"):
        ai.run_sync(waits_for_itself)


def test_a_coroutine_that_is_refused_is_closed(ai: Flowkit, double):
    @ai.flow()
    async def waits_for_itself() -> int:
        return ai.run_sync(double(1))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(StateError):
            ai.run_sync(waits_for_itself)


def test_an_exit_leaves_flowkit_alive(ai: Flowkit, double):
    @ai.flow()
    async def leaves() -> None:
        sys.exit(3)

    @ai.flow()
    def leaves_in_a_thread() -> None:
        sys.exit(4)

    for flow, code in ((leaves, 3), (leaves_in_a_thread, 4)):
        with pytest.raises(SystemExit) as caught:
            ai.run_sync(flow)
        assert caught.value.code == code
    assert ai.run_sync(double, 2) == 4


def test_a_run_that_is_cancelled_inside_is_cancelled_for_the_caller(ai: Flowkit):
    @ai.flow()
    async def gives_up() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        ai.run_sync(gives_up)


def test_a_task_that_a_run_left_behind_does_not_keep_the_loop(ai: Flowkit):
    gc.collect()  # apps of other tests
    left, ended = [], threading.Event()

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    @ai.flow()
    async def leaves_a_task() -> None:
        left.append(asyncio.create_task(forever()))
        await asyncio.sleep(0)

    ai.run_sync(leaves_a_task)
    ai.run_sync(ai.aclose())

    assert ended.wait(10)


SCRIPT = """
import asyncio, os, signal, threading, time
from flowkit import Flowkit
ai = Flowkit()

@ai.flow()
async def forever() -> None:
    try:
        print("begun", flush=True)
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0.05)
        print("tidied up", flush=True)

try:
    ai.run_sync(forever)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_an_interrupt_cancels_the_run_and_waits_for_its_finally():
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "begun\n"
    child.send_signal(signal.SIGINT)
    rest, _ = child.communicate(timeout=20)

    assert rest == "tidied up\ninterrupted\n"
    assert child.returncode == 0


@pytest.mark.parametrize("what", [len, 3, None, [1]])
def test_what_can_be_neither_run_nor_awaited_is_refused(ai: Flowkit, what: object):
    with pytest.raises(InvalidInputError, match=r"run_sync cannot run a .*an action, its key or an awaitable"):
        ai.run_sync(what)  # type: ignore[call-overload]
