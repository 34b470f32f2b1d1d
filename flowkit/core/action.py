"""Actions: typed, traced functions with a name. Everything that runs is one.

action = Action("flow", "greet", greet, runtime=runtime)
await action("Ada")                      # like the plain function
async with action.stream("Ada") as chunks: ...
"""

import asyncio
import inspect
from asyncio import CancelledError
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from flowkit.core.context import Context, RunContext, _run, child_context, leave
from flowkit.core.kinds import Kind, action_key
from flowkit.core.runtime import Runtime
from flowkit.core.signature import MISSING, Signature
from flowkit.core.spans import SpanRecord, close_span, drop_span, open_span
from flowkit.core.stream import ActionStream
from flowkit.core.threads import run_in_thread
from flowkit.core.values import to_json

__all__ = ["Action"]

In = TypeVar("In")
Out = TypeVar("Out")
Chunk = TypeVar("Chunk")


class Action(Generic[In, Out, Chunk]):
    """A named, typed, traced function.

    Calling it gives an awaitable, with the plain function's arguments (or the input's wire form as the only argument).
    `context=` gives the run's context, for instance `{"auth": …}`; without it the caller's is used.
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
    ) -> None:
        self.kind: Kind = kind
        self.name = name
        self.key = action_key(kind, name)
        self.fn = fn.__func__ if isinstance(fn, staticmethod) else fn
        self.signature = signature or Signature(self.fn, f"{kind} {name!r}")
        self.runtime = runtime or Runtime()
        doc = inspect.getdoc(self.fn) if description is None else description
        self.description = doc.strip().splitlines()[0] if doc and doc.strip() else None
        self.metadata: dict[str, Any] = dict(metadata or {})
        self._style = self.signature.style
        self.__doc__ = doc
        self.__name__ = getattr(self.fn, "__name__", name)
        self.__wrapped__ = self.fn

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

    def __call__(self, *args: Any, context: Context | RunContext | None = None, **kwargs: Any) -> Any:
        """An awaitable of the result.

        Raises (when awaited):
            InvalidInputError: the input does not fit the function's annotations.
            InvalidOutputError: the result does not fit them.
            Exception: whatever the function raises, unwrapped, with a note that names action and trace.
        """
        return self._run(self.signature.gather(args, kwargs), context, None)

    def run(
        self,
        value: Any = MISSING,
        *,
        context: Context | RunContext | None = None,
        on_chunk: Callable[[Any], None] | None = None,
    ) -> Any:
        """As a call, with the input as one value in its wire form. For servers and tools."""
        return self._run(value, context, on_chunk)

    def stream(
        self, *args: Any, context: Context | RunContext | None = None, **kwargs: Any
    ) -> ActionStream[Chunk, Out]:
        """Start the action and iterate over its chunks; call it where an event loop runs."""
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
            if span.is_root and context.values:
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
            if span is not None:
                fail(span, runtime, error, f"{self.kind} {self.name!r}")
            raise
        _run.reset(token)
        if span is not None:
            if result is not None:
                span.output = to_json(result)
            close_span(span, runtime.tracing)
        return result

    async def _other(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: RunContext) -> Any:
        """Run a function that is not a plain coroutine function."""
        if self._style == "sync":
            result = await run_in_thread(self.fn, args, kwargs)
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

            def pump() -> None:
                for chunk in self.fn(*args, **kwargs):
                    take(chunk)

            await run_in_thread(pump)
        return joined(chunks)


def joined(chunks: list[Any]) -> Any:
    """The result of a generator: its chunks as one text when all are text, else the list of them."""
    return "".join(chunks) if chunks and all(type(chunk) is str for chunk in chunks) else chunks


def fail(span: SpanRecord, runtime: Runtime, error: BaseException, where: str) -> None:
    """Close a span with an error; the innermost span of an exception is its source and leaves a note on it."""
    cancelled = isinstance(error, CancelledError)
    if not cancelled and getattr(error, "_flowkit_trace", None) != span.trace_hex:
        span.failure_source = True
        try:
            error._flowkit_trace = span.trace_hex  # type: ignore[attr-defined]
        except AttributeError:  # an exception with slots keeps its place, without the note
            pass
        else:
            error.add_note(f"in {where}, trace {span.trace_hex}")
    close_span(span, runtime.tracing, error, cancelled)


def _public(values: Mapping[str, Any]) -> dict[str, Any]:
    """A context as it may be shown: who is authenticated and all secrets stay out."""
    return {key: "<redacted>" if key in ("auth", "secrets") else value for key, value in values.items()}
