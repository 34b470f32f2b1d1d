"""Whatever fails or is stopped in the middle of an ingest, what was written stays, and a rerun does the rest."""

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from flowkit import Document, Embedding, EmbedRequest, EmbedResponse, Flowkit
from flowkit.errors import BackendError
from flowkit.rag.ingest import Skipped
from flowkit.rag.stores.memory import InMemoryStore
from tests.rag.ingest.conftest import Counting, app, doc, lines, texts

MANY = "\n".join(f"line {number}" for number in range(100))


async def test_after_an_error_of_the_provider_a_rerun_does_the_rest(
    ai: Flowkit, store: InMemoryStore, counting: Counting
):
    counting.fail_after = 5
    with pytest.raises(BackendError, match="429"):
        await ai.ingest("docs", doc(MANY), splitter=lines)

    written = await texts(store)
    assert written == sorted(counting.texts), "what was embedded was kept"
    assert 5 * 8 <= len(written) < 100

    report = await ai.ingest("docs", doc(MANY), splitter=lines)
    assert (report.written, report.unchanged) == (100 - len(written), len(written))
    assert len(counting.texts) == len(set(counting.texts)) == 100


async def test_a_failed_run_deletes_nothing(ai: Flowkit, store: InMemoryStore, counting: Counting):
    await ai.ingest("docs", doc("old 1\nold 2"), splitter=lines)
    counting.fail_after = counting.calls

    with pytest.raises(BackendError):
        await ai.ingest("docs", doc("new"), splitter=lines, sync="full")

    assert await texts(store) == ["old 1", "old 2"]


async def test_what_a_loader_gave_before_it_failed_is_written(ai: Flowkit, store: InMemoryStore):
    def loader() -> Iterator[Document]:
        yield doc("a")
        yield doc("b", "b.md")
        raise ConnectionError("the site is down")

    await ai.ingest("docs", doc("old", "old.md"))
    with pytest.raises(ConnectionError, match="the site is down"):
        await ai.ingest("docs", loader(), sync="full")

    assert await texts(store) == ["a", "b", "old"]


async def test_a_step_that_fails_ends_the_run(ai: Flowkit, store: InMemoryStore):
    def broken(document: Document) -> Document:
        raise ZeroDivisionError

    for options in ({"transform": broken}, {"transform_chunk": broken}, {"splitter": broken}):
        with pytest.raises(ZeroDivisionError):
            await ai.ingest("docs", doc("a"), **options)
        with pytest.raises(ZeroDivisionError):
            await ai.ingest("docs", doc("a"), dry_run=True, **options)


async def test_a_cancelled_run_leaves_whole_windows_and_a_rerun_does_the_rest(
    ai: Flowkit, store: InMemoryStore, counting: Counting
):
    begun = asyncio.Event()

    async def wait(texts: list[str]) -> None:
        if counting.calls >= 4:
            begun.set()
            await asyncio.sleep(30)

    counting.before = wait
    loader = Loader(doc(line, f"{line}.md") for line in MANY.splitlines())
    run = asyncio.create_task(ai.ingest("docs", loader))
    await begun.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run

    assert loader.closed
    assert await texts(store) == sorted(counting.texts)
    assert len([task for task in asyncio.all_tasks() if task is not asyncio.current_task()]) == 0
    counting.before = None
    report = await ai.ingest("docs", doc(MANY), splitter=lines, sync="full")
    assert len(await texts(store)) == report.written + report.unchanged == 100


class Loader:
    """Gives documents; notices when it is closed."""

    def __init__(self, documents: Iterator[Document | Skipped]) -> None:
        self.documents = documents
        self.given = 0
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[Document | Skipped]:
        try:
            for document in self.documents:
                self.given += 1
                yield document
                await asyncio.sleep(0)
        finally:
            self.closed = True


async def test_skipped_items_are_told_and_what_the_index_has_of_them_stays(ai: Flowkit, store: InMemoryStore):
    await ai.ingest("docs", [doc("a"), doc("b", "b.pdf"), doc("c", "c.md")])
    items = [doc("a"), Skipped(source="b.pdf", reason="encrypted"), Skipped(source="c.md", reason="empty", empty=True)]

    report = await ai.ingest("docs", Loader(iter(items)), sync="full")

    assert [item.source for item in report.skipped] == ["b.pdf", "c.md"]
    assert await texts(store) == ["a", "b"]


async def test_reading_never_runs_far_ahead_of_writing(ai: Flowkit, store: InMemoryStore, counting: Counting):
    gate = asyncio.Event()

    async def wait(texts: list[str]) -> None:
        await gate.wait()

    counting.before = wait
    loader = Loader(doc(f"text {number}", f"{number}.md") for number in range(1000))
    run = asyncio.create_task(ai.ingest("docs", loader))
    for _ in range(40):
        await asyncio.sleep(0.005)
    ahead = loader.given
    gate.set()
    report = await run

    assert ahead < 250
    assert report.written == 1000


async def test_embedding_goes_on_while_the_next_documents_are_read(
    ai: Flowkit, store: InMemoryStore, counting: Counting
):
    embedded = asyncio.Event()

    async def tell(texts: list[str]) -> None:
        embedded.set()

    async def loader() -> AsyncIterator[Document]:
        for number in range(64):
            yield doc(f"text {number}", f"{number}.md")
        await asyncio.wait_for(embedded.wait(), 10)  # would never come if all were read first
        yield doc("last", "last.md")

    counting.before = tell
    assert (await ai.ingest("docs", loader())).written == 65


async def test_memory_does_not_grow_with_the_number_of_documents(tmp_path: Path):
    """Texts, vectors and metadata of a document are gone when it is written. What stays is its id in the report."""

    class Forgetful(InMemoryStore):
        async def upsert(self, rows):
            self.rows = len(rows)

    class Blind(Counting):
        async def embed(self, request: EmbedRequest) -> EmbedResponse:
            return EmbedResponse(embeddings=tuple(Embedding(vector=(1.0,) * 32) for _ in request.input))

    async def most(number: int) -> int:
        padding = "word " * 800
        async with app(Forgetful("docs", embedder="counting"), Blind(), tmp_path, batch=64) as ai:
            gc.collect()
            tracemalloc.start()
            await ai.ingest("docs", (doc(f"{at} {padding}", f"{at}.md") for at in range(number)), splitter=None)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        return peak

    await most(10)
    few, many = await most(200), await most(800)
    assert many - few < 600 * 2_000, f"{few:,} bytes for 200 documents of 4000 characters, {many:,} for 800"
