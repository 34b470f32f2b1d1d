"""Spans: one lean record per action or step, and the only place that spells attribute names.

    span = open_span(tracing, name="menuQA", type="action", kind="flow", key="/flow/menuQA")
    close_span(span, output=b'"soup"')

A record stands in the OpenTelemetry context as the current span, so spans of instrumented libraries nest under it. When
the user has set an SDK provider, the span is asked of that provider too and its ids are taken (even from a span that its
sampler drops). Only the OpenTelemetry API is used here; no provider is ever set or replaced.
"""

import random
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from opentelemetry import context as otel_context
from opentelemetry import trace as otel
from opentelemetry.trace import Span, SpanContext, Status, StatusCode, TraceFlags, TracerProvider
from opentelemetry.util.types import Attributes, AttributeValue

from flowkit.core.kinds import Kind

__all__ = ["ATTRIBUTES", "SpanRecord", "SpanSink", "Tracing", "annotate", "close_span", "open_span", "reserve_attributes"]


class ATTRIBUTES:
    """Every attribute name that flowkit writes: Genkit's, and OpenTelemetry's for generative AI."""

    NAME = "genkit:name"
    TYPE = "genkit:type"
    SUBTYPE = "genkit:metadata:subtype"
    KEY = "genkit:key"
    PATH = "genkit:path"
    INPUT = "genkit:input"
    OUTPUT = "genkit:output"
    STATE = "genkit:state"
    IS_ROOT = "genkit:isRoot"
    IS_FAILURE_SOURCE = "genkit:isFailureSource"
    CONTEXT = "genkit:metadata:context"
    GEN_AI_OPERATION = "gen_ai.operation.name"
    GEN_AI_MODEL = "gen_ai.request.model"
    GEN_AI_INPUT_TOKENS = "gen_ai.usage.input_tokens"
    GEN_AI_OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
    GEN_AI_FINISH_REASONS = "gen_ai.response.finish_reasons"


GEN_AI_OPERATIONS: dict[str, str] = {"model": "chat", "embedder": "embeddings", "tool": "execute_tool"}

_VALUE_LIMIT = 16_000  # characters of one value in an OpenTelemetry attribute; the local store keeps all of it
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)


class SpanSink(Protocol):
    """Where records go. Both calls must be quick and must never raise: they run inside the user's call."""

    def started(self, record: "SpanRecord") -> None: ...
    def ended(self, record: "SpanRecord") -> None: ...


class Tracing:
    """How the runs of one `Flowkit` are traced: a sink for our own records, and a redactor for the user's provider."""

    __slots__ = ("redact", "sink")

    def __init__(self, sink: SpanSink | None = None, redact: Callable[[bytes], bytes] | None = None) -> None:
        self.sink = sink
        self.redact = redact


