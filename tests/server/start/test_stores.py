"""The store browser over an app that `flowkit start` runs: what a flow has indexed is there, and can be deleted."""

import httpx

from tests.server.start.conftest import Project

APP = """
from flowkit import Document, Flowkit
from flowkit.testing import FakeEmbedder
from flowkit_devstore import DevStore

ai = Flowkit(plugins=[FakeEmbedder(dimension=8), DevStore("menu", embedder="fake-embedder")])


@ai.flow
async def index(dishes: list[str]) -> int:
    report = await ai.index("menu", [Document.from_text(dish, {"source": "menu.txt"}) for dish in dishes])
    return report.written


@ai.flow
async def ask(dish: str) -> list[str]:
    return [hit.text for hit in await ai.retrieve("menu", dish)]
"""


def test_the_indexes_of_the_running_app_are_browsed_and_emptied(empty: Project):
    empty.write("app.py", APP)
    started = empty.start()
    started.wait_for("running")

    with httpx.Client(base_url=started.url, trust_env=False, headers={"X-Flowkit-UI": "1"}, timeout=30) as page:
        before = page.get("/api/stores").json()["stores"]
        started.run("index", ["tomato soup", "apple cake"])
        (after,) = page.get("/api/stores").json()["stores"]
        listed = page.get("/api/stores/documents", params={"store": "devstore/menu"}).json()["documents"]
        deleted = page.post("/api/stores/delete", json={"store": "devstore/menu", "ids": [listed[0]["id"]]}).json()

    assert [store["built"] for store in before] == [False]
    assert (after["count"], after["dimension"], after["embedder"]) == (2, 8, "fake-embedder")
    assert {document["text"] for document in listed} == {"tomato soup", "apple cake"}
    assert deleted["deleted"] == 1
    assert started.run("ask", "soup") == [listed[1]["text"]]
    assert started.run("index", ["tomato soup", "apple cake"]) == 1
