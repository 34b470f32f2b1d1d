"""Traces in the JSON of Genkit's tools: what they need is there, nothing is null, and it can be read back."""

import json
from pathlib import Path
from typing import Any

import pytest

from flowkit import Flowkit
from flowkit.errors import InvalidInputError
from flowkit.testing.outline import MemorySink
from flowkit.tracing.genkit import from_genkit, genkit_span, to_genkit
from flowkit.tracing.rows import SpanError, Trace
from flowkit.tracing.snapshot import row_of
from flowkit.tracing.store import TraceStore
from tests.tracing.spans import SECOND, START, span


@pytest.fixture
def store(tmp_path: Path) -> TraceStore:
    return TraceStore(tmp_path / "traces.db")


async def run(ai: Flowkit, sink: MemorySink, store: TraceStore) -> Trace:
    async def cook(dish: str) -> str:
        raise ValueError(f"no {dish}")

    @ai.flow("menu")
    async def menu(dish: str) -> str:
        return await ai.run("cook", cook, dish)

    with pytest.raises(ValueError, match="no soup"):
        await menu("soup", context={"auth": {"uid": "ada"}, "k": 2})
    rows = [row_of(record) for record in sink.spans]
    store.write(rows)
    return store.get(rows[0].trace_id)


def nulls(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(nulls, value.values()))
    return any(map(nulls, value)) if isinstance(value, list | tuple) else value is None


async def test_a_failed_run_as_the_tools_read_it(ai, sink, store: TraceStore):
    data = to_genkit(await run(ai, sink, store))

    flow, step = data["spans"].values()
    assert data["displayName"] == flow["displayName"] == "menu"
    assert (data["startTime"], data["endTime"]) == pytest.approx((flow["startTime"], flow["endTime"]))
    assert "parentSpanId" not in flow
    assert step["parentSpanId"] == flow["spanId"]
    assert flow["attributes"] == {
        "genkit:name": "menu",
        "genkit:type": "action",
        "genkit:metadata:subtype": "flow",
        "genkit:key": "/flow/menu",
        "genkit:isRoot": True,
        "genkit:path": "/{menu,t:flow}",
        "genkit:metadata:context": '{"auth":"<redacted>","k":2}',
        "genkit:input": '"soup"',
        "genkit:state": "error",
    }
    assert step["attributes"]["genkit:path"] == "/{menu,t:flow}/{cook,t:flowStep}"
    assert step["attributes"]["genkit:isFailureSource"] is True
    assert step["status"] == {"code": 2, "message": "no soup"}
    (event,) = step["timeEvents"]["timeEvent"]
    assert event["annotation"]["description"] == "exception"
    assert event["annotation"]["attributes"]["exception.message"] == "no soup"
    assert "ValueError: no soup" in event["annotation"]["attributes"]["exception.stacktrace"]
    assert step["instrumentationLibrary"] == {"name": "genkit-tracer", "version": "v1"}
    assert (step["spanKind"], step["links"]) == ("INTERNAL", [])
    assert not nulls(data)


async def test_the_path_matches_what_the_record_says(ai, sink, store: TraceStore):
    trace = await run(ai, sink, store)

    paths = {span["attributes"]["genkit:path"] for span in to_genkit(trace)["spans"].values()}

    assert paths == {record.path for record in sink.spans}


async def test_there_and_back(ai, sink, store: TraceStore, tmp_path: Path):
    data = to_genkit(await run(ai, sink, store))
    copy = TraceStore(tmp_path / "copy.db")

    copy.write(from_genkit(json.loads(json.dumps(data))))

    again = to_genkit(copy.get(data["traceId"]))
    for span_id, before in data["spans"].items():
        after = again["spans"][span_id]
        assert after.pop("startTime") == pytest.approx(before.pop("startTime"), abs=0.001)
        assert after.pop("endTime") == pytest.approx(before.pop("endTime"), abs=0.001)
        for one in (before, after):
            one["timeEvents"]["timeEvent"] = [event["annotation"] for event in one["timeEvents"]["timeEvent"]]
        assert after == before
    assert copy.list().items[0].status == "error"
    assert copy.list().items[0].error == "ValueError: no soup"


