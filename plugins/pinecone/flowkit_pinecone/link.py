"""How a store talks to Pinecone: clients for each event loop, attempts that are repeated, and errors as ours.

link = Link(Access(api_key="…"))
model = await link.describe("menu")
answer = await link.call(where, "search", "query", vector=[…], top_k=3)
"""

import asyncio
import contextvars
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from flowkit.errors import BackendError, ConfigError, FlowkitError
from flowkit.errors import NotFoundError as Missing
from flowkit.plugin import PerLoop

if TYPE_CHECKING:
    import httpx
    from pinecone.async_client.async_index import AsyncIndex
    from pinecone.models.indexes.index import IndexModel

__all__ = ["Access", "Answer", "Link", "Place"]

T = TypeVar("T")

_FIRST_WAIT = 0.25
_LONGEST_WAIT = 20.0
_CONNECTION_SECONDS = 10.0
"""How long a server that cannot be reached is tried; one that answers "later" is given `retry_seconds`."""
_REPEATED = frozenset({408, 425, 429, 500, 502, 503, 504})
_COMMITTED = ("x-pinecone-request-lsn", "x-pinecone-lsn-committed")
_RECONCILED = ("x-pinecone-max-indexed-lsn", "x-pinecone-lsn-reconciled")
_NUMBERED = frozenset(name.encode() for name in _COMMITTED + _RECONCILED)
_headers: contextvars.ContextVar[dict[str, str] | None] = contextvars.ContextVar("flowkit_pinecone", default=None)


@dataclass(frozen=True)
class Access:
    """How to reach Pinecone. Without a key the SDK takes its own default, PINECONE_API_KEY."""

    api_key: str | None = field(default=None, repr=False)
    host: str | None = None
    timeout_seconds: float = 30.0
    retry_seconds: float = 60.0


@dataclass(frozen=True)
class Place:
    """One namespace of one index; `index` is flowkit's name of it."""

    index: str
    name: str
    host: str
    namespace: str

    def __str__(self) -> str:
        within = f", namespace {self.namespace!r}" if self.namespace else ""
        return f"index {self.index!r}{within}" + (f" ({self.name!r} in Pinecone)" if self.name != self.index else "")


@dataclass(frozen=True)
class Answer:
    """What came back. The sequence numbers say which write it was, and up to which one a read has seen."""

    value: Any
    committed: int | None
    reconciled: int | None


