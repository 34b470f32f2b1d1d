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
    # Left out, as both clients send the same requests: many values of one kind, which the async one is tried with.
    test_the_truth_table = None
    test_random_trees_match_as_the_shared_evaluator_says = None
    test_not_is_the_exact_complement = None
    test_a_hostile_key_is_only_a_key = None
    test_a_query_is_only_words = None
    test_scripts_without_spaces_are_searched = None
    test_metadata_comes_back_of_the_same_type = None
    test_any_id_can_be_used = None
    test_text_comes_back_to_the_letter = None