class SpanRecord(Span):
    """Ids, times and JSON values of one operation. It is an OpenTelemetry span by the API, without the SDK's cost.

    Times are nanoseconds since the epoch; `end_ns` 0 means running. `input` and `output` are JSON as bytes, or None.
    """

    __slots__ = (
        "_context",
        "attributes",
        "context_json",
        "end_ns",
        "error",
        "events",
        "failure_source",
        "input",
        "key",
        "kind",
        "links",
        "name",
        "output",
        "parent",
        "parent_id",
        "remote_parent",
        "sink",
        "span_id",
        "span_kind",
        "start_ns",
        "state",
        "token",
        "trace_id",
        "twin",
        "type",
    )

    def __init__(self, sink: SpanSink | None, name: str, type: str, kind: str | None, key: str | None) -> None:
        self.sink = sink
        self.name = name
        self.type = type
        """"action", "flowStep", "util"; "external" for spans of other libraries."""
        self.kind = kind
        self.key = key
        self.parent: SpanRecord | None = None
        """The parent's record, when the parent is ours and in this process."""
        self.parent_id = 0
        self.remote_parent = False
        self.trace_id = 0
        self.span_id = 0
        self.start_ns = 0
        self.end_ns = 0
        self.input: bytes | None = None
        self.output: bytes | None = None
        self.context_json: bytes | None = None
        self.state: str | None = None
        """"success", "error" or "cancelled"; None while running."""
        self.error: tuple[str, str, str] | None = None
        """Type, message and stack trace."""
        self.failure_source = False
        self.attributes: dict[str, AttributeValue] | None = None
        self.events: list[tuple[str, int, Mapping[str, Any]]] | None = None
        self.links: list[tuple[SpanContext, Mapping[str, Any]]] | None = None
        self.span_kind = "INTERNAL"
        self.twin: Span | None = None
        """The span of the user's provider."""
        self.token: Any = None
        self._context: SpanContext | None = None

    @property
    def trace_hex(self) -> str:
        return f"{self.trace_id:032x}"

    @property
    def span_hex(self) -> str:
        return f"{self.span_id:016x}"

    @property
    def parent_hex(self) -> str | None:
        return f"{self.parent_id:016x}" if self.parent_id else None

    @property
    def is_root(self) -> bool:
        """True for the outermost span of this process: no parent, or one in another process."""
        return not self.parent_id or self.remote_parent

    @property
    def path(self) -> str:
        """Genkit's path: `/{rag,t:flow}/{fake/echo,t:action,s:model}`."""
        own, parts = True, []
        record: SpanRecord | None = self
        while record is not None:
            kind = "flow" if record.kind == "flow" else record.type
            sub = f",s:{record.kind}" if own and record.kind and record.kind != "flow" and record.parent else ""
            parts.append(f"/{{{record.name},t:{kind}{sub}}}")
            own, record = False, record.parent
        return "".join(reversed(parts))

    # The OpenTelemetry API's Span.

    def end(self, end_time: int | None = None) -> None:
        """Instrumented code ends its own span here; a second end is ignored."""
        if not self.end_ns:
            self.end_ns = end_time or time.time_ns()
            if self.sink is not None:
                self.sink.ended(self)

    def get_span_context(self) -> SpanContext:
        if self._context is None:
            self._context = SpanContext(self.trace_id, self.span_id, is_remote=False, trace_flags=_SAMPLED)
        return self._context

    def set_attributes(self, attributes: Mapping[str, AttributeValue]) -> None:
        for key, value in attributes.items():
            self.set_attribute(key, value)

    def set_attribute(self, key: str, value: AttributeValue) -> None:
        if value is None or self.end_ns:
            return
        if self.attributes is None:
            self.attributes = {}
        self.attributes[key] = value

    def add_event(self, name: str, attributes: Attributes = None, timestamp: int | None = None) -> None:
        if self.events is None:
            self.events = []
        self.events.append((name, timestamp or time.time_ns(), dict(attributes or {})))

    def add_link(self, context: SpanContext, attributes: Attributes = None) -> None:
        if self.links is None:
            self.links = []
        self.links.append((context, dict(attributes or {})))

    def update_name(self, name: str) -> None:
        self.name = name

    def is_recording(self) -> bool:
        return not self.end_ns

    def set_status(self, status: Status | StatusCode, description: str | None = None) -> None:
        code = status.status_code if isinstance(status, Status) else status
        if code is StatusCode.ERROR:
            text = (status.description if isinstance(status, Status) else description) or ""
            self.state = "error"
            self.error = self.error or ("", text, "")
        elif code is StatusCode.OK:
            self.state = "success"

    def record_exception(
        self,
        exception: BaseException,
        attributes: Attributes = None,
        timestamp: int | None = None,
        escaped: bool = False,
    ) -> None:
        self.error = describe(exception)


def describe(error: BaseException) -> tuple[str, str, str]:
    """Type, message and stack trace of an exception."""
    stack = "".join(traceback.format_exception(error))
    return type(error).__qualname__, str(error), stack


_providers: dict[int, tuple[TracerProvider, Any]] = {}


def _user_tracer() -> Any:
    """A tracer of the SDK provider that the user has set, or None. Asked at every local root: it may come late."""
    provider = otel.get_tracer_provider()
    kind = type(provider)
    if kind is otel.ProxyTracerProvider or kind is otel.NoOpTracerProvider or getattr(provider, "flowkit", False):
        return None
    known = _providers.get(id(provider))
    if known is None or known[0] is not provider:
        known = _providers[id(provider)] = (provider, provider.get_tracer("flowkit"))
    return known[1]


_bits = random.getrandbits
_attach = otel_context.attach
_detach = otel_context.detach


