"""`ai.ingest` and copies: an index that follows its sources, on the store under test.

class TestMyStore(StoreContract): ...     # these come with it
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from flowkit.app import Flowkit
from flowkit.config import Settings
from flowkit.errors import BackendError, IdentityError
from flowkit.rag.ingest import IngestReport, SyncMode
from flowkit.rag.stores.contract import VectorStore
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.rag.stores.transfer import copy_index
from flowkit.schema.documents import Document
from flowkit.schema.embedding import EmbedderInfo, Embedding, EmbedRequest, EmbedResponse
from flowkit.testing.fakes import FakeEmbedder
from flowkit.testing.store_contract.base import StoreHooks, row

__all__ = ["SyncingTests"]

_BATCH = 4


class _Synced:
    """An app with the store as its index "contract". `fail_on` is a text at which embedding fails."""

    def __init__(self, store: VectorStore, root: Path, *, embedder: str = "contract-embedder") -> None:
        self.ai = Flowkit(settings=Settings(root=root, embedding_cache=False))
        self.ai.embedder(embedder, info=EmbedderInfo(label=embedder, dimensions=16, max_batch_size=_BATCH))(self._embed)
        self.ai.vector_store(store, name="contract", embedder=embedder)
        self.embedded: list[str] = []
        self.fail_on = ""
        self._vectors = FakeEmbedder(16)

    async def sync(
        self, files: dict[str, str], mode: SyncMode = "source", *, dry_run: bool = False, allow_empty: bool = False
    ) -> IngestReport:
        """Bring the index in step with these files; each line of one is a chunk."""
        documents = [Document.from_text(text, {"source": source}) for source, text in files.items()]
        return await self.ai.ingest(
            "contract", documents, splitter=_lines, sync=mode, dry_run=dry_run, allow_empty=allow_empty
        )

    async def _embed(self, request: EmbedRequest) -> EmbedResponse:
        texts = [document.text for document in request.input]
        await asyncio.sleep(0)
        if self.fail_on in texts:
            raise BackendError("429 too many requests", status="RESOURCE_EXHAUSTED")
        self.embedded += texts
        return EmbedResponse(embeddings=tuple(Embedding(vector=self._vectors.vector(text)) for text in texts))


def _lines(document: Document) -> Sequence[Document]:
    return [
        Document.from_text(line, {**document.metadata, "index": at})
        for at, line in enumerate(document.text.splitlines())
    ]


def _done(report: IngestReport) -> tuple[int, int, int, int]:
    """Written, updated, deleted, unchanged."""
    return report.written, report.updated, report.deleted, report.unchanged


class SyncingTests(StoreHooks):
    @asynccontextmanager
    async def synced(self, store: VectorStore, root: Path) -> AsyncIterator[_Synced]:
        synced = _Synced(store, root)
        try:
            async with synced.ai:
                yield synced
        finally:
            await store.aclose()

    async def stored(self, store: VectorStore) -> list[str]:
        """The texts of all rows, sorted."""
        await self.settle(store)
        return sorted((await self.texts(store)).values())

    async def test_a_sync_writes_what_is_new_and_a_second_one_has_nothing_to_do(
        self, store: VectorStore, tmp_path: Path
    ) -> None:
        files = {"soups.md": "tomato soup\nonion soup", "cakes.md": "apple cake"}
        async with self.synced(store, tmp_path) as synced:
            first = await synced.sync(files)
            await self.settle(store)
            again = await synced.sync(files)

            assert (_done(first), _done(again)) == ((3, 0, 0, 0), (0, 0, 0, 3))
            assert again.ids == first.ids
            assert sorted(synced.embedded) == ["apple cake", "onion soup", "tomato soup"]
            (hit,) = await synced.ai.retrieve("contract", "apple cake", k=1)
            assert (hit.text, dict(hit.metadata)) == ("apple cake", {"source": "cakes.md", "index": 0})

    async def test_a_plan_says_what_a_sync_then_does(self, store: VectorStore, tmp_path: Path) -> None:
        edited = {"a.md": "kept\nnew", "moved.md": "first\nmoved", "added.md": "more"}
        async with self.synced(store, tmp_path) as synced:
            await synced.sync({"a.md": "kept\nold", "moved.md": "moved", "gone.md": "gone"})
            before = await self.stored(store)
            synced.embedded.clear()
            plan = (await synced.sync(edited, "full", dry_run=True)).plan

            assert plan is not None
            assert (plan.added, plan.updated, plan.removed, plan.unchanged) == (3, 1, 2, 1)
            status = {change.source: change.status for change in plan.changes}
            assert status == {"a.md": "changed", "added.md": "added", "gone.md": "removed", "moved.md": "changed"}
            assert synced.embedded == []
            assert await self.stored(store) == before

            assert _done(await synced.sync(edited, "full")) == (3, 1, 2, 1)
            assert sorted(synced.embedded) == ["first", "more", "new"]
            assert await self.stored(store) == ["first", "kept", "more", "moved", "new"]
            await self.settle(store)
            assert _done(await synced.sync(edited, "full")) == (0, 0, 0, 5)

    async def test_the_modes_of_a_sync_differ_in_what_they_delete(self, store: VectorStore, tmp_path: Path) -> None:
        edited = {"a.md": "a"}
        async with self.synced(store, tmp_path) as synced:
            await synced.sync({"a.md": "a\nb", "c.md": "c", "d.md": "d"})
            await self.settle(store)

            appended = await synced.sync(edited, "append")
            assert (appended.deleted, appended.outdated) == (0, 1)
            assert await self.stored(store) == ["a", "b", "c", "d"]
            assert (await synced.sync(edited, "source")).deleted == 1
            assert await self.stored(store) == ["a", "c", "d"]
            assert await synced.ai.delete("contract", source="d.md") == 1
            assert await self.stored(store) == ["a", "c"]
            assert (await synced.sync(edited, "full")).deleted == 1
            assert await self.stored(store) == ["a"]
            assert (await synced.sync({}, "full", allow_empty=True)).deleted == 1
            assert await self.stored(store) == []

    async def test_a_sync_that_failed_is_finished_by_the_next_one(self, store: VectorStore, tmp_path: Path) -> None:
        names = [f"line {at:02d}" for at in range(6 * _BATCH)]
        async with self.synced(store, tmp_path) as synced:
            await synced.sync({"a.md": "outdated"})
            synced.fail_on = names[-1]
            with pytest.raises(BackendError, match="429"):
                await synced.sync({"a.md": "\n".join(names)})
            left = await self.stored(store)
            assert "outdated" in left
            assert set(left) < {*names, "outdated"}

            synced.fail_on = ""
            report = await synced.sync({"a.md": "\n".join(names)})
            assert _done(report) == (len(names) - len(left) + 1, 0, 1, len(left) - 1)
            assert await self.stored(store) == names
            assert sorted(synced.embedded) == [*names, "outdated"]

    @pytest.mark.parametrize("mode", ["source", "full"])
    async def test_two_syncs_at_once_leave_what_one_would(
        self, store: VectorStore, tmp_path: Path, mode: SyncMode
    ) -> None:
        """By two apps, which know of each other no more than two processes do."""
        before = {"a.md": "\n".join(f"old {at}" for at in range(10)), "b.md": "same"}
        edited = {"a.md": "\n".join(f"new {at}" for at in range(10)), "b.md": "same"}
        async with self.synced(store, tmp_path) as one, self.synced(store, tmp_path) as two:
            await one.sync(before)
            await self.settle(store)
            await asyncio.gather(one.sync(edited, mode), two.sync(edited, mode))

            assert await self.stored(store) == [*(f"new {at}" for at in range(10)), "same"]
            assert (await store.stats()).count == 11
            assert _done(await two.sync(edited, mode)) == (0, 0, 0, 11)

    async def test_syncs_of_different_sources_at_once_lose_nothing(self, store: VectorStore, tmp_path: Path) -> None:
        files = {f"{name}.md": "\n".join(f"{name} {at}" for at in range(6)) for name in "abcd"}
        async with self.synced(store, tmp_path) as one, self.synced(store, tmp_path) as two:
            reports = await asyncio.gather(
                *(
                    app.sync({source: text})
                    for app, (source, text) in zip([one, two, one, two], files.items(), strict=True)
                )
            )

            assert [_done(report) for report in reports] == [(6, 0, 0, 0)] * 4
            assert await self.stored(store) == sorted(line for text in files.values() for line in text.splitlines())

    async def test_a_sync_with_another_embedder_is_refused_and_changes_nothing(
        self, store: VectorStore, tmp_path: Path
    ) -> None:
        async with self.synced(store, tmp_path) as synced:
            await synced.sync({"a.md": "tomato soup"})
            other = _Synced(store, tmp_path, embedder="other-embedder")
            with pytest.raises(IdentityError, match="contract-embedder") as caught:
                await other.sync({"a.md": "apple cake"})

            assert "other-embedder" in str(caught.value)
            assert await self.stored(store) == ["tomato soup"]
            await other.ai.aclose()

    async def test_an_index_is_copied_out_and_in_with_its_vectors(self, store: VectorStore) -> None:
        rows = [row(f"r{at}", [3, at], source=f"{at % 3}.md", tags=["x", at]) for at in range(12)]
        first, second = InMemoryStore("first"), InMemoryStore("second")
        await first.open(create=True, dimension=2, embedder="local/one")
        await first.upsert(rows)
        try:
            copied = await copy_index(first, store)
            await self.settle(store)
            assert (copied.copied, copied.count, copied.embedder) == (12, 12, "local/one")
            assert (await copy_index(first, store)).unchanged == 12
            await copy_index(store, second)

            back, there = await second.fetch(with_vectors=True), await first.fetch(with_vectors=True)
            assert [item.document for item in back.items] == [item.document for item in there.items]
            for mine, right in zip(back.items, there.items, strict=True):
                assert mine.vector == pytest.approx(right.vector, rel=1e-5)
        finally:
            await store.aclose()
