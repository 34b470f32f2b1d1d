"""The store in an app: indexed and asked through flowkit, by several processes at once, and closed with the app."""

import asyncio
import subprocess
import sys
from collections.abc import Callable

import pytest

from flowkit import Document, F, Flowkit
from flowkit.errors import IdentityError, NotFoundError
from flowkit.testing import FakeEmbedder
from flowkit_pgvector import PgVector
from tests.plugins.pgvector.data import ask

pytestmark = [pytest.mark.heavy, pytest.mark.requires("pg", "the store is tested against a real Postgres")]

Maker = Callable[..., PgVector]
DISHES = [("Tomato soup with basil", 5.5), ("Beef stew", 12), ("返金は三日以内", 0), ("Chocolate cake", 4)]

SYNC = """
import asyncio, sys
from flowkit import Document
from flowkit.plugin import EmbeddedDocument, document_id
from flowkit_pgvector import PgVector

async def main(dsn, index, version):
    store = PgVector(index, dsn=dsn)
    await store.open(create=True, dimension=4)
    sys.stdin.readline()
    for turn in range(5):
        texts = [f"chunk {at} of version {version if at % 3 else 'any'}" for at in range(30)]
        rows = [
            EmbeddedDocument(
                Document.from_text(text, {"source": "menu.pdf", "index": at}, id=document_id("menu.pdf", text, 0)),
                [1, at, turn, 0],
            )
            for at, text in enumerate(texts)
        ]
        stored = {key.id async for key in store.manifest("menu.pdf")}
        await store.upsert(rows)
        await store.delete(ids=list(stored - {row.id for row in rows}))
    await store.aclose()

asyncio.run(main(*sys.argv[1:]))
"""


def app(store: PgVector) -> Flowkit:
    return Flowkit(plugins=[FakeEmbedder(dimension=16), store])


async def test_an_app_indexes_and_retrieves_by_the_bare_name_of_the_index(make_store: Maker):
    store = make_store("menu", schema="bistro", embedder="fake-embedder", columns={"price": float})
    async with app(store) as ai:
        documents = [Document.from_text(text, {"price": price}) for text, price in DISHES]
        report = await ai.index("menu", documents)
        assert (report.written, report.unchanged) == (4, 0)
        assert (await ai.index("menu", documents)).unchanged == 4

        best, *_ = await ai.retrieve("menu", "Tomato soup with basil", k=2)
        assert best.text == "Tomato soup with basil"
        cheap = await ai.retrieve("pgvector/menu", "cake", k=9, where="price < 5 AND price > 0")
        assert [hit.text for hit in cheap] == ["Chocolate cake"]
        for mode in ("keyword", "hybrid"):
            hits = await ai.retrieve("menu", "返金", k=1, options={"mode": mode})
            assert hits[0].text == "返金は三日以内"


async def test_tenants_are_stores_of_their_own_in_an_app(make_store: Maker):
    stores = [make_store("menu", schema="bistro_b", namespace=name, embedder="fake-embedder") for name in ("a", "b")]
    async with Flowkit(plugins=[FakeEmbedder(dimension=16), *stores]) as ai:
        await ai.index("menu@a", [Document.from_text("soup of a")])
        await ai.index("menu@b", [Document.from_text("soup of b")])

        assert [hit.text for hit in await ai.retrieve("menu@b", "soup")] == ["soup of b"]


async def test_asking_an_index_that_was_never_built_makes_nothing(make_store: Maker, dsn: str, index: str):
    async with app(make_store(schema=index, embedder="fake-embedder")) as ai:
        with pytest.raises(NotFoundError, match=index):
            await ai.retrieve(index, "soup")
    assert await ask(dsn, "SELECT 1 FROM pg_namespace WHERE nspname = %s", (index,)) == []


async def test_another_embedder_is_refused_before_anything_is_written(make_store: Maker, index: str):
    async with app(make_store(embedder="fake-embedder")) as ai:
        await ai.index(index, [Document.from_text("soup")])
    other = FakeEmbedder(dimension=16, name="other-embedder")
    async with Flowkit(plugins=[other, make_store(embedder="other-embedder")]) as ai:
        for call in (ai.retrieve(index, "soup"), ai.index(index, [Document.from_text("cake")])):
            with pytest.raises(IdentityError, match="fake-embedder"):
                await call


async def test_closing_the_app_closes_every_connection(make_store: Maker, dsn: str, index: str):
    import psycopg

    named = psycopg.conninfo.make_conninfo(dsn, application_name=index)
    async with app(make_store(dsn=named, embedder="fake-embedder")) as ai:
        await ai.index(index, [Document.from_text(text) for text, _ in DISHES])
        await asyncio.gather(*(ai.retrieve(index, "soup") for _ in range(5)))
        mine = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
        assert (await ask(dsn, mine, (index,)))[0][0] >= 1
    while (await ask(dsn, mine, (index,)))[0][0]:
        await asyncio.sleep(0.01)  # the server notices a little later


async def test_two_processes_that_sync_one_source_leave_what_one_of_them_would(make_store: Maker, dsn: str, index: str):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SYNC, dsn, index, version],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for version in ("one", "two")
    ]
    ends = await asyncio.gather(*(asyncio.to_thread(process.communicate, "go\n") for process in processes))
    assert [process.returncode for process in processes] == [0, 0], ends

    store = make_store()
    await store.open(create=False)
    await sync_once(store)
    texts = sorted(item.document.text for item in (await store.fetch(where=F("source") == "menu.pdf")).items)
    assert texts == sorted(f"chunk {at} of version {'last' if at % 3 else 'any'}" for at in range(30))
    held = await ask(dsn, "SELECT rows, words FROM flowkit.namespaces WHERE index_name = %s", (index,))
    real = await ask(dsn, f"SELECT count(*), sum(cardinality(words))::bigint FROM flowkit.index_{index}")
    assert held == real == [(30, 30 * 5)]


async def sync_once(store: PgVector) -> None:
    """What each of the processes does in a turn: write what there is, delete what there is no longer."""
    from flowkit.plugin import EmbeddedDocument, document_id

    texts = [f"chunk {at} of version {'last' if at % 3 else 'any'}" for at in range(30)]
    rows = [
        EmbeddedDocument(
            Document.from_text(text, {"source": "menu.pdf", "index": at}, id=document_id("menu.pdf", text, 0)),
            [1, at, 0, 0],
        )
        for at, text in enumerate(texts)
    ]
    stored = {key.id async for key in store.manifest("menu.pdf")}
    await store.upsert(rows)
    await store.delete(ids=list(stored - {row.id for row in rows}))
