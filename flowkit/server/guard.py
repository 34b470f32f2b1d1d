"""The guard: one ASGI wrapper around everything that listens in development.

    app = Guard(app, limits=Limits(body_bytes=30_000_000))

A browser is a client on loopback too, so any web page can send requests here. What keeps pages out: the Host must be
a loopback name (a page that rebinds its own name to 127.0.0.1 fails), an Origin must be allowed, a browser's own word
that a request crosses sites is heeded, and bodies must have a type that a page cannot send without asking first. It
denies by default, for HTTP and WebSocket alike, and answers 403 with JSON that names the flag which admits the rest.
"""

import asyncio
import json
import logging
import re
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard", "Limits", "Policy", "content_security_policy"]

_log = logging.getLogger("flowkit.guard")

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_HOST = re.compile(r"^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$")
_SAFE_METHODS = frozenset({"GET", "HEAD"})
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
_ALWAYS = (
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


@dataclass(frozen=True, slots=True)
class Limits:
    body_bytes: int = 30_000_000
    header_bytes: int = 32_000
    body_seconds: float = 30.0
    """How long the next piece of a body may take."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What is admitted besides loopback.

    `hosts` are names without port. `origins` are exact (`https://dev.example.com`), or have one wildcard label
    (`https://*.example.dev`). `token`, when set, must come with every API call.
    """

    hosts: Collection[str] = ()
    origins: Collection[str] = ()
    token: str | None = None
    content_types: Callable[[str], Collection[str]] = lambda path: ("application/json",)
    """The media types that a path takes in a body."""


class _Refused(Exception):
    def __init__(self, status: int, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.status, self.reason, self.hint = status, reason, hint


class Guard:
    """The wrapper. Nothing behind it is called for a request that is refused."""

    def __init__(self, app: ASGIApp, *, policy: Policy | None = None, limits: Limits | None = None) -> None:
        self.app = app
        self.policy = policy or Policy()
        self.limits = limits or Limits()
        self._told: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        try:
            headers = self._headers(scope)
            self._check(scope, headers)
        except _Refused as refused:
            self._tell(refused)
            await _refuse(scope, receive, send, refused)
            return
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    # What is checked before anything runs.

    def _headers(self, scope: Scope) -> dict[str, str]:
        """Headers by lower-case name; those that decide may come once only."""
        found: dict[str, str] = {}
        size = 0
        for raw_name, raw_value in scope["headers"]:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
            size += len(name) + len(value)
            if any(ord(letter) < 32 and letter != "\t" for letter in value):
                raise _Refused(400, f"header {name!r} holds control characters", "send plain header values")
            if name in found and name in ("host", "origin", "content-type", "content-length", "sec-fetch-site"):
                raise _Refused(400, f"header {name!r} comes twice", "send it once")
            found[name] = value
        if size > self.limits.header_bytes:
            raise _Refused(431, "the headers are too large", f"send at most {self.limits.header_bytes} bytes")
        return found

    def _check(self, scope: Scope, headers: dict[str, str]) -> None:
        self._check_host(headers.get("host", ""))
        method = scope.get("method", "GET")
        if method not in _METHODS:
            raise _Refused(405, f"method {method} is not answered", "use GET, POST, PUT, PATCH or DELETE")
        page = self._check_site(scope, headers, method)
        self._check_token(scope, headers)
        if scope["type"] == "http" and method not in _SAFE_METHODS:
            self._check_body(scope, headers, from_page=page)

    def _check_host(self, host: str) -> None:
        match = _HOST.match(host)
        name = match[1].lower() if match else ""
        if not match or (name not in LOOPBACK and name not in self.policy.hosts):
            raise _Refused(403, f"host {host!r} is not allowed", f"admit it with --allow-host {name or 'NAME'}")

    def _check_site(self, scope: Scope, headers: dict[str, str], method: str) -> bool:
        """True when the request comes from a page in a browser."""
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site", "").lower()
        admitted = origin is not None and self._admits(origin)
        if origin is not None and not admitted and not _is_loopback(origin):
            raise _Refused(403, f"origin {origin!r} is not allowed", f"admit it with --allow-origin {origin}")
        if site in ("cross-site", "same-site") and not admitted:
            navigation = (
                scope["type"] == "http"
                and method == "GET"
                and headers.get("sec-fetch-mode") == "navigate"
                and headers.get("sec-fetch-dest") == "document"
                and not scope["path"].startswith("/api/")
            )
            if not navigation:
                where = origin or "another site"
                raise _Refused(403, f"a page of {where} may not call this", f"admit it with --allow-origin {where}")
        return origin is not None or site not in ("", "none")

    def _check_token(self, scope: Scope, headers: dict[str, str]) -> None:
        token = self.policy.token
        if token is None or not (scope["type"] == "websocket" or scope["path"].startswith(("/api/", "/v1/"))):
            return
        given = headers.get("x-flowkit-token") or headers.get("authorization", "").removeprefix("Bearer ")
        if not given and scope["type"] == "websocket":  # browsers cannot set headers there
            given = (parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token") or [""])[0]
        if not compare_digest(given.encode("latin-1", "replace"), token.encode()):
            raise _Refused(
                403, "the token is missing or wrong", "open the URL that was printed, or send X-Flowkit-Token"
            )

    def _check_body(self, scope: Scope, headers: dict[str, str], *, from_page: bool) -> None:
        if from_page and headers.get("x-flowkit-ui") != "1":
            raise _Refused(403, "a page must send the header X-Flowkit-UI: 1", "only flowkit's own UI calls this")
        length = headers.get("content-length", "0" if "transfer-encoding" not in headers else "")
        if length == "0":
            return
        if length and (not length.isascii() or not length.isdigit()):
            raise _Refused(400, f"content-length {length!r} is no number", "send the body's size in bytes")
        allowed = self.policy.content_types(scope["path"])
        given = headers.get("content-type", "").partition(";")[0].strip().lower()
        if given not in allowed:
            raise _Refused(415, f"content type {given!r} is not taken here", f"send {' or '.join(sorted(allowed))}")
        if length and int(length) > self.limits.body_bytes:
            raise _Refused(413, f"the body has {length} bytes", f"send at most {self.limits.body_bytes}")

    def _admits(self, origin: str) -> bool:
        return any(_origin_matches(origin, pattern) for pattern in self.policy.origins)

    # What is kept in check while it runs.

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        taken = 0
        complete = False
        started = False

        async def limited() -> Message:
            nonlocal taken, complete
            if complete:
                return await receive()
            try:
                async with asyncio.timeout(self.limits.body_seconds):
                    message = await receive()
            except TimeoutError:
                raise _Refused(408, "the body came too slowly", "send it at once") from None
            if message["type"] == "http.request":
                taken += len(message.get("body", b""))
                complete = not message.get("more_body", False)
                if taken > self.limits.body_bytes:
                    raise _Refused(413, "the body is too large", f"send at most {self.limits.body_bytes} bytes")
            return message

        async def hardened(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": _hardened(message.get("headers", ()), scope["path"])}
            await send(message)

        try:
            await self.app(scope, limited, hardened)
        except _Refused as refused:
            self._tell(refused)
            if started:
                raise
            await _refuse(scope, receive, send, refused)

    def _tell(self, refused: _Refused) -> None:
        """One line for each reason, with what admits it; a page that keeps trying must not fill the log."""
        if refused.reason not in self._told and len(self._told) < 100:
            self._told.add(refused.reason)
            _log.warning("refused: %s (%s)", refused.reason, refused.hint)


def content_security_policy(nonce: str) -> str:
    """The policy of our pages: nothing from elsewhere, no inline script, no HTML made from text."""
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; "
        "img-src 'self' data: blob:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hardened(headers: Any, path: str) -> list[tuple[bytes, bytes]]:
    """The response's headers without any CORS grant, with ours."""
    kept = [(name, value) for name, value in headers if not name.lower().startswith(b"access-control-")]
    names = {name.lower() for name, _ in kept}
    kept.extend((name, value) for name, value in _ALWAYS if name not in names)
    if path.startswith("/api/") and b"cache-control" not in names:
        kept.append((b"cache-control", b"no-store"))
    html = any(name.lower() == b"content-type" and value.startswith(b"text/html") for name, value in kept)
    if html and b"content-security-policy" not in names:
        kept.append((b"content-security-policy", content_security_policy(secrets.token_urlsafe(16)).encode()))
    return kept


def _is_loopback(origin: str) -> bool:
    parts = urlsplit(origin)
    match = _HOST.match(parts.netloc)
    return parts.scheme in ("http", "https") and not parts.path and bool(match) and match[1].lower() in LOOPBACK  # type: ignore[index]


def _origin_matches(origin: str, pattern: str) -> bool:
    if "*" not in pattern:
        return origin == pattern
    label = re.escape(pattern).replace(r"\*", "[A-Za-z0-9-]+", 1)
    return re.fullmatch(label, origin) is not None


async def _refuse(scope: Scope, receive: Receive, send: Send, refused: _Refused) -> None:
    if scope["type"] == "websocket":
        await receive()  # the connect event; closing before accepting answers the handshake with 403
        await send({"type": "websocket.close", "code": 1008, "reason": refused.reason[:120]})
        return
    body = json.dumps(
        {
            "error": {
                "status": "PERMISSION_DENIED" if refused.status == 403 else "INVALID_ARGUMENT",
                "message": refused.reason,
                "hint": refused.hint,
            }
        }
    ).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *_ALWAYS,
    ]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
