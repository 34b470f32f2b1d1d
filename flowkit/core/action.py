"""Actions: typed, traced functions with a name. Everything that runs is one.

action = Action("flow", "greet", greet, runtime=runtime)
await action("Ada")                      # like the plain function
async with action.stream("Ada") as chunks: ...
"""

import asyncio
import inspect
from asyncio import CancelledError
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Generic, TypeVar

from flowkit.core.context import Context, RunContext, _run, child_context, leave
from flowkit.core.functions import described
from flowkit.core.kinds import Kind, action_key, check_name
from flowkit.core.runtime import Runtime
from flowkit.core.signature import MISSING, Signature
from flowkit.core.spans import ATTRIBUTES, SpanRecord, annotate, close_span, drop_span, open_span
from flowkit.core.stream import ActionStream
from flowkit.core.threads import pump, start_in_thread
from flowkit.core.values import to_json

__all__ = ["Action", "fail", "tell_if_abandoned"]

In = TypeVar("In")
Out = TypeVar("Out")
Chunk = TypeVar("Chunk")


class Action(Generic[In, Out, Chunk]):
    """A named, typed, traced function.

    Calling it gives an awaitable, with the plain function's arguments (or the input's wire form as the only argument).
    `context=` gives the run's context, for instance `{"auth": …}`; without it the caller's is used. A function that has
    an input of that name gets its input; then `run` gives the context.
    """

    def __init__(
        self,
        kind: Kind,
        name: str,
        fn: Callable[..., Any],
        *,
        runtime: Runtime | None = None,
        description: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        signature: Signature | None = None,
        plain: Callable[..., Any] | None = None,
        verb: str | None = None,
    ) -> None:
        """`plain` is the user's function, when `fn` is one of ours around it; `verb` says how the action is called."""
        check_name(kind, name)
        self.kind: Kind = kind
        self.name = name
        self.key = action_key(kind, name)
        if isinstance(fn, Action):  # one function under two decorators
            fn = fn.fn
        self.fn: Callable[..., Any] = fn.__func__ if isinstance(fn, staticmethod) else fn
        self.signature = signature or Signature(self.fn, f"{kind} {name!r}")
        if verb is not None:
            self.signature.hint = f"call it as {verb}"
        self.runtime = runtime or Runtime()
        doc = described(self.fn) if description is None else description
        self.description = doc.strip().splitlines()[0] if doc and doc.strip() else None
        self.metadata: dict[str, Any] = dict(metadata or {})
        self._style = self.signature.style
        self.__doc__ = doc
        self.__wrapped__: Callable[..., Any] = plain or self.fn
        self.__name__ = getattr(self.__wrapped__, "__name__", name)

    @property
    def input_schema(self) -> dict[str, Any] | None:
        """JSON Schema of the input; None when it takes none."""
        return self.signature.input_schema()

    @property
    def output_schema(self) -> dict[str, Any] | None:
        return self.signature.output_schema()

    @property
    def chunk_schema(self) -> dict[str, Any] | None:
        return self.signature.chunk_schema()

    def __repr__(self) -> str:
        return f"<Action {self.key}>"

    def __call__(
        self, *args: Any, context: Context | RunContext | None = None, **kwargs: Any
    ) -> Coroutine[Any, Any, Out]:
        """An awaitable of the result.

        Raises:
            InvalidInputError: the function cannot be called with such arguments.

        Raises (when awaited):
            InvalidInputError: the input does not fit the function's annotations.
            InvalidOutputError: the result does not fit them.
            Exception: whatever the function raises, unwrapped, with a note that names action and trace.
        """
        if context is not None and self.signature.takes_context_input:
            kwargs["context"], context = context, None
        return self._run(self.signature.gather(args, kwargs), context, None)

    def run(
        self,
        value: Any = MISSING,
        *,
        context: Context | RunContext | None = None,
        on_chunk: Callable[[Any], None] | None = None,
    ) -> Coroutine[Any, Any, Out]:
        """As a call, with the input as one value in its wire form. For servers and tools."""
        return self._run(value, context, on_chunk)

    def stream(
        self, *args: Any, context: Context | RunContext | None = None, **kwargs: Any
    ) -> ActionStream[Chunk, Out]:
        """Start the action and iterate over its chunks; call it where an event loop runs."""
        if context is not None and self.signature.takes_context_input:
            kwargs["context"], context = context, None
        value = self.signature.gather(args, kwargs)
        return ActionStream(lambda send: self._run(value, context, send))

    async def _run(self, value: Any, given: Context | RunContext | None, send: Callable[[Any], None] | None) -> Any:
        runtime = self.runtime
        caller = _run.get()
        if caller is None:
            runtime.seen(asyncio.get_running_loop())
        context = child_context(caller, given, send)
        token = _run.set(context)
        span = open_span(runtime.tracing, caller, self.name, "action", self.kind, self.key)
        if span is not None:
            context.record = span
            if value is not MISSING:
                span.input = to_json(value)
            if context.values and span.is_root:
                span.context_json = to_json(_public(context.values))
            if runtime.on_span is not None:
                runtime.on_span(span)
        try:
            args, kwargs = self.signature.bind(value, context)
            if self._style == "async":
                result = await self.fn(*args, **kwargs)
            else:
                result = await self._other(args, kwargs, context)
            result = self.signature.validate_output(result)
        except GeneratorExit:
            # The coroutine was thrown away, perhaps in another context, where nothing can be reset.
            here = leave(context, token)
            if span is not None:
                drop_span(span, runtime.tracing, current=here)
            raise
        except BaseException as error:
            _run.reset(token)
            fail(span, runtime, error, f"{self.kind} {self.name!r}")
            raise
        _run.reset(token)
        if span is not None:
            if result is not None:
                span.output = to_json(result)
            close_span(span, runtime.tracing)
        return result

    async def _other(self, args: Sequence[Any], kwargs: dict[str, Any], context: RunContext) -> Any:
        """Run a function that is not a plain coroutine function."""
        if self._style == "sync":
            running = start_in_thread(self.fn, args, kwargs)
            running.add_done_callback(lambda future: tell_if_abandoned(future, context.record))
            result = await running
            return await result if inspect.isawaitable(result) else result
        chunks: list[Any] = []

        def take(chunk: Any) -> None:
            chunk = self.signature.validate_chunk(chunk)
            chunks.append(chunk)
            context.send_chunk(chunk)

        if self._style == "async_stream":
            generator = self.fn(*args, **kwargs)
            try:
                async for chunk in generator:
                    take(chunk)
                    # Let the reader have it, and let a cancellation in, even when the generator never waits.
                    await asyncio.sleep(0)
            finally:
                await generator.aclose()
        else:
            running = start_in_thread(pump, (self.fn, args, kwargs, take))
            running.add_done_callback(lambda future: tell_if_abandoned(future, context.record))
            await running
        return self.signature.join(chunks)


