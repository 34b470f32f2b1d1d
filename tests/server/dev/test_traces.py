"""Traces for pages: filtered, searched, looked at without big values, deleted for good, handed on as a file."""

import json

import pytest

from tests.server.dev_server import Browser, dev_server
from tests.server.telemetry.spans import START, trace_data


async def post(browser: Browser, *bodies: object) -> None:
    for body in bodies:
        assert (await browser.http.post("/api/traces", json=body)).status_code == 200


@pytest.fixture
async def filled(browser: Browser) -> Browser:
    await post(
        browser,
        trace_data("menu", trace=1, span=1, at=0, genkit__input='"vegan lasagne"', table="4"),
        trace_data("boom", trace=2, span=2, at=1000, took=500, genkit__state="error"),
        trace_data("menu", trace=3, span=3, at=2000, genkit__input='"寿司を食べる"'),
        trace_data(
            "echo", trace=4, span=4, at=3000, **{"genkit__metadata:subtype": "model", "genkit__key": "/model/echo"}
        ),
    )
    return browser


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, [4, 3, 2, 1]),
        ({"status": "error"}, [2]),
        ({"kind": "model"}, [4]),
        ({"action": "menu"}, [3, 1]),
        ({"action": "/flow/boom"}, [2]),
        ({"q": "lasag"}, [1]),
        ({"q": '"vegan lasagne"'}, [1]),
        ({"q": "寿司"}, [3]),
        ({"minMs": 100}, [2]),
        ({"since": (START + 1500) / 1000}, [4, 3]),
        ({"until": (START + 500) / 1000}, [1]),
        ({"label": "table=4"}, [1]),
        ({"q": "nothing"}, []),
    ],
    ids=str,
)
async def test_the_list_is_filtered(filled: Browser, query: dict[str, object], found: list[int]):
    listed = (await filled.get("/api/traces/summaries", **query))["traces"]

    assert [int(trace["traceId"], 16) for trace in listed] == found


async def test_the_list_goes_on_from_a_cursor(filled: Browser):
    first = await filled.get("/api/traces/summaries", limit=3)
    second = await filled.get("/api/traces/summaries", limit=3, cursor=first["cursor"])

    assert [trace["name"] for trace in first["traces"] + second["traces"]] == ["echo", "menu", "boom", "menu"]
    assert "cursor" not in second


@pytest.mark.parametrize(
    "query", [{"limit": 0}, {"limit": "x"}, {"status": "fine"}, {"cursor": "x"}, {"since": "soon"}, {"label": "x"}]
)
async def test_a_query_that_is_wrong_names_the_field(filled: Browser, query: dict[str, object]):
    response = await filled.http.get("/api/traces/summaries", params=query)

    assert response.status_code == 400
    assert next(iter(query)) in response.text


async def test_an_outline_leaves_big_values_where_they_are(browser: Browser):
    big = json.dumps("x" * 5000)
    await post(browser, trace_data(genkit__input=big, genkit__output='"y"'))

    (span,) = (await browser.get(f"/api/traces/{1:032x}/outline"))["spans"]
    value = await browser.http.get(f"/api/traces/{1:032x}/spans/{1:016x}/input")

    assert "input" not in span
    assert span["inputBytes"] == len(big)
    assert span["output"] == "y"
    assert value.text == big
    assert (await browser.http.get(f"/api/traces/{1:032x}/spans/{2:016x}/input")).status_code == 404


async def test_a_deleted_trace_is_gone(filled: Browser):
    trace_id = f"{1:032x}"

    assert (await filled.http.delete(f"/api/traces/{trace_id}")).json() == {"deleted": 1}

    assert (await filled.http.get(f"/api/traces/{trace_id}")).status_code == 404
    assert (await filled.http.delete(f"/api/traces/{trace_id}")).status_code == 404
    assert len((await filled.get("/api/traces/summaries"))["traces"]) == 3
    assert all(b"lasagne" not in file.read_bytes() for file in filled.dev.root.rglob("traces.db*"))


async def test_several_traces_are_deleted_at_once_or_all(filled: Browser):
    async def delete(body: object) -> object:
        headers = {"Content-Type": "application/json"}
        return (await filled.http.request("DELETE", "/api/traces", content=json.dumps(body), headers=headers)).json()

    assert await delete({"ids": [f"{1:032x}", f"{2:032x}", f"{9:032x}"]}) == {"deleted": 2}
    assert "say which" in str(await delete({}))
    assert await delete({"all": True}) == {"deleted": 2}
    assert (await filled.get("/api/traces/summaries"))["traces"] == []


async def test_a_trace_is_handed_on_as_a_file(browser: Browser, tmp_path_factory: pytest.TempPathFactory):
    big = json.dumps("é" * 5000, ensure_ascii=False)
    await post(
        browser,
        trace_data("rag", genkit__input=big, genkit__state="error"),
        trace_data("step", span=2, parent=1, at=1, genkit__output='{"n": 1}'),
    )
    headers = {"Content-Type": "application/json"}
    record = {"timeUnixNano": "1796014088705000000", "body": {"stringValue": "cold"}, "traceId": f"{1:032x}"}
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    await browser.http.post("/v1/logs", json=logs)

    file = await browser.http.get(f"/api/traces/{1:032x}/export")
    assert "attachment" in file.headers["content-disposition"]
    assert "é" in file.text

    async with dev_server(tmp_path_factory.mktemp("colleague")) as other:
        taken = await other.http.post("/api/traces/import", content=file.content, headers=headers)
        assert taken.json() == {"traceId": f"{1:032x}", "spans": 2, "logs": 1}
        for path in (f"/api/traces/{1:032x}", f"/api/traces/{1:032x}/logs", f"/api/traces/{1:032x}/outline"):
            assert await other.get(path) == await browser.get(path)
        again = await other.http.post("/api/traces/import", content=file.content, headers=headers)
        assert again.status_code == 200
        assert len((await other.get(f"/api/traces/{1:032x}/logs"))["logs"]) == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"spans": {}},
        {"format": "flowkit-trace", "version": 99, "spans": {}},
        {"spans": {**trace_data()["spans"], **trace_data(trace=2, span=2)["spans"]}},
        {**trace_data(), "logs": [{"timestamp": "x"}]},
        {**trace_data(), "logs": [1]},
    ],
)
async def test_a_file_that_is_no_trace_is_refused(browser: Browser, body: object):
    response = await browser.http.post("/api/traces/import", json=body)

    assert response.status_code == 400
    assert (await browser.get("/api/traces/summaries"))["traces"] == []


async def test_a_damaged_store_says_so(browser: Browser):
    (browser.dev.root / ".flowkit").mkdir()
    (browser.dev.root / ".flowkit" / "traces.db").write_bytes(b"no database" * 1000)

    response = await browser.http.get("/api/traces/summaries")

    assert response.status_code == 500
    assert response.json()["error"]["status"] == "DATA_LOSS"
    assert "damaged" in response.json()["error"]["message"]
