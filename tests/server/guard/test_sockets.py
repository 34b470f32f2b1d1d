"""WebSockets know no CORS: only the guard stands between a page and the app."""

import json

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from flowkit.server.guard import Policy
from tests.server.guard.conftest import Guarded, Start

pytestmark = pytest.mark.heavy


def hello(guarded: Guarded, query: str = "", **headers: str) -> str:
    """What the app sends first; the handshake's refusal is raised."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with connect(
        f"ws://127.0.0.1:{guarded.port}/api/live{query}",
        additional_headers=named,
        proxy=None,
        close_timeout=2,
    ) as socket:
        return str(socket.recv(timeout=10))


def refusal(guarded: Guarded, query: str = "", **headers: str) -> InvalidStatus:
    with pytest.raises(InvalidStatus) as caught:
        hello(guarded, query, **headers)
    assert guarded.reached == []
    return caught.value


def test_tools_and_our_own_page_connect(guarded: Guarded):
    assert hello(guarded) == "hello"
    assert hello(guarded, Origin=f"http://127.0.0.1:{guarded.port}", Sec_Fetch_Site="same-origin") == "hello"


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost:3000", "http://127.0.0.1:1", "file://"]
)
def test_a_page_of_another_origin_does_not(guarded: Guarded, origin: str):
    response = refusal(guarded, Origin=origin).response

    assert response.status_code == 403
    assert response.headers["content-type"] == "application/json"
    assert "origin" in json.loads(response.body or b"")["error"]["message"]


def test_neither_does_a_request_that_crosses_sites(guarded: Guarded):
    about = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}

    assert refusal(guarded, Sec_Fetch_Site="cross-site").response.status_code == 403
    assert refusal(guarded, Sec_Fetch_Site="same-site", **about).response.status_code == 403


def test_the_name_must_be_ours(guarded: Guarded):
    with (
        pytest.raises(InvalidStatus) as caught,
        connect("ws://evil.localhost/api/live", sock=_to(guarded.port), proxy=None),
    ):
        pass
    assert caught.value.response.status_code == 403
    assert guarded.reached == []


def test_a_token_comes_in_the_address_or_a_header(start: Start):
    guarded = start(Policy(token="s3cret"))

    assert refusal(guarded).response.status_code == 403
    assert refusal(guarded, "?token=wrong").response.status_code == 403
    assert hello(guarded, "?token=s3cret") == "hello"
    assert hello(guarded, X_Flowkit_Token="s3cret") == "hello"


def _to(port: int):
    import socket

    return socket.create_connection(("127.0.0.1", port), timeout=10)
