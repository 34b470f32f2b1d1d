"""The running apps of a project, called by their reflection API.

apps = Apps(root)
runtime = await apps.pick(None)                        # the newest; UNAVAILABLE when none answers
actions = await apps.get_json(runtime, "/api/actions")
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowkit.errors import BackendError, InvalidInputError, NotFoundError, UnsupportedError
from flowkit.server.dev.shapes import RuntimeData
from flowkit.server.errors import told_error
from flowkit.server.runtimes import Runtime, runtimes

if TYPE_CHECKING:
    from httpx import AsyncClient, Response

__all__ = ["Apps", "runtime_data"]

_FRESH_SECONDS = 1.0
_ASK_SECONDS = 2.0
_ANSWER_SECONDS = 15.0


class Apps:
    """All methods belong to the server's event loop. Only apps on this machine are called."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: list[RuntimeData] = []
        self._files: list[Runtime] | None = None
        self._asked = 0.0
        self._asking = asyncio.Lock()
        self._client: AsyncClient | None = None

    async def list(self, *, fresh: bool = False) -> Sequence[RuntimeData]:
        """The apps that answer, newest first. Looked up again when a file has come or gone, else once a second."""
        files = runtimes(self._root)
        if not fresh and files == self._files and time.monotonic() - self._asked < _FRESH_SECONDS:
            return self._known
        async with self._asking:
            files = runtimes(self._root)
            found = await asyncio.gather(*map(self._check, reversed(files)))
            self._known = [runtime for runtime in found if runtime is not None]
            self._files, self._asked = files, time.monotonic()
        return self._known

    async def pick(self, runtime_id: str | None) -> RuntimeData:
        """One app, by default the newest.

        Raises:
            NotFoundError: there is none of that id.
            BackendError: no app is running.
        """
        found = await self.list()
        if runtime_id is not None:
            for runtime in found:
                if runtime.id == runtime_id:
                    return runtime
            raise NotFoundError(f"no running app {runtime_id!r}", hint="GET /api/runtimes lists them")
        if not found:
            found = await self.list(fresh=True)
        if not found:
            raise BackendError("no app is running", hint="start it, or mend what keeps it from starting")
        return found[0]

    async def get_json(self, runtime: RuntimeData, path: str) -> Any:
        """GET of the app's reflection API."""
        return self._json(await self._ask("GET", runtime, path))

    async def post_json(self, runtime: RuntimeData, path: str, body: Any) -> Any:
        """POST of the app's reflection API. None when it has no such route, or nothing of that name.

        Raises:
            BackendError: it does not answer.
        """
        response = await self._ask("POST", runtime, path, body)
        return None if response.status_code == 404 else self._json(response)

    async def call(self, runtime: RuntimeData, path: str, body: Any, *, timeout_seconds: float) -> Any:
        """POST of a route that only flowkit's apps have. What the app refuses is refused here, with its own words.

        Raises:
            UnsupportedError: the app has no such route.
            BackendError: it does not answer in time.
        """
        response = await self._ask("POST", runtime, path, body, timeout_seconds=timeout_seconds)
        if response.status_code < 400:
            return self._json(response)
        try:
            refused = told_error(response.json()["error"])
        except (ValueError, KeyError, TypeError, AttributeError):  # no JSON, or not in our form
            if response.status_code != 404:
                raise BackendError(f"the app answered {response.status_code} without JSON") from None
            hint = "update flowkit where the app runs" if (runtime.version or "").startswith("py/") else None
            raise UnsupportedError(f"the app {runtime.name!r} does not answer {path}", hint=hint) from None
        raise refused

    @asynccontextmanager
    async def open(self, runtime: RuntimeData, path: str, body: Any) -> "AsyncIterator[Response]":
        """A POST whose answer comes piece by piece; leaving the block closes the connection, which cancels the run."""
        import httpx

        timeout = httpx.Timeout(_ASK_SECONDS, read=None, write=30)
        try:
            async with self._http().stream("POST", runtime.url + path, timeout=timeout, **_sent(body)) as response:
                yield response
        except httpx.HTTPError as error:
            raise self._gone(runtime, error) from error

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _ask(
        self,
        method: str,
        runtime: RuntimeData,
        path: str,
        body: Any = None,
        *,
        timeout_seconds: float = _ANSWER_SECONDS,
    ) -> "Response":
        import httpx

        try:
            return await self._http().request(method, runtime.url + path, timeout=timeout_seconds, **_sent(body))
        except httpx.HTTPError as error:
            raise self._gone(runtime, error) from error

    def _json(self, response: "Response") -> Any:
        try:
            value = response.json()
        except ValueError:
            raise BackendError(f"the app answered {response.status_code} without JSON") from None
        if response.status_code >= 400:
            told = value.get("error", value) if isinstance(value, dict) else {}
            raise BackendError(f"the app answered {response.status_code}: {told}", details={"answer": told})
        return value

    def _gone(self, runtime: RuntimeData, error: Exception) -> BackendError:
        self._files = None  # ask anew next time
        return BackendError(
            f"the app {runtime.name!r} does not answer: {str(error) or type(error).__name__}",
            hint="it may have been reloaded or ended while it was asked",
        )

    def _http(self) -> "AsyncClient":
        if self._client is None:
            import httpx

            # Given up before the app gives them up (5 seconds): a request must not meet a connection that is closing.
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=2.0)
            # No proxy stands between processes of one machine.
            self._client = httpx.AsyncClient(trust_env=False, limits=limits)
        return self._client

    async def _check(self, runtime: Runtime) -> RuntimeData | None:
        """It, if it answers."""
        import httpx

        health = f"{runtime.url}/api/__health"
        try:
            response = await self._http().get(health, params={"id": runtime.id}, timeout=_ASK_SECONDS)
        except httpx.HTTPError:
            return None
        return runtime_data(runtime) if response.status_code == 200 else None


def _sent(body: Any) -> dict[str, Any]:
    """The arguments of a request. Halves of characters, which are no UTF-8, go as escapes, as JavaScript sends them."""
    if body is None:
        return {}
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        try:
            raw = text.encode()
        except UnicodeEncodeError:
            raw = json.dumps(body, separators=(",", ":")).encode()
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"this cannot be sent to the app: {error}", hint="send a smaller value") from None
    return {"content": raw, "headers": {"content-type": "application/json"}}


def runtime_data(runtime: Runtime) -> RuntimeData:
    """A runtime as pages get it."""
    return RuntimeData(
        id=runtime.id,
        pid=runtime.pid,
        name=runtime.name,
        url=runtime.url,
        version=runtime.version or None,
        started=runtime.timestamp,
    )
