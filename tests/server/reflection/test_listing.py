"""What tools see of an app: its actions, its values, and that they may ask at all."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from flowkit import Document, EmbedderInfo, EvalCase, Flowkit, ModelInfo, Score
from flowkit.plugin import Action, ActionInfo, Kind, Registry
from flowkit.server.describe import describe_actions
from flowkit.server.draft07 import as_draft07
from tests.server.reflection.conftest import Serve

DRAFT = "http://json-schema.org/draft-07/schema#"


class Dish(BaseModel):
    name: str
    sides: list["Dish"] = []
    sizes: tuple[int, str] | None = None


class Kitchen:
    """A plugin whose actions are made when they are asked for."""

    name = "kitchen"
    made = 0

    async def setup(self, registry: Registry) -> None: ...

    async def resolve(self, kind: Kind, name: str) -> Action[Any, Any, Any] | None:
        self.made += 1
        return None

    def list(self) -> Sequence[ActionInfo]:
        info = {"label": "Embeds", "dimensions": 3, "maxInputTokens": None}
        return [
            ActionInfo("embedder", "kitchen/embed", metadata={"type": "embedder", "info": info, "embedder": {}}),
            ActionInfo("model", "kitchen/chef", "Cooks", {"model": {"label": "Chef", "versions": None}}),
        ]

    async def aclose(self) -> None: ...


@pytest.fixture
def listed(ai: Flowkit) -> dict[str, Any]:
    """An app with every kind of action, as it is listed."""

    @ai.flow()
    async def order(dish: Dish) -> Dish:
        """Order a dish.

        With its sides.
        """
        return dish

    @ai.flow(metadata={"tags": [["a", "b"], "c", None], "owner": None, "limits": {"n": None, "m": [[1]]}})
    async def bare() -> None: ...

    @ai.tool()
    async def weather(city: str, days: int = 3) -> str:
        """The weather."""
        return city

    @ai.model("fake/echo", info=ModelInfo(label="Fake Echo"))
    async def echo(request):
        return "echo"

    @ai.embedder("fake/embed", info=EmbedderInfo(label="Fake Embedder", dimensions=4))
    async def embed(texts: list[str]):
        return [[1.0, 0.0, 0.0, 0.0] for _ in texts]

    @ai.retriever("menu")
    async def menu(query: str, *, k: int = 3, vegan: bool | None = None):
        return [Document.from_text("soup")]

    @ai.indexer("menu")
    async def index(documents): ...

    @ai.reranker("fake/rerank", label="rr")
    async def rerank(query: str, documents):
        return [1.0 for _ in documents]

    @ai.evaluator("short", display_name="Short", definition="few words")
    async def short(case: EvalCase) -> Score:
        return Score(score=1)

    return describe_actions(ai.registry)


def test_a_flow_shows_its_first_line_and_its_schemas(listed: dict[str, Any]):
    order = listed["/flow/order"]

    assert (order["key"], order["name"], order["description"]) == ("/flow/order", "order", "Order a dish.")
    assert order["inputSchema"]["$schema"] == DRAFT
    assert order["inputSchema"]["definitions"]["Dish"]["properties"]["sides"]["items"]["$ref"] == "#/definitions/Dish"
    sizes = order["inputSchema"]["definitions"]["Dish"]["properties"]["sizes"]["anyOf"][0]
    assert (sizes["items"], sizes["additionalItems"]) == ([{"type": "integer"}, {"type": "string"}], True)
    assert "$defs" not in json.dumps(order)


def test_what_an_action_lacks_is_absent(listed: dict[str, Any]):
    assert listed["/flow/bare"].keys() == {"key", "name", "outputSchema", "metadata"}


def test_metadata_holds_no_null_and_no_lists_in_lists(listed: dict[str, Any]):
    assert listed["/flow/bare"]["metadata"] == {"tags": [{"items": ["a", "b"]}, "c"], "limits": {"m": [[1]]}}
    for described in listed.values():
        assert None not in described.values()
        for value in described.get("metadata", {}).values():
            assert value is not None
            assert not isinstance(value, list) or not any(item is None or isinstance(item, list) for item in value)


def test_each_kind_says_what_genkits_tools_look_for(listed: dict[str, Any]):
    metadata = {key: described.get("metadata") for key, described in listed.items()}

    assert metadata["/model/fake/echo"]["model"]["label"] == "Fake Echo"
    assert listed["/model/fake/echo"]["description"] == "Fake Echo"
    assert metadata["/embedder/fake/embed"]["type"] == "embedder"
    assert metadata["/embedder/fake/embed"]["info"] == {"label": "Fake Embedder", "dimensions": 4}
    assert "customOptions" in metadata["/embedder/fake/embed"]["embedder"]
    assert metadata["/retriever/menu"]["type"] == "retriever"
    assert metadata["/retriever/menu"]["retriever"]["customOptions"]["properties"].keys() == {"k", "vegan"}
    assert metadata["/indexer/menu"]["type"] == "indexer"
    assert metadata["/reranker/fake/rerank"]["info"] == {"label": "rr"}
    assert metadata["/evaluator/short"]["evaluator"]["evaluatorDisplayName"] == "Short"
    assert metadata["/evaluator/short"]["evaluator"]["evaluatorIsBilled"] is False


def test_a_tool_is_listed_twice(listed: dict[str, Any]):
    tool, twin = listed["/tool/weather"], listed["/tool.v2/weather"]

    assert tool["metadata"] == {"type": "tool"}
    assert twin["metadata"] == {"type": "tool.v2", "tool": {"multipart": True}, "dynamic": True}
    assert tool["description"] == twin["description"] == "The weather."
    assert tool["inputSchema"] == twin["inputSchema"]
    assert tool["inputSchema"]["properties"]["days"]["default"] == 3


def test_actions_of_plugins_are_listed_before_they_are_made(settings):
    kitchen = Kitchen()
    listed = describe_actions(Flowkit(plugins=[kitchen], settings=settings).registry)

    assert listed["/embedder/kitchen/embed"]["metadata"]["info"] == {"label": "Embeds", "dimensions": 3}
    assert "input" in listed["/embedder/kitchen/embed"]["inputSchema"]["properties"]
    assert listed["/model/kitchen/chef"]["metadata"]["model"] == {"label": "Chef"}
    assert listed["/model/kitchen/chef"]["metadata"]["type"] == "model"
    assert kitchen.made == 0


def test_a_type_without_a_schema_does_not_spoil_the_list(ai: Flowkit):
    class Odd: ...

    @ai.flow()
    async def odd(value: Odd) -> str:
        return ""

    assert describe_actions(ai.registry)["/flow/odd"]["inputSchema"] == {"$schema": DRAFT}


def test_a_property_may_have_the_name_of_a_keyword():
    schema = {
        "properties": {"$defs": {"type": "string"}, "prefixItems": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"default": {"$defs": 1}, "enum": [{"prefixItems": []}]}},
    }

    assert as_draft07(schema) == {
        "properties": {"$defs": {"type": "string"}, "prefixItems": {"$ref": "#/definitions/A"}},
        "definitions": {"A": {"default": {"$defs": 1}, "enum": [{"prefixItems": []}]}},
        "$schema": DRAFT,
    }


async def test_the_routes_that_tell_about_an_app(settings, serve: Serve):
    ai = Flowkit(settings=settings, model="fake/echo")

    @ai.flow()
    async def hello() -> str:
        return "hello"

    http = (tool := serve(ai)).http
    actions = await http.get("/api/actions")
    assert actions.json()["/flow/hello"]["name"] == "hello"
    assert "/util/generate" in actions.json()
    assert actions.headers["x-genkit-version"]
    assert (await http.get("/api/envs")).json() == ["dev"]
    assert (await http.get("/api/values?type=defaultModel")).json() == {"defaultModel": {"name": "fake/echo"}}
    assert (await http.get("/api/values?type=middleware")).json() == {}
    assert (await http.get("/api/values")).status_code == 400
    assert (await http.get("/api/__health")).text == "OK"
    assert (await http.get("/api/__health", params={"id": tool.about["id"]})).text == "OK"
    assert (await http.get("/api/__health?id=other")).status_code == 503
    assert (await http.get("/nothing")).status_code == 404
    assert (await http.get("/api/runAction")).status_code == 405


async def test_a_model_is_tried_out_through_util_generate(settings, serve: Serve):
    ai = Flowkit(settings=settings, model="fake/echo")

    @ai.model("fake/echo")
    async def echo(request):
        yield "echo: "
        yield request.messages[-1].text

    tool = serve(ai)
    options = {"messages": [{"role": "user", "content": [{"text": "yo"}]}], "output": {"format": "text"}}
    *chunks, last = [json.loads(line) async for line in tool.lines("/util/generate", options)]

    assert [chunk["content"][0]["text"] for chunk in chunks] == ["echo: ", "yo"]
    assert last["result"]["message"]["content"] == [{"text": "echo: yo"}]
    named = await tool.run("/util/generate", {**options, "model": "fake/none"})
    assert named.json()["error"]["code"] == 5
    with_tools = await tool.run("/util/generate", {**options, "tools": ["weather"]})
    assert with_tools.json()["error"]["code"] == 12


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"origin": "https://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": "http://localhost:5173"},
    ],
)
async def test_web_pages_may_not_use_it(ai: Flowkit, serve: Serve, headers: dict[str, str]):
    http = serve(ai).http
    for request in (
        http.get("/api/actions", headers=headers),
        http.get("/api/__quitquitquit", headers=headers),
        http.post("/api/runAction", headers=headers, json={"key": "/flow/x"}),
    ):
        assert (await request).status_code == 403
    assert (await http.get("/api/__health")).status_code == 200, "it still runs"


async def test_a_form_that_a_page_could_send_is_not_taken(ai: Flowkit, serve: Serve):
    response = await serve(ai).http.post("/api/runAction", content=b'{"key": "/flow/x"}')

    assert response.status_code == 415
