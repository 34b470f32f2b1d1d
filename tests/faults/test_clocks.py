"""A clock that jumps, backwards in a run and ten years ahead: nothing is lost, and no time is negative."""

import textwrap

import pytest

from flowkit.tracing.store import TraceStore
from tests.faults.conftest import Menu

pytestmark = pytest.mark.heavy

YEAR = 365 * 86_400
CLOCK = f"""
import time
shift = 0
real, real_ns = time.time, time.time_ns
time.time = lambda: real() + shift
time.time_ns = lambda: real_ns() + shift * 1_000_000_000

import asyncio
from app import ai
from flowkit import Document

@ai.flow
async def jump(seconds: int) -> int:
    async def step():
        global shift
        shift += seconds
        return seconds
    report = await ai.index("menu", [Document.from_text(f"dish{{shift % 100_000:05d}} before")])
    await ai.run("jump", step)
    report = await ai.index("menu", [Document.from_text(f"dish{{shift % 100_000:05d}} after {{seconds}}")])
    hits = await ai.retrieve("menu", "dish", k=10)
    return len(hits)

async def main():
    for number, seconds in enumerate([-3600, {10 * YEAR}, -{10 * YEAR}, -{56 * YEAR}]):
        print(await jump(seconds), flush=True)
    await ai.aclose()

asyncio.run(main())
"""


def test_a_clock_that_jumps(menu: Menu):
    menu.write("script.py", textwrap.dedent(CLOCK))
    process = menu.script("script.py", env={**menu.cached, "FLOWKIT_TRACES": "1"})
    out, _ = process.communicate(timeout=60)

    counts = [int(line) for line in out.split()]
    assert process.returncode == 0
    assert counts == sorted(counts)
    assert len(menu.indexed()) == counts[-1]
    store = TraceStore(menu.folder / ".flowkit" / "traces.db")
    page = store.list(limit=50)
    assert ([item.status for item in page.items], page.skipped) == (["success"] * 4, 0)
    for item in page.items:
        assert (item.duration_ms or 0) >= 0, "no time is negative"
        trace = store.get(item.trace_id)
        assert trace.skipped == 0
        assert all((span.duration_ms or 0) >= 0 for span in trace.spans)
    store.close()

    said = menu.run("flow:run", "say", '"now"')
    assert said.code == 0
    assert menu.run("trace:list").code == 0
    assert menu.run("trace:get", "latest").code == 0
    for item in page.items:
        assert menu.run("trace:get", item.trace_id).code == 0
    menu.forget_embedded()
    assert "dish" in menu.process("flow:run", "menuQA", '"dish"', env=menu.cached).out
    assert menu.embedded() == []
