"""A server that goes away in the middle of a write."""

import asyncio
from pathlib import Path

import pytest

from flowkit import Document
from flowkit.errors import BackendError
from flowkit.plugin import EmbeddedDocument
from flowkit_chroma import Chroma
from tests.servers.chroma import ChromaServer

pytestmark = [pytest.mark.heavy, pytest.mark.requires("chroma", "the store is tested against the real Chroma")]


async def test_a_killed_server_is_named_and_the_same_store_goes_on_when_it_is_back(tmp_path: Path):
    rows = [EmbeddedDocument(Document.from_text(f"text {at}", id=f"r{at}"), [1, at]) for at in range(300)]
    with ChromaServer.started(tmp_path) as server:
        store = Chroma("menu", host="127.0.0.1", port=server.port)
        await store.open(create=True, dimension=2)
        await store.upsert(rows[:100])

        async def write() -> None:
            while True:
                await store.upsert(rows)

        writing = asyncio.create_task(write())
        await asyncio.sleep(0.05)
        await asyncio.to_thread(server.kill)
        with pytest.raises(BackendError, match=str(server.port)) as caught:
            await writing
        assert "menu" in str(caught.value)

        await asyncio.to_thread(server.start)
        assert (await store.stats()).count >= 100
        await store.upsert(rows)
        assert (await store.stats()).count == 300
        await store.aclose()
