"""The vector store browser: what is in the indexes of a running app, page by page, and deleting from them."""

from pathlib import Path

import pytest

from flowkit import Document, Flowkit
from flowkit.config import Settings
from flowkit.plugin import StoreAbilities, StoreStats
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.testing import FakeEmbedder
from flowkit_devstore import DevStore
from tests.server.dev.conftest import Serve
from tests.server.dev_server import Browser

DISHES = [("tomato soup", 5, "menu.pdf"), ("apple cake", 7, "menu.pdf"), ("house wine", 4, "drinks.txt")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "indexes"


@pytest.fixture
async def ai(settings: Settings, folder: Path) -> Flowkit:
    """An app with one index of three documents."""
    store = DevStore("menu", embedder="fake-embedder", folder=folder)
    ai = Flowkit(plugins=[FakeEmbedder(dimension=32), store], settings=settings)
    await ai.index("menu", [Document.from_text(t, {"price": p, "source": s}) for t, p, s in DISHES])
    return ai


async def test_an_index_is_listed_with_its_numbers_and_abilities(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)

    (store,) = (await browser.get("/api/stores"))["stores"]

    assert store["name"] == "devstore/menu"
    assert (store["provider"], store["index"]) == ("devstore", "menu")
    assert (store["indexer"], store["retriever"]) == ("/indexer/devstore/menu", "/retriever/devstore/menu")
    assert (store["built"], store["count"], store["dimension"]) == (True, 3, 32)
    assert store["embedder"] == store["retrieverEmbedder"] == "fake-embedder"
    assert store["keyTypes"] == {"price": ["number"], "source": ["string"]}
    assert store["abilities"]["modes"] == ["vector", "keyword", "hybrid"]
    assert store["abilities"]["writes"]
    assert store["sizeBytes"] > 0
    assert store["warnings"] == []
    assert (await browser.get("/api/stores/stats", store="menu"))["store"] == store


async def test_an_index_that_was_never_built_says_so_and_is_not_made(
    browser: Browser, settings: Settings, folder: Path, serve: Serve
):
    serve(
        Flowkit(plugins=[FakeEmbedder(), DevStore("menu", embedder="fake-embedder", folder=folder)], settings=settings)
    )

    (store,) = (await browser.get("/api/stores"))["stores"]
    page = await browser.http.get("/api/stores/documents", params={"store": "menu"})

    assert (store["built"], store["count"]) == (False, 0)
    assert page.status_code == 404
    assert page.json()["error"]["details"]["hint"] == "index documents first"
    assert not folder.exists()


@pytest.mark.parametrize(
    ("embedder", "dimension", "codes"),
    [("other-embedder", 32, ["embedder"]), ("other-embedder", 8, ["embedder", "dimension"]), (None, 8, ["noEmbedder"])],
)
async def test_an_index_of_another_embedder_is_warned_of_and_can_be_looked_at_all_the_same(
    browser: Browser,
    ai: Flowkit,
    settings: Settings,
    folder: Path,
    serve: Serve,
    embedder: str | None,
    dimension: int,
    codes: list[str],
):
    await ai.aclose()
    other = FakeEmbedder(dimension, name="other-embedder")
    serve(Flowkit(plugins=[other, DevStore("menu", embedder=embedder, folder=folder)], settings=settings))

    (store,) = (await browser.get("/api/stores"))["stores"]
    page = await browser.get("/api/stores/documents", store="menu")
    by_word = await browser.get("/api/stores/documents", store="menu", q="soup")
    gone = await browser.post("/api/stores/delete", {"store": "menu", "source": "drinks.txt"})

    assert [warning["code"] for warning in store["warnings"]] == codes
    assert (store["embedder"], store["count"]) == ("fake-embedder", 3)
    assert len(page["documents"]) == 3
    assert [hit["text"] for hit in by_word["documents"]] == ["tomato soup"]
    assert gone == {"deleted": 1, "dryRun": False}


async def test_an_embedder_that_is_not_there_is_named(browser: Browser, settings: Settings, folder: Path, serve: Serve):
    serve(Flowkit(plugins=[DevStore("menu", embedder="local/all-minilm-l6-v2", folder=folder)], settings=settings))

    (store,) = (await browser.get("/api/stores"))["stores"]

    assert store["warnings"][0]["code"] == "embedderMissing"
    assert "flowkit-local" in store["warnings"][0]["hint"]


async def test_pages_follow_each_other_by_cursor(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)
    query = {"store": "menu", "limit": 2}

    first = await browser.get("/api/stores/documents", **query)
    second = await browser.get("/api/stores/documents", **query, cursor=first["cursor"])

    assert [len(first["documents"]), len(second["documents"])] == [2, 1]
    assert "cursor" not in second
    ids = [document["id"] for document in first["documents"] + second["documents"]]
    assert ids == sorted(ids)
    assert {document["text"] for document in first["documents"] + second["documents"]} == {text for text, *_ in DISHES}


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ({"source": "menu.pdf"}, {"tomato soup", "apple cake"}),
        ({"where": "price < 6"}, {"tomato soup", "house wine"}),
        ({"where": "price < 6", "source": "menu.pdf"}, {"tomato soup"}),
        ({"q": "soup"}, {"tomato soup"}),
        ({"q": "soup wine", "where": "price < 5"}, {"house wine"}),
        ({"source": "nothing.txt"}, set()),
    ],
)
async def test_documents_by_source_filter_and_words(
    browser: Browser, ai: Flowkit, serve: Serve, query: dict[str, str], texts: set[str]
):
    serve(ai)

    page = await browser.get("/api/stores/documents", store="devstore/menu", **query)

    assert {document["text"] for document in page["documents"]} == texts


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
async def test_a_search_by_meaning_runs_the_retriever(browser: Browser, ai: Flowkit, serve: Serve, mode: str):
    serve(ai)

    page = await browser.get("/api/stores/documents", store="menu", q="tomato soup", mode=mode, limit=2)

    assert page["mode"] == mode
    assert page["documents"][0]["text"] == "tomato soup"
    assert page["documents"][0]["score"] == 1.0


