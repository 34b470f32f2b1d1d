"""A server that is stopped between two batches of one write: what was sent before stays, and a rerun does the rest."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from flowkit import Document
from flowkit.errors import BackendError
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit_chroma import Chroma
from tests.plugins.chroma.conftest import quick_folder
from tests.rag.ingest.conftest import Counting, app, doc, lines, texts
from tests.servers.chroma import ChromaServer

pytestmark = [pytest.mark.heavy, pytest.mark.requires("chroma", "the store is tested against the real Chroma")]


class Door:
    """Stands before a server and kills it when the write of that number comes; None lets all through."""

    def __init__(self, server: ChromaServer) -> None:
        self.port = 0
        self.kill_at: int | None = None
        self.writes = 0
        self.killed = asyncio.Event()
        self._server = server

    async def pass_through(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._server.port)
        except ConnectionError:
            return writer.close()
        back = asyncio.create_task(self._copy(far_reader, writer))
        try:
            while data := await reader.read(65536):
                self.writes += data.count(b"/upsert HTTP/1.1")
                if self.kill_at is not None and self.writes >= self.kill_at:
                    self.kill_at = None
                    await asyncio.to_thread(self._server.kill)
                    self.killed.set()
                    break
                far_writer.write(data)
        finally:
            back.cancel()
            for each in (writer, far_writer):
                each.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()


@asynccontextmanager
async def behind_a_door() -> AsyncIterator[tuple[ChromaServer, Door]]:
    with quick_folder() as folder, ChromaServer.started(folder) as server:
        door = Door(server)
        listening = await asyncio.start_server(door.pass_through, "127.0.0.1", 0)
        door.port = listening.sockets[0].getsockname()[1]
        try:
            yield server, door
        finally:
            listening.close()


async def test_batches_before_the_one_that_failed_stay_and_writing_again_does_the_rest():
    async with behind_a_door() as (server, door):
        store = Chroma("menu", host="127.0.0.1", port=door.port)
        await store.open(create=True, dimension=2)
        most = await store._opened_session().link.batch_size()
        rows = [EmbeddedDocument(Document.from_text("x", id=f"r{at:05d}"), [1, at]) for at in range(most + 10)]
        door.kill_at = 2

        with pytest.raises(BackendError, match=rf"^chroma could not write to index 'menu' \(server .*{door.port}"):
            await store.upsert(rows)

        await door.killed.wait()
        await asyncio.to_thread(server.start)
        assert (await store.stats()).count == most, "the first batch, and nothing of the second"
        assert [row.id for row in (await store.fetch(ids=["r00000", f"r{most:05d}"])).items] == ["r00000"]
        await store.upsert(rows)
        assert (await store.stats()).count == len(rows)
        (last,) = (await store.fetch(ids=[rows[-1].id])).items
        assert last.id == rows[-1].id
        assert len(await store.search(SearchQuery(vector=[1, len(rows)], k=1))) == 1
        await store.aclose()


async def test_a_sync_that_a_server_cut_short_embeds_only_the_rest_when_it_is_run_again(tmp_path: Path):
    async with behind_a_door() as (server, door):
        counting = Counting()
        store = Chroma("menu", host="127.0.0.1", port=door.port, embedder="counting")
        document = doc("\n".join(f"line {at:03d}" for at in range(80)))
        async with app(store, counting, tmp_path) as ai:
            await ai.ingest("menu", doc("outdated"))
            door.kill_at = door.writes + 7
            with pytest.raises(BackendError, match=r"^chroma could not \w+( \w+)? index 'menu'"):
                await ai.ingest("menu", document, splitter=lines)

            await door.killed.wait()
            await asyncio.to_thread(server.start)
            left = await texts(store)
            assert "outdated" in left, "nothing is deleted before all that is new is in"
            assert 1 < len(left) < 80
            counting.texts.clear()
            report = await ai.ingest("menu", document, splitter=lines)
            assert (report.written, report.deleted) == (80 - (len(left) - 1), 1)
            assert sorted(counting.texts) == sorted({f"line {at:03d}" for at in range(80)} - set(left))
            assert await texts(store) == [f"line {at:03d}" for at in range(80)]
