"""One page over HTTP: the address is checked at every redirect, and size and time are limited.

page = await Fetcher(Limits()).get("https://shop.test/help")
page.data, page.media_type, page.encoding, page.url
"""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit, urlunsplit

from flowkit.errors import BackendError, FlowkitError, InvalidInputError, NotFoundError
from flowkit.rag.load.addresses import allowed_addresses

if TYPE_CHECKING:
    import httpx

__all__ = ["Fetcher", "Limits", "Page", "checked_url", "shown"]

_PORTS = {"http": 80, "https": 443}
_REDIRECTS = (301, 302, 303, 307, 308)
_LONGEST = 16_384  # characters
_CONTROLS = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_FIELD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e]*")
_AGENT = "flowkit (document loader)"
# Names that would send the request somewhere else, or make the answer longer than is counted.
_OURS = {"host", "connection", "content-length", "transfer-encoding"}


@dataclass(frozen=True, slots=True)
class Limits:
    """What one page may take, in all: `timeout_seconds` counts from the first look-up to the last byte."""

    max_size_bytes: int = 20_000_000
    timeout_seconds: float = 30.0
    max_redirects: int = 5
    allow_private: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    data: bytes
    url: str
    """Where it was in the end, after redirects."""
    media_type: str | None
    """Without parameters, in small letters: "text/html"."""
    encoding: str | None
    """The charset that the server says."""


class Fetcher:
    """Gets pages by one set of limits. `headers` go along as long as redirects stay at the same origin."""

    def __init__(self, limits: Limits, headers: Mapping[str, str] | None = None) -> None:
        self._limits = limits
        self._headers = dict(headers or {})
        for name, value in self._headers.items():
            if not isinstance(name, str) or not isinstance(value, str) or not _FIELD.fullmatch(f"{name}:{value}"):
                raise InvalidInputError(f"{name!r} is no header with a value", hint="both are ASCII text in one line")
            if name.lower() in _OURS:
                raise InvalidInputError(f"the header {name!r} is not yours to set", hint="leave it out")

    async def get(self, url: str) -> Page:
        """
        Raises:
            InvalidInputError: it is no address, is not on the public internet, or is too large.
            NotFoundError: there is no such host or page.
            BackendError: the server fails, or takes too long.
        """
        try:
            async with asyncio.timeout(self._limits.timeout_seconds):
                return await self._follow(url)
        except TimeoutError as error:
            raise BackendError(
                f"{shown(url)} took more than {self._limits.timeout_seconds:g} seconds",
                hint="try again, or pass a larger timeout_seconds",
                status="DEADLINE_EXCEEDED",
            ) from error

    async def _follow(self, url: str) -> Page:
        url = checked_url(url)
        first = _origin(url)
        for _ in range(self._limits.max_redirects + 1):
            headers = self._headers if _origin(url) == first else {}
            async with self._response(url, headers) as response:
                location = response.headers.get("location")
                if response.status_code not in _REDIRECTS or not location:
                    return await self._page(url, response)
                try:
                    following = urljoin(url, location)
                except ValueError as error:
                    raise InvalidInputError(f"{shown(url)} redirects to {location!r}, which is no address") from error
                url = checked_url(following)
        raise InvalidInputError(
            f"{shown(url)}: more than {self._limits.max_redirects} redirects", hint="check the page"
        )

    @asynccontextmanager
    async def _response(self, url: str, headers: Mapping[str, str]) -> "AsyncIterator[httpx.Response]":
        """The answer to one request; the connection goes to an address that was checked, and keeps the host's name."""
        import httpx

        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        addresses = await allowed_addresses(host, port, allow_private=self._limits.allow_private)
        # Neither proxies nor credentials of the environment: a proxy would look the name up again, itself.
        async with httpx.AsyncClient(verify=_trust(), trust_env=False, timeout=self._limits.timeout_seconds) as client:
            for address in addresses:
                pinned = f"[{address}]" if ":" in address else address
                target = urlunsplit((parts.scheme, f"{pinned}:{port}", parts.path or "/", parts.query, ""))
                request = client.build_request(
                    "GET",
                    target,
                    headers={"user-agent": _AGENT, "accept": "*/*", **headers, "host": _host_header(parts.netloc)},
                    extensions={"sni_hostname": host},
                )
                try:
                    response = await client.send(request, stream=True)
                except httpx.ConnectError as error:
                    if address != addresses[-1]:
                        continue
                    raise BackendError(f"{shown(url)} cannot be reached: {error}", hint="is the server up?") from error
                except httpx.HTTPError as error:
                    raise BackendError(f"{shown(url)} gave no answer: {_told(error)}", hint="try again") from error
                try:
                    yield response
                finally:
                    await response.aclose()
                return

    async def _page(self, url: str, response: "httpx.Response") -> Page:
        import httpx

        status = response.status_code
        if status in (404, 410):
            raise NotFoundError(f"there is no page {shown(url)} ({status})", hint="check the address")
        if status >= 400 or status in _REDIRECTS:
            raise BackendError(f"{shown(url)} answers {status} {response.reason_phrase}".rstrip(), hint=_hint(status))
        limit = self._limits.max_size_bytes
        data = bytearray()
        try:
            if int(response.headers.get("content-length", 0)) > limit:
                raise _too_large(url, limit)
            async for piece in response.aiter_bytes():
                data += piece
                if len(data) > limit:
                    raise _too_large(url, limit)
        except ValueError as error:
            if isinstance(error, FlowkitError):
                raise
            raise BackendError(f"{shown(url)} says a length that is none", hint="try again") from error
        except httpx.HTTPError as error:
            raise BackendError(f"{shown(url)} broke off: {_told(error)}", hint="try again") from error
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return Page(bytes(data), url, kind or None, response.charset_encoding)


