"""What a web page can try: every attack comes over a real socket, and nothing behind the guard is reached."""

import pytest

from flowkit.server.guard import Policy
from tests.server.guard.conftest import Guarded, Start
from tests.server.raw import ask, request

pytestmark = pytest.mark.heavy

EVIL = "https://evil.example"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:4100",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil.example#127.0.0.1",
        "127.0.0.1@evil.example",
        "127.0.0.1:4100:4100",
        "localhost.",
        "0.0.0.0",
        "[::]",
        "[::1",
        "2130706433",
        "",
    ],
)
def test_a_name_that_is_not_ours_is_refused(guarded: Guarded, host: str):
    """So a page that rebinds its own name to 127.0.0.1 gets nothing, although it is same-origin to itself."""
    for path in ("/", "/api/echo"):
        answer = guarded("GET", path, host=host, headers={"Sec-Fetch-Site": "same-origin"})
        assert answer.status == 403, host
    assert guarded.reached == []


def test_the_refusal_of_a_host_names_the_flag(guarded: Guarded):
    answer = guarded(host="box.internal:4100")

    assert answer.headers["content-type"] == "application/json"
    assert answer.json["error"] == {
        "code": 7,
        "status": "PERMISSION_DENIED",
        "message": "host 'box.internal:4100' is not allowed",
        "details": {"hint": "admit it with --allow-host box.internal", "status": "PERMISSION_DENIED"},
    }


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9", "127.0.0.1:65535", "[::1]", "[::1]:4100"])
def test_loopback_names_are_answered_with_any_port_so_that_port_forwarding_works(guarded: Guarded, host: str):
    assert guarded(host=host).status == 200
    assert guarded(host=host, headers={"Origin": f"http://{host.lower()}"}).status == 200


@pytest.mark.parametrize(
    "origin",
    [
        EVIL,
        "null",
        "",
        "http://localhost.evil.example",
        "http://evil.example/http://127.0.0.1",
        "http://127.0.0.1@evil.example",
        "file://",
        "chrome-extension://abcdef",
        "http://localhost:5173",
        "http://127.0.0.1:1",
        "http://[::1]",
        "http://127.0.0.1/",
        "http://127.0.0.1 https://evil.example",
    ],
)
def test_another_origin_is_refused_even_on_this_machine(guarded: Guarded, origin: str):
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        about = {"Origin": origin, "Content-Type": "application/json", "X-Flowkit-UI": "1"}
        answer = guarded(method, body=b"{}", headers=about)
        assert answer.status == 403, (method, origin)
        assert "origin" in answer.json["error"]["message"]
    assert guarded.reached == []


def test_the_refusal_of_an_origin_names_the_flag_where_one_helps(guarded: Guarded):
    def hint(origin: str) -> str:
        return guarded(headers={"Origin": origin}).json["error"]["details"]["hint"]

    assert hint(EVIL) == f"admit it with --allow-origin {EVIL}"
    assert "--allow-origin" not in hint("null")


def test_null_is_never_an_origin(start: Start):
    guarded = start(Policy(origins=["null", "*"]))

    assert guarded(headers={"Origin": "null"}).status == 403
    assert guarded(headers={"Origin": EVIL}).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "Cross-Site", "elsewhere"])
def test_a_request_that_crosses_sites_is_refused(guarded: Guarded, site: str):
    """Images, scripts and frames send no Origin; the browser says where they are from."""
    for mode, dest in (("no-cors", "image"), ("navigate", "iframe"), ("cors", "empty"), ("navigate", "object")):
        for path in ("/", "/api/echo"):
            about = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
            assert guarded("GET", path, headers=about).status == 403, (site, mode, path)
    assert guarded.reached == []


def test_a_link_to_the_ui_may_be_followed_and_one_to_the_api_not(guarded: Guarded):
    about = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}

    assert guarded("GET", "/", headers=about).status == 200
    assert guarded("GET", "/api/echo", headers=about).status == 403
    assert guarded("POST", "/", headers=about).status == 403
    assert guarded.reached == ["GET /"]


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; json"]
)
def test_a_form_of_another_page_changes_nothing(guarded: Guarded, kind: str):
    """These types are sent without asking; old browsers say nothing of where they come from."""
    assert guarded("POST", body=b'{"a":1}', headers={"Content-Type": kind}).status == 415
    assert guarded("POST", body=b'{"a":1}').status == 415
    assert guarded("POST", body=b"a=1", headers={"Content-Type": kind, "Origin": "null"}).status == 403
    assert guarded.reached == []


