"""The guard: one ASGI wrapper around everything that listens in development.

    app = Guard(app, limits=Limits(body_bytes=30_000_000))

A browser is a client on loopback too, so any web page can send requests here. What keeps pages out: the Host must be
a loopback name (a page that rebinds its own name to 127.0.0.1 fails), an Origin must be the one of the page that we
served ourselves, a browser's own word that a request crosses sites is heeded, and bodies must have a type that a page
cannot send without asking first. It denies by default, for HTTP and WebSocket alike, and answers 403 with JSON that
names the flag which admits the rest, in the form that errors have at that address.
"""

import asyncio
import json
import logging
import re
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from hmac import compare_digest
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from flowkit.errors import GRPC_CODE, Status
from flowkit.server.in_time import in_time

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["LOOPBACK", "Guard", "Limits", "Policy", "content_security_policy", "is_page"]

_log = logging.getLogger("flowkit.guard")

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""Host names that are always answered, with any port, so that port forwarding works."""

_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?")
_ORIGIN = re.compile(r"https?://(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_SAFE_METHODS = frozenset({"GET", "HEAD"})
_METHODS = _SAFE_METHODS | {"POST", "PUT", "PATCH", "DELETE"}
_ONCE = {
    "authorization",
    "content-length",
    "content-type",
    "host",
    "origin",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "transfer-encoding",
    "x-flowkit-token",
    "x-flowkit-ui",
}
_ALWAYS = (
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)
_STATUS: dict[int, Status] = {403: "PERMISSION_DENIED", 405: "UNIMPLEMENTED", 408: "DEADLINE_EXCEEDED"}
_TOLD = 100  # reasons that are logged; a page that keeps trying must not fill the log
_DRAIN_SECONDS = 1.0


def is_page(path: str) -> bool:
    """True for paths of pages, scripts and styles: all but the APIs."""
    return not path.startswith(("/api/", "/v1/")) and path not in ("/api", "/v1")


@dataclass(frozen=True, slots=True)
class Limits:
    body_bytes: int = 30_000_000
    header_bytes: int = 32_000
    """Of path, query and headers together."""
    body_seconds: float = 30.0
    """How long the next piece of a body may take."""
    whole_body_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class Policy:
    """What is admitted besides loopback.

    `hosts` are names without port, IPv6 addresses in brackets. `origins` are exact (`https://dev.example.com`), or have
    one wildcard label (`https://*.example.dev`). `token`, when set, must come with everything but the pages themselves:
    they hold no data, and whoever opens them has typed the token, or has not.
    """

    hosts: Collection[str] = ()
    origins: Collection[str] = ()
    token: str | None = None
    content_types: Callable[[str], Collection[str]] = lambda path: ("application/json",)
    """The media types that a path takes in a body."""
    bare_errors: Callable[[str, str], bool] = lambda method, path: False
    """Where an error is answered as it is, and not in `error`: Genkit's telemetry server does so."""
    is_page: Callable[[str], bool] = is_page


