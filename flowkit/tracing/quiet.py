"""Work that must not be traced: the writing of traces, whatever library it goes through.

with quiet(): store.write(rows)
"""

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import context as otel_context
from opentelemetry.context import Context

__all__ = ["is_quiet", "quiet"]

# By both names instrumentations respect it; the second is the API's own, which older versions do not have.
_KEYS = [
    key
    for key in ("suppress_instrumentation", getattr(otel_context, "_SUPPRESS_INSTRUMENTATION_KEY", None))
    if key is not None
]


@contextmanager
def quiet() -> Iterator[None]:
    """Instrumented libraries make no spans within."""
    context = otel_context.get_current()
    for key in _KEYS:
        context = otel_context.set_value(key, True, context)
    token = otel_context.attach(context)
    try:
        yield
    finally:
        otel_context.detach(token)


def is_quiet(context: Context) -> bool:
    """True when spans are not wanted in this OpenTelemetry context."""
    return any(context.get(key) for key in _KEYS)
