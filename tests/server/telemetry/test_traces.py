"""Traces by Genkit's routes: posted in pieces, listed, read whole, followed while they grow."""

import asyncio
import gzip
import json

import httpx
import pytest

from tests.server.dev_server import Browser
from tests.server.telemetry.spans import START, trace_data

JSON = {"Content-Type": "application/json"}


async def post(browser: Browser, *bodies: object) -> None:
    for body in bodies:
        response = await browser.http.post("/api/traces", json=body)
        assert (response.status_code, response.text) == (200, "OK")


async def test_a_trace_comes_in_pieces_in_any_order(browser: Browser):
    child = trace_data("fake/echo", span=2, parent=1, at=2, took=3)

    await post(browser, child, trace_data(took=None), trace_data(took=10))

    trace = await browser.get(f"/api/traces/{1:032x}")
    assert trace["displayName"] == "rag"
    assert trace["startTime"] == START
    assert trace["endTime"] == pytest.approx(START + 10)
    assert trace["spans"][f"{2:016x}"]["parentSpanId"] == f"{1:016x}"


async def test_a_late_start_does_not_undo_the_end(browser: Browser):
    await post(browser, trace_data(took=10), trace_data(took=None))

    trace = await browser.get(f"/api/traces/{1:032x}")
    assert trace["spans"][f"{1:016x}"]["endTime"] == pytest.approx(START + 10)


async def test_the_list_has_root_spans_only_and_cuts_long_texts(browser: Browser):
    await post(browser, trace_data(genkit__input=json.dumps("x" * 5000)), trace_data("step", span=2, parent=1))

    (listed,) = (await browser.get("/api/traces"))["traces"]
    (root,) = listed["spans"].values()
    assert root["displayName"] == "rag"
    assert root["attributes"]["genkit:input"] == '"' + "x" * 999 + "..."


async def test_a_prompt_that_was_only_rendered_is_in_no_list_and_is_found_by_its_id(browser: Browser):
    preview = trace_data("menu", trace=1, genkit__key="/prompt/menu", **{"genkit__metadata:subtype": "prompt"})

    await post(browser, preview, trace_data("order", trace=2, span=2))

    (listed,) = (await browser.get("/api/traces"))["traces"]
    (summary,) = (await browser.get("/api/traces/summaries"))["traces"]
    assert (listed["displayName"], summary["name"]) == ("order", "order")
    assert (await browser.get("/api/traces", filter='{"eq": {"type": "prompt"}}'))["traces"] == []
    assert (await browser.get(f"/api/traces/{1:032x}"))["displayName"] == "menu"
    assert (await browser.get(f"/api/traces/{1:032x}/outline"))["summary"]["kind"] == "prompt"


async def test_a_wrapper_of_tools_does_not_hide_the_flow_below_it(browser: Browser):
    """As its runtimes send them: each span alone, when it begins and when it ends."""
    wrapper = {"genkit__metadata:subtype": None, "genkit__key": None, "genkit__metadata:genkit-dev-internal": "true"}
    for took in (None, 10):
        await post(browser, trace_data("dev-run-action-wrapper", took=took, **wrapper))
        await post(browser, trace_data("order", span=2, parent=1, took=took))

    trace = await browser.get(f"/api/traces/{1:032x}")
    (span,) = trace["spans"].values()
    assert (trace["displayName"], span["displayName"]) == ("order", "order")
    assert "parentSpanId" not in span
    (listed,) = (await browser.get("/api/traces"))["traces"]
    (summary,) = (await browser.get("/api/traces/summaries"))["traces"]
    assert (listed["displayName"], summary["name"], summary["kind"]) == ("order", "order", "flow")


async def test_a_wrapper_that_comes_with_its_flow_stays(browser: Browser):
    body = trace_data("dev-run-action-wrapper")
    body["spans"] |= trace_data("order", span=2, parent=1)["spans"]

    await post(browser, body)

    assert len((await browser.get(f"/api/traces/{1:032x}"))["spans"]) == 2