def open_span(
    tracing: Tracing, parent: SpanRecord | None, name: str, type: str, kind: Kind | None = None, key: str | None = None
) -> SpanRecord | None:
    """Open a span under the current one and make it current; None when nobody wants it.

    `parent` is the caller's record (the OpenTelemetry context decides who is the parent span; the record only tells
    whether this is a local root, where the user's provider is looked up).
    """
    sink = tracing.sink
    tracer = _user_tracer() if parent is None or parent.twin is not None else None
    if sink is None and tracer is None:
        return None
    record = SpanRecord(sink, name, type, kind, key)
    outer = otel.get_current_span()
    if outer.__class__ is SpanRecord:
        record.trace_id = outer.trace_id  # type: ignore[attr-defined]
        record.parent_id = outer.span_id  # type: ignore[attr-defined]
        record.parent = parent if parent is outer else outer  # type: ignore[assignment]
    else:
        context = outer.get_span_context()
        if context.is_valid:
            record.trace_id = context.trace_id
            record.parent_id = context.span_id
            record.parent = parent if parent is not None and parent.trace_id == context.trace_id else None
            record.remote_parent = context.is_remote
        else:
            record.trace_id = _bits(128) or 1
    record.start_ns = time.time_ns()
    if tracer is None:
        record.span_id = _bits(64) or 1
        record.token = _attach(otel.set_span_in_context(record))
    else:
        twin = tracer.start_span(name, start_time=record.start_ns)
        record.twin = twin
        ids = twin.get_span_context()
        if ids.is_valid:
            record.trace_id, record.span_id = ids.trace_id, ids.span_id
        else:
            record.span_id = _bits(64) or 1
        record.token = _attach(otel.set_span_in_context(twin if ids.is_valid else record))
        if twin.is_recording():
            twin.set_attributes(reserve_attributes(record))
    if sink is not None:
        sink.started(record)
    return record


def close_span(record: SpanRecord, tracing: Tracing, error: BaseException | None = None, cancelled: bool = False) -> None:
    """End a span: it is no longer current, its state is set, and it goes to the sink and the user's provider."""
    if record.token is not None:
        _detach(record.token)
        record.token = None
    if error is not None:
        record.state = "cancelled" if cancelled else "error"
        record.error = describe(error) if not cancelled else ("CancelledError", "cancelled", "")
    else:
        record.state = "success"
    record.end_ns = time.time_ns()
    twin = record.twin
    if twin is not None:
        if twin.is_recording():
            _finish_twin(record, twin, tracing, error)
        twin.end(record.end_ns)
    if record.sink is not None:
        record.sink.ended(record)


def _finish_twin(record: SpanRecord, twin: Span, tracing: Tracing, error: BaseException | None) -> None:
    for key, value in ((ATTRIBUTES.INPUT, record.input), (ATTRIBUTES.OUTPUT, record.output)):
        if value is not None:
            value = tracing.redact(value) if tracing.redact else value
            twin.set_attribute(key, value[:_VALUE_LIMIT].decode("utf-8", "ignore"))
    twin.set_attribute(ATTRIBUTES.STATE, record.state or "")
    if record.attributes:
        twin.set_attributes(record.attributes)
    if error is not None:
        if record.state == "error":
            twin.record_exception(error)
        twin.set_status(StatusCode.ERROR, record.error[1] if record.error else None)
        if record.failure_source:
            twin.set_attribute(ATTRIBUTES.IS_FAILURE_SOURCE, True)


def reserve_attributes(record: SpanRecord) -> dict[str, AttributeValue]:
    """The attributes that are known when a span opens."""
    known: dict[str, AttributeValue] = {ATTRIBUTES.NAME: record.name, ATTRIBUTES.TYPE: record.type}
    if record.kind is not None:
        known[ATTRIBUTES.SUBTYPE] = record.kind
        operation = GEN_AI_OPERATIONS.get(record.kind)
        if operation is not None:
            known[ATTRIBUTES.GEN_AI_OPERATION] = operation
            if record.kind != "tool":
                known[ATTRIBUTES.GEN_AI_MODEL] = record.name
    if record.key is not None:
        known[ATTRIBUTES.KEY] = record.key
    if record.is_root:
        known[ATTRIBUTES.IS_ROOT] = True
    return known


def annotate(record: SpanRecord | None, facts: Mapping[str, AttributeValue | None]) -> None:
    """Add facts to a span, keyed by the names in `ATTRIBUTES`; None values are left out."""
    if record is not None:
        for name, value in facts.items():
            if value is not None:
                record.set_attribute(name, value)
