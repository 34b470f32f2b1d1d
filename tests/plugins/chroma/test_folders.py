"""A folder in several processes, batches over Chroma's limit, and collections that are not ours."""

import subprocess
import sys
from pathlib import Path

import pytest

from flowkit import Document
from flowkit.errors import ConfigError, IdentityError, StateError, StoreError
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit_chroma import Chroma

pytestmark = [pytest.mark.heavy, pytest.mark.requires("chroma", "the store is tested against the real Chroma")]

OTHER = """
import asyncio, sys
from flowkit import Document
from flowkit.errors import StateError
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit_chroma import Chroma

async def main():
    store = Chroma("menu", path=sys.argv[1])
    await store.open(create=True)
    for line in sys.stdin:
        try:
            if line.strip() != "search":
                await store.upsert([EmbeddedDocument(Document.from_text("soup " + line, id=line.strip()), [1, 1])])
            hits = [hit.id for hit in await store.search(SearchQuery(vector=[1, 0], k=10))]
            words = sorted(hit.id for hit in await store.search(SearchQuery(text="soup", k=10)))
            print(*sorted(hits), "/", *words, flush=True)
        except StateError as error:
            print("refused:", error, flush=True)
    await store.aclose()

asyncio.run(main())
"""


def row(id: str) -> EmbeddedDocument:
    return EmbeddedDocument(Document.from_text(f"soup {id}", id=id), [1, 0])


def tell(process: "subprocess.Popen[str]", line: str) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


async def test_one_process_writes_and_another_sees_it_and_is_told_when_it_writes(tmp_path: Path):
    store = Chroma("menu", path=tmp_path)
    await store.open(create=True, dimension=2)
    await store.upsert([row("a")])
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert tell(other, "search") == "a / a"
        await store.upsert([row("b")])
        assert tell(other, "search") == "a b / a b"
        assert tell(other, "c").startswith("refused: ")
        assert str(tmp_path) in tell(other, "c")

        await store.aclose()
        assert tell(other, "c") == "a b c / a b c"
        await store.open(create=False)
        hits = await store.search(SearchQuery(vector=[1, 0], k=10))
        assert sorted(hit.id or "" for hit in hits) == ["a", "b", "c"]
        with pytest.raises(StateError, match=str(other.pid)):
            await store.upsert([row("d")])
        assert other.stdin is not None
        other.stdin.close()
        other.wait()
    await store.upsert([row("d")])
    assert (await store.stats()).count == 4
    await store.aclose()


async def test_more_rows_than_chroma_takes_at_once(tmp_path: Path):
    store = Chroma("メニュー", path=tmp_path)
    await store.open(create=True)
    await store.upsert([EmbeddedDocument(Document.from_text("x", id=f"r{at:05d}"), [1, at]) for at in range(5_462)])
    assert (await store.stats()).count == 5_462
    hits = await store.search(SearchQuery(vector=[1, 5_461], k=1))
    assert len(hits) == 1
    await store.aclose()


async def test_a_collection_that_is_not_ours_is_left_alone(tmp_path: Path):
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(tmp_path), settings=Settings(anonymized_telemetry=False))
    client.create_collection("menu", embedding_function=None)
    client.close()
    with pytest.raises(StoreError, match="not made by flowkit"):
        await Chroma("menu", path=tmp_path).open(create=True)


async def test_indexes_of_a_folder_are_apart(tmp_path: Path):
    one, two = Chroma("one", path=tmp_path), Chroma("a", path=tmp_path, embedder="local/x")
    await one.open(create=True, dimension=2)
    await two.open(create=True, dimension=3)
    await one.upsert([row("a")])
    assert (await two.stats()).count == 0
    with pytest.raises(IdentityError, match="local/x"):
        await Chroma("a", path=tmp_path).open(create=True, embedder="local/y")
    await one.aclose()
    assert (await two.stats()).dimension == 3
    await two.aclose()


async def test_a_server_of_another_major_version_is_named(tmp_path: Path):
    import asyncio

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        old = b"/api/v1/version" in request
        body = b'"0.5.23"' if old else b"{}"
        status = b"200 OK" if old else b"404 Not Found"
        writer.write(b"HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as fake:
        port = fake.sockets[0].getsockname()[1]
        with pytest.raises(ConfigError, match=r"0\.5\.23.*1\.") as caught:
            await Chroma("menu", host="127.0.0.1", port=port).open(create=True)
        assert "major" in str(caught.value)