async def test_the_list_goes_on_from_a_token(browser: Browser):
    await post(browser, *(trace_data(f"flow{n}", trace=n, span=n, at=n) for n in range(1, 6)))

    first = await browser.get("/api/traces", limit=3)
    second = await browser.get("/api/traces", limit=3, continuationToken=first["continuationToken"])

    names = [trace["displayName"] for page in (first, second) for trace in page["traces"]]
    assert names == ["flow5", "flow4", "flow3", "flow2", "flow1"]
    assert "continuationToken" not in second


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"eq": {"name": "menu"}}, ["menu"]),
        ({"eq": {"name": ["menu", "boom"]}}, ["boom", "menu"]),
        ({"neq": {"name": "menu"}}, ["boom", "internal"]),
        ({"eq": {"type": "flow", "status": 2}}, ["boom"]),
        ({"eq": {"status": 0}}, ["menu", "internal"]),
        ({"neq": {"genkitx:ignore-trace": ["true"]}}, ["boom", "menu"]),
        ({"eq": {"genkitx:ignore-trace": "true"}}, ["internal"]),
        ({"contains": {"name": "o"}}, ["boom"]),
        ({"contains": {"name": ["me", "oo"]}}, ["boom", "menu"]),
        ({"gte": {"start": START + 2}}, ["boom", "menu"]),
        ({"lt": {"end": START + 12}}, ["internal"]),
        ({"eq": {"id": f"{3:032x}"}}, ["boom"]),
    ],
    ids=json.dumps,
)
async def test_the_list_is_filtered_as_genkit_filters(browser: Browser, given: object, names: list[str]):
    failed = trace_data("boom", trace=3, span=3, at=3, genkit__state="error")
    await post(
        browser,
        trace_data("internal", trace=1, span=1, at=1, **{"genkitx__ignore-trace": "true"}),
        trace_data("menu", trace=2, span=2, at=2),
        failed,
    )

    listed = await browser.get("/api/traces", filter=json.dumps(given))

    assert [trace["displayName"] for trace in listed["traces"]] == names


@pytest.mark.parametrize(
    "given", ["{", "[]", '{"near": {}}', '{"eq": 1}', '{"gt": {"start": "x"}}', '{"eq": {"a": {}}}']
)
async def test_a_filter_that_is_none_is_refused(browser: Browser, given: str):
    response = await browser.http.get("/api/traces", params={"filter": given})

    assert response.status_code == 400
    assert response.json()["code"] == 3
    assert "filter" in response.json()["message"]


async def test_secrets_are_replaced_before_anything_is_stored(browser: Browser):
    secret = json.dumps({"api_key": "sk-123", "dish": "soup"})
    await post(browser, trace_data(genkit__input=secret, **{"http.request.header.authorization": "Bearer sk-123"}))

    stored = (await browser.http.get(f"/api/traces/{1:032x}")).text
    listed = (await browser.http.get("/api/traces")).text
    assert "sk-123" not in stored + listed
    assert "soup" in stored
    assert all(b"sk-123" not in file.read_bytes() for file in browser.dev.root.rglob("traces.db*"))


async def test_a_packed_body_is_unpacked(browser: Browser):
    packed = gzip.compress(json.dumps(trace_data()).encode())

    response = await browser.http.post("/api/traces", content=packed, headers={**JSON, "Content-Encoding": "gzip"})

    assert response.status_code == 200
    assert (await browser.get(f"/api/traces/{1:032x}"))["displayName"] == "rag"


async def test_a_packed_body_that_is_huge_inside_is_refused(browser: Browser):
    bomb = gzip.compress(b"[" + b" " * 120_000_000 + b"]", 1)

    response = await browser.http.post("/api/traces", content=bomb, headers={**JSON, "Content-Encoding": "gzip"})

    assert response.status_code == 400
    assert "too large" in response.json()["message"]


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b'{"traceId": "x"}',
        b'{"spans": {"a": {}}}',
        b'{"spans": {"a": "b"}}',
        json.dumps(trace_data()).replace(f"{1:032x}", "../../etc/passwd").encode(),
        json.dumps(trace_data()).replace(f"{1:032x}", "0x" + "1_" * 15).encode(),
        json.dumps(trace_data()).replace(str(START), "1e300").encode(),
        json.dumps(trace_data()).replace(str(START), "NaN").encode(),
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
    ],
)
async def test_what_is_no_trace_is_refused_and_nothing_stored(browser: Browser, body: bytes):
    response = await browser.http.post("/api/traces", content=body, headers=JSON)

    assert response.status_code == 400
    assert response.json()["details"]["status"] == "INVALID_ARGUMENT"
    assert (await browser.get("/api/traces"))["traces"] == []


