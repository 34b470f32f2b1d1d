"""One call of a flow: its ids, its time limit, and what happens when the caller leaves.

call = Call(action, value, headers)
async with call.unless_left(receive): result = await call.run()
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from opentelemetry import context as otel_context
from opentelemetry import trace as otel

from flowkit.core.action import Action
from flowkit.core.context import RunContext
from flowkit.core.spans import SpanRecord
from flowkit.errors import FlowkitError, InvalidInputError
from flowkit.server.first_span import notice, outside

if TYPE_CHECKING:
    from starlette.types import Receive

__all__ = ["Call"]

_LOOK_SECONDS = 0.05  # what is done sooner needs nobody to watch its caller


class Call:
    """A flow that is being called. It runs in the task, and with the context variables, of whoever calls `run`."""

    trace_id: str | None = None
    """Of the root span; None until it is open, and for good where nothing is traced."""
    span_id: str | None = None
    left = False
    """The caller has gone; nobody reads an answer."""

    def __init__(
        self,
        action: Action[Any, Any, Any],
        value: Any,
        headers: Mapping[str, str],
        *,
        run_seconds: float | None = None,
    ) -> None:
        self.action = action
        self._value = value
        self.context: Mapping[str, Any] = {}
        self._traceparent = headers.get("traceparent")
        self._run_seconds = run_seconds

    async def run(self, on_chunk: Callable[[Any], None] | None = None) -> Any:
        """The flow's result.

        Raises:
            FlowkitError: DEADLINE_EXCEEDED when it takes too long.
            BaseException: whatever the flow raises.
        """
        action = self.action
        action.runtime.on_span = notice
        token = outside.set(self)
        parent = None if self._traceparent is None else _attach(self._traceparent)
        try:
            async with asyncio.timeout(self._run_seconds) as limit:
                return await action.run(self._value, context=self.context, on_chunk=on_chunk)
        except TimeoutError:
            if not limit.expired():
                raise
            message = f"the flow took longer than {self._run_seconds:g} seconds"
            raise FlowkitError(message, status="DEADLINE_EXCEEDED") from None
        except SystemExit as error:  # it would end the server
            raise RuntimeError(f"the flow ended the process: sys.exit({error.code!r})") from error
        finally:
            if parent is not None:
                otel_context.detach(parent)
            outside.reset(token)

    def span_opened(self, span: SpanRecord) -> None:
        self.trace_id, self.span_id = span.trace_hex, span.span_hex

    @property
    def is_refused(self) -> bool:
        """True when the flow itself does not take this input; an action that it calls may refuse one, too."""
        try:
            self.action.signature.bind(self._value, RunContext({}, {}, None, None))
        except InvalidInputError:
            return True
        return False

    @property
    def ids(self) -> tuple[str, str]:
        """Trace and span id; made up where nothing is traced, so that caller and log can speak of the same call."""
        if self.trace_id is None or self.span_id is None:
            self.trace_id, self.span_id = f"{random.getrandbits(128):032x}", f"{random.getrandbits(64):016x}"
        return self.trace_id, self.span_id

    @property
    def id_headers(self) -> list[tuple[bytes, bytes]]:
        trace_id, span_id = self.ids
        return [(b"x-genkit-trace-id", trace_id.encode()), (b"x-genkit-span-id", span_id.encode())]

    @asynccontextmanager
    async def unless_left(self, receive: "Receive") -> AsyncIterator[None]:
        """When the caller leaves, this task is cancelled: `left` is set, and the block is over without an exception."""
        task = asyncio.current_task()
        assert task is not None  # servers call apps in tasks
        watching: list[asyncio.Task[None]] = []

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                continue
            self.left = True
            task.cancel()

        handle = task.get_loop().call_later(_LOOK_SECONDS, lambda: watching.append(asyncio.create_task(watch())))
        try:
            yield
        except asyncio.CancelledError:
            if not self.left or task.uncancel():
                raise
        finally:
            handle.cancel()
            for each in watching:
                each.cancel()


def _attach(traceparent: str) -> Any:
    """Continue the caller's trace, unless somebody in this process (an instrumented server) has done so already."""
    if otel.get_current_span().get_span_context().is_valid:
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return otel_context.attach(TraceContextTextMapPropagator().extract({"traceparent": traceparent}))
