"""A dev server over a project folder, on a real port, and a client of it; apps are served in this process beside it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from flowkit.config import Settings
from flowkit.server.dev.app import LIMITS, Dev, content_types, dev_app
from flowkit.server.guard import Guard, Policy
from flowkit.server.processes import listen_near
from flowkit.server.web import WebServer


class Browser:
    """A client of the API, as a page is one: it says that it is our page."""

    def __init__(self, dev: Dev, port: int) -> None:
        self.dev = dev
        self.url = f"http://127.0.0.1:{port}"
        headers = {"X-Flowkit-UI": "1", "Origin": self.url}
        self.http = httpx.AsyncClient(base_url=self.url, trust_env=False, timeout=20, headers=headers)

    async def get(self, path: str, **query: Any) -> Any:
        """The JSON of a GET that succeeds."""
        response = await self.http.get(path, params=query or None)
        assert response.status_code == 200, response.text
        return response.json()

    async def post(self, path: str, body: Any) -> Any:
        """The JSON of a POST that succeeds."""
        response = await self.http.post(path, content=json.dumps(body), headers={"Content-Type": "application/json"})
        assert response.status_code == 200, response.text
        return response.json()

    @asynccontextmanager
    async def lines(self, path: str, **query: Any) -> AsyncIterator[AsyncIterator[Any]]:
        """The JSON values of a stream, as they come, with or without the words of server-sent events."""
        async with self.http.stream("GET", path, params=query or None) as response:
            assert response.status_code == 200, await response.aread()

            async def values() -> AsyncIterator[Any]:
                async for line in response.aiter_lines():
                    if line:
                        yield json.loads(line.removeprefix("data: "))

            yield values()


async def until(lines: AsyncIterator[Any], **facts: Any) -> Any:
    """The next value of a stream with these facts."""
    async with asyncio.timeout(10):
        async for value in lines:
            if all(value.get(key) == fact for key, fact in facts.items()):
                return value
    raise AssertionError(f"the stream ended without {facts}")


@asynccontextmanager
async def dev_server(root: Path, settings: Settings | None = None) -> AsyncIterator[Browser]:
    """Serve the API of a project behind the guard."""
    dev = Dev(root, settings=settings)
    socket = listen_near(0)
    stop, started = asyncio.Event(), asyncio.Event()
    guarded = Guard(
        dev_app(dev), policy=Policy(content_types=content_types, bare_errors=dev.bare_errors), limits=LIMITS
    )
    server = WebServer(guarded, before_end=dev.aclose)
    serving = asyncio.ensure_future(server.serve([socket], stop, started=started.set))
    await started.wait()
    browser = Browser(dev, socket.getsockname()[1])
    try:
        yield browser
    finally:
        await browser.http.aclose()
        stop.set()
        await serving
