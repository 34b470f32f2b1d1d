"""Opening, identity, closing, and many tasks at once.

class TestMyStore(StoreContract): ...     # these come with it
"""

import asyncio

import pytest

from flowkit.errors import IdentityError, NotFoundError, StateError
from flowkit.rag.stores.abilities import abilities_of
from flowkit.rag.stores.contract import SearchQuery, VectorStore
from flowkit.testing.store_contract.base import StoreHooks, ids_of, numbers, row

__all__ = ["LifecycleTests"]


class LifecycleTests(StoreHooks):
    def test_it_has_every_method_of_the_contract(self, store: VectorStore) -> None:
        assert isinstance(store, VectorStore)

    async def test_it_can_do_what_it_declares(self, store: VectorStore) -> None:
        declared = abilities_of(store)
        assert set(declared.modes) == self.modes
        assert set(declared.unsupported_filters) == self.unsupported_filters
        assert declared.writes
        assert self.exact or not declared.exact
        async with self.opened(store, [row("a", [1, 0])]):
            assert ((await store.stats()).size_bytes is not None) == declared.tells_size

    async def test_opening_without_create_makes_nothing(self, store: VectorStore) -> None:
        for _ in range(2):
            with pytest.raises(NotFoundError) as caught:
                await store.open(create=False)
            assert caught.value.hint

    async def test_opening_twice_is_fine(self, store: VectorStore) -> None:
        async with self.opened(store, [row("a", [1, 0])]):
            await store.open(create=True, dimension=2)
            await store.open(create=False)

            assert ids_of(await self.search(store, [1, 0])) == ["a"]

    async def test_a_closed_store_says_so(self, store: VectorStore) -> None:
        async with self.opened(store, [row("a", [1, 0])]):
            pass

        with pytest.raises(StateError):
            await store.search(SearchQuery(vector=[1, 0]))
        with pytest.raises(StateError):
            await store.upsert([row("b", [1, 0])])

    async def test_closing_twice_is_fine(self, store: VectorStore) -> None:
        async with self.opened(store):
            await store.aclose()

    async def test_reopening_keeps_everything(self, store: VectorStore) -> None:
        rows = [row("a", [1, 0], text="tomato soup", n=1, tags=["x", "y"]), row("b", [0.6, 0.8], source="menu.pdf")]
        async with self.opened(store, rows):
            before = await store.fetch(with_vectors=True)
            hits = await self.search(store, [1, 0])
            stats = await store.stats()
            keys = [key async for key in store.manifest()]

            again = await self.reopened(store)
            try:
                after = await again.fetch(with_vectors=True)
                assert [item.document for item in after.items] == [item.document for item in before.items]
                assert [numbers(item.vector) for item in after.items] == [numbers(item.vector) for item in before.items]
                assert await self.search(again, [1, 0]) == hits
                assert (await again.stats()).count == stats.count == 2
                assert (await again.stats()).key_types == stats.key_types
                assert [key async for key in again.manifest()] == keys
            finally:
                await again.aclose()

    async def test_another_dimension_is_refused_naming_both(self, store: VectorStore) -> None:
        async with self.opened(store, [row("a", [1, 0])]):
            await store.aclose()

            with pytest.raises(IdentityError) as caught:
                await self.make_store(store).open(create=True, dimension=3)

            assert "2" in str(caught.value)
            assert "3" in str(caught.value)
            again = self.make_store(store)
            await again.open(create=False, dimension=2)
            assert list(await self.texts(again)) == ["a"]
            await again.aclose()

    async def test_another_embedder_is_refused_naming_both(self, store: VectorStore) -> None:
        await store.open(create=True, dimension=2, embedder="local/one")
        await self.write(store, [row("a", [1, 0])])
        assert (await store.stats()).embedder == "local/one"
        await store.aclose()

        for create in (True, False):
            with pytest.raises(IdentityError) as caught:
                await self.make_store(store).open(create=create, dimension=2, embedder="local/two")
            assert "local/one" in str(caught.value)
            assert "local/two" in str(caught.value)
        again = self.make_store(store)
        await again.open(create=False, embedder="local/one")
        assert list(await self.texts(again)) == ["a"]
        await again.aclose()

    async def test_the_first_vector_sets_an_unknown_dimension(self, store: VectorStore) -> None:
        async with self.opened(store, [row("a", [0, 0, 1])], dimension=None):
            assert (await store.stats()).dimension == 3

    async def test_an_empty_index_answers_everything(self, store: VectorStore) -> None:
        async with self.opened(store):
            assert await self.search(store, [1, 0]) == []
            assert (await store.fetch()).items == ()
            assert (await store.fetch(ids=["a"])).items == ()
            assert [key async for key in store.manifest()] == []
            assert await store.delete(ids=["a"]) == 0
            await store.clear()
            stats = await store.stats()
            assert (stats.count, stats.dimension, dict(stats.key_types)) == (0, 2, {})

    async def test_concurrent_writers_lose_nothing(self, store: VectorStore) -> None:
        batches = [[row(f"{writer}-{at}", [1, at], writer=writer) for at in range(5)] for writer in range(8)]
        async with self.opened(store):
            await asyncio.gather(*(store.upsert(batch) for batch in batches))
            await self.settle(store)

            assert sorted(await self.texts(store)) == sorted(ids_of(item for batch in batches for item in batch))

    async def test_concurrent_writers_of_one_id_leave_one_row(self, store: VectorStore) -> None:
        async with self.opened(store):
            await asyncio.gather(*(store.upsert([row("a", [1, n], text=f"version {n}", n=n)]) for n in range(8)))
            await self.settle(store)

            (found,) = (await store.fetch(with_vectors=True)).items
            n = found.document.metadata["n"]
            assert found.document.text == f"version {n}"
            assert numbers(found.vector) == pytest.approx([1, n], abs=1e-5)
            assert (await store.stats()).count == 1

    async def test_searching_while_others_write_gives_whole_rows(self, store: VectorStore) -> None:
        async with self.opened(store, [row("a", [1, 0], text="version 0", n=0)]):

            async def write() -> None:
                for n in range(1, 15):
                    await store.upsert([row("a", [1, n], text=f"version {n}", n=n)])

            async def read() -> None:
                for _ in range(15):
                    for hit in await self.search(store, [1, 0]):
                        assert hit.text == f"version {hit.metadata['n']}"
                    await asyncio.sleep(0)

            await asyncio.gather(write(), read(), read())
