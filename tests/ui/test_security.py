"""What other pages and other hosts may not do, and what no answer says."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.server.raw import ask, request
from tests.ui.conftest import Ui

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "the developer UI is looked at in a real browser")]

PATHS = ("/", "/actions", "/api/actions", "/api/settings", "/api/runs", "/api/traces/summaries", "/assets/index.js")
POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
)


@pytest.mark.parametrize("path", PATHS)
def test_another_hosts_name_is_refused_everywhere(ui: Ui, path: str):
    assert ui.ask("GET", path, Host="evil.example").status == 403


@pytest.mark.parametrize("path", PATHS)
def test_another_pages_request_is_refused_everywhere(ui: Ui, path: str):
    assert ui.ask("GET", path, Origin="https://evil.example").status == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:1", "null"])
def test_another_page_can_run_nothing(ui: Ui, origin: str):
    port = int(ui.url.rsplit(":", 1)[1])
    body = b'{"key": "/flow/hello", "input": "evil"}'
    for kind in ("application/json", "text/plain"):
        headers = {"Origin": origin, "Sec-Fetch-Site": "cross-site", "Content-Type": kind}
        answer = ask(port, request("POST", "/api/runs", host=f"127.0.0.1:{port}", body=body, headers=headers))
        assert answer.status == 403
    assert not [run for run in ui.get("/api/runs")["runs"] if run["key"] == "/flow/hello"]


def test_a_simple_post_without_an_origin_is_refused(ui: Ui):
    port = int(ui.url.rsplit(":", 1)[1])
    headers = {"Content-Type": "text/plain"}
    answer = ask(
        port, request("POST", "/api/runs", host=f"127.0.0.1:{port}", body=b'{"key":"/flow/hello"}', headers=headers)
    )
    assert answer.status in (403, 415)


def test_a_socket_of_another_page_is_refused(ui: Ui):
    answer = ui.ask(
        "GET",
        "/api/events",
        Origin="https://evil.example",
        Connection="Upgrade",
        Upgrade="websocket",
        Sec_WebSocket_Version="13",
        Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==",
    )
    assert answer.status == 403


def test_every_page_has_the_strict_policy_with_a_nonce_of_its_own(ui: Ui):
    nonces = set()
    for path in ("/", "/traces", "/run/flow/hello"):
        answer = ui.ask("GET", path)
        policy = answer.headers["content-security-policy"]
        assert all(part in policy for part in POLICY), policy
        assert "unsafe-inline" not in policy
        assert "unsafe-eval" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in answer.headers
        found = re.search(r"'nonce-([^']+)'", policy)
        assert found
        assert found[1].encode() in answer.body
        nonces.add(found[1])
    assert len(nonces) == 3


def test_no_answer_has_the_value_of_a_secret(page: Page, make_ui: Callable[..., Ui]):
    secret = "sk-never-shown-1234567890"
    ui = make_ui(env={"GEMINI_API_KEY": secret, "OPENAI_API_KEY": secret})
    ui.run("/flow/echo", {"api_key": secret, "word": "shown"})
    for path in (
        "/api/actions",
        "/api/settings",
        "/api/plugins",
        "/api/status",
        "/api/runtimes",
        "/api/traces/summaries",
    ):
        assert secret.encode() not in ui.ask("GET", path).body, path
    for path in ("/", "/settings", "/traces", "/logs", "/actions"):
        page.goto(ui.url + path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator("[data-status=connected]")).to_be_visible()
        assert secret not in page.content(), path
