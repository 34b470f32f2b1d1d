"""Genkit's flow protocol: envelope, answers, statuses, streams."""

import json
import re
from typing import Any

import pytest

from flowkit.errors import HTTP_STATUS
from flowkit.testing import MemorySink
from tests.server.flows.conftest import Call, Served, frames


async def test_a_flow_is_called_with_data_and_gives_a_result(call: Call):
    answer = await call("/hello", "Ada")

    assert (answer.status_code, answer.json()) == (200, {"result": "hello Ada"})
    assert answer.headers["content-type"] == "application/json"


async def test_real_characters_are_sent_as_they_are(call: Call):
    answer = await call("/hello", "こんにちは 🍜")
    assert answer.content == '{"result":"hello こんにちは 🍜"}'.encode()


async def test_a_flow_without_input_needs_no_data(call: Call, flows: Served):
    assert (await call("/nothing")).json() == {"result": None}
    assert (await call("/nothing", None)).json() == {"result": None}
    assert flows.seen == ["nothing", "nothing"]


async def test_several_parameters_are_one_object_with_defaults(call: Call):
    assert (await call("/several", {"a": 1})).json() == {"result": 4}
    assert (await call("/several", {"a": 1, "b": 1})).json() == {"result": 2}


async def test_a_sync_flow_runs_too(call: Call):
    assert (await call("/slow_sum", 4)).json() == {"result": 6}


async def test_more_than_data_in_the_envelope_is_ignored(call: Call):
    answer = await call("/hello", content=b'{"data": "Ada", "init": 1, "more": [1]}', headers=JSON)
    assert answer.json() == {"result": "hello Ada"}


JSON = {"content-type": "application/json"}


