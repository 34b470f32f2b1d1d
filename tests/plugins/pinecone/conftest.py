"""A Pinecone server for each test, whose messages must be as the published OpenAPI documents say."""

from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from flowkit_pinecone import Pinecone
from tests.servers.pinecone import PineconeServer


class Make(Protocol):
    """Make a store of the test's server."""

    def __call__(self, index: str = "menu", **options: Any) -> Pinecone: ...


@pytest.fixture
def server() -> Iterator[PineconeServer]:
    with PineconeServer() as server:
        yield server
    assert server.problems == []


@pytest.fixture
def make(server: PineconeServer) -> Make:
    def store(index: str = "menu", **options: Any) -> Pinecone:
        return Pinecone(index, **{"api_key": "k", "host": server.url, **options})

    return store
