"""A server that goes away in the middle of a write."""

import asyncio
import functools
import operator
from pathlib import Path
from typing import Any

import chromadb
import pytest

from flowkit import Document, F
from flowkit.errors import BackendError, FilterTypeError
from flowkit.plugin import EmbeddedDocument, SearchQuery, compile
from flowkit_chroma import Chroma
from flowkit_chroma.server import Transport
from tests.servers.chroma import ChromaServer

pytestmark = [pytest.mark.heavy, pytest.mark.requires("chroma", "the store is tested against the real Chroma")]


async def test_a_killed_server_is_named_and_the_same_store_goes_on_when_it_is_back(folder: Path):
    rows = [EmbeddedDocument(Document.from_text(f"text {at}", id=f"r{at}"), [1, at]) for at in range(300)]
    with ChromaServer.started(folder) as server:
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


async def test_words_and_types_that_another_store_writes_are_seen_at_once(server: ChromaServer, index: str):
    one, two = (Chroma(index, host="127.0.0.1", port=server.port) for _ in range(2))
    await one.open(create=True, dimension=2)
    await two.open(create=False)

    async def found(query: SearchQuery) -> list[str]:
        return [hit.id or "" for hit in await two.search(query)]

    await one.upsert([EmbeddedDocument(Document.from_text("tomato soup", {"n": 1}, id="a"), [1, 0])])
    assert await found(SearchQuery(text="soup")) == ["a"]
    assert await found(SearchQuery(vector=[1, 0], where=F("n") != 2)) == ["a"]
    await one.upsert([EmbeddedDocument(Document.from_text("cake", {"n": 2**60}, id="a"), [1, 0])])
    assert await found(SearchQuery(text="soup")) == []
    assert await found(SearchQuery(text="cake")) == ["a"]
    assert await found(SearchQuery(vector=[1, 0], where=F("n") != 2**60)) == []
    with pytest.raises(FilterTypeError):
        await found(SearchQuery(vector=[1, 0], where=F("n") == "x"))
    await one.delete(ids=["a"])
    assert await found(SearchQuery(text="cake")) == []
    await one.aclose()
    await two.aclose()


@pytest.mark.parametrize("value", [2**60, 0.1 + 0.2, -0.0, 1, 1.5, 1764487167123456, "x", True, [1, 2]], ids=repr)
async def test_filters_are_right_at_once_whatever_another_store_writes(server: ChromaServer, index: str, value: Any):
    one, two = (Chroma(index, host="127.0.0.1", port=server.port) for _ in range(2))
    await one.open(create=True, dimension=2)
    await one.upsert([EmbeddedDocument(Document.from_text("tomato soup", {"n": 0.25}, id="a"), [1, 0])])
    await two.open(create=False)
    assert len(await two.search(SearchQuery(vector=[1, 0], where=F("n") == 0.25))) == 1
    new = Document.from_text("cake", {"n": value}, id="b")
    await one.upsert([EmbeddedDocument(new, [1, 0.1])])
    for asked in (0, 1, 0.25, 1.5, 2**60, 0.1 + 0.2, 1764487167123456.0):
        for where in (
            F("n") == asked,
            F("n") != asked,
            F("n").in_([asked, 7]),
            ~F("n").in_([asked, 7]),
            F("n") > asked,
        ):
            hits = await two.search(SearchQuery(vector=[1, 0], where=where))
            wanted = [id for id, held in (("a", 0.25), ("b", value)) if compile(where)({"n": held})]
            assert [hit.id for hit in hits] == wanted, where
    await one.aclose()
    await two.aclose()


async def test_a_deep_filter_on_a_key_that_another_store_has_just_written_is_checked(server: ChromaServer, index: str):
    one, two = (Chroma(index, host="127.0.0.1", port=server.port) for _ in range(2))
    await one.open(create=True, dimension=2)
    await one.upsert([EmbeddedDocument(Document.from_text("soup", {"y": 1}, id="a"), [1, 0])])
    await two.open(create=False)
    await two.upsert([EmbeddedDocument(Document.from_text("cake", {"x": "text"}, id="b"), [1, 0])])
    for count in (2, 60):
        where = functools.reduce(operator.or_, [F("x") == at for at in range(count)])
        with pytest.raises(FilterTypeError):
            await one.search(SearchQuery(vector=[1, 0], where=where))
    await one.aclose()
    await two.aclose()


@pytest.mark.parametrize("transport", ["async", "threads"])
async def test_a_server_that_accepts_and_never_answers_is_named_in_time(transport: Transport):
    held: list[asyncio.StreamWriter] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        if b"/version" in asked:
            text = f'"{chromadb.__version__}"'.encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s" % (len(text), text))
        else:
            held.append(writer)
            await reader.read()  # until the client gives up
        writer.close()

    silent = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    store = Chroma("menu", host="127.0.0.1", port=port, transport=transport, timeout_seconds=0.2)
    with pytest.raises(BackendError, match=f"'menu' .server http://127.0.0.1:{port}"):
        await store.open(create=True)
    silent.close()
    for writer in held:  # which ends what waits for it in a thread
        writer.close()
        await writer.wait_closed()


async def test_stores_that_open_at_once_have_connections_of_their_own(server: ChromaServer, index: str):
    stores = [Chroma(f"{index}-{at}", host="127.0.0.1", port=server.port) for at in range(6)]
    await asyncio.gather(*(store.open(create=True, dimension=2) for store in stores))
    for store in stores[1:]:
        await store.aclose()
    await stores[0].upsert([EmbeddedDocument(Document.from_text("soup", id="a"), [1, 0])])
    assert [hit.id for hit in await stores[0].search(SearchQuery(vector=[1, 0]))] == ["a"]
    await stores[0].aclose()
