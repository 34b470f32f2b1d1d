"""The app's plugins: listed with the names that they read, and checked on request."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from flowkit import Document, Flowkit
from flowkit.config import Settings
from flowkit.errors import BackendError
from flowkit.plugin import Action, ActionInfo, Kind, Registry
from flowkit.server.reflection import plugins
from flowkit_devstore import DevStore
from flowkit_local import Local
from flowkit_pgvector import PgVector
from tests.server.dev.conftest import Serve
from tests.server.dev_server import Browser


class Kitchen:
    """A plugin of the project, without a check."""

    name = "kitchen"
    environment: Sequence[str] = ("KITCHEN_KEY", "KITCHEN_HOST")

    async def setup(self, registry: Registry) -> None: ...

    async def resolve(self, kind: Kind, name: str) -> Action[Any, Any, Any] | None:
        return None

    def list(self) -> Sequence[ActionInfo]:
        return ()

    async def aclose(self) -> None: ...


class Cellar(Kitchen):
    """One whose check fails."""

    name = "cellar"
    environment = ()
    error: Exception = BackendError("the cellar is locked", hint="find the key")

    async def check(self) -> str:
        raise self.error


async def check(browser: Browser, plugin: str) -> Any:
    return await browser.post("/api/plugins/check", {"id": plugin})


async def test_plugins_are_listed_with_the_names_that_they_read_and_no_values(
    browser: Browser, settings: Settings, serve: Serve, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("KITCHEN_KEY", "sk-very-secret")
    serve(Flowkit(plugins=[Kitchen(), Cellar(), Local(), DevStore("menu")], settings=settings))

    response = await browser.http.get("/api/plugins")

    found = {plugin["id"]: plugin for plugin in response.json()["plugins"]}
    assert list(found) == ["kitchen", "cellar", "local", "devstore/menu"]
    assert found["kitchen"]["environment"] == [
        {"name": "KITCHEN_KEY", "set": True},
        {"name": "KITCHEN_HOST", "set": False},
    ]
    assert [plugin["checks"] for plugin in found.values()] == [False, True, True, True]
    assert found["local"]["package"] == "flowkit-local"
    assert found["local"]["version"]
    assert "package" not in found["kitchen"]
    assert "sk-very-secret" not in response.text


async def test_what_works_says_what_was_found(browser: Browser, settings: Settings, serve: Serve):
    folder = settings.root / "indexes"
    store = DevStore("menu", embedder="local/all-minilm-l6-v2", folder=folder)
    ai = Flowkit(plugins=[Local(), store], settings=settings)
    serve(ai)

    local, empty = await check(browser, "local"), await check(browser, "devstore/menu")

    assert local["ok"]
    assert "files" in local["message"]
    assert local["durationMs"] >= 0
    assert (empty["ok"], empty["message"]) == (True, "reachable; the index is not built yet")
    assert not folder.exists()
    await ai.index("menu", [Document.from_text("tomato soup")])
    assert (await check(browser, "devstore/menu"))["message"] == "1 document"


async def test_what_does_not_work_says_why_and_what_to_do(browser: Browser, settings: Settings, serve: Serve):
    store = PgVector("menu", dsn="postgresql://cook:sk-very-secret@127.0.0.1:1/menu", pool_timeout_seconds=0.2)
    serve(Flowkit(plugins=[Cellar(), store], settings=settings))

    cellar = await check(browser, "cellar")
    response = await browser.http.post("/api/plugins/check", json={"id": "pgvector/menu"})

    assert (cellar["ok"], cellar["message"], cellar["hint"]) == (False, "the cellar is locked", "find the key")
    assert response.json()["ok"] is False
    assert response.json()["message"]
    assert "sk-very-secret" not in response.text


async def test_any_exception_of_a_plugin_is_an_answer(
    browser: Browser, settings: Settings, serve: Serve, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Cellar, "error", KeyError("port"))
    serve(Flowkit(plugins=[Cellar()], settings=settings))

    assert (await check(browser, "cellar"))["message"] == "KeyError: 'port'"


async def test_a_plugin_that_does_not_answer_is_waited_for_and_one_that_gives_up_says_why(
    browser: Browser, settings: Settings, serve: Serve, monkeypatch: pytest.MonkeyPatch
):
    class Silent(Kitchen):
        name = "silent"

        async def check(self) -> str:
            await asyncio.Event().wait()
            return ""

    monkeypatch.setattr(plugins, "_SECONDS", 0.05)
    monkeypatch.setattr(Cellar, "error", TimeoutError("the cook did not come"))
    serve(Flowkit(plugins=[Silent(), Cellar()], settings=settings))

    silent = await check(browser, "silent")

    assert (silent["ok"], silent["message"]) == (False, "no answer within 0 seconds")
    assert silent["hint"] == "look whether its server runs"
    assert (await check(browser, "cellar"))["message"] == "TimeoutError: the cook did not come"


async def test_a_plugin_that_is_unknown_or_has_no_check(browser: Browser, settings: Settings, serve: Serve):
    serve(Flowkit(plugins=[Kitchen()], settings=settings))

    assert (await browser.http.post("/api/plugins/check", json={"id": "nothing"})).status_code == 404
    assert (await browser.http.post("/api/plugins/check", json={"id": "kitchen"})).status_code == 400
