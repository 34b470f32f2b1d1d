"""Rows for the store, without running anything."""

import itertools
from typing import Any

from flowkit.tracing.rows import SpanRow

__all__ = ["SECOND", "START", "span"]

START = 1_796_000_000_000_000_000
SECOND = 1_000_000_000
_numbers = itertools.count(1)


def span(name: str = "menuQA", *, trace: int = 1, at: int = 0, **facts: Any) -> SpanRow:
    """A finished flow of one second that began `at` seconds after START, unless the facts say otherwise."""
    number = next(_numbers)
    known: dict[str, Any] = {
        "trace_id": f"{trace:032x}",
        "span_id": f"{number:016x}",
        "start_ns": START + at * SECOND,
        "end_ns": START + (at + 1) * SECOND,
        "type": "action",
        "kind": "flow",
        "state": "success",
        "local_root": "parent_id" not in facts,
    }
    known |= facts
    if known["kind"] is not None:
        known.setdefault("key", f"/{known['kind']}/{name}")
    if not known["end_ns"]:
        known["state"] = None
    return SpanRow(name=name, **known)
