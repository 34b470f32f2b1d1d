"""Who may talk to the reflection API: tools on this machine, and no web page.

    app = protect(app)        # the one place where the guard of the dev server goes around the app's own port

Loopback alone is no protection, since every web page that the developer looks at is a client on loopback, too.
"""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

__all__ = ["App", "Message", "Receive", "Scope", "Send", "protect"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def protect(app: App) -> App:
    """Refuse what a browser may send on behalf of a page of another site: a wrong Host, any foreign Origin."""

    async def protected(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        refused = _refusal(scope)
        if refused is None:
            await app(scope, receive, send)
            return
        status, message = refused
        body = json.dumps({"error": {"code": 7, "message": message, "details": {}}}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return protected


def _refusal(scope: Scope) -> tuple[int, str] | None:
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    hosts = headers.get("host", [])
    if len(hosts) != 1 or _name(f"//{hosts[0]}") not in _LOOPBACK:
        return 403, "this API answers to localhost, 127.0.0.1 and [::1] only"
    if any(origin != f"http://{hosts[0]}" for origin in headers.get("origin", [])):
        return 403, "web pages may not use this API"
    if any(site not in ("same-origin", "none") for site in headers.get("sec-fetch-site", [])):
        # Node's fetch says which mode it uses, but names no site.
        return 403, "web pages may not use this API"
    if scope["method"] == "POST" and not _is_json(headers.get("content-type", [])):
        return 415, "send JSON, with Content-Type: application/json"
    return None


def _name(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _is_json(content_types: list[str]) -> bool:
    return len(content_types) == 1 and content_types[0].partition(";")[0].strip().lower() == "application/json"
