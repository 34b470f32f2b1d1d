"""An app that is served in this process, as in dev, and what a tool sees of it.

async def test_a_flow_runs(serve): assert (await serve(ai).run("/flow/echo", "soup")).json()["result"] == "soup"
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from flowkit import Flowkit
from flowkit.config import Settings
from flowkit.errors import NotFoundError
from flowkit.server.reflection.host import Host
from flowkit.server.reflection.runtime_file import runtimes_folder
from flowkit.tracing.store import TraceStore

Serve = Callable[[Flowkit], "Tool"]


class Tool:
    """A client of the reflection API."""

    def __init__(self, ai: Flowkit, host: Host) -> None:
        self.host = host
        self.root = ai.settings.root
        self.about = wait_for_runtime(self.root)
        self.http = httpx.AsyncClient(base_url=self.about["reflectionServerUrl"], trust_env=False, timeout=20)

    def run(self, key: str, *input: Any, **body: Any) -> Any:
        """POST /api/runAction, not awaited yet."""
        return self.http.post("/api/runAction", json={"key": key, **({"input": input[0]} if input else {}), **body})

    async def lines(self, key: str, *input: Any) -> AsyncIterator[bytes]:
        """The frames of a streamed run, as they come."""
        body = {"key": key, **({"input": input[0]} if input else {})}
        async with self.http.stream("POST", "/api/runAction?stream=true", json=body) as response:
            rest = b""
            async for piece in response.aiter_raw():
                *whole, rest = (rest + piece).split(b"\n")
                for line in whole:
                    yield line
            yield rest

    def trace(self, trace_id: str) -> Any:
        return TraceStore(self.root / ".flowkit" / "traces.db").get(trace_id)

    def status(self, trace_id: str) -> str | None:
        """How a trace has ended, None while nothing is stored."""
        try:
            return str(self.trace(trace_id).summary.status)
        except NotFoundError:
            return None


def wait_for_runtime(root: Path) -> dict[str, Any]:
    """The newest runtime file of a project, when there is one."""
    import time

    until = time.monotonic() + 10
    while time.monotonic() < until:
        files = sorted(runtimes_folder(root).glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        if files:
            about: dict[str, Any] = json.loads(files[-1].read_text())
            return about
        time.sleep(0.01)
    raise AssertionError("no runtime file within 10 seconds")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "pyproject.toml").touch()
    return Settings(dev=True, traces=True, root=tmp_path)


@pytest.fixture
def ai(settings: Settings) -> Flowkit:
    """In a test, an app serves nobody by itself; `serve` does it."""
    return Flowkit(settings=settings)


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    tools: list[Tool] = []

    def start(ai: Flowkit) -> Tool:
        host = Host()
        host.add(ai)
        tools.append(Tool(ai, host))
        return tools[-1]

    yield start
    for tool in tools:
        await tool.http.aclose()
        tool.host.request_stop(close_apps=True)
    for tool in tools:
        await asyncio.to_thread(tool.host.join)


@pytest.fixture
def reports() -> list[str]:
    """What flows of a test leave behind, to see how they ended."""
    return []


async def until(condition: Callable[[], object], seconds: float = 5.0) -> None:
    """Wait until something is so, or fail."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)
