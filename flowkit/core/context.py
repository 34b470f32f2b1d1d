"""The data of a run: who asked, which trace, where chunks go.

@ai.flow()
async def answer(question: str, ctx: RunContext) -> str:
    ctx.send_chunk("thinking")
    return ctx.auth["uid"]
"""

from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from typing import Any

from flowkit.core.spans import SpanRecord
from flowkit.core.threads import current_waiter
from flowkit.errors import InvalidInputError

__all__ = ["Context", "RunContext", "child_context", "current_run", "leave"]

Context = Mapping[str, Any]


class RunContext:
    """What an action may know about its run. One per action call; `values` and `params` are shared down the tree.

    `values` is the context that the caller gave (`context={"auth": …}`); `params` is a dict that the parts of one run
    may use to tell each other things.
    """

    __slots__ = ("_send", "params", "record", "values")

    def __init__(
        self, values: Context, params: dict[str, Any], send: Callable[[Any], None] | None, record: SpanRecord | None
    ) -> None:
        self.values = values
        self.params = params
        self._send = send
        self.record = record

    @property
    def auth(self) -> Any:
        """`values["auth"]`, or None."""
        return self.values.get("auth")

    @property
    def trace_id(self) -> str | None:
        """32 hex digits, or None when the run is not traced."""
        return None if self.record is None else self.record.trace_hex

    @property
    def span_id(self) -> str | None:
        return None if self.record is None else self.record.span_hex

    @property
    def streaming(self) -> bool:
        """True when somebody reads the chunks."""
        return self._send is not None

    @property
    def cancelled(self) -> bool:
        """True when nobody waits any more for the sync function that asks.

        Its thread cannot be stopped, so one that works long should look here and return. Async functions are stopped.
        """
        waiter = current_waiter()
        return waiter is not None and waiter.gone

    def send_chunk(self, chunk: Any) -> None:
        """Give a chunk to the caller; nothing happens when the call does not stream. Any thread may call it."""
        if self._send is not None:
            self._send(chunk)


_EMPTY: Mapping[str, Any] = {}
_run: ContextVar[RunContext | None] = ContextVar("flowkit_run", default=None)


def current_run() -> RunContext | None:
    """The innermost run that this code is part of."""
    return _run.get()


def leave(context: RunContext, token: Token[RunContext | None]) -> bool:
    """Make the caller's run the current one again, when that is still possible.

    False when a coroutine is closed by somebody else: in another context, or while another run is current in this one.
    """
    if _run.get() is not context:
        return False
    try:
        _run.reset(token)
    except ValueError:  # a copy of the call's context
        return False
    return True


def child_context(
    parent: RunContext | None, given: "Context | RunContext | None", send: Callable[[Any], None] | None
) -> RunContext:
    """The context of a call: what was given, else what the caller has."""
    if given is None:
        if parent is None:
            return RunContext(_EMPTY, {}, send, None)
        return RunContext(parent.values, parent.params, send, None)
    if isinstance(given, RunContext):
        return RunContext(given.values, given.params, send, None)
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"context is a {type(given).__name__}", hint='pass a dict such as {"auth": {…}}')
    return RunContext(given, parent.params if parent else {}, send, None)
