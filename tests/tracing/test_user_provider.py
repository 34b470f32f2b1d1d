"""The OpenTelemetry that the user has set up gets every span, and ours is never in its way."""

import subprocess
import sys

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace as otel
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import NoOpTracerProvider, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from flowkit import Flowkit
from flowkit.core.spans import Tracing
from flowkit.testing.outline import MemorySink, trace_outline
from flowkit.tracing.redact import Redactor

MENU = """\
menuQA flow
  ask  step
"""


@pytest.fixture
def menu(ai: Flowkit):
    async def ask(question: str) -> str:
        return f"{question}: the vegan lasagne"

    @ai.flow("menuQA")
    async def menu_qa(question: str) -> str:
        return await ai.run("ask", ask, question)

    return menu_qa


def names(exporter: InMemorySpanExporter) -> list[str]:
    return [span.name for span in exporter.get_finished_spans()]


async def test_without_a_provider_the_record_is_all_there_is(menu, sink: MemorySink):
    await menu("vegan?")

    assert trace_outline(sink.spans) == MENU
    assert otel.get_current_span() is otel.INVALID_SPAN


async def test_a_provider_that_is_set_gets_every_span_with_the_ids_of_the_local_trace(menu, sink, set_provider):
    exporter = set_provider()

    await menu("vegan?")

    step, flow = exporter.get_finished_spans()
    assert (step.name, flow.name) == ("ask", "menuQA")
    assert step.parent.span_id == flow.context.span_id
    assert [(s.trace_id, s.span_id) for s in sink.spans] == [
        (step.context.trace_id, step.context.span_id),
        (flow.context.trace_id, flow.context.span_id),
    ]
    assert flow.attributes == {
        "genkit:name": "menuQA",
        "genkit:type": "action",
        "genkit:metadata:subtype": "flow",
        "genkit:key": "/flow/menuQA",
        "genkit:isRoot": True,
        "genkit:input": '"vegan?"',
        "genkit:output": '"vegan?: the vegan lasagne"',
        "genkit:state": "success",
    }


async def test_a_provider_may_come_after_the_first_call(menu, sink, set_provider):
    await menu("before")
    exporter = set_provider()
    await menu("after")

    assert names(exporter) == ["ask", "menuQA"]
    assert len(sink.spans) == 4


async def test_without_a_local_store_the_users_provider_still_gets_all(ai, menu, set_provider):
    ai.runtime.tracing = Tracing()
    exporter = set_provider()

    await menu("vegan?")

    step, flow = exporter.get_finished_spans()
    assert step.parent.span_id == flow.context.span_id
    assert "genkit:isRoot" in flow.attributes
    assert "genkit:isRoot" not in step.attributes


async def test_a_sampler_that_drops_spans_does_not_drop_the_local_trace(menu, sink, set_provider):
    exporter = set_provider(ALWAYS_OFF)

    await menu("vegan?")

    assert names(exporter) == []
    assert trace_outline(sink.spans) == MENU
    assert len({span.trace_id for span in sink.spans}) == 1
    assert all(span.trace_id and span.span_id for span in sink.spans)


@pytest.mark.parametrize("invalid", [True, False], ids=["no ids", "the parent's ids"])
async def test_a_provider_that_makes_nothing_does_not_keep_the_trace_away(menu, sink, invalid: bool):
    """A no-op provider must not lead to links to an all-zero trace."""

    class Nothing(NoOpTracerProvider):
        pass

    otel.set_tracer_provider(NoOpTracerProvider() if invalid else Nothing())

    await menu("vegan?")

    assert trace_outline(sink.spans) == MENU
    step, flow = sink.spans
    assert step.trace_id == flow.trace_id != 0


async def test_a_span_of_the_user_is_the_parent_and_the_flow_a_local_root(menu, sink, set_provider):
    exporter = set_provider()

    with otel.get_tracer("web").start_as_current_span("GET /menu") as request:
        await menu("vegan?")

    _, flow = sink.spans
    assert flow.trace_id == request.get_span_context().trace_id
    assert flow.parent_id == request.get_span_context().span_id
    assert flow.is_root
    assert names(exporter) == ["ask", "menuQA", "GET /menu"]


async def test_foreign_spans_between_ours_keep_the_tree_together(ai, sink, set_provider):
    set_provider()

    async def inner() -> int:
        return 1

    @ai.flow("outer")
    async def outer() -> int:
        with otel.get_tracer("httpx").start_as_current_span("POST"):
            return await ai.run("inner", inner)

    await outer()

    assert trace_outline(sink.spans) == "outer   flow\n  inner step\n"
    assert sink.spans[0].path == "/{outer,t:flow}/{inner,t:flowStep}"


@pytest.mark.parametrize("flags", ["01", "00"])
async def test_an_incoming_traceparent_is_continued_with_its_decision(menu, sink, flags: str):
    header = f"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-{flags}"
    incoming = TraceContextTextMapPropagator().extract({"traceparent": header, "tracestate": "a=1"})
    outgoing: dict[str, str] = {}

    token = otel_context.attach(incoming)
    try:
        await menu("vegan?")
        with otel.use_span(sink.spans[-1]):
            TraceContextTextMapPropagator().inject(outgoing)
    finally:
        otel_context.detach(token)

    step, flow = sink.spans
    assert flow.trace_hex == step.trace_hex == "0af7651916cd43dd8448eb211c80319c"
    assert flow.parent_hex == "b7ad6b7169203331"
    assert flow.is_root
    assert not step.is_root
    assert outgoing == {"traceparent": f"00-{flow.trace_hex}-{flow.span_hex}-{flags}", "tracestate": "a=1"}


