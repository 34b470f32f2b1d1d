"""Upsert: what is written, what replaces what, and what is refused whole.

class TestMyStore(StoreContract): ...     # these come with it
"""

import math
from typing import Any
from uuid import UUID

import pytest

from flowkit.errors import InvalidInputError
from flowkit.rag.stores.contract import EmbeddedDocument, VectorStore
from flowkit.schema.documents import Document
from flowkit.schema.filters import F
from flowkit.schema.parts import Media, MediaPart, TextPart
from flowkit.testing.store_contract.base import StoreHooks, ids_of, numbers, row

__all__ = ["WritingTests"]

VALUES: list[Any] = [
    True,
    False,
    0,
    1,
    -1,
    1.0,
    1.5,
    -0.1,
    1e300,
    "",
    "日本語",
    "a\"b'c\\d\n",
    "1e5",
    "null",
    ["a", "b"],
    [],
    ["a", 1],
    [[1], {"x": [None]}],
    {"o": {"p": 1}},
    {},
    9007199254740993,
    -(2**63),
    2**63 - 1,
    "x" * 5000,
]
IDS = ["a b", "a/b?c=d#e", "O'Neil", '"', "%41", "日本", "😀", "..", "\\", "x" * 400, "a\tb", "-1", "NULL"]


class WritingTests(StoreHooks):
    async def test_a_row_comes_back_as_it_was_written(self, store: VectorStore) -> None:
        document = Document.from_text("tomato soup", {"source": "menu.pdf", "page": 2}, id="a")
        async with self.opened(store, [EmbeddedDocument(document, [1, 0])]):
            (hit,) = await self.search(store, [1, 0])

            assert (hit.id, hit.text, dict(hit.metadata)) == ("a", "tomato soup", {"source": "menu.pdf", "page": 2})
            assert (await store.fetch(ids=["a"])).items[0].document == document

    async def test_writing_an_id_again_replaces_the_row(self, store: VectorStore) -> None:
        async with self.opened(store, [row("a", [1, 0], text="old", n=1, gone=True), row("b", [0, 1])]):
            await self.write(store, [row("a", [0, 1], text="new", n=2)])

            assert await self.texts(store) == {"a": "new", "b": "text of b"}
            assert (await store.stats()).count == 2
            assert [hit.score for hit in await self.search(store, [0, 1])] == pytest.approx([1, 1], abs=self.tolerance)
            (item,) = (await store.fetch(where=F("n") == 2)).items
            assert dict(item.document.metadata) == {"n": 2}
            assert (await store.fetch(where=F("n") == 1)).items == ()

    async def test_of_equal_ids_in_one_call_the_last_wins(self, store: VectorStore) -> None:
        rows = [row("a", [1, 0], text="first"), row("b", [1, 0]), row("a", [0, 1], text="last")]
        async with self.opened(store, rows):
            assert await self.texts(store) == {"a": "last", "b": "text of b"}
            best, *_ = await self.search(store, [0, 1])
            assert best.id == "a"

    async def test_writing_nothing_is_fine(self, store: VectorStore) -> None:
        async with self.opened(store, [row("a", [1, 0])]):
            await store.upsert([])

            assert list(await self.texts(store)) == ["a"]

    async def test_writing_the_same_again_changes_nothing(self, store: VectorStore) -> None:
        rows = [row(f"r{at}", [1, at], n=at) for at in range(20)]
        async with self.opened(store, rows):
            before = await self.search(store, [1, 3])
            await self.write(store, rows)

            assert await self.search(store, [1, 3]) == before
            assert (await store.stats()).count == 20

    async def test_without_a_vector_the_stored_one_stays(self, store: VectorStore) -> None:
        async with self.opened(store, [row("a", [3, 4], text="soup", n=1)]):
            await self.write(store, [row("a", None, text="soup", n=2, page=7)])

            (hit,) = await self.search(store, [0.6, 0.8], where=F("n") == 2)
            assert hit.score == pytest.approx(1, abs=self.tolerance)
            assert dict(hit.metadata) == {"n": 2, "page": 7}
            assert (await store.fetch(where=F("n") == 1)).items == ()
            (item,) = (await store.fetch(with_vectors=True)).items
            assert numbers(item.vector) == pytest.approx([3, 4], rel=1e-6)

    async def test_without_a_vector_an_unknown_id_is_refused(self, store: VectorStore) -> None:
        async with self.opened(store, [row("a", [1, 0])]):
            with pytest.raises(InvalidInputError, match="'b'"):
                await store.upsert([row("c", [0, 1]), row("b", None)])

            assert list(await self.texts(store)) == ["a"]

    async def test_a_row_without_an_id_is_refused(self, store: VectorStore) -> None:
        async with self.opened(store):
            with pytest.raises(InvalidInputError, match="id"):
                await store.upsert([row("a", [1, 0]), EmbeddedDocument(Document.from_text("no id"), [1, 0])])

            assert await self.texts(store) == {}

    @pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e39])
    async def test_what_is_no_float32_number_is_refused(self, store: VectorStore, bad: float) -> None:
        async with self.opened(store, [row("a", [1, 0])]):
            with pytest.raises(InvalidInputError, match="'c'"):
                await store.upsert([row("b", [0, 1]), row("c", [bad, 1])])

            assert list(await self.texts(store)) == ["a"]

    async def test_a_vector_of_another_dimension_is_refused_naming_both(self, store: VectorStore) -> None:
        async with self.opened(store, [row("a", [1, 0])]):
            with pytest.raises(InvalidInputError) as caught:
                await store.upsert([row("b", [0, 1]), row("c", [1, 2, 3, 4, 5])])

            assert "5" in str(caught.value)
            assert "2" in str(caught.value)
            assert list(await self.texts(store)) == ["a"]

    @pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:30])
    async def test_metadata_comes_back_of_the_same_type(self, store: VectorStore, value: object) -> None:
        async with self.opened(store, [row("a", [1, 0], v=value)]):
            (hit,) = await self.search(store, [1, 0])

            assert repr(hit.metadata["v"]) == repr(value)
            assert repr((await store.fetch()).items[0].document.metadata["v"]) == repr(value)

    async def test_none_drops_the_key_and_a_uuid_is_its_string(self, store: VectorStore) -> None:
        uuid = UUID("3f2504e0-4f89-41d3-9a0c-0305e82c3301")
        async with self.opened(store, [row("a", [1, 0], none=None, uuid=uuid)]):
            (hit,) = await self.search(store, [1, 0])

            assert dict(hit.metadata) == {"uuid": str(uuid)}

    async def test_any_key_can_be_used(self, store: VectorStore) -> None:
        metadata = {
            key: at for at, key in enumerate(["a b", "a.b", "$and", "'", '"', "名前", "__", "id", "text", "vector"])
        }
        document = Document.from_text("keys", metadata, id="a")
        async with self.opened(store, [EmbeddedDocument(document, [1, 0])]):
            assert (await store.fetch()).items[0].document.metadata == metadata

    @pytest.mark.parametrize("id", IDS, ids=lambda id: repr(id)[:20])
    async def test_any_id_can_be_used(self, store: VectorStore, id: str) -> None:
        async with self.opened(store, [row(id, [1, 0]), row("other", [0, 1])]):
            best, _ = await self.search(store, [1, 0])
            assert best.id == id
            assert ids_of((await store.fetch(ids=[id])).items) == [id]
            assert await store.delete(ids=[id]) == 1
            await self.settle(store)
            assert list(await self.texts(store)) == ["other"]

    @pytest.mark.parametrize(
        "text", ["ok😀", "naïve façade", "返金", "שלום", "e\u0301", "\u202etext", "a" * 100_000, " \n x"]
    )
    async def test_text_comes_back_to_the_letter(self, store: VectorStore, text: str) -> None:
        async with self.opened(store, [row("a", [1, 0], text=text)]):
            assert await self.texts(store) == {"a": text}

    async def test_what_no_store_can_hold_was_cleaned_when_the_document_was_made(self, store: VectorStore) -> None:
        rows = [row("a", [1, 0], text="a\ud800b", v="x\x00y"), row("b", [1, 0], text="a\x00b")]
        async with self.opened(store, rows):
            assert await self.texts(store) == {"a": "a\ufffdb", "b": "ab"}
            assert (await store.fetch(ids=["a"])).items[0].document.metadata == {"v": "xy"}

    async def test_parts_other_than_text_come_back(self, store: VectorStore) -> None:
        picture = MediaPart(media=Media(url="data:image/png;base64,AAAA", content_type="image/png"))
        both = Document(content=(TextPart(text="a soup"), picture, TextPart(text=" bowl")), id="a")
        empty = Document(content=(), id="b")
        async with self.opened(store, [EmbeddedDocument(both, [1, 0]), EmbeddedDocument(empty, [0, 1])]):
            assert [item.document for item in (await store.fetch()).items] == [both, empty]
            best, other = await self.search(store, [1, 0])
            assert best.content == both.content
            assert other.content == ()

    async def test_changing_a_hit_or_a_given_document_does_not_change_the_store(self, store: VectorStore) -> None:
        document = Document.from_text("soup", {"n": 1}, id="a")
        async with self.opened(store, [EmbeddedDocument(document, [1, 0])]):
            document.metadata["n"] = 2
            (hit,) = await self.search(store, [1, 0])
            hit.metadata["n"] = 3

            (item,) = (await store.fetch()).items
            assert item.document.metadata == {"n": 1}

    async def test_a_big_batch_is_written_whole(self, store: VectorStore) -> None:
        rows = [row(f"r{at:06d}", [1, at], n=at) for at in range(self.big_batch)]
        async with self.opened(store, rows):
            assert (await store.stats()).count == self.big_batch
            assert ids_of(await self.search(store, [1, 0], k=2)) == ["r000000", "r000001"]
            assert len((await store.fetch(where=F("n") >= self.big_batch - 5)).items) == 5
            assert await store.delete(where=F("n") >= 10) == self.big_batch - 10