async def test_what_a_store_cannot_do_is_said(browser: Browser, settings: Settings, serve: Serve):
    class ByVector(InMemoryStore):
        abilities = StoreAbilities(modes=("vector",), writes=False)

    store = ByVector("menu", embedder="fake-embedder")
    ai = Flowkit(plugins=[FakeEmbedder(dimension=32), store], settings=settings)
    await ai.index("menu", [Document.from_text("tomato soup")])
    serve(ai)

    by_word = await browser.http.get("/api/stores/documents", params={"store": "menu", "q": "x", "mode": "keyword"})
    usual = await browser.get("/api/stores/documents", store="menu", q="tomato soup")
    deleting = await browser.http.post("/api/stores/delete", json={"store": "menu", "all": True})

    assert by_word.status_code == deleting.status_code == 501
    assert by_word.json()["error"]["message"] == "memory/menu has no keyword search"
    assert deleting.json()["error"]["message"] == "nothing can be deleted from memory/menu"
    assert usual["mode"] == "vector"


async def test_namespaces_of_an_index_are_counted(browser: Browser, settings: Settings, serve: Serve):
    class Tenants(InMemoryStore):
        abilities = StoreAbilities(namespaces=True)
        namespace = "two"

        async def namespaces(self) -> dict[str, int]:
            return {"": 3, "one": 7}

    ai = Flowkit(plugins=[FakeEmbedder(), Tenants("menu", embedder="fake-embedder")], settings=settings)
    await ai.index("menu", [Document.from_text("tomato soup")])
    serve(ai)

    (store,) = (await browser.get("/api/stores"))["stores"]

    assert store["namespaces"] == [
        {"name": "", "count": 3, "current": False},
        {"name": "one", "count": 7, "current": False},
        {"name": "two", "count": 0, "current": True},
    ]


async def test_one_document_is_shown_whole_with_the_beginning_of_its_vector(
    browser: Browser, ai: Flowkit, serve: Serve
):
    text = "soup " * 1000
    await ai.index("menu", [Document.from_text(text, {"tags": ["hot", {"a": 1}]}).with_id("long")])
    serve(ai)

    listed = (await browser.get("/api/stores/documents", store="menu", where="tags CONTAINS 'hot'"))["documents"][0]
    found = await browser.get("/api/stores/document", store="menu", id="long")

    assert (len(listed["text"]), listed["characters"]) == (2000, 5000)
    assert found["text"] == text
    assert found["metadata"] == {"tags": ["hot", {"a": 1}]}
    assert found["vector"]["dimension"] == 32
    assert found["vector"]["norm"] == pytest.approx(1, abs=1e-5)
    assert len(found["vector"]["first"]) == 16
    assert (await browser.http.get("/api/stores/document", params={"store": "menu", "id": "x"})).status_code == 404


async def test_sources_are_counted(browser: Browser, ai: Flowkit, serve: Serve):
    await ai.index("menu", [Document.from_text("a note")])
    serve(ai)

    found = await browser.get("/api/stores/sources", store="menu")

    assert [(s.get("source"), s["count"]) for s in found["sources"]] == [(None, 1), ("drinks.txt", 1), ("menu.pdf", 2)]
    assert found["complete"]