async def test_errors_reach_the_users_provider_once_with_their_source(ai, sink, set_provider):
    exporter = set_provider()

    async def fail() -> None:
        raise ValueError("no soup")

    @ai.flow("soup")
    async def soup() -> None:
        await ai.run("cook", fail)

    with pytest.raises(ValueError, match="no soup"):
        await soup()

    step, flow = exporter.get_finished_spans()
    assert {step.status.status_code, flow.status.status_code} == {StatusCode.ERROR}
    assert step.attributes["genkit:isFailureSource"] is True
    assert "genkit:isFailureSource" not in flow.attributes
    assert step.events[0].attributes["exception.message"] == "no soup"


async def test_what_goes_to_the_users_provider_is_redacted_and_capped(ai, sink, set_provider):
    exporter = set_provider()
    ai.runtime.tracing = Tracing(sink, Redactor().redact_json)

    @ai.flow("login")
    async def login(form: dict[str, str]) -> dict[str, str]:
        return {**form, "note": "é" * 20_000}

    result = await login({"name": "Ada", "password": "hunter2"})

    (span,) = exporter.get_finished_spans()
    assert span.attributes["genkit:input"] == '{"name":"Ada","password":"<redacted>"}'
    assert "hunter2" not in span.attributes["genkit:output"]
    assert len(span.attributes["genkit:output"]) <= 16_000
    assert result["password"] == "hunter2"


async def test_user_code_may_mark_our_span_through_the_api(ai, sink):
    @ai.flow("menu")
    async def menu() -> str:
        span = otel.get_current_span()
        span.set_attribute("table", 4)
        span.add_event("tasted", {"salt": "enough"})
        span.record_exception(KeyError("handled"))
        span.end()  # not theirs to end
        return "done"

    await menu()

    (record,) = sink.spans
    assert record.attributes == {"table": 4}
    assert [event[0] for event in record.events] == ["tasted", "exception"]
    assert (record.state, record.output) == ("success", b'"done"')


async def test_values_without_a_type_in_opentelemetry_are_the_same_text_everywhere(ai, sink, set_provider):
    exporter = set_provider()
    odd = {"none": None, "empty": {}, "mixed": [1, "a"], "bytes": b"abc", "nan": float("nan"), "big": 2**70}

    @ai.flow("odd")
    async def flow() -> None:
        record = sink.last
        record.set_attributes(odd)

    sink.last = None
    started = sink.started
    sink.started = lambda record: (setattr(sink, "last", record), started(record))
    await flow()

    right = {"empty": "{}", "mixed": '[1,"a"]', "bytes": "abc", "nan": "nan", "big": str(2**70)}
    assert sink.spans[0].attributes == right
    (span,) = exporter.get_finished_spans()
    assert {key: span.attributes.get(key) for key in odd} == {**right, "none": None}


async def test_seeded_randomness_in_user_code_does_not_repeat_ids(menu, sink):
    import random

    for _ in range(2):
        random.seed(7)
        await menu("again")

    assert len({span.trace_id for span in sink.spans}) == 2
    assert len({span.span_id for span in sink.spans}) == 4


async def test_a_tracer_that_is_switched_off_does_not_flatten_the_tree(ai, sink, set_provider):
    """It answers with the ids of the parent; a step must not take them for its own."""
    otel.set_tracer_provider(NoOpTracerProvider.__new__(type("Off", (NoOpTracerProvider,), {})))

    async def leaf() -> int:
        return 1

    async def branch() -> int:
        return await ai.run("leaf", leaf)

    @ai.flow("tree")
    async def tree() -> int:
        return await ai.run("branch", branch) + await ai.run("leaf", leaf)

    await tree()

    assert trace_outline(sink.spans) == "tree     flow\n  branch step\n    leaf step\n  leaf   step\n"
    assert len({span.span_id for span in sink.spans}) == 4


PROGRAM = """
import asyncio, logging, sys, warnings
warnings.simplefilter("error")
logging.basicConfig(level=logging.WARNING, stream=sys.stdout)
{first}
{second}
async def main():
    ai = Flowkit()
    @ai.flow()
    async def menu(q: str) -> str: return q
    await menu("soup")
asyncio.run(main())
print([span.name for span in exporter.get_finished_spans()], trace.get_tracer_provider() is provider)
"""
FLOWKIT = "from flowkit import Flowkit; Flowkit"
PROVIDER = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
"""


@pytest.mark.heavy
@pytest.mark.parametrize(("first", "second"), [(FLOWKIT, PROVIDER), (PROVIDER, FLOWKIT)], ids=["after", "before"])
def test_the_provider_may_be_set_before_or_after_importing_flowkit(first: str, second: str):
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(first=first, second=second)], capture_output=True, text=True
    )

    assert run.stdout == "['menu'] True\n", run.stderr