async def test_halves_of_characters_from_javascript_are_taken(browser: Browser):
    body = json.dumps(trace_data(genkit__input='"x"')).replace('\\"x\\"', '\\"\\ud83c\\"')

    response = await browser.http.post("/api/traces", content=body.encode(), headers=JSON)

    assert response.status_code == 200
    root = (await browser.get(f"/api/traces/{1:032x}"))["spans"][f"{1:016x}"]
    assert root["attributes"]["genkit:input"].startswith('"')


@pytest.mark.parametrize("trace_id", ["..%2F..%2Fetc%2Fpasswd", "%2e%2e", "x", "A" * 32, "1" * 31, f"{1:032x}%00"])
async def test_an_id_that_is_none_reaches_no_store(browser: Browser, trace_id: str):
    for path in (f"/api/traces/{trace_id}", f"/api/traces/{trace_id}/stream", f"/api/traces/{trace_id}/logs"):
        # A client of its own: httpx would tidy the path.
        request = httpx.Request("GET", httpx.URL(browser.url).copy_with(raw_path=path.encode()))
        assert (await browser.http.send(request)).status_code == 400, path


async def test_an_unknown_trace_is_not_found(browser: Browser):
    response = await browser.http.get(f"/api/traces/{9:032x}")

    assert response.status_code == 404
    assert response.json()["code"] == 5


async def test_a_stream_has_the_trace_so_far_and_then_each_span_as_it_starts_and_ends(browser: Browser):
    await post(browser, trace_data(took=None))
    async with browser.lines(f"/api/traces/{1:032x}/stream") as lines:
        snapshot = await anext(lines)
        assert snapshot["spans"][f"{1:016x}"]["endTime"] == 0

        await post(browser, trace_data("step", span=2, parent=1, at=1, took=None))
        started = await anext(lines)
        assert (started["type"], started["span"]["displayName"]) == ("span_start", "step")
        assert started["span"]["endTime"] == 0

        await post(browser, trace_data("step", span=2, parent=1, at=1, took=4))
        ended = await anext(lines)
        assert (ended["type"], ended["span"]["spanId"]) == ("span_end", f"{2:016x}")
        assert ended["span"]["endTime"] == pytest.approx(START + 5)

        await post(browser, trace_data(took=10))
        assert (await anext(lines))["type"] == "span_end"


async def test_a_stream_of_a_trace_that_comes_later_begins_with_its_first_span(browser: Browser):
    async with browser.lines(f"/api/traces/{1:032x}/stream") as lines:
        await post(browser, trace_data(took=10))

        first = await anext(lines)
        # When the trace was there before the stream looked, it comes as a whole.
        assert "spans" in first or [first["type"], (await anext(lines))["type"]] == ["span_start", "span_end"]


async def test_the_store_is_only_looked_at_while_somebody_looks(browser: Browser):
    await post(browser, trace_data())
    changes = browser.dev.traces.changes
    assert not changes.polls

    async with browser.lines(f"/api/traces/{1:032x}/stream") as lines:
        await anext(lines)
        assert changes.polls

    async with asyncio.timeout(5):
        while changes.polls:
            await asyncio.sleep(0.01)


async def test_real_characters_are_real_in_every_answer(browser: Browser):
    await post(browser, trace_data("こんにちは", genkit__input='"naïve façade 🍜"'))

    for path in ("/api/traces", f"/api/traces/{1:032x}", "/api/traces/summaries"):
        text = (await browser.http.get(path)).text
        assert "こんにちは" in text
        assert "naïve façade 🍜" in text
        assert "\\u" not in text


async def test_the_end_of_the_server_ends_its_streams(browser: Browser):
    await post(browser, trace_data())
    async with browser.lines(f"/api/traces/{1:032x}/stream") as lines:
        assert (await anext(lines))["spans"]
        browser.dev.end_streams()

        async with asyncio.timeout(10):
            assert [line async for line in lines] == []
