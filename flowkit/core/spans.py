"""Spans: one lean record per action or step, and the only place that spells attribute names.

    span = open_span(tracing, caller, "menuQA", "action", "flow", "/flow/menuQA")
    close_span(span, tracing)

A record stands in the OpenTelemetry context as the current span, so spans of instrumented libraries nest under it. When
the user has set an SDK provider, the span is asked of that provider too and its ids are taken (even from a span that
its sampler drops). Only the OpenTelemetry API is used here; no provider is ever set or replaced.
"""

import os
import random
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from opentelemetry import context as otel_context
from opentelemetry import trace as otel
from opentelemetry.context import Context
from opentelemetry.trace import Span, StatusCode, Tracer, TracerProvider
from opentelemetry.util.types import AttributeValue

from flowkit.core.kinds import Kind
from flowkit.core.record import SAMPLED, SpanRecord, SpanSink, describe

__all__ = [
    "ATTRIBUTES",
    "Run",
    "SpanRecord",
    "SpanSink",
    "Tracing",
    "annotate",
    "close_span",
    "drop_span",
    "new_span_id",
    "open_span",
    "place",
    "reserve_attributes",
]


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
    LAST_KNOWN_PARENT = "genkit:lastKnownParentSpanId"
    CONTEXT = "genkit:metadata:context"
    ABANDONED = "flowkit:abandoned"
    CACHED_EMBEDDINGS = "flowkit:cachedEmbeddings"
    GEN_AI_OPERATION = "gen_ai.operation.name"
    GEN_AI_MODEL = "gen_ai.request.model"
    GEN_AI_INPUT_TOKENS = "gen_ai.usage.input_tokens"
    GEN_AI_OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
    GEN_AI_FINISH_REASONS = "gen_ai.response.finish_reasons"


GEN_AI_OPERATIONS: dict[str, str] = {"model": "chat", "embedder": "embeddings", "tool": "execute_tool"}

_VALUE_LIMIT = 16_000  # characters of one value in an OpenTelemetry attribute; the local store keeps all of it


class Run(Protocol):
    """What a span needs to know of a run."""

    record: SpanRecord | None


class Tracing:
    """How the runs of one `Flowkit` are traced: a sink for our own records, and a redactor for the user's provider."""

    __slots__ = ("redact", "sink")

    def __init__(self, sink: SpanSink | None = None, redact: Callable[[bytes], bytes] | None = None) -> None:
        self.sink = sink
        self.redact = redact


_bits = random.Random().getrandbits  # our own: `random.seed(0)` in user code must not repeat ids
_get_context = otel_context.get_current
_attach = otel_context.attach
_detach = otel_context.detach
(_SPAN_KEY,) = otel.set_span_in_context(otel.INVALID_SPAN, Context())  # the API keeps the key's name to itself


def _forked() -> None:
    global _bits
    _bits = random.Random().getrandbits


if hasattr(os, "register_at_fork"):  # absent on Windows, which has no fork
    os.register_at_fork(after_in_child=_forked)

_asked = False
_known: tuple[TracerProvider | None, Tracer | None] = (None, None)


def _user_tracer() -> Tracer | None:
    """A tracer of the SDK provider that the user has set, or None. Asked at every local root: it may come late."""
    global _asked, _known
    # While no provider is set, the public getter reads the environment each time: a fifth of an untraced call.
    provider = otel.__dict__.get("_TRACER_PROVIDER")
    if provider is None:
        if _asked and "_TRACER_PROVIDER" in otel.__dict__:
            return None
        _asked, provider = True, otel.get_tracer_provider()
    if provider is not _known[0]:
        kind = type(provider)
        ours = kind is otel.ProxyTracerProvider or kind is otel.NoOpTracerProvider or hasattr(provider, "flowkit")
        _known = (provider, None if ours else provider.get_tracer("flowkit"))
    return _known[1]


def place(record: SpanRecord, context: Context, ancestor: SpanRecord | None) -> None:
    """Give a new record its trace and its parent, from the current span of an OpenTelemetry context.

    `ancestor` is the nearest record of ours, for when foreign spans lie between.
    """
    outer = context.get(_SPAN_KEY)
    if outer.__class__ is SpanRecord:
        record.parent = outer
        record.trace_id = outer.trace_id
        record.parent_id = outer.span_id
        if outer.flags is not SAMPLED:
            record.flags, record.trace_state = outer.flags, outer.trace_state
        return
    if isinstance(outer, Span):
        foreign = outer.get_span_context()
        if foreign.is_valid:
            record.trace_id = foreign.trace_id
            record.parent_id = foreign.span_id
            # Whoever is called next must see the decision of whoever began the trace.
            record.flags, record.trace_state = foreign.trace_flags, foreign.trace_state
            if ancestor is not None and ancestor.trace_id == foreign.trace_id:
                record.parent = ancestor
                if ancestor.parent_id == foreign.span_id:  # a tracer that is switched off gave it its parent's ids
                    record.parent_id = ancestor.span_id
            return
    record.trace_id = _bits(128) or 1


def new_span_id() -> int:
    return _bits(64) or 1


