"""OTLP over HTTP: what OpenTelemetry's own exporter sends, and the JSON form, as spans and log records of the store."""

import asyncio
import gzip
import json
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Link, SpanKind

from tests.server.dev_server import Browser

TRACE, SPAN = f"{10:032x}", f"{11:016x}"
PROTOBUF = {"Content-Type": "application/x-protobuf"}


def spans(*found: dict[str, Any], scope: str = "shop") -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": scope, "version": "2"}, "spans": list(found)}]}]}


def span(**facts: Any) -> dict[str, Any]:
    known = {
        "traceId": TRACE,
        "spanId": SPAN,
        "name": "GET /menu",
        "kind": 2,
        "startTimeUnixNano": "1796014088705000123",
        "endTimeUnixNano": "1796014088715000456",
        "attributes": [{"key": "http.status_code", "value": {"intValue": "200"}}],
        "status": {"code": 1},
    }
    return {**known, **facts}


async def sent(browser: Browser, path: str, body: object) -> Any:
    response = await browser.http.post(path, json=body)
    assert response.status_code == 200, response.text
    return response.json()


async def test_opentelemetrys_own_exporter_in_protobuf(browser: Browser):
    provider = TracerProvider()
    exporter = OTLPSpanExporter(f"{browser.url}/v1/traces")
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("shop", "2")

    def work() -> str:
        with tracer.start_as_current_span("order", kind=SpanKind.SERVER) as root:
            link = Link(root.get_span_context(), {"why": "retry"})
            with (
                pytest.raises(ValueError, match="no soup"),
                tracer.start_as_current_span("cook", links=[link], attributes={"n": 3, "tags": ["a", "b"], "ok": True}),
            ):
                raise ValueError("no soup")
        return f"{root.get_span_context().trace_id:032x}"

    trace = await browser.get(f"/api/traces/{await asyncio.to_thread(work)}")

    cook, order = sorted(trace["spans"].values(), key=lambda each: each["displayName"])
    assert order["spanKind"] == "SERVER"
    assert order["instrumentationLibrary"] == {"name": "shop", "version": "2"}
    assert cook["parentSpanId"] == order["spanId"]
    assert cook["attributes"] == {"n": 3, "tags": ["a", "b"], "ok": True}
    assert cook["links"][0]["context"]["spanId"] == order["spanId"]
    assert cook["status"] == {"code": 2, "message": "no soup"}
    (event,) = cook["timeEvents"]["timeEvent"]
    assert event["annotation"]["attributes"]["exception.type"] == "ValueError"


@pytest.mark.parametrize("path", ["/v1/traces", "/api/otlp", "/api/otlp/v1/traces"])
async def test_json_at_every_address(browser: Browser, path: str):
    assert await sent(browser, path, spans(span())) == {}

    (stored,) = (await browser.get(f"/api/traces/{TRACE}"))["spans"].values()
    assert stored["displayName"] == "GET /menu"
    assert stored["attributes"] == {"http.status_code": 200}
    assert stored["startTime"] == pytest.approx(1796014088705.000123)


async def test_every_kind_of_value(browser: Browser):
    value = {
        "kvlistValue": {
            "values": [
                {"key": "list", "value": {"arrayValue": {"values": [{"doubleValue": 1.5}, {"boolValue": False}]}}},
                {"key": "bytes", "value": {"bytesValue": "c291cA=="}},
                {"key": "none", "value": {}},
            ]
        }
    }
    await sent(browser, "/v1/traces", spans(span(attributes=[{"key": "dish", "value": value}])))

    (stored,) = (await browser.get(f"/api/traces/{TRACE}"))["spans"].values()
    assert stored["attributes"] == {"dish": {"list": [1.5, False], "bytes": "c291cA==", "none": None}}


async def test_spans_with_genkits_attributes_become_actions(browser: Browser):
    facts = {
        "genkit:type": "action",
        "genkit:metadata:subtype": "flow",
        "genkit:name": "menu",
        "genkit:input": '"soup"',
    }
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in facts.items()]
    await sent(browser, "/v1/traces", spans(span(name="menu", attributes=attributes)))

    (listed,) = (await browser.get("/api/traces/summaries"))["traces"]
    assert (listed["kind"], listed["key"], listed["input"]) == ("flow", "/flow/menu", '"soup"')