def test_a_type_is_taken_only_where_it_is_meant(start: Start):
    def types(path: str) -> tuple[str, ...]:
        return ("multipart/form-data",) if path == "/api/upload" else ("application/json",)

    guarded = start(Policy(content_types=types))

    upload = {"Content-Type": "Multipart/Form-Data; boundary=x"}
    assert guarded("POST", "/api/upload", body=b"--x--", headers=upload).status == 200
    assert guarded("POST", "/api/echo", body=b"--x--", headers=upload).status == 415
    refused = guarded("POST", "/api/upload", body=b"{}", headers={"Content-Type": "application/json"})
    assert refused.json["error"]["details"]["hint"] == "send multipart/form-data"


def test_our_own_page_says_so_and_a_forged_request_cannot(guarded: Guarded):
    """The header makes the browser ask first, and the answer to that is no."""
    own = {"Origin": "http://127.0.0.1", "Sec-Fetch-Site": "same-origin"}

    assert guarded.post(**own, X_Flowkit_UI="1").status == 200
    assert guarded.post(**own).status == 403
    preflight = {
        "Origin": EVIL,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-flowkit-ui",
    }
    assert guarded("OPTIONS", headers=preflight).status == 403
    assert guarded("OPTIONS").status == 405
    assert guarded.reached == ["POST /api/echo"]


def test_a_tool_that_is_no_browser_needs_no_header(guarded: Guarded):
    assert guarded.post().json == {"bytes": 2}
    assert guarded("DELETE").status == 200


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "CONNECT", "PROPFIND"])
def test_other_methods_are_not_answered(guarded: Guarded, method: str):
    assert guarded(method).status == 405
    assert guarded.reached == []


def test_no_answer_ever_grants_another_origin_anything(start: Start):
    guarded = start(Policy(origins=[EVIL]))
    asked = [
        guarded(),
        guarded("GET", "/"),
        guarded("GET", "/nowhere"),
        guarded(headers={"Origin": EVIL}),
        guarded(headers={"Origin": "https://worse.example"}),
        guarded("OPTIONS", headers={"Origin": EVIL, "Access-Control-Request-Method": "POST"}),
        guarded.post(Origin=EVIL, X_Flowkit_UI="1"),
    ]

    assert [answer.status for answer in asked] == [200, 200, 404, 200, 403, 405, 200]
    for answer in asked:
        assert [name for name in answer.headers if name.startswith("access-control-")] == []
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_pages_have_a_policy_and_the_api_is_not_stored(guarded: Guarded):
    page = guarded("GET", "/").headers

    assert "default-src 'none'" in page["content-security-policy"]
    assert "script-src 'self';" in page["content-security-policy"]
    assert "frame-ancestors 'none'" in page["content-security-policy"]
    assert "trusted-types 'none'" in page["content-security-policy"]
    assert guarded().headers["cache-control"] == "no-store"


def test_an_admitted_origin_may_call_and_its_neighbours_may_not(start: Start):
    guarded = start(Policy(hosts=["a1.proxy.dev"], origins=["https://*.proxy.dev", "https://exact.example"]))

    def status(origin: str, host: str = "127.0.0.1") -> int:
        return guarded(host=host, headers={"Origin": origin, "Sec-Fetch-Site": "cross-site"}).status

    assert status("https://a1.proxy.dev") == 200
    assert status("https://A1.Proxy.dev", host="A1.proxy.dev:443") == 200
    assert status("https://exact.example") == 200
    for other in (
        "http://a1.proxy.dev",
        "https://a1.b2.proxy.dev",
        "https://proxy.dev",
        "https://.proxy.dev",
        "https://a1.proxy.dev.evil.example",
        "https://a1.proxy.dev:8443",
        "https://evil.example/.proxy.dev",
        "https://exact.example.evil.example",
    ):
        assert status(other) == 403, other


def test_the_page_behind_a_proxy_that_was_named_is_our_own(start: Start):
    """A browser at https://dev.example; the proxy hands on its Host."""
    guarded = start(Policy(hosts=["dev.example"]))

    own = request(
        "POST",
        host="dev.example",
        body=b"{}",
        headers={
            "Origin": "https://dev.example",
            "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/json",
            "X-Flowkit-UI": "1",
        },
    )
    assert ask(guarded.port, own).status == 200
    assert guarded(host="dev.example", headers={"Origin": "https://other.example"}).status == 403
