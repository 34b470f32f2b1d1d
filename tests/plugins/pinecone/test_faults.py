"""What the Pinecone plugin does when the service is busy, late, or gone."""

import asyncio
import threading

import pytest

from flowkit.errors import BackendError, ConfigError
from flowkit.rag.stores.contract import SearchQuery
from flowkit.testing.store_contract.base import ids_of, row
from flowkit_pinecone import Pinecone
from tests.plugins.pinecone.conftest import Make
from tests.servers.pinecone import PineconeServer

pytestmark = pytest.mark.heavy
UPSERT = "/vectors/upsert"
LATER = {"retry-after": "0.1"}
ROWS = [row("a", [1, 0], n=1), row("b", [0, 1], n=2)]


async def opened(store: Pinecone) -> Pinecone:
    await store.open(create=True, dimension=2)
    return store


async def ids(store: Pinecone) -> list[str]:
    return ids_of((await store.fetch()).items)


async def test_a_storm_of_refusals_is_waited_out_as_long_as_the_service_asks(server: PineconeServer, make: Make):
    store = await opened(make())
    await store.upsert(ROWS[:1])
    before = server.count(UPSERT)
    server.fail(UPSERT, 429, times=4, headers=LATER)

    await store.upsert([row("b", [0, 1], n=2)])

    assert server.count(UPSERT) - before == 5
    assert await ids(store) == ["a", "b"]


async def test_a_time_to_wait_that_is_over_the_limit_is_not_waited_for(server: PineconeServer, make: Make):
    store = await opened(make(retry_seconds=5))
    server.fail("/query", 429, headers={"retry-after": "3600"}, message="out of read units")

    with pytest.raises(BackendError) as caught:
        await store.search(SearchQuery(vector=[1, 0]))

    assert (caught.value.status, server.count("/query")) == ("RESOURCE_EXHAUSTED", 2)  # the first saw the index made
    assert "search index 'menu'" in str(caught.value)
    assert "out of read units" in str(caught.value)


async def test_a_date_to_come_back_at_is_understood(server: PineconeServer, make: Make):
    store = await opened(make())
    server.fail("/vectors/list", 503, headers={"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"})

    assert await ids(store) == []
    assert server.count("/vectors/list") == 2


async def test_what_is_wrong_is_not_asked_again(server: PineconeServer, make: Make):
    store = await opened(make())
    server.fail("/query", 400, message="no such thing")
    before = server.count("/query")

    with pytest.raises(BackendError, match=r"pinecone could not search index 'menu'.*no such thing") as caught:
        await store.search(SearchQuery(vector=[1, 0]))

    assert (caught.value.status, server.count("/query") - before) == ("INVALID_ARGUMENT", 1)


@pytest.mark.parametrize("done", [False, True], ids=["before it was written", "after it was written"])
async def test_a_connection_cut_in_the_middle_of_an_upsert_loses_and_doubles_nothing(
    server: PineconeServer, make: Make, done: bool
):
    store = await opened(make())
    server.drop(UPSERT, done=done)

    await store.upsert([row("a", [1, 0]), row("b", [0, 1])])

    assert await ids(store) == ["a", "b"]
    assert (await store.stats()).count == 2


async def test_a_server_that_comes_back_is_found_again(server: PineconeServer, make: Make):
    store = await opened(make())
    await store.upsert(ROWS)
    server.stop()
    back = threading.Timer(0.2, server.start)
    back.start()

    assert await ids(store) == ["a", "b"]

    back.join()


async def test_a_server_that_stays_away_is_an_error_that_names_it(server: PineconeServer, make: Make):
    store = await opened(make(retry_seconds=0.1))
    server.stop()

    with pytest.raises(BackendError, match="pinecone could not write to index 'menu'") as caught:
        await store.upsert([row("a", [1, 0])])

    assert caught.value.hint


async def test_when_a_later_request_fails_the_rows_before_it_stay_and_a_rerun_ends_it(
    server: PineconeServer, make: Make
):
    store = await opened(make(retry_seconds=0))
    many = [row(f"r{at:04d}", [1, at]) for at in range(1_500)]
    await store.upsert(many[:1])
    server.fail(UPSERT, 503, after=1)

    with pytest.raises(BackendError):
        await store.upsert(many)
    assert (await store.stats()).count == 1_000

    await store.upsert(many)
    assert (await store.stats()).count == 1_500


async def test_cancelling_while_it_waits_ends_at_once_and_sends_nothing_more(server: PineconeServer, make: Make):
    store = await opened(make())
    server.fail(UPSERT, 429, times=50, headers={"retry-after": "30"})
    task = asyncio.create_task(store.upsert([row("a", [1, 0])]))
    before = server.count(UPSERT)
    while server.count(UPSERT) == before:
        await asyncio.sleep(0.005)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
    await asyncio.sleep(0.05)

    assert server.count(UPSERT) == before + 1
    server.heal()
    await store.upsert([row("b", [1, 0])])
    assert await ids(store) == ["b"]


async def test_reads_wait_for_this_stores_own_writes(server: PineconeServer, make: Make):
    server.delay_seconds = 0.1
    store = await opened(make())
    await store.upsert(ROWS)
    assert ids_of(await store.search(SearchQuery(vector=[1, 0]))) == ["a", "b"]
    assert await store.delete(ids=["a"]) == 1
    assert ids_of(await store.search(SearchQuery(vector=[1, 0]))) == ["b"]
    await store.clear()
    assert await ids(store) == []


async def test_without_waiting_reads_give_what_can_be_seen(server: PineconeServer, make: Make):
    server.delay_seconds = 0.15
    store = await opened(make(wait_seconds=0))
    await store.upsert([row("a", [1, 0])])

    assert await store.search(SearchQuery(vector=[1, 0])) == []
    assert await store.wait_until_searchable(timeout_seconds=0.01) is False
    assert await store.wait_until_searchable() is True
    assert ids_of(await store.search(SearchQuery(vector=[1, 0]))) == ["a"]


async def test_writes_that_stay_hidden_are_an_error_and_no_empty_answer(server: PineconeServer, make: Make):
    store = await opened(make(wait_seconds=0.05))
    await store.upsert([row("a", [1, 0])])
    server.indexes["menu"].namespaces["__default__"].delay_seconds = 60
    await store.upsert([row("b", [0, 1])])

    with pytest.raises(BackendError, match="cannot be read after") as caught:
        await store.search(SearchQuery(vector=[1, 0]))

    assert caught.value.status == "DEADLINE_EXCEEDED"
    assert "wait_seconds" in str(caught.value.hint)


async def test_a_key_that_is_refused_is_said_so(server: PineconeServer, make: Make):
    with pytest.raises(ConfigError, match="API key") as caught:
        await make(api_key="wrong").open(create=True, dimension=2)
    assert caught.value.status == "UNAUTHENTICATED"
    assert "wrong" not in str(caught.value)


async def test_without_a_key_the_hint_names_the_variable(server: PineconeServer):
    with pytest.raises(ConfigError, match="PINECONE_API_KEY"):
        await Pinecone("menu", host=server.url).open(create=False)
