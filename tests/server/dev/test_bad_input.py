"""Whatever a page sends: it is told in JSON what was wrong, and the server goes on."""

import asyncio
import json
from typing import Any

import pytest

from flowkit import Flowkit
from tests.server.dev.conftest import Serve
from tests.server.dev_server import Browser
from tests.server.telemetry.spans import trace_data

HALF = "\\ud800"  # half of a character, as JavaScript sends it
FAR = 2**70
JSON = {"Content-Type": "application/json"}


async def test_a_method_that_a_route_has_not_is_refused_in_json(browser: Browser):
    for path, allowed in (("/api/runs", "GET, HEAD, POST"), ("/api/traces/summaries", "DELETE, GET, HEAD")):
        response = await browser.http.request("PUT", path, content="{}", headers=JSON)

        assert response.status_code == 405
        assert response.headers["allow"] == allowed
        assert response.json()["error"]["details"]["hint"].startswith("it is asked by ")


@pytest.mark.parametrize(
    "path",
    [
        f"/api/traces/summaries?cursor={FAR}.1",
        f"/api/traces/summaries?cursor={'9' * 19}.1",
        f"/api/traces/summaries?cursor={'9' * 5000}.1",
        "/api/traces/summaries?since=0001-01-01T00:00:00",
        "/api/traces/summaries?until=9999-12-31T23:59:59",
        "/api/traces/summaries?minMs=inf",
        "/api/traces/summaries?minMs=1e300",
        f"/api/traces?continuationToken={'9' * 5000}.1",
        f'/api/traces?filter={{"gt":{{"start":{FAR}}}}}',
        f"/api/logs?severityNumber={FAR}",
        f"/api/logs?continuationToken={'9' * 19}.1",
        f"/api/logs?continuationToken={'9' * 5000}.1",
    ],
)
async def test_numbers_and_dates_that_fit_nowhere_are_refused(browser: Browser, path: str):
    file = trace_data()
    log = {"timestamp": 1e12, "traceId": file["traceId"]}
    assert (await browser.http.post("/api/traces/import", json={**file, "logs": [log]})).json()["logs"] == 1

    response = await browser.http.get(path)

    assert response.status_code == 400
    assert "Error" not in response.text
    assert len((await browser.get("/api/traces/summaries"))["traces"]) == 1


@pytest.mark.parametrize(
    "record",
    [
        {"timestamp": 1e300},
        {"timestamp": -1},
        {"timestamp": 1e12, "severityNumber": FAR},
        {"timestamp": 1e12, "severityNumber": -1},
    ],
)
async def test_a_log_record_that_fits_nowhere_is_refused_with_its_trace(browser: Browser, record: dict[str, Any]):
    file = {**trace_data(), "logs": [record]}

    assert (await browser.http.post("/api/traces/import", json=file)).status_code == 400
    assert (await browser.get("/api/traces/summaries"))["traces"] == []


async def test_ids_and_times_in_a_trace_file_that_are_none_do_no_harm(browser: Browser):
    file = trace_data()
    for span in file["spans"].values():
        span["timesNs"] = ["9" * 5000, "9" * 5000]
    file["logs"] = [{"timestamp": 1e12, "traceId": ["a"], "spanId": {"b": 1}}]

    assert (await browser.http.post("/api/traces/import", json=file)).json()["logs"] == 0


async def test_half_a_character_reaches_the_action_and_harms_nothing(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)
    started = await browser.http.post("/api/runs", content=f'{{"key": "/flow/echo", "input": "{HALF}x"}}', headers=JSON)
    async with browser.lines(f"/api/runs/{started.json()['runId']}/events") as lines:
        ended = [line async for line in lines][-1]

    assert ended["run"]["status"] == "success"
    assert ended["result"] == "\ufffdx"


async def test_an_app_that_answers_with_something_else_ends_the_run(browser: Browser):
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        body = b"OK" if b"__health" in head else b'no json\n{"error": 5}'
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    folder = browser.dev.root / ".genkit" / "runtimes"
    folder.mkdir(parents=True)
    told = {"id": "odd", "pid": 1, "timestamp": "2026", "reflectionServerUrl": f"http://127.0.0.1:{port}"}
    (folder / "odd.json").write_text(json.dumps(told))
    async with server:
        for stream in (True, False):
            run = await browser.post("/api/runs", {"key": "/flow/odd", "stream": stream})
            async with browser.lines(f"/api/runs/{run['runId']}/events") as lines:
                ended = [line async for line in lines][-1]
            assert ended["run"]["status"] == "error"
            assert ended["error"]["message"]


async def test_uploads_that_are_deleted_at_once_are_deleted_once(browser: Browser):
    for _ in range(5):
        kept = (await browser.http.post("/api/uploads", files={"file": ("a.txt", b"soup")})).json()
        path = f"/api/uploads/{kept['id']}"

        answers = await asyncio.gather(*(browser.http.delete(path) for _ in range(4)), browser.http.get("/api/uploads"))

        assert {answer.status_code for answer in answers} <= {200, 404}
        assert (await browser.get("/api/uploads"))["uploads"] == []


async def test_links_among_the_uploads_are_not_listed(browser: Browser):
    folder = browser.dev.root / ".flowkit" / "uploads"
    (folder / ("A" * 22)).mkdir(parents=True)
    (browser.dev.root / "secret.txt").write_text("secret")
    (folder / ("A" * 22) / "secret.txt").symlink_to(browser.dev.root / "secret.txt")
    (folder / ("B" * 22)).symlink_to(browser.dev.root)
    (folder / ("C" * 22)).symlink_to("nowhere")
    (folder / "stray.txt").write_text("stray")

    assert (await browser.get("/api/uploads"))["uploads"] == []
    for letter in "ABC":
        assert (await browser.http.delete(f"/api/uploads/{letter * 22}")).status_code == 404
    assert (browser.dev.root / "secret.txt").exists()
