"""Pinecone keeps the contract of vector stores, in a namespace, with a server that shows writes a moment late."""

from typing import ClassVar

import pytest

from flowkit.rag.stores.contract import SearchMode, VectorStore
from flowkit.testing import StoreContract
from flowkit_pinecone import Pinecone
from tests.servers.pinecone import PineconeServer

TEXTS = ["ok😀", "naïve façade", "返金", "שלום", "e\u0301", "\u202etext", "a" * 40_000, " \n x"]


class TestPinecone(StoreContract):
    modes: ClassVar[frozenset[SearchMode]] = frozenset({"vector"})
    zero_vectors = False  # Pinecone refuses them
    big_batch = 1_100
    namespace = "été"

    @pytest.fixture
    def store(self, server: PineconeServer) -> VectorStore:
        server.delay_seconds = 0.001
        self._server = server
        return self._made()

    def make_store(self, store: VectorStore) -> VectorStore:
        return self._made()

    # The longest text of the suite is over Pinecone's 40 KB; test_limits.py says what happens then.
    @pytest.mark.parametrize("text", TEXTS)
    async def test_text_comes_back_to_the_letter(self, store: VectorStore, text: str) -> None:
        await StoreContract.test_text_comes_back_to_the_letter(self, store, text)

    def _made(self) -> Pinecone:
        return Pinecone("Menu de la semaine", api_key="k", host=self._server.url, namespace=self.namespace)


class TestPineconeHybrid(TestPinecone):
    """With words beside the vectors."""

    modes: ClassVar[frozenset[SearchMode]] = frozenset({"vector", "keyword", "hybrid"})
    namespace = ""

    def _made(self) -> Pinecone:
        return Pinecone("menu", api_key="k", host=self._server.url, hybrid=True)
