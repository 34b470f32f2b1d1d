"""OTLP: in processes that flowkit owns, spans go to the backend that the standard OTEL_* variables name.

stop = start_export(settings.otlp, ai.runtime.tracing.sink)     # None when nothing was asked for
stop()
"""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from opentelemetry import trace as otel

from flowkit.core.record import SpanRecord, SpanSink
from flowkit.errors import ConfigError

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
    from opentelemetry.sdk.trace.export import SpanExporter

__all__ = ["start_export"]

_STOP_SECONDS = 5
_INSTALL = "pip install 'flowkit-ai[otlp]'"


def start_export(protocol: str | None, sink: SpanSink | None) -> Callable[[], None] | None:
    """Set an SDK provider that exports by OTLP as the global one, unless the user has set a provider.

    It is an ordinary SDK provider: service name, sampler, resource, batching, endpoint and headers come from the
    OTEL_* variables. Spans of instrumented libraries are copied into `sink`, so that the local trace shows them too.

    Args:
        protocol: `http/protobuf` or `grpc`; None when no export is asked for (`Settings.otlp`).

    Returns:
        What flushes and ends the export.

    Raises:
        ConfigError: the exporter is not installed, or the protocol is unknown.
    """
    if protocol is None or not isinstance(otel.get_tracer_provider(), otel.ProxyTracerProvider):
        return None
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(_exporter(protocol)))
    if sink is not None:
        provider.add_span_processor(_local_copies(sink))
    otel.set_tracer_provider(provider)
    return functools.partial(_stop, provider)


def _stop(provider: "otel.TracerProvider") -> None:
    provider.force_flush(_STOP_SECONDS * 1000)  # type: ignore[attr-defined]
    provider.shutdown()  # type: ignore[attr-defined]


def _exporter(protocol: str) -> "SpanExporter":
    try:
        if protocol == "http/protobuf":
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as Http

            return Http()
        if protocol == "grpc":
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as Grpc

            exporter: SpanExporter = Grpc()
            return exporter
    except ImportError as error:
        package = "opentelemetry-exporter-otlp-proto-grpc"
        raise ConfigError(
            f"OTEL_* variables ask for an export by OTLP ({protocol}), and the exporter is not installed",
            hint=_INSTALL if protocol != "grpc" else f"pip install {package}, or set OTEL_EXPORTER_OTLP_PROTOCOL",
        ) from error
    raise ConfigError(
        f"OTEL_EXPORTER_OTLP_PROTOCOL is {protocol!r}", hint="flowkit exports by http/protobuf (the default) or grpc"
    )


def _local_copies(sink: SpanSink) -> "SpanProcessor":
    """A span processor that records what others than flowkit have made."""
    from opentelemetry.sdk.trace import SpanProcessor as Processor

    class LocalCopies(Processor):
        def on_start(self, span: "Span", parent_context: "Context | None" = None) -> None:
            if not _is_ours(span):
                sink.started(_copy(span, sink))

        def on_end(self, span: "ReadableSpan") -> None:
            if not _is_ours(span):
                sink.ended(_copy(span, sink))

    return LocalCopies()


def _is_ours(span: "ReadableSpan") -> bool:
    """The twin of a record: the record itself goes to the sink."""
    return span.instrumentation_scope is not None and span.instrumentation_scope.name == "flowkit"


def _copy(span: "ReadableSpan", sink: SpanSink) -> SpanRecord:
    record = SpanRecord(sink, span.name, "external", None, None)
    context = span.get_span_context()
    if context is not None:
        record.trace_id, record.span_id = context.trace_id, context.span_id
    if span.parent is not None:
        record.parent_id = span.parent.span_id
    record.start_ns, record.span_kind = span.start_time or 0, span.kind.name
    if span.instrumentation_scope is not None:
        record.scope = (span.instrumentation_scope.name, span.instrumentation_scope.version)
    record.set_attributes(dict(span.attributes or {}))
    for event in span.events:
        record.add_event(event.name, event.attributes, event.timestamp)
    record.set_status(span.status)
    if span.end_time:
        record.end_ns = span.end_time
        record.state = record.state or "success"
    return record