@pytest.mark.parametrize(
    ("selector", "deleted"),
    [({"source": "menu.pdf"}, 2), ({"where": "price < 6"}, 2), ({"ids": ["nobody"]}, 0), ({"all": True}, 3)],
)
async def test_documents_are_counted_then_deleted(
    browser: Browser, ai: Flowkit, serve: Serve, selector: dict[str, object], deleted: int
):
    serve(ai)
    body = {"store": "menu", **selector}

    assert await browser.post("/api/stores/delete", {**body, "dryRun": True}) == {"deleted": deleted, "dryRun": True}
    assert (await browser.get("/api/stores/stats", store="menu"))["store"]["count"] == 3
    assert (await browser.post("/api/stores/delete", body))["deleted"] == deleted
    assert (await browser.get("/api/stores/stats", store="menu"))["store"]["count"] == 3 - deleted


async def test_a_document_is_deleted_by_its_id(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)
    (hit,) = (await browser.get("/api/stores/documents", store="menu", q="wine"))["documents"]

    assert (await browser.post("/api/stores/delete", {"store": "menu", "ids": [hit["id"]]}))["deleted"] == 1
    assert (await browser.get("/api/stores/documents", store="menu", q="wine"))["documents"] == []


@pytest.mark.parametrize("selector", [{}, {"all": True, "source": "menu.pdf"}, {"ids": ["a"], "where": "price < 6"}])
async def test_deleting_wants_exactly_one_selector(
    browser: Browser, ai: Flowkit, serve: Serve, selector: dict[str, object]
):
    serve(ai)

    refused = await browser.http.post("/api/stores/delete", json={"store": "menu", **selector})

    assert refused.status_code == 400
    assert "exactly one" in refused.json()["error"]["message"]
    assert (await browser.get("/api/stores/stats", store="menu"))["store"]["count"] == 3


@pytest.mark.parametrize(
    ("query", "status", "text"),
    [
        ({"store": "meny"}, 404, "no vector store 'meny'"),
        ({"store": "menu", "where": "price <"}, 400, "position"),
        ({"store": "menu", "where": "price = 'cheap'"}, 400, "'price' holds number"),
        ({"store": "menu", "limit": 0}, 400, "limit"),
        ({}, 400, "store"),
    ],
)
async def test_a_wrong_question_is_refused_with_the_stores_own_words(
    browser: Browser, ai: Flowkit, serve: Serve, query: dict[str, object], status: int, text: str
):
    serve(ai)

    refused = await browser.http.get("/api/stores/documents", params=query)

    assert refused.status_code == status
    assert text in refused.text
    assert "stack" not in refused.json()["error"]["details"]


async def test_a_blank_filter_deletes_nothing_and_counts_nothing(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)

    for dry_run in (True, False):
        body = {"store": "menu", "where": " ", "dryRun": dry_run}
        refused = await browser.http.post("/api/stores/delete", json=body)
        assert refused.status_code == 400
        assert "where is blank" in refused.json()["error"]["message"]
    assert (await browser.get("/api/stores/stats", store="menu"))["store"]["count"] == 3


async def test_pages_of_others_may_not_delete(browser: Browser, ai: Flowkit, serve: Serve):
    serve(ai)

    for headers in ({"Origin": "http://evil.example"}, {"X-Flowkit-UI": ""}):
        refused = await browser.http.post("/api/stores/delete", json={"store": "menu", "all": True}, headers=headers)
        assert refused.status_code == 403
    assert (await browser.get("/api/stores/stats", store="menu"))["store"]["count"] == 3


async def test_a_store_that_fails_is_listed_with_its_problem(browser: Browser, ai: Flowkit, folder: Path, serve: Serve):
    await ai.aclose()
    (database,) = folder.glob("*/*.db")
    database.write_bytes(b"this is no database, whatever its name says" * 100)
    serve(ai)

    (store,) = (await browser.get("/api/stores"))["stores"]

    assert store["problem"]["code"] == "failed"
    assert not store["built"]


async def test_a_store_that_raises_anything_does_not_hide_the_others(
    browser: Browser, settings: Settings, folder: Path, serve: Serve
):
    class Broken(InMemoryStore):
        async def stats(self) -> StoreStats:
            raise OSError(5, "the disk is gone")

    stores = [Broken("lost", embedder="fake-embedder"), DevStore("menu", embedder="fake-embedder", folder=folder)]
    ai = Flowkit(plugins=[FakeEmbedder(dimension=32), *stores], settings=settings)
    for name in ("lost", "menu"):
        await ai.index(name, [Document.from_text("tomato soup")])
    serve(ai)

    menu, lost = (await browser.get("/api/stores"))["stores"]

    assert (menu["name"], menu["count"]) == ("devstore/menu", 1)
    assert lost["problem"] == {"code": "failed", "message": "[Errno 5] the disk is gone"}


async def test_no_app_no_stores(browser: Browser):
    assert (await browser.http.get("/api/stores")).status_code == 503
