"""What a page knows of an action before it runs: where it is written, whether and what it streams, and its index."""

import importlib.util
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel

from flowkit import Flowkit, RunContext
from flowkit.config import Settings
from flowkit_devstore import DevStore
from tests.server.dev.conftest import Serve
from tests.server.dev_server import Browser

APP = """
from functools import wraps

def define(ai):
    def noisy(fn):
        @wraps(fn)
        async def around(*args):
            return await fn(*args)
        return around

    @ai.flow()
    async def greet(name: str) -> str:
        return name

    @ai.flow()
    @noisy
    async def wrapped(name: str) -> str:
        return name
"""


class Step(BaseModel):
    number: int


@pytest.fixture
def module(tmp_path: Path) -> ModuleType:
    """A module of the project, with two flows."""
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "flows.py").write_text(APP)
    spec = importlib.util.spec_from_file_location("menu_flows", folder / "flows.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["menu_flows"] = module
    spec.loader.exec_module(module)
    return module


async def listed(browser: Browser) -> dict[str, Any]:
    return {action["key"]: action for action in (await browser.get("/api/actions"))["actions"]}


async def test_each_action_says_where_it_is_written(browser: Browser, ai: Flowkit, serve: Serve, module: ModuleType):
    module.define(ai)
    serve(ai)

    actions = await listed(browser)

    assert actions["/flow/greet"]["source"] == {
        "function": "menu_flows.define.<locals>.greet",
        "file": "src/flows.py",
        "line": 11,
    }
    assert actions["/flow/wrapped"]["source"]["line"] == 15
    # This file is no part of the project.
    assert actions["/flow/echo"]["source"].keys() == {"function"}
    assert "source" in (await browser.get("/api/actions/flow/greet"))["action"]


async def test_each_action_says_whether_it_streams_and_what(browser: Browser, ai: Flowkit, serve: Serve):
    @ai.flow()
    async def steps() -> AsyncIterator[Step]:
        yield Step(number=1)

    @ai.flow()
    async def sends(ctx: RunContext) -> None:
        ctx.send_chunk("x")

    @ai.model("fake/slow")
    async def slow(request):
        yield "soup"

    @ai.model("fake/whole")
    async def whole(request):
        return "soup"

    serve(ai)
    actions = await listed(browser)

    assert {key for key, action in actions.items() if action["streams"]} == {
        "/flow/count",
        "/flow/sends",
        "/flow/steps",
        "/model/fake/slow",
        "/util/generate",
    }
    assert actions["/flow/steps"]["chunkSchema"]["properties"]["number"] == {"title": "Number", "type": "integer"}
    assert "content" in actions["/model/fake/slow"]["chunkSchema"]["properties"]
    assert "chunkSchema" not in actions["/flow/echo"]


async def test_an_index_says_so_before_and_after_it_was_used(browser: Browser, settings: Settings, serve: Serve):
    ai = Flowkit(plugins=[DevStore("menu", embedder="fake/length")], settings=settings)

    @ai.embedder("fake/length")
    async def length(texts: list[str]):
        return [[float(len(text)), 1.0] for text in texts]

    @ai.indexer("log")
    async def log(documents): ...

    serve(ai)
    behind = {"name": "devstore/menu", "mode": "vector", "embedder": "fake/length"}
    before = await listed(browser)
    await ai.registry.get("/indexer/devstore/menu")
    after = await listed(browser)

    for actions in (before, after):
        assert actions["/indexer/devstore/menu"]["index"] == behind
        assert actions["/retriever/devstore/menu"]["index"] == behind
        assert "index" not in actions["/indexer/log"]
        assert "index" not in actions["/embedder/fake/length"]
    assert "streams" not in before["/indexer/devstore/menu"]
    assert after["/indexer/devstore/menu"]["streams"] is False


async def test_genkits_list_has_none_of_it(ai: Flowkit, serve: Serve, browser: Browser):
    serve(ai)
    runtime = (await browser.get("/api/runtimes"))["runtimes"][0]

    plain = (await browser.http.get(runtime["url"] + "/api/actions", headers={"Origin": runtime["url"]})).json()

    assert plain["/flow/echo"].keys() == {"key", "name", "description", "inputSchema", "outputSchema"}
