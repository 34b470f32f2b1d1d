"""Chroma keeps the contract of vector stores: in a folder, and with both clients of a server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flowkit.testing import StoreContract
from flowkit_chroma import Chroma
from tests.servers.chroma import ChromaServer

pytestmark = [pytest.mark.heavy, pytest.mark.requires("chroma", "the store is tested against the real Chroma")]


class TestFolder(StoreContract):
    big_batch = 1_000

    @pytest.fixture
    def store(self, folder: Path) -> Chroma:
        self.folder = folder
        return Chroma("menu", path=folder)

    def make_store(self, store: Chroma) -> Chroma:  # type: ignore[override]
        return Chroma("menu", path=self.folder)


class ServerContract(StoreContract):
    transport = "async"
    big_batch = 1_000

    @pytest.fixture
    def store(self, server: ChromaServer, index: str) -> Chroma:
        self._make: Callable[[], Chroma] = lambda: Chroma(index, **options)
        options: dict[str, Any] = {"host": "127.0.0.1", "port": server.port, "transport": self.transport}
        return self._make()

    def make_store(self, store: Chroma) -> Chroma:  # type: ignore[override]
        return self._make()


class TestAsyncClient(ServerContract):
    transport = "async"


class TestClientOnThreads(ServerContract):
    transport = "threads"
