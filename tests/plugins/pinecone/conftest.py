"""A Pinecone server for each test, whose messages must be as the published OpenAPI documents say."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from flowkit_pinecone import Pinecone
from tests.servers.pinecone import PineconeServer


class Make(Protocol):
    """Make a store of the test's server."""

    def __call__(self, index: str = "menu", **options: Any) -> Pinecone: ...


@pytest.fixture(autouse=True)
def without_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each client would read all of the system's, and the test's server has none."""
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))


@pytest.fixture
def server() -> Iterator[PineconeServer]:
    with PineconeServer() as server:
        yield server
    assert server.problems == []


@pytest.fixture
async def make(server: PineconeServer) -> AsyncIterator[Make]:
    """Stores of the server, closed when the test is over."""
    made: list[Pinecone] = []

    def store(index: str = "menu", **options: Any) -> Pinecone:
        made.append(Pinecone(index, **{"api_key": "k", "host": server.url, **options}))
        return made[-1]

    yield store
    for each in made:
        await each.aclose()
