"""The record of one action, step or foreign call: what the trace store keeps, and a span by OpenTelemetry's API.

record = SpanRecord(sink, "menuQA", "action", "flow", "/flow/menuQA")     # opened and closed by flowkit.core.spans
"""

import time
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol

from opentelemetry.trace import Span, SpanContext, Status, StatusCode, TraceFlags, TraceState
from opentelemetry.util.types import Attributes, AttributeValue

from flowkit.core.values import to_json
from flowkit.schema.text import clean_text

__all__ = ["SAMPLED", "SpanRecord", "SpanSink", "as_attribute", "describe"]

SAMPLED = TraceFlags(TraceFlags.SAMPLED)


class SpanSink(Protocol):
    """Where records go. Both calls must be quick and must never raise: they run inside the user's call."""

    def started(self, record: "SpanRecord") -> None: ...
    def ended(self, record: "SpanRecord") -> None: ...


class SpanRecord(Span):
    """Ids, times and JSON values of one operation. It is an OpenTelemetry span by the API, without the SDK's cost.

    Times are nanoseconds since the epoch; `end_ns` 0 means running. `input` and `output` are JSON as bytes, or None.
    """

    # Defaults live in the class, so that opening a span only writes what it knows.
    parent: "SpanRecord | None" = None
    """The nearest record above in this process: the parent, or an ancestor when foreign spans lie between."""
    parent_id: int = 0
    trace_id: int = 0
    span_id: int = 0
    start_ns: int = 0
    end_ns: int = 0
    input: bytes | None = None
    output: bytes | None = None
    context_json: bytes | None = None
    state: str | None = None
    """"success", "error" or "cancelled"; None while running."""
    error: tuple[str, str, str] | None = None
    """Type, message and stack trace."""
    failure_source: bool = False
    attributes: dict[str, AttributeValue] | None = None
    events: list[tuple[str, int, Mapping[str, Any]]] | None = None
    links: list[tuple[SpanContext, Mapping[str, Any]]] | None = None
    span_kind: str = "INTERNAL"
    scope: tuple[str, str | None] | None = None
    """Name and version of the instrumenting library, for external spans."""
    dropped: bool = False
    """Values were dropped because the writer could not keep up."""
    twin: Span | None = None
    """The span of the user's provider."""
    on_exception: tuple[bool, bool] = (True, True)
    """Whether an exception that leaves a `with` block is recorded, and makes the status."""
    token: Any = None
    flags: TraceFlags = SAMPLED
    trace_state: TraceState | None = None
    _context: SpanContext | None = None
    _recorded: tuple[str, str, str] | None = None

    def __init__(self, sink: SpanSink | None, name: str, type: str, kind: str | None, key: str | None) -> None:
        self.sink = sink
        self.name = name
        self.type = type
        """"action", "flowStep", "util"; "external" for spans of other libraries."""
        self.kind = kind
        self.key = key

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
        """True for the outermost of our spans in this process; its parent may be another process or a foreign span."""
        parent = self.parent
        return parent is None or (parent.type == "external" and parent.is_root)

    @property
    def path(self) -> str:
        """Genkit's path: `/{rag,t:flow}/{fake/echo,t:action,s:model}`. Spans of other libraries are not part of it."""
        own, parts = True, []
        record: SpanRecord | None = self
        while record is not None:
            if record.type != "external":
                kind = "flow" if record.kind == "flow" else record.type
                sub = f",s:{record.kind}" if own and record.kind and record.kind != "flow" and record.parent else ""
                parts.append(f"/{{{record.name},t:{kind}{sub}}}")
                own = False
            record = record.parent
        return "".join(reversed(parts))

    # The OpenTelemetry API's Span.

    def end(self, end_time: int | None = None) -> None:
        """Instrumented code ends its own span here, once. Our own are ended by `close_span` only."""
        if self.type == "external" and not self.end_ns:
            if self.state is None:
                self.state = "success"
            self.end_ns = end_time or time.time_ns()
            if self.sink is not None:
                self.sink.ended(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            record, status = self.on_exception
            if record:
                self.record_exception(error)
            if status:
                self.set_status(StatusCode.ERROR, f"{type(error).__name__}: {error}")
        self.end()

    def get_span_context(self) -> SpanContext:
        if self._context is None:
            self._context = SpanContext(
                self.trace_id, self.span_id, is_remote=False, trace_flags=self.flags, trace_state=self.trace_state
            )
        return self._context

    def set_attributes(self, attributes: Mapping[str, AttributeValue]) -> None:
        for key, value in attributes.items():
            self.set_attribute(key, value)

    def set_attribute(self, key: str, value: Any) -> None:
        """None is left out; what OpenTelemetry has no type for becomes JSON text."""
        value = as_attribute(value)
        if value is not None and not self.end_ns:
            if self.attributes is None:
                self.attributes = {}
            self.attributes[key] = value

    def add_event(self, name: str, attributes: Attributes = None, timestamp: int | None = None) -> None:
        if not self.end_ns:
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
        if self.end_ns:
            return
        if code is StatusCode.ERROR:
            text = (status.description if isinstance(status, Status) else description) or ""
            self.state = "error"
            self.error = self._recorded or ("", text, "")
        elif code is StatusCode.OK:
            self.state, self.error = "success", None

    def record_exception(
        self,
        exception: BaseException,
        attributes: Attributes = None,
        timestamp: int | None = None,
        escaped: bool = False,
    ) -> None:
        """An event; only `set_status` makes a failure of it, since recorded exceptions may have been handled."""
        self._recorded = kind, message, stack = describe(exception)
        facts = {"exception.type": kind, "exception.message": message, "exception.stacktrace": stack}
        self.add_event("exception", {**facts, **(attributes or {})}, timestamp)


def describe(error: BaseException) -> tuple[str, str, str]:
    """Type, message and stack trace of an exception; never raises, whatever its `__str__` does."""
    kind = type(error).__qualname__
    try:
        return kind, str(error), "".join(traceback.format_exception(error))
    except Exception as broken:  # noqa: BLE001
        return kind, f"<{type(broken).__name__} in __str__ of {kind}>", ""


def as_attribute(value: Any) -> AttributeValue | None:
    """A value that every SDK and exporter carries: scalars and lists of one type; the rest becomes JSON text."""
    kind = value.__class__
    if kind is str:
        return value if value.isascii() else clean_text(value)[0]
    if kind is bool or value is None:
        return value  # type: ignore[no-any-return]
    if kind is int:
        return value if -(2**63) <= value < 2**63 else str(value)
    if kind is float:
        return value if value - value == 0 else str(value)
    if kind is bytes:
        return value.decode("utf-8", "backslashreplace")  # type: ignore[no-any-return]
    if (kind is list or kind is tuple) and value and all(item.__class__ is value[0].__class__ for item in value):
        items = [as_attribute(item) for item in value]
        if isinstance(value[0], str | bool | int | float) and all(isinstance(i, type(items[0])) for i in items):
            return items
    return to_json(value).decode()
