"""Requests that no proper client sends: twice the same header, bodies without end, paths that lead out, tokens."""

import logging
import time

import pytest

from flowkit.server.guard import Guard, Limits, Policy
from tests.server.guard.conftest import Guarded, Start
from tests.server.raw import ask, connect, read, request, serve

pytestmark = pytest.mark.heavy

JSON = "Content-Type: application/json\r\n"


@pytest.mark.parametrize(
    "twice",
    [
        "Host: evil.example",
        "Host: 127.0.0.1",
        "Origin: http://127.0.0.1\r\nOrigin: https://evil.example",
        "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site",
        "Content-Type: application/json\r\nContent-Type: text/plain",
        "X-Flowkit-UI: 1\r\nx-flowkit-ui: 1",
    ],
)
def test_a_header_that_decides_comes_once(guarded: Guarded, twice: str):
    answer = ask(guarded.port, f"GET /api/echo HTTP/1.1\r\nHost: 127.0.0.1\r\n{twice}\r\n\r\n".encode())

    assert answer.status == 400
    assert guarded.reached == []


@pytest.mark.parametrize(
    "head",
    [
        b"GET /api/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: a\x00b\r\n\r\n",
        b"GET /api/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: a\rb\r\n\r\n",
        b"GET /api/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: a\nOrigin: x\r\n\r\n",
        b"GET /api/echo HTTP/1.1\r\nHost: 127.0.0.1\r\n Origin: http://127.0.0.1\r\n\r\n",
        b"GET /api/echo HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n",
        b"GET /api/echo\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /api/echo HTTP/1.1\r\n\r\n",
        b"GET http://evil.example/api/echo HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"GET /api/echo HTTP/1.0\r\n\r\n",
        b"POST /api/echo HTTP/1.1\r\nHost: 127.0.0.1\r\n" + JSON.encode() + b"Content-Length: -1\r\n\r\n",
        b"POST /api/echo HTTP/1.1\r\nHost: 127.0.0.1\r\n" + JSON.encode() + b"Content-Length: 2, 3\r\n\r\n{}",
        b"POST /api/echo HTTP/1.1\r\nHost: 127.0.0.1\r\n" + JSON.encode() + b"Content-Length: +2\r\n\r\n{}",
        b"POST /api/echo HTTP/1.1\r\nHost: 127.0.0.1\r\n" + JSON.encode() + b"Transfer-Encoding: gzip\r\n\r\n{}",
    ],
)
def test_broken_heads_reach_nothing(guarded: Guarded, head: bytes):
    answer = ask(guarded.port, head)

    assert 400 <= answer.status < 600
    assert answer.status != 404
    assert guarded.reached == []


def test_a_body_has_one_length(guarded: Guarded):
    """What a proxy and a server may read differently could hide a second request in the first."""
    lengths = "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n"
    head = f"POST /api/echo HTTP/1.1\r\nHost: 127.0.0.1\r\n{JSON}{lengths}\r\n"
    answer = ask(guarded.port, head.encode() + b"0\r\n\r\n" + request("GET", "/api/traces/smuggled"))

    assert answer.status == 400
    assert guarded.reached == []


def test_large_headers_are_refused(start: Start):
    guarded = start(limits=Limits(header_bytes=2_000))

    assert guarded(headers={"X-A": "a" * 1_000}).status == 200
    assert guarded(headers={"X-A": "a" * 2_000}).status == 431
    assert guarded("GET", f"/api/echo?{'a' * 2_000}").status == 431


def test_a_body_that_says_that_it_is_too_large_is_not_read(start: Start):
    guarded = start(limits=Limits(body_bytes=1_000))

    assert guarded.post(b" " * 1_000).json == {"bytes": 1_000}
    head = f"POST /api/echo HTTP/1.1\r\nHost: 127.0.0.1\r\n{JSON}Content-Length: 1001\r\n\r\n"
    answer = ask(guarded.port, head.encode())
    assert answer.status == 413
    assert answer.json["error"] == {
        "code": 3,
        "status": "INVALID_ARGUMENT",
        "message": "the body has 1001 bytes",
        "details": {"hint": "send at most 1000", "status": "INVALID_ARGUMENT"},
    }


def test_a_body_that_does_not_say_so_is_cut_off(start: Start):
    guarded = start(limits=Limits(body_bytes=100_000))
    head = f"POST /api/echo HTTP/1.1\r\nHost: 127.0.0.1\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n"
    chunk = b"4000\r\n" + b" " * 0x4000 + b"\r\n"

    answer = ask(guarded.port, head.encode(), *[chunk] * 200)

    assert answer.status == 413
    assert answer.json["error"]["message"] == "the body is too large"
    assert guarded().status == 200


def test_a_body_that_does_not_come_is_not_waited_for(start: Start):
    guarded = start(limits=Limits(body_seconds=0.2))
    head = f"POST /api/echo HTTP/1.1\r\nHost: 127.0.0.1\r\n{JSON}Content-Length: 5\r\n\r\n"

    assert ask(guarded.port, head.encode()).status == 408
    assert ask(guarded.port, head.encode(), b"{").status == 408


