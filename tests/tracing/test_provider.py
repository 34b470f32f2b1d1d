"""Spans of instrumented libraries nest into the local trace, until the user brings a provider of their own."""

import asyncio

import pytest
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from flowkit import Flowkit
from flowkit.testing.outline import MemorySink, trace_outline
from flowkit.tracing.provider import RecorderProvider, install_if_unset, remove
from flowkit.tracing.snapshot import row_of


@pytest.fixture
def provider(sink: MemorySink) -> RecorderProvider:
    provider = install_if_unset(sink)
    assert provider is not None
    return provider


def test_importing_and_making_an_app_sets_no_provider(ai: Flowkit):
    assert isinstance(otel.get_tracer_provider(), otel.ProxyTracerProvider)


async def test_spans_of_libraries_stand_where_they_belong(ai: Flowkit, sink: MemorySink, provider):
    tracer = otel.get_tracer("httpx", "0.28")

    async def fetch() -> int:
        with tracer.start_as_current_span("GET", kind=SpanKind.CLIENT, attributes={"http.status": 200}):
            await asyncio.sleep(0)
        return 200

    @ai.flow("menu")
    async def menu() -> int:
        return await ai.run("fetch", fetch)

    with tracer.start_as_current_span("POST /menu"):
        await menu()

    shape = "POST /menu external\n  menu     flow\n    fetch  step\n      GET  external\n"
    assert trace_outline(sink.spans) == shape
    assert {span.name for span in sink.spans if span.is_root} == {"POST /menu", "menu"}
    get = sink.spans[0]
    assert (get.span_kind, get.scope, get.attributes) == ("CLIENT", ("httpx", "0.28"), {"http.status": 200})
    assert sink.spans[1].path == "/{menu,t:flow}/{fetch,t:flowStep}"


async def test_it_is_used_as_a_decorator_of_sync_and_async_functions(sink: MemorySink, provider):
    tracer = otel.get_tracer("jobs")

    @tracer.start_as_current_span("sync")
    def work() -> str:
        return "done"

    @tracer.start_as_current_span("async")
    async def work_later() -> str:
        await asyncio.sleep(0)
        assert otel.get_current_span().is_recording()
        return "done"

    assert [work(), work(), await work_later()] == ["done"] * 3
    assert [span.name for span in sink.spans] == ["sync", "sync", "async"]


def test_errors_and_statuses(sink: MemorySink, provider):
    tracer = otel.get_tracer("sql")
    with pytest.raises(LookupError), tracer.start_as_current_span("current"):
        raise LookupError("no table")
    with pytest.raises(LookupError), tracer.start_span("plain"):
        raise LookupError("no row")
    with pytest.raises(LookupError), tracer.start_span("quiet", record_exception=False, set_status_on_exception=False):
        raise LookupError("who cares")
    with tracer.start_as_current_span("handled") as span:
        span.record_exception(LookupError("handled"))
    with tracer.start_as_current_span("said") as span:
        span.set_status(Status(StatusCode.ERROR, "bad"))
    with tracer.start_as_current_span("fine") as span:
        span.set_status(StatusCode.OK)

    found = {record.name: row_of(record) for record in sink.spans}
    assert {name: row.state for name, row in found.items()} == {
        "current": "error",
        "plain": "error",
        "quiet": "success",
        "handled": "success",
        "said": "error",
        "fine": "success",
    }
    assert found["current"].error[:2] == ("LookupError", "no table")
    assert found["plain"].error[:2] == ("LookupError", "no row")
    assert found["said"].error[:2] == ("", "bad")
    assert [event.name for event in found["handled"].events] == ["exception"]


def test_a_span_ends_once_and_is_closed_then(sink: MemorySink, provider):
    span = otel.get_tracer("x").start_span("once", start_time=5, links=[Link(SpanContext(1, 2, False, TraceFlags(1)))])
    span.end(7)
    span.end(9)
    span.set_attribute("late", 1)
    span.add_event("late")
    span.set_status(StatusCode.ERROR)

    (record,) = sink.spans
    row = row_of(record)
    assert (row.start_ns, row.end_ns, row.state, row.attributes, row.events) == (5, 7, "success", {}, ())
    assert row.links[0].span_id == "0000000000000002"
    assert not span.is_recording()


def test_a_provider_of_the_user_is_not_replaced(sink: MemorySink):
    theirs = TracerProvider()
    otel.set_tracer_provider(theirs)

    assert install_if_unset(sink) is None
    assert otel.get_tracer_provider() is theirs


async def test_a_provider_that_comes_later_takes_over_also_from_tracers_in_use(ai, sink, provider, set_provider):
    tracer = otel.get_tracer("httpx", "0.28")
    with tracer.start_as_current_span("ours"):
        pass

    exporter = set_provider()  # no warning, no refusal

    @ai.flow("menu")
    async def menu() -> None:
        with tracer.start_as_current_span("theirs"):
            pass

    await menu()

    assert [span.name for span in exporter.get_finished_spans()] == ["theirs", "menu"]
    assert exporter.get_finished_spans()[0].instrumentation_scope.name == "httpx"
    assert [span.name for span in sink.spans] == ["ours", "menu"]


def test_it_can_be_taken_away_again(sink: MemorySink, provider: RecorderProvider):
    assert provider.force_flush()
    provider.shutdown()
    remove(provider)

    assert isinstance(otel.get_tracer_provider(), otel.ProxyTracerProvider)
    remove(provider)