@pytest.mark.parametrize("body", ["not json", "", "[]", '"text"', "null", "{", '{"data": "\\ud800"}', "[" * 5000])
async def test_a_body_that_is_no_envelope_is_the_callers_fault(call: Call, body: str):
    answer = await call("/order", content=body.encode(), headers=JSON)

    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["status"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
async def test_types_that_any_page_can_send_are_refused(call: Call, flows: Served, kind: str | None):
    headers = {} if kind is None else {"content-type": kind}
    answer = await call("/nothing", content=b'{"data": null}', headers=headers)

    assert answer.status_code == 400
    assert "Content-Type: application/json" in answer.json()["message"]
    assert flows.seen == []


async def test_other_json_types_are_json(call: Call):
    headers = {"content-type": "application/cloudevents+json; charset=utf-8"}
    assert (await call("/hello", content=b'{"data": "Ada"}', headers=headers)).status_code == 200


async def test_an_input_that_does_not_fit_is_told_field_by_field(call: Call):
    for data in ({"n": "x"}, {}, {"n": 0}):
        answer = await call("/order", data)
        body = answer.json()

        assert (answer.status_code, body["status"]) == (400, "INVALID_ARGUMENT")
        assert [error["path"] for error in body["details"]["errors"]] == ["n"]
        assert body["details"]["schema"]["properties"]["n"]["minimum"] == 1
    missing = (await call("/order")).json()
    assert "needs an input" in missing["message"]


async def test_an_input_that_is_refused_leaves_a_trace(call: Call, sink: MemorySink):
    answer = await call("/order", {"n": "x"})

    (span,) = sink.spans
    assert span.state == "error"
    assert answer.headers["x-genkit-trace-id"] == span.trace_hex


async def test_what_a_flow_raises_by_accident_stays_inside(call: Call, caplog: pytest.LogCaptureFixture):
    answer = await call("/boom", 1)

    assert answer.status_code == 500
    assert answer.json() == {"message": "Internal Error", "status": "INTERNAL"}
    (record,) = caplog.records
    assert record.exc_info is not None
    assert answer.headers["x-genkit-trace-id"] in record.getMessage()
    assert "hunter2" in str(record.exc_info[1])


@pytest.mark.parametrize("status", sorted(set(HTTP_STATUS) - {"OK"}))
async def test_what_a_flow_raises_on_purpose_has_its_status(call: Call, status: str):
    answer = await call("/refuse", status)

    assert answer.status_code == HTTP_STATUS[status]  # type: ignore[index]
    assert answer.json() == {"message": "no way", "status": status, "details": {"why": "because"}}


async def test_errors_of_services_and_files_are_not_quoted(call: Call, flows: Served):
    from flowkit.errors import BackendError, InvalidOutputError, StoreError

    raised = {
        "backend": (BackendError("no route to db.internal:5432"), 503, "UNAVAILABLE"),
        "store": (StoreError("damaged: rows.db of the tenant acme"), 500, "DATA_LOSS"),
        "output": (InvalidOutputError("flow 'x' returned 'secret'"), 500, "INTERNAL"),
    }
    for name, (error, http_status, status) in raised.items():

        @flows.ai.flow(name)
        async def fail(error: Any = error) -> None:
            raise error

        answer = await call(f"/{name}")
        assert (answer.status_code, answer.json()["status"]) == (http_status, status)
        assert not re.search("internal:|acme|secret", answer.text)


async def test_a_status_of_somebody_elses_exception_means_nothing(call: Call, flows: Served):
    class HttpError(Exception):
        status = "NOT_FOUND"

    @flows.ai.flow
    async def fetch() -> None:
        raise HttpError("http://backend.internal/404")

    answer = await call("/fetch")
    assert (answer.status_code, answer.json()) == (500, {"message": "Internal Error", "status": "INTERNAL"})


async def test_a_flow_cannot_end_the_server(call: Call, flows: Served):
    @flows.ai.flow
    async def leave() -> None:
        raise SystemExit(3)

    for stream in ("", "?stream=true"):
        answer = await call(f"/leave{stream}")
        assert "INTERNAL" in answer.text


async def test_in_dev_the_caller_is_the_developer(call: Call, flows: Served):
    from flowkit.server.flows.app import FlowApp

    answer = await call("/boom", 1, app=FlowApp(flows.ai, dev=True))
    assert answer.json()["message"] == "ValueError: the password is hunter2"
    assert "conftest.py" in answer.json()["details"]


async def test_what_is_not_there_is_said_in_json(call: Call):
    for path, method, status in (
        ("/nope", "POST", 404),
        ("/", "POST", 404),
        ("/", "GET", 404),
        ("/flow/hello", "POST", 404),
        ("/hello/", "POST", 404),
        ("/hello", "GET", 405),
        ("/hello", "DELETE", 405),
        ("/hello", "OPTIONS", 405),
        ("/__health", "PUT", 405),
    ):
        answer = await call(path, method=method)
        assert answer.status_code == status, path
        assert answer.json()["status"] == ("NOT_FOUND" if status == 404 else "INVALID_ARGUMENT")
        assert not [name for name in answer.headers if name.startswith("access-control")]
    assert (await call("/hello", method="GET")).headers["allow"] == "POST"


async def test_names_with_slashes_are_paths(call: Call, flows: Served):
    @flows.ai.flow("menu/qa")
    async def qa(question: str) -> str:
        return question

    assert (await call("/menu/qa", "soup?")).json() == {"result": "soup?"}


async def test_a_prefix_stands_before_every_flow(call: Call, flows: Served):
    for prefix in ("api/v1", "/api/v1/"):
        app = flows.ai.asgi(path_prefix=prefix)
        assert (await call("/api/v1/hello", "Ada", app=app)).status_code == 200
        assert (await call("/hello", "Ada", app=app)).status_code == 404
        assert (await call("/__health", method="GET", app=app)).text == "OK"


# Streams.


@pytest.mark.parametrize("how", [{"path": "/count?stream=true"}, {"headers": {"accept": "text/event-stream"}}])
async def test_a_stream_gives_chunks_and_then_the_result(call: Call, how: Any):
    answer = await call(how.get("path", "/count"), 2, headers=how.get("headers"))

    chunks = [{"i": i, "jp": "日本語\u2028"} for i in range(2)]
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert frames(answer.text) == [*({"message": chunk} for chunk in chunks), {"result": chunks}]


async def test_a_stream_is_ascii_and_has_nothing_but_data_lines(call: Call):
    """Genkit's client decodes each packet alone, and takes every line for JSON."""
    answer = await call("/count?stream=true", 50)

    assert answer.content.isascii()
    assert b"\r" not in answer.content
    assert all(part.startswith("data: {") and "\n" not in part for part in answer.text.split("\n\n")[:-1])


async def test_a_flow_that_does_not_stream_may_be_asked_to(call: Call):
    answer = await call("/hello?stream=true", "Ada")
    assert frames(answer.text) == [{"result": "hello Ada"}]


async def test_a_sync_generator_streams_from_its_thread_in_order(call: Call, flows: Served):
    @flows.ai.flow
    def numbers(n: int):
        yield from range(n)

    answer = await call("/numbers?stream=true", 200)
    *chunks, last = frames(answer.text)
    assert [chunk["message"] for chunk in chunks] == last["result"] == list(range(200))


async def test_an_error_after_chunks_is_the_last_frame(call: Call, caplog: pytest.LogCaptureFixture):
    answer = await call("/breaks?stream=true")

    assert answer.status_code == 200
    assert frames(answer.text) == [
        {"message": "a"},
        {"message": "b"},
        {"error": {"message": "Internal Error", "status": "INTERNAL"}},
    ]
    assert "hunter2" in str(caplog.records[0].exc_info)


async def test_an_error_on_purpose_is_told_in_the_stream(call: Call):
    answer = await call("/refuse?stream=true", "PERMISSION_DENIED")
    assert frames(answer.text) == [
        {"error": {"message": "no way", "status": "PERMISSION_DENIED", "details": {"why": "because"}}}
    ]


async def test_a_bad_input_is_told_in_the_stream(call: Call):
    (frame,) = frames((await call("/order?stream=true", {"n": "x"})).text)

    assert frame["error"]["status"] == "INVALID_ARGUMENT"
    assert frame["error"]["details"]["errors"][0]["path"] == "n"


# Ids.


async def test_the_trace_is_named_in_the_headers(call: Call, sink: MemorySink):
    answers = [await call("/hello", "Ada"), await call("/boom", 1), await call("/count?stream=true", 1)]

    assert [answer.headers["x-genkit-trace-id"] for answer in answers] == [span.trace_hex for span in sink.spans]
    assert [answer.headers["x-genkit-span-id"] for answer in answers] == [span.span_hex for span in sink.spans]


async def test_a_call_has_an_id_also_where_nothing_is_traced(call: Call):
    ids = [(await call(path, 1)).headers["x-genkit-trace-id"] for path in ("/boom", "/boom", "/boom?stream=true")]

    assert all(re.fullmatch("[0-9a-f]{32}", each) for each in ids)
    assert len(set(ids)) == 3


async def test_the_trace_of_the_caller_is_continued(call: Call, sink: MemorySink):
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    headers = {"traceparent": f"00-{trace}-{parent}-01"}
    for path in ("/who", "/who?stream=true"):
        answer = await call(path, headers=headers)
        assert answer.headers["x-genkit-trace-id"] == trace
    assert [(span.trace_hex, span.parent_hex) for span in sink.spans] == [(trace, parent)] * 2

    broken = await call("/who", headers={"traceparent": "00-zz-yy-01"})
    assert broken.status_code == 200


async def test_the_answer_to_a_stream_begins_before_the_flow_ends(flows: Served, sink: MemorySink):
    """Seen from below, as a server sees it: the headers go out while the flow waits."""
    import asyncio

    sent: list[dict[str, Any]] = []
    left = asyncio.Event()
    body = json.dumps({"data": None}).encode()
    received = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> dict[str, Any]:
        for message in received:
            return message
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/forever",
        "query_string": b"stream=true",
        "headers": [(b"content-type", b"application/json")],
    }
    running = asyncio.ensure_future(flows.ai.asgi()(scope, receive, send))
    async with asyncio.timeout(10):
        while not sent:
            await asyncio.sleep(0.01)
    assert sent[0]["status"] == 200
    assert b"x-genkit-trace-id" in dict(sent[0]["headers"])
    assert not running.done()
    left.set()
    async with asyncio.timeout(10):
        await running
    assert flows.seen == ["started", "ended"]