def checked_url(url: str) -> str:
    """The address without fragment and credentials, its host in small letters.

    Raises:
        InvalidInputError: it is no http or https address.
    """
    hint = "for instance https://shop.test/help"
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidInputError(f"{url!r} is no address: {error}", hint=hint) from error
    if parts.scheme not in _PORTS:
        raise InvalidInputError(f"{url!r} is no http or https address", hint=hint)
    if not host or any(character.isspace() or character in '\\"<>' for character in parts.netloc):
        raise InvalidInputError(f"{url!r} names no host", hint=hint)
    if len(url) > _LONGEST:
        raise InvalidInputError(f"{shown(url)[:100]}… is too long for an address", hint=hint)
    if _CONTROLS.search(parts.path + parts.query):
        raise InvalidInputError(f"{shown(url)} has control characters in it", hint=hint)
    if parts.username is not None:
        raise InvalidInputError(
            f"the address of {host!r} has credentials in it",
            hint='pass headers={"Authorization": …}, so that none is kept',
        )
    name = f"[{host}]" if ":" in host else host
    netloc = name if port in (None, _PORTS[parts.scheme]) else f"{name}:{port}"
    return urlunsplit((parts.scheme, netloc, parts.path or "/", parts.query, ""))


def shown(url: str) -> str:
    """An address for messages: without its query, which may hold a key."""
    return repr(url.partition("?")[0])


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _host_header(netloc: str) -> str:
    try:
        return netloc.encode("ascii").decode()
    except UnicodeEncodeError:
        return netloc.encode("idna").decode()


def _too_large(url: str, limit: int) -> InvalidInputError:
    return InvalidInputError(
        f"{shown(url)} has more than {limit / 1e6:g} MB", hint="pass a larger max_size_bytes, if it is worth it"
    )


def _hint(status: int) -> str:
    return "pass headers= with what it asks for" if status in (401, 403) else "try again later"


def _told(error: Exception) -> str:
    return str(error) or type(error).__name__


@cache
def _trust() -> ssl.SSLContext:
    """Made once: reading the certificates takes longer than most pages."""
    import httpx

    return httpx.create_ssl_context()
