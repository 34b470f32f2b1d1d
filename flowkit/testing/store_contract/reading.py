"""Fetch, manifest, delete, clear and statistics.

class TestMyStore(StoreContract): ...     # these come with it
"""

import pytest

from flowkit.errors import InvalidInputError
from flowkit.rag.stores.contract import RowKey, VectorStore
from flowkit.schema.documents import metadata_hash, text_hash
from flowkit.schema.filters import F
from flowkit.testing.store_contract.base import StoreHooks, ids_of, numbers, row

__all__ = ["ReadingTests"]

ROWS = [row(f"r{at:02d}", [1, at], n=at, even=at % 2 == 0, source=f"file{at // 10}.md") for at in range(25)]
ALL = [f"r{at:02d}" for at in range(25)]


class ReadingTests(StoreHooks):
    async def test_fetch_gives_ids_in_the_order_asked(self, store: VectorStore) -> None:
        async with self.opened(store, ROWS):
            page = await store.fetch(ids=["r07", "nowhere", "r03", "r07", "r11"])

            assert ids_of(page.items) == ["r07", "r03", "r11"]
            assert page.cursor is None

    async def test_ids_are_cleaned_as_those_of_documents_are(self, store: VectorStore) -> None:
        async with self.opened(store, [row("a\x00b", [1, 0], n=1), row("c\ud800", [1, 1], n=2), row("d", [0, 1], n=3)]):
            assert ids_of((await store.fetch(ids=["c\ud800", "a\x00b", "ab", "e\udfff"])).items) == ["c\ufffd", "ab"]
            assert ids_of((await store.fetch(ids=["c\ud800", "a\x00b"], where=F("n") > 1)).items) == ["c\ufffd"]
            first = await store.fetch(ids=["c\ud800", "a\x00b"], limit=1)
            assert ids_of((await store.fetch(ids=["c\ud800", "a\x00b"], limit=1, cursor=first.cursor)).items) == ["ab"]
            assert await store.delete(ids=["a\x00b", "ab", "c\ud800", "e\udfff"]) == 2
            await self.settle(store)
            assert list(await self.texts(store)) == ["d"]

    async def test_one_string_is_no_list_of_ids(self, store: VectorStore) -> None:
        async with self.opened(store, ROWS[:2]):
            with pytest.raises(InvalidInputError, match="list of ids"):
                await store.fetch(ids="r00")
            with pytest.raises(InvalidInputError, match="list of ids"):
                await store.delete(ids="r00")

    async def test_fetch_gives_all_in_id_order_page_by_page(self, store: VectorStore) -> None:
        async with self.opened(store, list(reversed(ROWS))):
            seen, cursor, pages = [], None, 0
            while True:
                page = await store.fetch(limit=10, cursor=cursor)
                seen += ids_of(page.items)
                pages, cursor = pages + 1, page.cursor
                if cursor is None:
                    break

            assert (seen, pages) == (ALL, 3)

    async def test_a_page_that_ends_with_the_last_row_has_no_cursor(self, store: VectorStore) -> None:
        async with self.opened(store, ROWS):
            assert (await store.fetch(limit=25)).cursor is None
            assert (await store.fetch(limit=24)).cursor is not None

    async def test_pages_of_ids_and_of_filters(self, store: VectorStore) -> None:
        async with self.opened(store, ROWS):
            first = await store.fetch(ids=["r09", "r05", "r01"], limit=2)
            rest = await store.fetch(ids=["r09", "r05", "r01"], limit=2, cursor=first.cursor)
            assert [*ids_of(first.items), *ids_of(rest.items)] == ["r09", "r05", "r01"]
            assert rest.cursor is None

            first = await store.fetch(where=F("n") >= 20, limit=3)
            rest = await store.fetch(where=F("n") >= 20, limit=3, cursor=first.cursor)
            assert [*ids_of(first.items), *ids_of(rest.items)] == ALL[20:]
            assert rest.cursor is None

    async def test_ids_and_a_filter_give_what_is_in_both(self, store: VectorStore) -> None:
        async with self.opened(store, ROWS):
            page = await store.fetch(ids=["r09", "r04", "r02", "nowhere"], where=F("even") == True)  # noqa: E712
            assert ids_of(page.items) == ["r04", "r02"]

    async def test_vectors_come_when_asked_for(self, store: VectorStore) -> None:
        async with self.opened(store, ROWS):
            (item,) = (await store.fetch(ids=["r03"], with_vectors=True)).items
            assert numbers(item.vector) == pytest.approx([1, 3], rel=1e-6)
            (item,) = (await store.fetch(ids=["r03"])).items
            assert item.vector is None

    async def test_a_page_of_no_rows_is_refused(self, store: VectorStore) -> None:
        async with self.opened(store):
            with pytest.raises(InvalidInputError, match="limit"):
                await store.fetch(limit=0)

    async def test_the_manifest_has_a_key_for_each_row(self, store: VectorStore) -> None:
        async with self.opened(store, ROWS):
            keys = {key.id: key async for key in store.manifest()}

            assert sorted(keys) == ALL
            document = ROWS[12].document
            assert keys["r12"] == RowKey("r12", "file1.md", text_hash(document.text), metadata_hash(document.metadata))

    async def test_the_manifest_of_one_source(self, store: VectorStore) -> None:
        others = [row("x", [1, 1], source="file1.md "), row("y", [1, 1], source=["file1.md"]), row("z", [1, 1])]
        async with self.opened(store, [*ROWS, *others]):
            assert sorted([key.id async for key in store.manifest("file1.md")]) == ALL[10:20]
            assert [key async for key in store.manifest("file")] == []
            sources = {key.id: key.source async for key in store.manifest()}
            assert (sources["x"], sources["y"], sources["z"]) == ("file1.md ", None, None)

    async def test_the_manifest_shows_what_changed(self, store: VectorStore) -> None:
        async with self.opened(store, [row("a", [1, 0], text="soup", n=1)]):
            (first,) = [key async for key in store.manifest()]
            await self.write(store, [row("a", None, text="soup", n=2)])
            (moved,) = [key async for key in store.manifest()]
            await self.write(store, [row("a", [1, 0], text="cake", n=2)])
            (changed,) = [key async for key in store.manifest()]

            assert moved.text_hash == first.text_hash != changed.text_hash
            assert moved.metadata_hash == changed.metadata_hash != first.metadata_hash

    async def test_delete_by_ids_counts_what_was_there(self, store: VectorStore) -> None:
        async with self.opened(store, ROWS):
            assert await store.delete(ids=["r01", "nowhere", "r02", "r01"]) == 2
            assert await store.delete(ids=[]) == 0
            await self.settle(store)

            assert list(await self.texts(store)) == [id for id in ALL if id not in ("r01", "r02")]
            assert (await store.stats()).count == 23
            assert "r01" not in ids_of(await self.search(store, [1, 1]))

    async def test_delete_by_filter_counts_what_was_there(self, store: VectorStore) -> None:
        async with self.opened(store, ROWS):
            assert await store.delete(where=(F("source") == "file1.md") | (F("n") < 3)) == 13
            assert await store.delete(where=F("n") == 100) == 0
            await self.settle(store)

            assert list(await self.texts(store)) == [*ALL[3:10], *ALL[20:]]

    async def test_delete_wants_exactly_one_selector(self, store: VectorStore) -> None:
        async with self.opened(store, ROWS):
            with pytest.raises(InvalidInputError):
                await store.delete()
            with pytest.raises(InvalidInputError):
                await store.delete(ids=["r01"], where=F("n") == 1)
            with pytest.raises(InvalidInputError):
                await store.delete(ids="r01")
            with pytest.raises(InvalidInputError):
                await store.delete(ids=[""])

            assert (await store.stats()).count == 25

    async def test_a_deleted_id_can_be_written_again(self, store: VectorStore) -> None:
        async with self.opened(store, ROWS):
            await store.delete(ids=["r03"])
            await self.write(store, [row("r03", [0, 1], text="back")])

            assert (await self.texts(store))["r03"] == "back"
            assert (await store.fetch(where=F("n") == 3)).items == ()
            assert (await store.stats()).count == 25

    async def test_clear_leaves_an_empty_index_of_the_same_kind(self, store: VectorStore) -> None:
        async with self.opened(store, ROWS):
            await store.clear()
            await self.settle(store)

            assert await self.texts(store) == {}
            assert await self.search(store, [1, 0]) == []
            assert ((await store.stats()).count, (await store.stats()).dimension) == (0, 2)
            await self.write(store, ROWS[:2])
            assert list(await self.texts(store)) == ALL[:2]

    async def test_statistics(self, store: VectorStore) -> None:
        async with self.opened(store, [*ROWS, row("x", [1, 1], n="three", tags=["a"], o={"p": 1})]):
            stats = await store.stats()

            assert (stats.count, stats.dimension) == (26, 2)
            assert stats.key_types == {
                "n": {"number", "string"},
                "even": {"bool"},
                "source": {"string"},
                "tags": {"list"},
                "o": {"object"},
            }
            assert stats.size_bytes is None or stats.size_bytes > 0