async def test_spans_are_put_under_a_span_of_another_trace(browser: Browser):
    parent_trace, parent_span = f"{1:032x}", f"{1:016x}"
    child = span(spanId=f"{12:016x}", parentSpanId=SPAN)

    await sent(browser, f"/api/otlp/{parent_trace}/{parent_span}", spans(span(), child))

    stored = (await browser.get(f"/api/traces/{parent_trace}"))["spans"]
    assert stored[SPAN]["attributes"]["genkit:otlp-traceId"] == TRACE
    assert stored[f"{12:016x}"]["parentSpanId"] == SPAN
    outline = await browser.get(f"/api/traces/{parent_trace}/outline")
    assert {each["spanId"]: each.get("parentId") for each in outline["spans"]}[SPAN] == parent_span


async def test_one_bad_span_does_not_take_the_others_with_it(browser: Browser):
    bad = [span(traceId="x", spanId=f"{n:016x}") for n in range(20, 23)]

    answer = await sent(browser, "/v1/traces", spans(*bad, span()))

    assert answer["partialSuccess"]["rejectedSpans"] == 3
    assert "no id" in answer["partialSuccess"]["errorMessage"]
    assert (await browser.get(f"/api/traces/{TRACE}"))["displayName"] == "GET /menu"


async def test_the_answer_in_protobuf_says_how_many_were_rejected(browser: Browser):
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.add(name="without ids")
    response = await browser.http.post("/v1/traces", content=request.SerializeToString(), headers=PROTOBUF)

    assert response.headers["content-type"] == "application/x-protobuf"
    told = MessageToDict(ExportTraceServiceResponse.FromString(response.content))
    assert told["partialSuccess"]["rejectedSpans"] == "1"
    assert ParseDict(told, ExportTraceServiceResponse()).partial_success.error_message


async def test_packed_json(browser: Browser):
    packed = gzip.compress(json.dumps(spans(span())).encode())
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}

    assert (await browser.http.post("/v1/traces", content=packed, headers=headers)).status_code == 200
    assert (await browser.get(f"/api/traces/{TRACE}"))["displayName"] == "GET /menu"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"{", "application/json"),
        (b"[]", "application/json"),
        (b'{"resourceSpans": [1]}', "application/json"),
        (b"\xff\xff\xff", "application/x-protobuf"),
    ],
)
async def test_what_is_no_otlp_is_refused(browser: Browser, body: bytes, kind: str):
    response = await browser.http.post("/v1/traces", content=body, headers={"Content-Type": kind})

    assert response.status_code == 400
    assert "OTLP" in response.json()["message"] or "JSON" in response.json()["message"]


async def test_metrics_are_accepted_and_dropped(browser: Browser):
    assert await sent(browser, "/v1/metrics", {"resourceMetrics": []}) == {}


@pytest.mark.parametrize("path", ["/v1/logs", "/api/otlp", "/api/otlp/v1/logs"])
async def test_log_records(browser: Browser, path: str):
    record = {
        "timeUnixNano": "1796014088705000123",
        "severityNumber": 13,
        "severityText": "WARN",
        "body": {"stringValue": "the oven is cold"},
        "attributes": [{"key": "oven", "value": {"intValue": "2"}}],
        "traceId": TRACE,
        "spanId": SPAN,
    }
    body = {"resourceLogs": [{"scopeLogs": [{"scope": {"name": "kitchen"}, "logRecords": [record]}]}]}

    assert await sent(browser, path, body) == {}

    (log,) = (await browser.get(f"/api/traces/{TRACE}/spans/{SPAN}/logs"))["logs"]
    assert log.pop("logId")
    assert log == {
        "traceId": TRACE,
        "spanId": SPAN,
        "timestamp": pytest.approx(1796014088705.000123),
        "severityNumber": 13,
        "severityText": "WARN",
        "body": "the oven is cold",
        "attributes": {"oven": 2},
        "instrumentationLibrary": {"name": "kitchen"},
    }
