"""Types of metadata keys that others add while an index is open: what filters make of them, and when."""

import asyncio

import pytest

from flowkit import F
from flowkit.errors import FilterTypeError
from flowkit.rag.stores.contract import SearchQuery
from flowkit.testing.store_contract.base import ids_of, row
from flowkit_pinecone import Pinecone
from flowkit_pinecone.link import Link
from tests.plugins.pinecone.conftest import Make
from tests.servers.pinecone import PineconeServer

pytestmark = pytest.mark.heavy
TYPES = "/vectors/fetch_by_metadata"
NOT_ABOVE = ~(F("n") > 0)
"""Holds for a string; Pinecone cannot say so, so that it has to be known that there is one."""


@pytest.fixture
async def mine(make: Make) -> Pinecone:
    store = make()
    await store.open(create=True, dimension=2)
    await store.upsert([row("number", [1, 0], n=1)])
    return store


async def found(store: Pinecone, where: object) -> list[str]:
    return ids_of(await store.search(SearchQuery(vector=[1, 0], where=where)))  # type: ignore[arg-type]


async def others_write(make: Make, **metadata: object) -> None:
    other = make()
    await other.open(create=False)
    await other.upsert([row("other", [1, 0], **metadata)])


async def test_a_type_that_another_store_adds_is_seen_after_a_second(
    mine: Pinecone, make: Make, monkeypatch: pytest.MonkeyPatch
):
    assert await found(mine, NOT_ABOVE) == []
    await others_write(make, n="a string")
    monkeypatch.setattr("flowkit_pinecone.catalog._RECENT_SECONDS", 0.0)

    assert await found(mine, NOT_ABOVE) == ["other"]


async def test_a_key_or_type_that_is_not_known_is_looked_for_at_once(mine: Pinecone, make: Make):
    assert await found(mine, F("n") > 0) == ["number"]
    await others_write(make, n="a string", fresh=True)

    assert await found(mine, F("fresh") == True) == ["other"]  # noqa: E712
    assert await found(mine, F("n") == "a string") == ["other"]
    with pytest.raises(FilterTypeError):
        await found(mine, F("n") == True)  # noqa: E712


async def test_deleting_and_listing_know_every_type_there_is(mine: Pinecone, make: Make):
    assert await found(mine, NOT_ABOVE) == []
    await others_write(make, n="a string")

    assert ids_of((await mine.fetch(where=NOT_ABOVE)).items) == ["other"]
    await others_write(make, n=["a list"])
    assert await mine.delete(where=NOT_ABOVE) == 1
    assert ids_of((await mine.fetch()).items) == ["number"]


async def test_searches_in_a_row_read_the_types_once(mine: Pinecone, server: PineconeServer):
    await found(mine, F("n") > 0)
    before = server.count(TYPES)
    for least in range(5):
        await found(mine, F("n") > least)

    assert server.count(TYPES) - before <= 1


async def test_what_a_store_writes_while_it_reads_the_types_stays_known(
    mine: Pinecone, monkeypatch: pytest.MonkeyPatch
):
    read, begun, go_on = Link.call, asyncio.Event(), asyncio.Event()

    async def held_back(self: Link, place: object, doing: str, method: str, **arguments: object) -> object:
        answer = await read(self, place, doing, method, **arguments)  # type: ignore[arg-type]
        if doing == "read the keys of":
            begun.set()
            await go_on.wait()
        return answer

    monkeypatch.setattr("flowkit_pinecone.catalog._RECENT_SECONDS", 0.0)
    monkeypatch.setattr(Link, "call", held_back)
    searching = asyncio.create_task(found(mine, F("n") != 1))
    await begun.wait()
    await mine.upsert([row("odd", [1, 0], n=2**60)])
    monkeypatch.setattr("flowkit_pinecone.catalog._RECENT_SECONDS", 60.0)
    go_on.set()
    await searching

    assert await found(mine, F("n") == 2**60) == ["odd"]
