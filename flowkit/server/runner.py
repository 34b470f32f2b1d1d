"""Running an action from outside: on the app's own loop, with its trace id before its result.

    run = runner.start(RunRequest.from_wire(body))
    await run.opened()                                  # ids are known; NotFoundError when there is no such action
    async for chunk in run.chunks(): ...                # each one line of JSON
    last = await run.answer()                           # result or error, with the trace on disk

The server may live on another loop than the app. Everything that happens in a run comes back through one queue, so the
order is kept. It has no limit: an action cannot wait for a slow reader, and a reader that leaves cancels its run.
"""

import asyncio
import contextvars
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from flowkit.core.action import Action
from flowkit.core.loops import LoopRun, run_on
from flowkit.core.registry import Registry
from flowkit.core.signature import MISSING
from flowkit.core.spans import SpanRecord
from flowkit.core.threads import run_in_thread
from flowkit.errors import FlowkitError, InvalidInputError, NotFoundError, StateError
from flowkit.server.describe import TOOL_V2
from flowkit.server.errors import wire_error
from flowkit.server.first_span import notice, outside
from flowkit.server.frames import frame

__all__ = ["Answer", "Run", "RunRequest", "Runner"]

_FLUSH_SECONDS = 2.0
_LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is to be run."""

    key: str
    input: Any = MISSING
    context: Mapping[str, Any] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    """Attributes of the root span."""
    stream: bool = False
    """Somebody reads the chunks."""

    @classmethod
    def from_wire(cls, body: Any, *, stream: bool = False) -> "RunRequest":
        """Read Genkit's form; keys that it does not document are ignored.

        Raises:
            InvalidInputError: there is no key, or a part has the wrong type.
        """
        if not isinstance(body, Mapping) or not isinstance(body.get("key"), str):
            raise InvalidInputError("a run needs a key", hint='send {"key": "/flow/menuQA", "input": …}')
        context, labels = body.get("context"), body.get("telemetryLabels") or {}
        if context is not None and not isinstance(context, Mapping):
            raise InvalidInputError("context is no object", hint='send "context": {"auth": {…}}')
        if not isinstance(labels, Mapping):
            raise InvalidInputError("telemetryLabels is no object", hint='send "telemetryLabels": {"name": "value"}')
        named = {str(name): str(value) for name, value in labels.items()}
        return cls(body["key"], body.get("input", MISSING), context, named, stream)


@dataclass(frozen=True, slots=True)
class Answer:
    """How a run ended: with a result as JSON (None when the action returns nothing), or with what it raised."""

    trace_id: str | None
    result: bytes | None = None
    raised: BaseException | None = None

    @property
    def error(self) -> dict[str, Any] | None:
        """What it raised, as Genkit's error object."""
        return None if self.raised is None else wire_error(self.raised, self.trace_id)

    @property
    def frame(self) -> bytes:
        """The last frame of Genkit's protocol."""
        if self.raised is not None:
            return frame({"error": self.error})
        parts = [] if self.result is None else [b'"result":' + self.result]
        telemetry = {} if self.trace_id is None else {"traceId": self.trace_id}
        return b"{" + b",".join([*parts, b'"telemetry":' + frame(telemetry)]) + b"}"


class _Event(NamedTuple):
    kind: Literal["opened", "chunk", "ended"]
    value: Any = None