class Link:
    """All requests of one store."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._clients: PerLoop[_Clients] = PerLoop(lambda: _Clients(access))

    async def describe(self, name: str, what: str) -> "IndexModel | None":
        """The index, None when there is none."""
        from pinecone.errors.exceptions import NotFoundError

        async def ask() -> "IndexModel | None":
            try:
                return await self._clients.get().api.indexes.describe(name)
            except NotFoundError:
                return None

        return await self._repeated(what, ask)

    async def create(self, name: str, what: str, **arguments: Any) -> bool:
        """Make an index; False when there is one already."""
        from pinecone.errors.exceptions import ConflictError

        async def ask() -> bool:
            try:
                await self._clients.get().api.indexes.create(name=name, timeout=-1, **arguments)
            except ConflictError:
                return False
            return True

        return await self._repeated(what, ask)

    async def call(self, place: Place, doing: str, method: str, **arguments: Any) -> Answer:
        """Call a method of the SDK's index client, in the place's namespace.

        Every call here can be repeated without harm: writes are by id.

        Raises:
            NotFoundError: the index is gone; for a delete also when the namespace is not there, as it holds nothing.
            ConfigError: the key is refused.
            BackendError: Pinecone refused, or did not answer in spite of repeated attempts.
        """
        if method != "describe_index_stats":
            arguments["namespace"] = place.namespace

        async def ask() -> Answer:
            index = await self._clients.get().index(place.host)
            headers: dict[str, str] = {}
            token = _headers.set(headers)
            try:
                value = await getattr(index, method)(**arguments)
            except _errors().NotFoundError as error:
                raise Missing(
                    f"pinecone could not {doing} {place}: {error}", hint="another program deleted it; open it again"
                ) from error
            finally:
                _headers.reset(token)
            return Answer(value, _number(headers, _COMMITTED), _number(headers, _RECONCILED))

        return await self._repeated(f"{doing} {place}", ask)

    async def aclose(self) -> None:
        await self._clients.close(_Clients.aclose)

    async def _repeated(self, what: str, ask: Callable[[], Awaitable[T]]) -> T:
        began = time.monotonic()
        backoff = _FIRST_WAIT
        attempts = 0
        while True:
            attempts += 1
            try:
                return await ask()
            except _errors().PineconeError as error:
                seconds = _pause(error, backoff)
                spent = time.monotonic() - began
                if seconds is None or spent + seconds > self._patience(error):
                    raise self._translated(error, what, attempts) from error
            # A cancellation ends the waiting, and nothing is sent again.
            await asyncio.sleep(seconds)
            backoff = min(backoff * 2, _LONGEST_WAIT)

    def _patience(self, error: Exception) -> float:
        from pinecone.errors.exceptions import PineconeConnectionError

        limit = self._access.retry_seconds
        return min(limit, _CONNECTION_SECONDS) if isinstance(error, PineconeConnectionError) else limit

    def _translated(self, error: Exception, what: str, attempts: int) -> FlowkitError:
        from pinecone.errors.exceptions import ApiError, PineconeConnectionError, PineconeTimeoutError

        tried = f" in {attempts} attempts" if attempts > 1 else ""
        text = f"pinecone could not {what}{tried}: {error}"
        if isinstance(error, ApiError):
            if error.status_code in (401, 403):
                return ConfigError(
                    text, hint="check the API key, and that its project holds this index", status="UNAUTHENTICATED"
                )
            if error.status_code == 429:
                return BackendError(
                    text,
                    status="RESOURCE_EXHAUSTED",
                    hint="slow down, raise retry_seconds=, or look at your plan's limits",
                )
            return BackendError(text, status="INVALID_ARGUMENT" if error.status_code < 500 else "UNAVAILABLE")
        if isinstance(error, PineconeTimeoutError):
            return BackendError(text, status="DEADLINE_EXCEEDED", hint="raise timeout_seconds=")
        if isinstance(error, PineconeConnectionError):
            return BackendError(text, hint="is the service reachable from here?")
        return BackendError(text)


class _Clients:
    """The SDK's clients of one event loop."""

    def __init__(self, access: Access) -> None:
        from pinecone import AsyncPinecone
        from pinecone._internal.config import RetryConfig
        from pinecone.errors.exceptions import PineconeError

        self._once = RetryConfig(max_retries=0)
        try:
            self.api = AsyncPinecone(
                api_key=access.api_key,
                host=access.host,
                timeout=access.timeout_seconds,
                retry_config=self._once,
                source_tag="flowkit",
            )
        except PineconeError as error:
            raise ConfigError(
                "no API key for Pinecone", hint="set PINECONE_API_KEY, or pass Pinecone(…, api_key=…)"
            ) from error
        self._indexes: dict[str, AsyncIndex] = {}

    async def index(self, host: str) -> "AsyncIndex":
        if (found := self._indexes.get(host)) is not None:
            return found
        index = await self.api.index(host=host)
        # Its own attempts cut Retry-After at a minute; and of a delete's answer only the headers tell the number.
        index._http._config = replace(index._http._config, retry_config=self._once)
        index._http._ensure_client().event_hooks = {"response": [_keep_headers]}
        self._indexes[host] = index
        return index

    async def aclose(self) -> None:
        indexes, self._indexes = self._indexes, {}
        for index in indexes.values():
            await index.close()
        await self.api.close()


@cache
def _errors() -> Any:
    """The SDK's errors. The SDK is imported when it is needed, and looked up once."""
    from pinecone.errors import exceptions

    return exceptions


async def _keep_headers(response: "httpx.Response") -> None:
    headers = _headers.get()
    if headers is not None:
        for name, value in response.headers.raw:
            if name.lower() in _NUMBERED:
                headers[name.lower().decode("ascii")] = value.decode("ascii", "replace")


def _number(headers: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    found = next((headers[name] for name in names if name in headers), "")
    return int(found) if found.isdecimal() else None


def _pause(error: Exception, backoff: float) -> float | None:
    """Seconds until the next attempt, None when another one is of no use."""
    from pinecone.errors.exceptions import ApiError, PineconeConnectionError, PineconeTimeoutError

    jittered = random.uniform(backoff / 2, backoff)
    if isinstance(error, PineconeConnectionError | PineconeTimeoutError):
        return jittered
    if not isinstance(error, ApiError) or error.status_code not in _REPEATED:
        return None
    asked = _retry_after(error.headers or {})
    # Those that were turned away together must not come back together.
    return jittered if asked is None else max(asked, 0.0) * random.uniform(1.0, 1.1) + random.uniform(0.0, 0.05)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, given as a number or as a date."""
    text = headers.get("retry-after", "")
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    except (TypeError, ValueError):
        return None