def test_a_body_that_drips_is_not_waited_for_either(start: Start):
    guarded = start(limits=Limits(body_seconds=10, whole_body_seconds=0.5))
    head = f"POST /api/echo HTTP/1.1\r\nHost: 127.0.0.1\r\n{JSON}Content-Length: 1000\r\n\r\n"
    with connect(guarded.port) as client:
        client.sendall(head.encode())
        for _ in range(100):
            try:
                client.sendall(b" ")
            except OSError:
                break
            time.sleep(0.02)
        assert read(client).status == 408


@pytest.mark.parametrize(
    "path",
    [
        "/api/traces/..%2F..%2Fetc%2Fpasswd",
        "/api/traces/../../etc/passwd",
        "/api/traces/%2e%2e/%2e%2e/etc/passwd",
        "/api/traces/..%5c..%5cwindows",
        "/api/traces/a%00b",
        "/api/traces/a%0d%0aSet-Cookie:x",
        "/..",
    ],
)
def test_no_path_leads_out_of_its_place(guarded: Guarded, path: str):
    answer = guarded("GET", path)

    assert answer.status == 400
    assert answer.json["error"]["status"] == "INVALID_ARGUMENT"
    assert guarded.reached == []


def test_names_with_dots_are_names(guarded: Guarded):
    assert guarded("GET", "/api/traces/gemini-2.5..flash").status == 200
    assert guarded("GET", "/api/traces/%252e%252e").status == 200  # is "%2e%2e", no way out


def test_a_token_comes_with_everything_but_the_pages(start: Start):
    guarded = start(Policy(token="s3cret"))

    assert guarded("GET", "/").status == 200
    for method, path in (("GET", "/api/echo"), ("POST", "/api/echo"), ("GET", "/api/traces/1"), ("POST", "/")):
        missing = guarded(method, path, body=b"{}", headers={"Content-Type": "application/json"})
        assert missing.status == 403, path
        assert "X-Flowkit-Token" in missing.json["error"]["details"]["hint"]
    assert guarded.reached == ["GET /"]

    assert guarded(headers={"X-Flowkit-Token": "s3cret"}).status == 200
    assert guarded(headers={"Authorization": "Bearer s3cret"}).status == 200
    assert guarded.post(Authorization="bearer s3cret").status == 200


@pytest.mark.parametrize("wrong", ["", "s3cre", "s3cret ", "S3CRET", "s3crets", "Bearer", "\xff"])
def test_a_wrong_token_is_none(start: Start, wrong: str):
    guarded = start(Policy(token="s3cret"))

    answers = [
        guarded(headers={"X-Flowkit-Token": wrong}) if wrong.strip() == wrong else None,
        guarded(headers={"Authorization": f"Bearer {wrong}x"}),
        guarded("GET", "/api/echo?token=s3cret"),
    ]
    assert {answer.status for answer in answers if answer is not None} == {403}
    assert guarded.reached == []


def test_a_token_does_not_open_the_door_to_pages(start: Start):
    guarded = start(Policy(token="s3cret"))

    about = {"X-Flowkit-Token": "s3cret"}
    assert guarded(host="evil.example", headers=about).status == 403
    assert guarded(headers={**about, "Origin": "https://evil.example"}).status == 403


def test_an_app_that_hides_exceptions_does_not_hide_a_refusal():
    """Frameworks turn every exception into an answer of their own."""

    async def careless(scope, receive, send):
        try:
            while (await receive()).get("more_body"):
                pass
        except Exception:
            await send({"type": "http.response.start", "status": 500, "headers": []})
            await send({"type": "http.response.body", "body": b"Internal Server Error"})
            raise

    head = f"POST /api/echo HTTP/1.1\r\nHost: 127.0.0.1\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n"
    with serve(Guard(careless, limits=Limits(body_bytes=10))) as port:
        answer = ask(port, head.encode(), b"40\r\n" + b" " * 0x40 + b"\r\n")
    assert answer.status == 413


def test_a_refusal_is_logged_once_with_what_admits_it(start: Start, caplog: pytest.LogCaptureFixture):
    guarded = start()
    with caplog.at_level(logging.WARNING, "flowkit.guard"):
        for _ in range(3):
            guarded(host="evil.example")
        guarded(headers={"Origin": "https://evil.example"})

    assert caplog.messages == [
        "refused: host 'evil.example' is not allowed (admit it with --allow-host evil.example)",
        "refused: origin 'https://evil.example' is not allowed (admit it with --allow-origin https://evil.example)",
    ]


def test_many_different_refusals_do_not_fill_the_log(start: Start, caplog: pytest.LogCaptureFixture):
    guarded = start()
    with caplog.at_level(logging.WARNING, "flowkit.guard"):
        for number in range(150):
            guarded(host=f"evil{number}.example")
    assert len(caplog.messages) == 100
