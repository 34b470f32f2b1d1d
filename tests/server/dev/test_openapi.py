"""The OpenAPI document is valid, names every route, and tells the truth about what is really answered."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from starlette.routing import Route

from flowkit import Flowkit
from flowkit.errors import GRPC_CODE
from flowkit.server.dev.app import content_types, dev_app
from flowkit.server.guard import Guard, Limits, Policy
from tests.server.dev.conftest import Serve
from tests.server.dev_server import Browser
from tests.server.raw import ask, request
from tests.server.raw import serve as serve_raw
from tests.server.telemetry.spans import trace_data
from tests.support.modules import ROOT

TRACE, SPAN = f"{1:032x}", f"{1:016x}"


@pytest.fixture
async def document(browser: Browser) -> dict[str, Any]:
    found: dict[str, Any] = await browser.get("/api/openapi.json")
    return found


def check(document: Mapping[str, Any], method: str, path: str, value: Any, status: str = "200") -> None:
    """Fail when a value is not of the shape that the document gives for an operation's answer."""
    (content,) = document["paths"][path][method]["responses"][status]["content"].values()
    schema = {**content["schema"], "components": document["components"]}
    errors = [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(value)]
    assert errors == [], f"{method} {path}"


async def test_it_is_a_valid_document(document: dict[str, Any]):
    OpenAPIV31SpecValidator(document).validate()


async def test_no_two_shapes_share_a_name(document: dict[str, Any]):
    """Those that did would be told apart by the names of our modules, which no page should know."""
    assert [name for name in document["components"]["schemas"] if "__" in name] == []