def open_span(
    tracing: Tracing, caller: Run | None, name: str, type: str, kind: Kind | None = None, key: str | None = None
) -> SpanRecord | None:
    """Open a span under the current one and make it current; None when nobody wants it.

    `caller` is the run that calls, None at a local root. It decides whether the user's provider is looked up; the
    OpenTelemetry context decides who is the parent.
    """
    sink = tracing.sink
    if caller is None:
        parent, tracer = None, _user_tracer()
    else:
        parent = caller.record
        tracer = None if parent is None or parent.twin is None else _user_tracer()
    if sink is None and tracer is None:
        return None
    record = SpanRecord(sink, name, type, kind, key)
    context = _get_context()
    record.start_ns = time.time_ns()
    if tracer is None:
        place(record, context, parent)
        record.span_id = _bits(64) or 1
        current: Span = record
    else:
        current = _ask(tracer, record, context, parent)
    record.token = _attach(Context({**context, _SPAN_KEY: current}))
    if sink is not None:
        sink.started(record)
    return record


def _ask(tracer: Tracer, record: SpanRecord, context: Context, parent: SpanRecord | None) -> Span:
    """Ask the user's provider for the span, take its ids, and return the span that is to be current."""
    twin = record.twin = tracer.start_span(record.name, context, start_time=record.start_ns)
    ids = twin.get_span_context()
    if record.sink is None and ids.is_valid:  # nobody will ask who the parent is
        record.parent, record.trace_id, record.span_id = parent, ids.trace_id, ids.span_id
        return twin
    place(record, context, parent)
    if not ids.is_valid:
        record.span_id = new_span_id()
        return record
    outer = context.get(_SPAN_KEY)
    if isinstance(outer, Span) and outer.get_span_context().span_id == ids.span_id:
        # The tracer is switched off, and only hands on the parent.
        record.span_id = new_span_id()
        return twin
    if ids.trace_id != record.trace_id:
        # A new root; or a provider that begins traces where it likes.
        record.trace_id, record.parent_id, record.parent = ids.trace_id, 0, None
    record.span_id = ids.span_id
    return twin


def close_span(
    record: SpanRecord, tracing: Tracing, error: BaseException | None = None, cancelled: bool = False
) -> None:
    """End a span: it is no longer current, its state is set, and it goes to the sink and the user's provider."""
    if record.token is not None:
        _detach(record.token)
        record.token = None
    if error is not None:
        record.state = "cancelled" if cancelled else "error"
        record.error = describe(error) if not cancelled else ("CancelledError", "cancelled", "")
    elif record.state is None:  # user code may have set an error by OpenTelemetry's API
        record.state = "success"
    record.end_ns = time.time_ns()
    twin = record.twin
    if twin is not None:
        if twin.is_recording():
            _finish_twin(record, twin, tracing, error)
        twin.end(record.end_ns)
    if record.sink is not None:
        record.sink.ended(record)


def drop_span(record: SpanRecord, tracing: Tracing, *, current: bool) -> None:
    """End the span of a call that was thrown away. Unless it is still `current` here, its context is left alone."""
    if not current or _get_context().get(_SPAN_KEY) not in (record, record.twin):
        record.token = None
    close_span(record, tracing, GeneratorExit(), cancelled=True)


def _finish_twin(record: SpanRecord, twin: Span, tracing: Tracing, error: BaseException | None) -> None:
    """All attributes in one call: the SDK takes a lock and makes a copy each time."""
    facts = reserve_attributes(record)
    redact = tracing.redact
    if record.input is not None:
        facts[ATTRIBUTES.INPUT] = _shown(redact(record.input) if redact else record.input)
    if record.output is not None:
        facts[ATTRIBUTES.OUTPUT] = _shown(redact(record.output) if redact else record.output)
    if record.state is not None:
        facts[ATTRIBUTES.STATE] = record.state
    if record.attributes:
        facts.update(record.attributes)
    if record.failure_source:
        facts[ATTRIBUTES.IS_FAILURE_SOURCE] = True
    twin.set_attributes(facts)
    if error is not None:
        if record.state == "error":
            twin.record_exception(error)
        twin.set_status(StatusCode.ERROR, record.error[1] if record.error else None)


def _shown(value: bytes) -> str:
    return value[:_VALUE_LIMIT].decode("utf-8", "ignore")


_fixed: dict[tuple[str, str, str | None], dict[str, AttributeValue]] = {}


def reserve_attributes(record: SpanRecord) -> dict[str, AttributeValue]:
    """The attributes of a span that do not depend on how it ends."""
    known = _fixed.get((record.name, record.type, record.key))
    if known is None:
        if len(_fixed) > 1000:  # names made from data
            _fixed.clear()
        known = _fixed[record.name, record.type, record.key] = _describe_action(record)
    return {**known, ATTRIBUTES.IS_ROOT: True} if record.parent is None else known.copy()


def _describe_action(record: SpanRecord) -> dict[str, AttributeValue]:
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
    return known


def annotate(record: SpanRecord | None, facts: Mapping[str, AttributeValue | None]) -> None:
    """Add facts to a span, keyed by the names in `ATTRIBUTES`; None values are left out."""
    if record is not None:
        for name, value in facts.items():
            record.set_attribute(name, value)
