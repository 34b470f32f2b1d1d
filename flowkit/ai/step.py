"""Steps: a named, traced part of a flow, without an entry in the registry.

text = await ai.run("extract-text", extract_text, path)
"""

import inspect
from collections.abc import Callable
from inspect import CO_COROUTINE
from typing import Any

from flowkit.core.action import Action, fail, tell_if_abandoned
from flowkit.core.context import _run, child_context, leave
from flowkit.core.runtime import Runtime
from flowkit.core.spans import close_span, drop_span, open_span
from flowkit.core.threads import start_in_thread
from flowkit.core.values import to_json
from flowkit.errors import InvalidInputError

__all__ = ["run_step"]


async def run_step(
    runtime: Runtime, name: str, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call `fn` under a span of that name. A sync function runs in a thread.

    Raises:
        InvalidInputError: `fn` is not callable (a coroutine was passed, for instance).
        Exception: whatever `fn` raises, unwrapped, with a note that names step and trace.
    """
    if not isinstance(name, str) or not name.strip():
        raise InvalidInputError(f"a step needs a name, not {name!r}", hint='write ai.run("name", function, argument)')
    if not callable(fn):
        raise InvalidInputError(
            f"step {name!r}: {type(fn).__name__} is not callable", hint='write ai.run("name", function, argument)'
        )
    caller = _run.get()
    context = child_context(caller, None, caller._send if caller is not None else None)
    token = _run.set(context)
    span = open_span(runtime.tracing, caller, name, "flowStep")
    if span is not None:
        context.record = span
        span.input = to_json(args[0] if len(args) == 1 and not kwargs else {**dict(enumerate(args)), **kwargs})
    try:
        # The first test is the second one, three times as fast, for the usual case.
        code = getattr(fn, "__code__", None)
        if (code is not None and code.co_flags & CO_COROUTINE) or inspect.iscoroutinefunction(fn):
            result = await fn(*args, **kwargs)
        else:
            # An action's call only makes an awaitable; anything else that is sync may block.
            if isinstance(fn, Action):
                result = fn(*args, **kwargs)
            else:
                running = start_in_thread(fn, args, kwargs)
                running.add_done_callback(lambda future: tell_if_abandoned(future, span))
                result = await running
            if inspect.isawaitable(result):
                result = await result
    except GeneratorExit:
        here = leave(context, token)
        if span is not None:
            drop_span(span, runtime.tracing, current=here)
        raise
    except BaseException as error:
        _run.reset(token)
        fail(span, runtime, error, f"step {name!r}")
        raise
    _run.reset(token)
    if span is not None:
        if result is not None:
            span.output = to_json(result)
        close_span(span, runtime.tracing)
    return result