class _Refused(Exception):
    def __init__(self, status: int, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.status, self.reason, self.hint = status, reason, hint


class Guard:
    """The wrapper. Nothing behind it is called for a request that is refused."""

    def __init__(self, app: "ASGIApp", *, policy: Policy | None = None, limits: Limits | None = None) -> None:
        self.app = app
        self.policy = policy or Policy()
        self.limits = limits or Limits()
        self._hosts = LOOPBACK | {host.lower() for host in self.policy.hosts}
        self._told: set[str] = set()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        try:
            self._check(scope, self._headers(scope))
        except _Refused as refused:
            await self._refuse(scope, receive, send, refused)
            return
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    # What is checked before anything runs.

    def _headers(self, scope: "Scope") -> dict[str, str]:
        """Headers by lower-case name; those that decide may come once only."""
        found: dict[str, str] = {}
        size = len(scope.get("raw_path") or b"") + len(scope.get("query_string", b""))
        for raw_name, raw_value in scope["headers"]:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
            size += len(name) + len(value)
            if not value.isprintable() and _CONTROL.search(value):
                raise _Refused(400, f"header {name!r} holds control characters", "send plain header values")
            if name in found and name in _ONCE:
                raise _Refused(400, f"header {name!r} comes twice", "send it once")
            found[name] = value
        if "content-length" in found and "transfer-encoding" in found:
            raise _Refused(400, "the body has two lengths", "send Content-Length or Transfer-Encoding, not both")
        if size > self.limits.header_bytes:
            raise _Refused(431, "the headers are too large", f"send at most {self.limits.header_bytes} bytes")
        return found

    def _check(self, scope: "Scope", headers: dict[str, str]) -> None:
        host = headers.get("host", "")
        self._check_host(host)
        method = scope.get("method", "GET")
        from_page = self._check_site(scope, headers, host, method)
        if method not in _METHODS:
            raise _Refused(405, f"method {method} is not answered", "use GET, POST, PUT, PATCH or DELETE")
        _check_path(scope["path"])
        self._check_token(scope, headers, method)
        if scope["type"] == "http" and method not in _SAFE_METHODS:
            self._check_body(scope, headers, from_page=from_page)

    def _check_host(self, host: str) -> None:
        match = _HOST.fullmatch(host)
        if not match:
            raise _Refused(403, f"host {host!r} is not allowed", "send the host's name and port")
        if match[1].lower() not in self._hosts:
            raise _Refused(403, f"host {host!r} is not allowed", f"admit it with --allow-host {match[1]}")

    def _check_site(self, scope: "Scope", headers: dict[str, str], host: str, method: str) -> bool:
        """True when the request comes from a page in a browser."""
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site", "").lower()
        admitted = origin is not None and self._admits(origin)
        if origin is not None and not admitted and not _is_own(origin, host):
            raise _Refused(403, f"origin {origin!r} is not allowed", _admitting(origin))
        if site not in ("", "none", "same-origin") and not admitted:
            navigation = (
                scope["type"] == "http"
                and method == "GET"
                and headers.get("sec-fetch-mode") == "navigate"
                and headers.get("sec-fetch-dest") == "document"
                and self.policy.is_page(scope["path"])
            )
            if not navigation:
                raise _Refused(403, f"a page of {origin or 'another site'} may not call this", _admitting(origin))
        return origin is not None or site not in ("", "none")

    def _check_token(self, scope: "Scope", headers: dict[str, str], method: str) -> None:
        token = self.policy.token
        websocket = scope["type"] == "websocket"
        if token is None or (not websocket and method in _SAFE_METHODS and self.policy.is_page(scope["path"])):
            return
        given = headers.get("x-flowkit-token") or re.sub("(?i)^bearer +", "", headers.get("authorization", ""))
        if not given and websocket:  # browsers cannot set headers there
            given = (parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token") or [""])[0]
        if not compare_digest(given.encode("utf-8", "replace"), token.encode()):
            hint = "open the address that was printed, or send the header X-Flowkit-Token"
            raise _Refused(403, "the token is missing or wrong", hint)

    def _check_body(self, scope: "Scope", headers: dict[str, str], *, from_page: bool) -> None:
        if from_page and headers.get("x-flowkit-ui") != "1":
            raise _Refused(403, "a page must send the header X-Flowkit-UI: 1", "only flowkit's own UI calls this")
        length = headers.get("content-length", "0" if "transfer-encoding" not in headers else "")
        if length and not (length.isascii() and length.isdigit() and len(length) < 20):
            raise _Refused(400, f"content-length {length!r} is no number", "send the body's size in bytes")
        if length and int(length) == 0:
            return
        allowed = self.policy.content_types(scope["path"])
        given = headers.get("content-type", "").partition(";")[0].strip().lower()
        if given not in allowed:
            raise _Refused(415, f"content type {given!r} is not taken here", f"send {' or '.join(sorted(allowed))}")
        if length and int(length) > self.limits.body_bytes:
            raise _Refused(413, f"the body has {length} bytes", f"send at most {self.limits.body_bytes}")

    def _admits(self, origin: str) -> bool:
        return _ORIGIN.fullmatch(origin) is not None and any(
            _origin_matches(origin, pattern) for pattern in self.policy.origins
        )

    # What is kept in check while it runs.

    async def _http(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        body = _Body(receive, self.limits)
        started = False

        async def hardened(message: "Message") -> None:
            nonlocal started
            if body.refused is not None and not started:
                return  # whatever the app makes of it, the answer is ours
            if message["type"] == "http.response.start":
                started = True
                headers = _hardened(tuple(map(tuple, message.get("headers", ()))), page=is_page(scope["path"]))
                message = {**message, "headers": headers}
            await send(message)

        try:
            await self.app(scope, body.receive, hardened)
        except Exception:  # whatever an app makes of a body that it could not read; all else is raised
            if body.refused is None or started:
                raise
        if body.refused is not None and not started:
            await self._refuse(scope, receive, send, body.refused)

    async def _refuse(self, scope: "Scope", receive: "Receive", send: "Send", refused: _Refused) -> None:
        self._tell(refused)
        bare = self.policy.bare_errors(scope.get("method", "GET"), scope["path"])
        await _answer(scope, receive, send, refused, bare=bare)

    def _tell(self, refused: _Refused) -> None:
        """One line for each reason, with what admits it."""
        if refused.reason not in self._told and len(self._told) < _TOLD:
            self._told.add(refused.reason)
            _log.warning("refused: %s (%s)", refused.reason, refused.hint)


class _Body:
    """The body of one request, in bounds. `refused` is set when it is not; the app is told by an exception."""

    def __init__(self, receive: "Receive", limits: Limits) -> None:
        self.refused: _Refused | None = None
        self._receive = receive
        self._limits = limits
        self._bytes = 0
        self._complete = False
        self._until = asyncio.get_running_loop().time() + limits.whole_body_seconds

    async def receive(self) -> "Message":
        if self._complete:
            return await self._receive()
        limits = self._limits
        try:
            message = await in_time(self._receive(), lambda now: min(now + limits.body_seconds, self._until))
        except TimeoutError:
            raise self._refuse(408, "the body came too slowly", "send it at once") from None
        if message["type"] == "http.request":
            self._bytes += len(message.get("body", b""))
            self._complete = not message.get("more_body", False)
            if self._bytes > limits.body_bytes:
                raise self._refuse(413, "the body is too large", f"send at most {limits.body_bytes} bytes")
        else:
            self._complete = True  # the client has left
        return message

    def _refuse(self, status: int, reason: str, hint: str) -> _Refused:
        self.refused = _Refused(status, reason, hint)
        return self.refused


def content_security_policy(nonce: str) -> str:
    """The policy of our pages: nothing from elsewhere, no inline script, no HTML made from text."""
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; "
        "img-src 'self' data: blob:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hardened(headers: tuple[tuple[bytes, bytes], ...], *, page: bool) -> list[tuple[bytes, bytes]]:
    """The response's headers without any CORS grant, with ours."""
    kept, is_html = _kept(headers, page=page)
    if not is_html:
        return [*kept]
    return [*kept, (b"content-security-policy", content_security_policy(secrets.token_urlsafe(16)).encode())]


@lru_cache(256)  # most answers have the same ones
def _kept(headers: tuple[tuple[bytes, bytes], ...], *, page: bool) -> tuple[tuple[tuple[bytes, bytes], ...], bool]:
    """What stays and what is added, and whether a policy is to follow, which is a new one each time."""
    kept = [(name, value) for name, value in headers if not name.lower().startswith(b"access-control-")]
    names = {name.lower() for name, _ in kept}
    kept.extend((name, value) for name, value in _ALWAYS if name not in names)
    if not page and b"cache-control" not in names:
        kept.append((b"cache-control", b"no-store"))
    html = any(name.lower() == b"content-type" and value.lower().startswith(b"text/html") for name, value in kept)
    return tuple(kept), html and b"content-security-policy" not in names


def _check_path(path: str) -> None:
    """No id or name of ours has such a part, and what is behind us may make files of them."""
    if (not path.isprintable() and _CONTROL.search(path)) or "\\" in path or (".." in path and ".." in path.split("/")):
        raise _Refused(400, "the path leads out of its place", "send it without '..', '\\' and control characters")


def _is_own(origin: str, host: str) -> bool:
    """True for the origin of pages that came from the very address that is called now."""
    parts = urlsplit(origin) if _ORIGIN.fullmatch(origin) else None
    return parts is not None and parts.netloc.lower() == host.lower()


def _admitting(origin: str | None) -> str:
    if origin is None or not _ORIGIN.fullmatch(origin):  # `null` among them: it says nothing about who asks
        return "nothing admits it; open the address that flowkit has printed"
    return f"admit it with --allow-origin {origin}"


def _origin_matches(origin: str, pattern: str) -> bool:
    if "*" not in pattern:
        return origin.lower() == pattern.lower()
    label = re.escape(pattern).replace(r"\*", "[a-z0-9-]+", 1)
    return re.fullmatch(label, origin, re.IGNORECASE) is not None


async def _answer(scope: "Scope", receive: "Receive", send: "Send", refused: _Refused, *, bare: bool) -> None:
    status = _STATUS.get(refused.status, "INVALID_ARGUMENT")
    details = {"hint": refused.hint, "status": status}
    told: dict[str, Any] = {"code": GRPC_CODE[status], "message": refused.reason, "details": details}
    body = json.dumps(told if bare else {"error": {**told, "status": status}}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),
        *_ALWAYS,
    ]
    kind = "http"
    if scope["type"] == "websocket":
        await receive()  # the connect event
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": refused.reason[:120]})
            return
        kind = "websocket.http"
    await send({"type": f"{kind}.response.start", "status": refused.status, "headers": headers})
    if refused.status == 413:
        # A client that is still sending reads no answer when the connection is cut under it.
        await send({"type": "http.response.body", "body": body, "more_body": True})
        body = b""
        await _drain(receive)
    await send({"type": f"{kind}.response.body", "body": body})


async def _drain(receive: "Receive") -> None:
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            while (message := await receive())["type"] == "http.request" and message.get("more_body"):
                continue
    except TimeoutError:
        return
