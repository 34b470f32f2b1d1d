"""Who wants to know the ids of a run that comes from outside: told as soon as its root span is open.

token = outside.set(caller)               # caller.span_opened(span) is called once
registry.runtime.on_span = notice
"""

from contextvars import ContextVar
from typing import Protocol

from flowkit.core.spans import SpanRecord

__all__ = ["Caller", "notice", "outside"]


class Caller(Protocol):
    trace_id: str | None
    """Set by `span_opened`."""

    def span_opened(self, span: SpanRecord) -> None: ...


outside: ContextVar[Caller | None] = ContextVar("flowkit_outside_run", default=None)
"""Whoever asks for the run that this code is part of."""


def notice(span: SpanRecord) -> None:
    """Told of every action's span; the first one of a run is its root."""
    caller = outside.get()
    if caller is not None and caller.trace_id is None:
        caller.span_opened(span)
