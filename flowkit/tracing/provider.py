"""A tracer provider that records: spans of instrumented libraries go to the local trace store, next to ours.

install_if_unset(recorder)         # only in processes that flowkit itself has started

It is never in the way of the user's own: whenever another provider becomes the global one, it gets every new span, also
those of tracers that were handed out before.
"""

import time
from collections.abc import Iterator, Sequence

from opentelemetry import context as otel_context
from opentelemetry import trace as otel
from opentelemetry.context import Context
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanKind, Tracer, TracerProvider
from opentelemetry.util._decorator import _agnosticcontextmanager  # the SDK's, too: it decorates async functions
from opentelemetry.util.types import Attributes

from flowkit.core.record import SpanRecord, SpanSink
from flowkit.core.spans import new_span_id, place
from flowkit.tracing.quiet import is_quiet

__all__ = ["RecorderProvider", "RecorderTracer", "install_if_unset", "remove"]

_GLOBAL = "_TRACER_PROVIDER"


class RecorderProvider(TracerProvider):
    """Makes records of type "external" and gives them to a sink."""

    flowkit = True
    """By this, `flowkit.core.spans` tells it from a provider that the user has set."""

    def __init__(self, sink: SpanSink) -> None:
        self.sink = sink

    def get_tracer(
        self,
        instrumenting_module_name: str,
        instrumenting_library_version: str | None = None,
        schema_url: str | None = None,
        attributes: Attributes = None,
    ) -> "RecorderTracer":
        return RecorderTracer(self, instrumenting_module_name, instrumenting_library_version)

    # Libraries that expect the SDK call these.

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        flush = getattr(self.sink, "flush", None)
        return flush is None or bool(flush(timeout_millis / 1000))

    def shutdown(self) -> None:
        self.force_flush()


class RecorderTracer(Tracer):
    """The tracer of one library."""

    def __init__(self, provider: RecorderProvider, name: str, version: str | None) -> None:
        self._provider = provider
        self._scope = (name, version)

    def start_span(
        self,
        name: str,
        context: Context | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        start_time: int | None = None,
        record_exception: bool = True,
        set_status_on_exception: bool = True,
    ) -> Span:
        current = otel.get_tracer_provider()
        if not isinstance(current, RecorderProvider | otel.ProxyTracerProvider):
            tracer = current.get_tracer(*self._scope)
            return tracer.start_span(
                name, context, kind, attributes, links, start_time, record_exception, set_status_on_exception
            )
        context = otel_context.get_current() if context is None else context
        if is_quiet(context):
            return NonRecordingSpan(otel.get_current_span(context).get_span_context())
        sink = self._provider.sink
        record = SpanRecord(sink, name, "external", None, None)
        place(record, context, None)
        record.span_id = new_span_id()
        record.span_kind, record.scope = kind.name, self._scope
        record.on_exception = (record_exception, set_status_on_exception)
        record.start_ns = start_time or time.time_ns()
        if attributes:
            record.set_attributes(attributes)
        for link in links or ():
            record.add_link(link.context, link.attributes)
        sink.started(record)
        return record

    @_agnosticcontextmanager
    def start_as_current_span(
        self,
        name: str,
        context: Context | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        start_time: int | None = None,
        record_exception: bool = True,
        set_status_on_exception: bool = True,
        end_on_exit: bool = True,
    ) -> Iterator[Span]:
        span = self.start_span(name, context, kind, attributes, links, start_time)
        with otel.use_span(span, end_on_exit, record_exception, set_status_on_exception) as current:
            yield current


def install_if_unset(sink: SpanSink) -> RecorderProvider | None:
    """Make a recorder's provider the global one, unless there is one; None then. For processes that flowkit owns."""
    if not isinstance(otel.get_tracer_provider(), otel.ProxyTracerProvider):
        return None
    provider = RecorderProvider(sink)
    if _GLOBAL in otel.__dict__:
        # Not by `set_tracer_provider`, which works once: that once is the user's, who may come later.
        otel.__dict__[_GLOBAL] = provider
    else:
        otel.set_tracer_provider(provider)
    return provider


def remove(provider: RecorderProvider) -> None:
    """Take it away again, when it still is the global one."""
    if otel.__dict__.get(_GLOBAL) is provider:
        otel.__dict__[_GLOBAL] = None
