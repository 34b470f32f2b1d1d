"""Chroma behind HTTP, with Chroma's own clients: async ones, one for each event loop, or a sync one on threads.

link = Server(Address("localhost", 8000), transport="async")
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from flowkit.errors import BackendError, ConfigError
from flowkit.plugin import PerLoop, run_in_thread
from flowkit.rag.stores.turns import Turns
from flowkit_chroma.links import settings, translated

__all__ = ["Address", "Server", "Transport"]

Transport = Literal["async", "threads"]
_turns = Turns()  # of this process, whichever store writes
_making = PerLoop(asyncio.Lock)


@dataclass(frozen=True)
class Address:
    """Where a server is, and how to speak to it."""

    host: str
    port: int = 8000
    ssl: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    tenant: str = "default_tenant"
    database: str = "default_database"
    timeout_seconds: float = 60.0

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.ssl else 'http'}://{host}:{self.port}"

    def options(self) -> dict[str, Any]:
        return {
            "host": self.host,
            "port": self.port,
            "ssl": self.ssl,
            "headers": dict(self.headers),
            # Said outright: left to itself, the async client verifies no certificate, and the sync one loads them all
            # even when there is nothing to verify.
            "settings": settings(verify=self.ssl),
            "tenant": self.tenant,
            "database": self.database,
        }


class Server:
    """One server, for one store."""

    def __init__(self, address: Address, *, transport: Transport) -> None:
        self.place = f"server {address.url}"
        self.titles: dict[str, str] = {}
        self._address = address
        self._clients: PerLoop[_AsyncClient] | _SyncClient = (
            PerLoop(lambda: _AsyncClient(address)) if transport == "async" else _SyncClient(address)
        )
        self._hint = f"is the server at {address.url} up? chroma run --host … --port … starts one"
        self._max_batch = 0
        self._probed = False

    async def connect(self, name: str, *, create: bool) -> bool:
        if not self._probed:
            await _check_version(self._address, self.titles.get(name, name), self._hint)
            self._probed = True
        return True

    async def metadata(self, name: str) -> Mapping[str, Any] | None:
        from chromadb.errors import NotFoundError

        try:
            found = await self._client().collection(name, renew=True)
        except NotFoundError:
            return None
        except Exception as error:
            raise self._translated(error, name, "open") from error
        return found.metadata or {}

    async def create(self, name: str, metadata: Mapping[str, Any]) -> None:
        try:
            await self._client().ask(
                "get_or_create_collection",
                name,
                metadata=dict(metadata),
                embedding_function=None,
                configuration={"hnsw": {"space": "cosine"}},
            )
        except Exception as error:
            raise self._translated(error, name, "create") from error

    async def call(self, name: str, method: str, **arguments: Any) -> Any:
        try:
            return await self._client().call(name, method, arguments)
        except Exception as error:
            raise self._translated(error, name, method) from error

    async def batch_size(self) -> int:
        if not self._max_batch:
            try:
                self._max_batch = int(await self._client().ask("get_max_batch_size"))
            except Exception as error:
                raise self._translated(error, "", "open") from error
        return self._max_batch

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        async with _turns.hold([f"{self._address.url} {self._address.tenant} {self._address.database} {name}"]):
            yield

    async def refresh(self, name: str) -> None:
        """The server always answers from what was written last."""

    @property
    def version(self) -> None:
        return None

    @property
    def epoch(self) -> None:
        return None

    def size_bytes(self) -> None:
        return None

    async def aclose(self) -> None:
        if isinstance(self._clients, _SyncClient):
            await run_in_thread(self._clients.close)
        else:
            await self._clients.close(_AsyncClient.aclose)

    def _client(self) -> "_AsyncClient | _SyncClient":
        return self._clients if isinstance(self._clients, _SyncClient) else self._clients.get()

    def _translated(self, error: Exception, name: str, method: str) -> Exception:
        return translated(error, place=self.place, name=self.titles.get(name, name), method=method, hint=self._hint)


class _SyncClient:
    """One client for all threads."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._making = threading.Lock()
        self._api: Any = None
        self._collections: dict[str, Any] = {}

    async def ask(self, method: str, *args: Any, **arguments: Any) -> Any:
        await self._ready()
        return await run_in_thread(lambda: getattr(self._opened(), method)(*args, **arguments))

    async def collection(self, name: str, *, renew: bool = False) -> Any:
        await self._ready()
        return await run_in_thread(self._collection, (name, renew))

    async def call(self, name: str, method: str, arguments: Mapping[str, Any]) -> Any:
        await self._ready()
        return await run_in_thread(lambda: getattr(self._collection(name, False), method)(**arguments))

    def close(self) -> None:
        api, self._api = self._api, None
        self._collections = {}
        if api is not None:
            api.close()
            for session in _sessions(api):  # its own close leaves the connections open
                session.close()

    async def _ready(self) -> None:
        # The client asks for tenant and database while it is made, and has no time limit by then.
        if self._api is None:
            async with asyncio.timeout(self._address.timeout_seconds):
                await run_in_thread(self._opened)

    def _opened(self) -> Any:
        if self._api is not None:
            return self._api
        if not self._making.acquire(timeout=self._address.timeout_seconds):
            raise TimeoutError(f"no answer within {self._address.timeout_seconds} seconds")
        try:
            if self._api is None:
                import chromadb

                api = chromadb.HttpClient(**self._address.options())
                for session in _sessions(api):
                    session.timeout = self._address.timeout_seconds
                self._api = api
            return self._api
        finally:
            self._making.release()

    def _collection(self, name: str, renew: bool) -> Any:
        found = None if renew else self._collections.get(name)
        if found is None:
            found = self._collections[name] = self._opened().get_collection(name, embedding_function=None)
        return found