def tell_if_abandoned(running: "asyncio.Future[Any]", span: SpanRecord | None) -> None:
    """A thread cannot be stopped: when nobody waits for it any more, the span says that it went on."""
    if running.cancelled():
        annotate(span, {ATTRIBUTES.ABANDONED: True})


def fail(span: SpanRecord | None, runtime: Runtime, error: BaseException, where: str) -> None:
    """Close a span with an error; the innermost span of an exception is its source and leaves a note on it."""
    cancelled = isinstance(error, CancelledError)
    if not cancelled:
        trace = "" if span is None else span.trace_hex
        before, old = getattr(error, "_flowkit", (None, ""))
        if before != trace:
            if span is not None:
                span.failure_source = True
            _note(error, trace, f"in {where}, trace {trace}" if trace else f"in {where}", old)
    if span is not None:
        close_span(span, runtime.tracing, error, cancelled)


def _note(error: BaseException, trace: str, note: str, old: str) -> None:
    try:
        error._flowkit = (trace, note)  # type: ignore[attr-defined]
        if old in getattr(error, "__notes__", ()):  # one object raised in run after run
            error.__notes__.remove(old)
        error.add_note(note)
    except (AttributeError, TypeError):  # an exception that cannot be written to keeps its place, without the note
        return


def _public(values: Mapping[str, Any]) -> dict[str, Any]:
    """A context as it may be shown: who is authenticated and all secrets stay out."""
    return {key: "<redacted>" if key in ("auth", "secrets") else value for key, value in values.items()}