def test_a_model_in_a_flow_has_its_kind_in_the_path_and_its_tokens_in_attributes(store: TraceStore):
    flow = span("rag")
    model = span("fake/echo", kind="model", parent_id=flow.span_id, attributes={"gen_ai.usage.input_tokens": 3})
    store.write([flow, model])

    found = to_genkit(store.get(flow.trace_id))["spans"][model.span_id]["attributes"]

    assert found["genkit:path"] == "/{rag,t:flow}/{fake/echo,t:action,s:model}"
    assert found["gen_ai.operation.name"] == "chat"
    assert found["gen_ai.request.model"] == "fake/echo"
    assert found["gen_ai.usage.input_tokens"] == 3


def test_a_running_span_ends_at_0(store: TraceStore):
    store.write([span(end_ns=0)])

    data = to_genkit(store.get(f"{1:032x}"))

    assert "endTime" not in data
    (running,) = data["spans"].values()
    assert running["endTime"] == 0
    assert "genkit:state" not in running["attributes"]


def test_cancelled_is_an_error_to_genkit_and_comes_back_as_cancelled():
    row = span(state="cancelled", error=SpanError("CancelledError", "cancelled"))

    data = genkit_span(row, {})

    assert data["attributes"]["genkit:state"] == "error"
    assert data["status"] == {"code": 2, "message": "cancelled"}
    assert from_genkit({"spans": {row.span_id: data}})[0].state == "cancelled"


def test_foreign_spans_keep_their_attributes_and_their_library(store: TraceStore):
    facts = {"type": "external", "kind": None, "span_kind": "CLIENT", "scope": ("httpx", "0.28")}
    row = span("GET", attributes={"http.status": 200}, **facts)
    store.write([row])

    (found,) = to_genkit(store.get(row.trace_id))["spans"].values()

    assert found["attributes"] == {"http.status": 200}
    assert found["instrumentationLibrary"] == {"name": "httpx", "version": "0.28"}
    assert from_genkit({"spans": {row.span_id: found}}) == [row]


def test_a_parent_that_is_not_in_the_trace_is_left_out_or_replaced(store: TraceStore):
    flow = span("flow", parent_id="f" * 16, local_root=True)
    step = span("step", kind=None, type="flowStep", parent_id="e" * 16, ancestor_id=flow.span_id)
    store.write([flow, step])

    data = to_genkit(store.get(flow.trace_id))["spans"]

    assert "parentSpanId" not in data[flow.span_id]
    assert data[flow.span_id]["attributes"]["genkit:isRoot"] is True
    assert data[step.span_id]["parentSpanId"] == flow.span_id
    assert data[step.span_id]["attributes"]["genkit:lastKnownParentSpanId"] == flow.span_id


def test_cards_for_lists_have_the_root_only_and_cut_texts(store: TraceStore):
    root = span("menu", input=b'"' + b"x" * 5000 + b'"', attributes={"batchRun": "L1"})
    store.write([root, span("step", parent_id=root.span_id)])

    (card,), _ = store.list_cards()

    data = json.loads(card)
    (found,) = data["spans"].values()
    assert (data["traceId"], data["displayName"], found["spanId"]) == (root.trace_id, "menu", root.span_id)
    assert found["attributes"]["genkit:input"] == '"' + "x" * 999 + "..."
    assert found["attributes"]["batchRun"] == "L1"
    assert data["endTime"] == (START + SECOND) / 1e6


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "this is no trace"),
        ({"spans": [1]}, "this is no trace"),
        ({"spans": {"a": {}}}, "span 'a' has no 'attributes'"),
        ({"spans": {"a": {"attributes": {}, "traceId": "1", "spanId": "2"}}}, "span 'a' is not right: ids have"),
        ({"spans": {"a": {"attributes": {}, "traceId": "x" * 32, "spanId": "2" * 16}}}, "span 'a' is not right"),
        ({"spans": {"a": {"attributes": [], "traceId": "x" * 32, "spanId": "2" * 16}}}, "span 'a' is not right"),
    ],
)
def test_what_is_no_trace_is_refused_by_name(data: Any, message: str):
    with pytest.raises(InvalidInputError, match=message):
        from_genkit(data)