class _AsyncClient:
    """One client, of one event loop."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._api: Any = None
        self._collections: dict[str, Any] = {}

    async def ask(self, method: str, *args: Any, **arguments: Any) -> Any:
        return await getattr(await self._opened(), method)(*args, **arguments)

    async def collection(self, name: str, *, renew: bool = False) -> Any:
        found = None if renew else self._collections.get(name)
        if found is None:
            api = await self._opened()
            found = self._collections[name] = await api.get_collection(name, embedding_function=None)
        return found

    async def call(self, name: str, method: str, arguments: Mapping[str, Any]) -> Any:
        return await getattr(await self.collection(name), method)(**arguments)

    async def aclose(self) -> None:
        api, self._api = self._api, None
        self._collections = {}
        if api is not None:
            for client in api._server._clients.values():
                await client.aclose()

    async def _opened(self) -> Any:
        if self._api is None:
            async with _making.get():
                if self._api is None:
                    async with asyncio.timeout(self._address.timeout_seconds):  # it asks for tenant and database
                        self._api = await self._make()
        return self._api

    async def _make(self) -> Any:
        """A client with connections of its own.

        Chroma keeps them in one dict for all its clients, by a hash of the loop: headers of one would serve another,
        and a new loop would get the connections of a dead one. So one is made at a time on a loop: of two, one would
        get the other's connections, and the other some without a time limit, which wait for ever.
        """
        import chromadb
        import httpx
        from chromadb.api.async_fastapi import AsyncFastAPI

        shared, key = AsyncFastAPI._clients, hash(asyncio.get_running_loop())
        other = shared.pop(key, None)
        mine: httpx.AsyncClient | None = None
        try:
            api = await chromadb.AsyncHttpClient(**self._address.options())
        except BaseException:  # also when its time is up or this is cancelled: nobody else knows these connections
            if (unused := shared.pop(key, None)) is not None:
                await unused.aclose()
            raise
        finally:
            mine = shared.pop(key, None)
            if other is not None and not other.is_closed:
                shared[key] = other
        api._server._clients = {} if mine is None else {key: mine}  # type: ignore[attr-defined]
        api._server._get_client().timeout = httpx.Timeout(self._address.timeout_seconds)  # type: ignore[attr-defined]
        return api


def _sessions(api: Any) -> list[Any]:
    """The connections of a sync client, and of the one inside it that looks for the database."""
    servers: list[Any] = [getattr(part, "_server", None) for part in (api, getattr(api, "_admin_client", None))]
    return [server._session for server in servers if hasattr(server, "_session")]


async def _check_version(address: Address, index: str, hint: str) -> None:
    """Compare the server's version with the client's, before an index is opened.

    Raises:
        ConfigError: they are of two major versions.
        BackendError: no server answers there, or something else does.
    """
    import chromadb
    import httpx

    what = f"chroma could not open index {index!r}"
    try:
        # Without ssl there is nothing to verify, and reading the certificates would take longer than the rest.
        async with httpx.AsyncClient(
            headers=dict(address.headers), timeout=address.timeout_seconds, verify=address.ssl
        ) as client:
            answer = await client.get(f"{address.url}/api/v2/version")
            if answer.status_code in (404, 405, 410):
                answer = await client.get(f"{address.url}/api/v1/version")
    except httpx.HTTPError as error:
        raise BackendError(f"{what}: no Chroma server answers at {address.url} ({error!r})", hint=hint) from error
    if answer.status_code in (401, 403):
        raise ConfigError(
            f"{what}: the Chroma server at {address.url} refuses access ({answer.status_code})",
            hint='give what it asks for, for instance headers={"x-chroma-token": …}',
        )
    found = answer.text.strip().strip('"')
    major = found.split(".")[0]
    if answer.status_code != 200 or not major.isdecimal():
        raise BackendError(
            f"{what}: what answers at {address.url} is no Chroma server ({answer.status_code}: {found[:60]!r})",
            hint=hint,
        )
    # Servers since 1.0 name the version of their API.
    if major != chromadb.__version__.split(".")[0]:
        raise ConfigError(
            f"{what}: the Chroma server at {address.url} has version {found}, the client (package chromadb) "
            f"{chromadb.__version__}",
            hint="install the same major version on both sides",
        )
