"""The pytest plugin, loaded in every run of pytest where flowkit is installed; so nothing is imported until it is used.

def test_the_flow_asks_the_model(ai, traces):
    spans = traces(ai)
    ai.run_sync("/flow/menuQA", "What is vegan?")
    assert trace_outline(spans) == "…"
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from flowkit.app import Flowkit
    from flowkit.testing.outline import MemorySink

__all__ = ["traces"]


@pytest.fixture
def traces() -> "Iterator[Callable[[Flowkit], MemorySink]]":
    """`traces(ai)` keeps the spans of an app's runs in memory from then on, and returns where they are kept.

    After the test the app's spans go where they went before.
    """
    from flowkit.testing.outline import MemorySink

    changed = []

    def keep(ai: "Flowkit") -> MemorySink:
        sink = MemorySink()
        changed.append((ai.runtime.tracing, ai.runtime.tracing.sink))
        ai.runtime.tracing.sink = sink
        return sink

    yield keep
    for tracing, before in reversed(changed):
        tracing.sink = before
