"""A dev server and an app beside it, served as in dev, in one project.

async def test_a_flow_runs(browser, app): run = await browser.post("/api/runs", {"key": "/flow/echo", "input": "soup"})
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from flowkit import Flowkit
from flowkit.config import Settings
from flowkit.server.reflection.host import Host
from flowkit.server.reflection.runtime_file import runtimes_folder
from tests.server.dev_server import Browser, dev_server

Serve = Callable[[Flowkit], Host]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "pyproject.toml").touch()
    return Settings(dev=True, traces=True, root=tmp_path)


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[Browser]:
    async with dev_server(tmp_path) as browser:
        yield browser


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serve an app from now on; the host ends it."""
    hosts: list[Host] = []

    def start(ai: Flowkit) -> Host:
        before = set(runtimes_folder(tmp_path).glob("*.json"))
        host = Host()
        host.add(ai)
        hosts.append(host)
        until = time.monotonic() + 10
        while not set(runtimes_folder(tmp_path).glob("*.json")) - before:
            assert time.monotonic() < until, "no runtime file within 10 seconds"
            time.sleep(0.005)
        return host

    yield start
    for host in hosts:
        host.request_stop(close_apps=True)
    for host in hosts:
        host.join()


@pytest.fixture
def ai(settings: Settings) -> Flowkit:
    """An app with flows of several kinds, not served yet."""
    ai = Flowkit(settings=settings)

    @ai.flow()
    async def echo(text: str) -> str:
        """Say it again."""
        return text

    @ai.flow()
    async def count(n: int):
        for number in range(n):
            yield number

    @ai.flow()
    async def boom(text: str) -> str:
        raise ValueError(f"no {text}")

    @ai.flow()
    async def sleep() -> None:
        await asyncio.sleep(60)

    @ai.flow()
    async def order(*, dish: str, count: int = 1, price: float) -> float:
        return count * price

    return ai