class Run:
    """One run. Its methods belong to the server's loop; `cancel` may be called anywhere."""

    trace_id: str | None = None
    span_id: str | None = None

    def __init__(self, runner: "Runner", request: RunRequest) -> None:
        self.request = request
        self._runner = runner
        self._loop = asyncio.get_running_loop()
        self._home = runner.registry.runtime.loop()
        self._events: asyncio.Queue[_Event] = asyncio.Queue()
        self._waiting: list[_Event] = []
        self._ended: _Event | None = None
        self._work: LoopRun[None] | None = None

    async def opened(self) -> None:
        """Wait until the root span is open: `trace_id` and `span_id` are set (None when nothing is traced).

        Raises:
            NotFoundError: there is no such action; nothing was run.
        """
        event = await self._next()
        if event.kind == "ended" and isinstance(event.value, _Unknown):
            self._runner._forget(self)
            raise event.value.error
        if event.kind != "opened":
            self._waiting.append(event)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Each chunk as one line of ASCII JSON, in order, until the action ends."""
        while True:
            event = self._waiting.pop() if self._waiting else await self._next()
            if event.kind == "ended":
                return
            if event.kind == "chunk":
                yield event.value

    async def answer(self) -> Answer:
        """Wait for the end, dropping chunks that nobody read, and until its trace is where tools look for it."""
        async for _ in self.chunks():
            continue
        assert self._ended is not None  # chunks() ends with it
        await self._runner._closed(self)
        outcome = self._ended.value
        if isinstance(outcome, _Unknown):
            outcome = outcome.error
        if isinstance(outcome, BaseException):
            return Answer(self.trace_id, raised=outcome)
        return Answer(self.trace_id, result=outcome)

    def cancel(self) -> None:
        """Cancel the action; nothing happens when it has ended."""
        if self._work is not None:
            self._work.cancel()

    def close(self) -> None:
        """The reader leaves: what still runs is cancelled, and nobody waits for it."""
        self.cancel()
        self._runner._forget(self)

    async def _next(self) -> _Event:
        if self._ended is not None:
            return self._ended
        event = await self._get()
        if event.kind == "opened":
            self._runner._opened(self)
        elif event.kind == "ended":
            self._ended = event
        return event

    async def _get(self) -> _Event:
        """The next event; an error when the app's loop has stopped for good, as no event can come then."""
        stopped = False
        while True:
            try:
                async with asyncio.timeout(_LOOK_SECONDS):
                    return await self._events.get()
            except TimeoutError:
                if stopped:
                    return _Event("ended", StateError("the app's event loop has ended", hint="run it again"))
                stopped = not self._home.is_running()

    def _post(self, event: _Event) -> None:
        try:
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)
        except RuntimeError:  # the server's loop is closed: nobody reads any more
            return

    def _chunk(self, chunk: Any) -> None:
        self._post(_Event("chunk", frame(chunk)))

    def span_opened(self, span: SpanRecord) -> None:
        """The root span is open."""
        for name, value in self.request.labels.items():
            span.set_attribute(name, value)
        self.trace_id, self.span_id = span.trace_hex, span.span_hex
        self._post(_Event("opened"))


@dataclass(frozen=True, slots=True)
class _Unknown:
    error: FlowkitError


class Runner:
    """Runs the actions of one app from outside, several at a time.

    Args:
        flush: Called before the last frame with the seconds it may take; when it returns, the trace can be read.
    """

    def __init__(self, registry: Registry, *, flush: Callable[[float], object] | None = None) -> None:
        self.registry = registry
        self._flush = flush
        self._by_trace: dict[str, set[Run]] = {}
        self._active: set[Run] = set()
        registry.runtime.on_span = notice

    def start(self, request: RunRequest, *, inherit: bool = False) -> Run:
        """Start a run on the app's loop. Call it where the server's loop runs.

        Args:
            inherit: The run sees the caller's context variables (a user's middleware, an incoming trace). Otherwise it
                begins with none.
        """
        run = Run(self, request)
        context = contextvars.copy_context() if inherit else contextvars.Context()
        run._work = context.run(run_on, run._home, lambda: self._drive(run))
        # Cancelled before it has begun.
        run._work.add_done_callback(lambda _: run._post(_Event("ended", asyncio.CancelledError())))
        self._active.add(run)
        return run

    def cancel(self, trace_id: str) -> bool:
        """Cancel what runs under a trace id; False when nothing does."""
        runs = self._by_trace.get(trace_id, set())
        for run in list(runs):
            run.cancel()
        return bool(runs)

    def cancel_all(self) -> None:
        for run in list(self._active):
            run.cancel()

    async def _drive(self, run: Run) -> None:
        """On the app's loop. Whatever the action raises is its outcome, so that it cannot end the app."""
        try:
            action, wrap = await self._find(run.request.key)
        except (NotFoundError, InvalidInputError) as error:
            run._post(_Event("ended", _Unknown(error)))
            return
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  a plugin's set-up
            run._post(_Event("ended", error))
            return
        outside.set(run)
        try:
            result = await action.run(
                run.request.input,
                context=run.request.context,
                on_chunk=run._chunk if run.request.stream else None,
            )
            outcome: Any = frame({"output": result}) if wrap else None if result is None else frame(result)
        except BaseException as error:  # noqa: BLE001  as said above
            error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
            outcome = error
        run._post(_Event("ended", outcome))
        if isinstance(outcome, KeyboardInterrupt):  # Ctrl-C met this code by chance; it is for the program
            raise outcome

    async def _find(self, key: str) -> tuple[Action[Any, Any, Any], bool]:
        if key.startswith(TOOL_V2):
            return await self.registry.get("/tool/" + key.removeprefix(TOOL_V2)), True
        return await self.registry.get(key), False

    def _opened(self, run: Run) -> None:
        if run.trace_id is not None:
            self._by_trace.setdefault(run.trace_id, set()).add(run)

    async def _closed(self, run: Run) -> None:
        self._forget(run)
        if self._flush is not None:
            await run_in_thread(self._flush, (_FLUSH_SECONDS,))

    def _forget(self, run: Run) -> None:
        self._active.discard(run)
        if run.trace_id is not None:
            runs = self._by_trace.get(run.trace_id, set())
            runs.discard(run)
            if not runs:
                self._by_trace.pop(run.trace_id, None)