async def test_it_names_every_route_and_each_by_a_name_of_its_own(browser: Browser, document: dict[str, Any]):
    described = {
        (method.upper(), path) for path, item in document["paths"].items() for method in item if method != "parameters"
    }
    routes = {
        (method, re.sub(r":\w+\}", "}", route.path))
        for route in browser.dev.routes()
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    names = [operation["operationId"] for item in document["paths"].values() for operation in item.values()]

    assert described | {("GET", "/api/openapi.json")} == routes
    assert len(names) == len(set(names))


async def test_what_is_answered_is_what_the_document_says(
    browser: Browser, document: dict[str, Any], ai: Flowkit, serve: Serve
):
    serve(ai)
    await browser.http.post("/api/traces", json=trace_data(genkit__input='"x"'))
    await browser.http.post("/api/traces", json=trace_data("s", span=2, parent=1, genkit__state="error"))
    log = {"timeUnixNano": "1796014088705000000", "body": {"stringValue": "cold"}, "traceId": TRACE}
    await browser.http.post("/v1/logs", json={"resourceLogs": [{"scopeLogs": [{"logRecords": [log]}]}]})
    run = await browser.post("/api/runs", {"key": "/flow/count", "input": 2})
    check(document, "post", "/api/runs", run)
    uploaded = (await browser.http.post("/api/uploads", files={"file": ("a.txt", b"x")})).json()
    check(document, "post", "/api/uploads", uploaded)

    for path, address in {
        "/api/actions": "/api/actions",
        "/api/actions/{key}": "/api/actions/flow/echo",
        "/api/inputs": "/api/inputs?key=/flow/rag",
        "/api/logs": "/api/logs",
        "/api/runs": "/api/runs",
        "/api/runs/{run_id}": f"/api/runs/{run['runId']}",
        "/api/runtimes": "/api/runtimes",
        "/api/plugins": "/api/plugins",
        "/api/settings": "/api/settings",
        "/api/splitters": "/api/splitters",
        "/api/traces": "/api/traces",
        "/api/traces/summaries": "/api/traces/summaries",
        "/api/traces/{trace_id}": f"/api/traces/{TRACE}",
        "/api/traces/{trace_id}/export": f"/api/traces/{TRACE}/export",
        "/api/traces/{trace_id}/logs": f"/api/traces/{TRACE}/logs",
        "/api/traces/{trace_id}/outline": f"/api/traces/{TRACE}/outline",
        "/api/uploads": "/api/uploads",
    }.items():
        check(document, "get", path, await browser.get(address))
    async with browser.lines(f"/api/runs/{run['runId']}/events") as lines:
        async for line in lines:
            check(document, "get", "/api/runs/{run_id}/events", line)
    async with browser.lines("/api/events") as lines:
        check(document, "get", "/api/events", await anext(lines))
    for key in ("order", "echo"):
        told = await browser.post("/api/validate", {"key": f"/flow/{key}", "input": "x"})
        check(document, "post", "/api/validate", told)
    cut = await browser.post("/api/split-preview", {"text": "soup"})
    check(document, "post", "/api/split-preview", cut)
    check(document, "delete", "/api/traces/{trace_id}", (await browser.http.delete(f"/api/traces/{TRACE}")).json())


async def test_errors_have_the_shape_that_the_document_gives(browser: Browser, document: dict[str, Any]):
    for path, address in {
        "/api/actions": "/api/actions",
        "/api/runs/{run_id}": f"/api/runs/{SPAN}",
        "/api/traces": "/api/traces?filter=x",
        "/api/traces/summaries": "/api/traces/summaries?limit=x",
        "/api/traces/{trace_id}": f"/api/traces/{TRACE}",
    }.items():
        response = await browser.http.get(address)
        assert response.status_code >= 400
        check(document, "get", path, response.json(), "default")


async def test_secrets_of_the_environment_are_in_no_answer(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, ai: Flowkit, serve: Serve
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    serve(ai)

    settings = await browser.get("/api/settings")

    by_name = {variable["name"]: variable["set"] for variable in settings["environment"]}
    assert by_name["OPENAI_API_KEY"] is True
    assert by_name["PINECONE_API_KEY"] is False
    for path in ("/api/settings", "/api/actions", "/api/runtimes", "/api/openapi.json"):
        assert "sk-very-secret" not in (await browser.http.get(path)).text


async def test_settings_know_versions_plugins_and_sizes(browser: Browser):
    await browser.http.post("/api/traces", json=trace_data())
    await browser.http.post("/api/uploads", files={"file": ("a.txt", b"x" * 100)})

    settings = await browser.get("/api/settings")

    data = {item["name"]: item for item in settings["data"]}
    assert data["traces"]["count"] == 1
    assert data["traces"]["sizeBytes"] > 0
    assert (data["uploads"]["count"], data["uploads"]["sizeBytes"]) == (1, 100)
    assert data["uploads"]["path"] == ".flowkit/uploads"
    assert settings["versions"]["packages"]["pydantic"]
    assert {"devstore", "local"} <= {plugin["name"] for plugin in settings["plugins"]}


async def test_a_page_of_elsewhere_gets_nothing(browser: Browser):
    evil = {"Origin": "https://evil.example"}
    for path in ("/api/actions", "/api/traces", "/api/settings", "/api/openapi.json", "/api/events"):
        assert (await browser.http.get(path, headers=evil)).status_code == 403
    simple = {"X-Flowkit-UI": "", "Content-Type": "text/plain"}
    refused = await browser.http.post("/api/runs", content=json.dumps({"key": "/flow/echo"}), headers=simple)
    assert refused.status_code in (403, 415)


async def test_nothing_is_at_other_addresses(browser: Browser):
    response = await browser.http.get("/api/nothing")

    assert response.status_code == 404
    assert response.json()["error"]["status"] == "NOT_FOUND"


async def test_the_reference_page_names_every_operation(document: dict[str, Any]):
    page = (ROOT / "docs" / "reference" / "dev-api.md").read_text(encoding="utf-8")
    described = set(re.findall(r"`([A-Z]+ /[^`?]*)`", page))
    there = {f"{method.upper()} {path}" for path, item in document["paths"].items() for method in item}

    assert there - described == set()
    assert described - there <= {"GET /api/openapi.json"}


PAGE = {"X-Flowkit-UI": "1", "Content-Type": "application/json"}
ATTACKS: dict[str, tuple[int, dict[str, str], bytes]] = {
    "a page that rebinds its name": (403, {"Host": "evil.example"}, b"{}"),
    "a page of elsewhere": (403, {**PAGE, "Origin": "https://evil.example"}, b"{}"),
    "another site, by the browser's word": (403, {"X-Flowkit-UI": "1", "Sec-Fetch-Site": "cross-site"}, b"{}"),
    "text/plain": (415, {"Content-Type": "text/plain"}, b"{}"),
    "a form": (415, {"Content-Type": "application/x-www-form-urlencoded"}, b"a=1"),
    "a body that is too large": (413, {"Content-Type": "application/json"}, b" " * 2_000),
    "headers that are too large": (431, {"Content-Type": "application/json", "X-A": "a" * 40_000}, b"{}"),
    "two lengths": (400, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}, b"{}"),
}


@pytest.mark.parametrize("attack", ATTACKS)
async def test_refusals_of_the_guard_have_the_shape_that_the_document_gives(
    browser: Browser, document: dict[str, Any], attack: str
):
    """Each at an address of ours and at one of Genkit's, which have different forms."""
    status, headers, body = ATTACKS[attack]
    policy = Policy(content_types=content_types, bare_errors=browser.dev.bare_errors)
    with serve_raw(Guard(dev_app(browser.dev), policy=policy, limits=Limits(body_bytes=1_000))) as port:
        for path in ("/api/runs", "/api/traces"):
            host = headers.get("Host", "127.0.0.1")
            rest = {name: value for name, value in headers.items() if name != "Host"}
            answer = ask(port, request("POST", path, host=host, headers=rest, body=body))

            assert answer.status == status
            check(document, "post", path, answer.json, "default")
            assert ("error" in answer.json) == (path == "/api/runs")
            told = answer.json.get("error", answer.json)
            assert told["code"] == GRPC_CODE[told["details"]["status"]]
            assert told["details"]["hint"]


async def test_a_refusal_has_the_form_of_the_operation_that_was_asked(browser: Browser, document: dict[str, Any]):
    """One path may have both: Genkit reads and posts traces, only our pages delete them."""
    there = {
        ("get", "/api/traces"): True,
        ("delete", "/api/traces"): False,
        ("get", "/api/traces/summaries"): False,
        ("get", "/api/traces/{trace_id}"): True,
        ("delete", "/api/traces/{trace_id}"): False,
        ("get", "/api/traces/{trace_id}/outline"): False,
        ("get", "/api/traces/{trace_id}/logs"): True,
        ("post", "/v1/traces"): True,
        ("get", "/api/settings"): False,
    }
    for (method, path), bare in there.items():
        address = path.replace("{trace_id}", TRACE)
        answer = await browser.http.request(method, address, headers={"Origin": "https://evil.example"})

        assert answer.status_code == 403
        check(document, method, path, answer.json(), "default")
        assert ("error" not in answer.json()) == bare, f"{method} {path}"
