"""Ids that begin alike: listed and deleted without reading rows."""

import pytest

from flowkit.errors import InvalidInputError, StateError
from flowkit.testing.store_contract.base import row
from flowkit_pinecone import Pinecone
from tests.plugins.pinecone.conftest import Make
from tests.servers.pinecone import PineconeServer

pytestmark = pytest.mark.heavy


async def listed(store: Pinecone, prefix: str = "") -> list[str]:
    return [id async for id in store.ids(prefix=prefix)]


async def opened(store: Pinecone, *ids: str) -> Pinecone:
    await store.open(create=True, dimension=2)
    if ids:
        await store.upsert([row(id, [1, 0]) for id in ids])
    return store


async def test_ids_are_listed_by_what_they_begin_with(server: PineconeServer, make: Make):
    ids = ["menu.pdf#0", "menu.pdf#1", "menu.pdf", "menu", "men", "~menu", "été#1", "été#2", "et", "a b", "a!", "日本"]
    store = await opened(make(), *ids)
    server.requests.clear()

    assert await listed(store) == sorted(ids)
    for prefix in ("menu.pdf#", "menu", "m", "é", "été#", "a ", "a!", "~", "!", "日", "nothing"):
        assert await listed(store, prefix) == sorted(id for id in ids if id.startswith(prefix)), prefix
    assert {route for _, route, _ in server.requests} == {"/query", "/vectors/list"}  # one query waits for the writes


async def test_long_listings_come_a_page_at_a_time(server: PineconeServer, make: Make):
    store = await opened(make(), *(f"{letter}#{at:04d}" for letter in "ab" for at in range(250)))
    before = server.count("/vectors/list")

    assert await listed(store, "b#") == [f"b#{at:04d}" for at in range(250)]
    assert server.count("/vectors/list") - before == 3


async def test_deleting_by_a_prefix_counts_and_leaves_the_rest(server: PineconeServer, make: Make):
    server.delay_seconds = 0.02
    store = await opened(make(), *(f"a#{at:04d}" for at in range(2_150)), "a", "b#0001", "A#1")
    before = server.count("/vectors/delete")

    assert await store.delete_prefix("a#") == 2_150
    assert server.count("/vectors/delete") - before == 3  # of at most 1,000 ids
    assert await listed(store) == ["A#1", "a", "b#0001"]
    assert (await store.stats()).count == 3
    assert await store.delete_prefix("a#") == 0


async def test_a_prefix_is_of_one_namespace(make: Make):
    one, other = await opened(make(namespace="one"), "a#1"), await opened(make(namespace="other"), "a#1", "a#2")

    assert await one.delete_prefix("a") == 1
    assert await listed(other, "a") == ["a#1", "a#2"]
    assert await (await opened(make(namespace="empty"))).delete_prefix("a") == 0


async def test_an_empty_prefix_deletes_nothing(make: Make):
    store = await opened(make(), "a")
    with pytest.raises(InvalidInputError, match="prefix is empty") as caught:
        await store.delete_prefix("")
    assert "clear()" in str(caught.value.hint)
    assert await listed(store) == ["a"]


async def test_before_there_is_an_index_there_are_no_ids(make: Make):
    store = make()
    with pytest.raises(StateError):
        await listed(store)
    await store.open(create=True)
    assert await listed(store, "a") == []
    assert await store.delete_prefix("a") == 0
