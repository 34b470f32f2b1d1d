"""The in-memory store keeps the contract."""

import pytest

from flowkit.rag.stores.memory import InMemoryStore
from flowkit.testing import StoreContract


class TestInMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> InMemoryStore:
        return InMemoryStore("menu")
