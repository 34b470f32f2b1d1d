"""The OpenAPI document: valid by the standard's own rules, and true."""

from typing import Any

from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import BaseModel

from flowkit import Flowkit
from flowkit.config import Settings
from tests.server.flows.conftest import Call, Served


class Place(BaseModel):
    city: str
    near: list["Place"] = []


async def document(call: Call, app: Any = None) -> Any:
    found = (await call("/openapi.json", method="GET", app=app)).json()
    OpenAPIV31SpecValidator(found).validate()
    return found


async def test_every_flow_is_described(call: Call, flows: Served):
    found = await document(call)

    assert set(found["paths"]) == {
        f"/{name}"
        for name in (
            "boom",
            "breaks",
            "count",
            "forever",
            "hello",
            "nothing",
            "order",
            "refuse",
            "several",
            "slow_sum",
            "who",
        )
    }
    hello = found["paths"]["/hello"]["post"]
    assert (hello["operationId"], hello["summary"]) == ("hello", "Say hello.")
    body = hello["requestBody"]["content"]["application/json"]["schema"]
    assert body == {"type": "object", "properties": {"data": {"type": "string"}}, "required": ["data"]}
    assert hello["responses"]["200"]["content"]["application/json"]["schema"]["properties"] == {
        "result": {"type": "string"}
    }


async def test_data_is_required_only_where_the_flow_needs_it(call: Call, flows: Served):
    paths = (await document(call))["paths"]

    def required(path: str) -> bool:
        return "required" in paths[path]["post"]["requestBody"]["content"]["application/json"]["schema"]

    assert (required("/several"), required("/nothing"), required("/who")) == (True, False, False)


async def test_models_of_models_are_shared_and_their_references_lead_somewhere(call: Call, flows: Served):
    @flows.ai.flow
    async def near(place: Place) -> list[Place]:
        return place.near

    @flows.ai.flow
    async def far(places: list[Place]) -> None: ...

    found = await document(call)
    near_body = found["paths"]["/near"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert near_body["properties"]["data"] == {"$ref": "#/components/schemas/Place"}
    far_body = found["paths"]["/far"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert far_body["properties"]["data"]["items"] == {"$ref": "#/components/schemas/Place"}
    assert found["components"]["schemas"]["Place"]["properties"]["near"]["items"] == {
        "$ref": "#/components/schemas/Place"
    }


async def test_two_models_of_one_name_stay_two(call: Call, flows: Served):
    def made(kind: Any) -> type[BaseModel]:
        class Inner(BaseModel):
            value: kind

        class Outer(BaseModel):
            inner: Inner

        return Outer

    first, second = made(int), made(str)

    @flows.ai.flow
    async def one(value: first) -> None: ...  # type: ignore[valid-type]

    @flows.ai.flow
    async def two(value: second) -> None: ...  # type: ignore[valid-type]

    found = await document(call)
    schemas = found["components"]["schemas"]
    assert {schemas[name]["properties"]["value"]["type"] for name in ("Inner", "Inner-2")} == {"integer", "string"}


async def test_an_app_without_flows_and_types_without_schema_are_described_too(call: Call, flows: Served):
    assert (await document(call, Flowkit(settings=Settings()).asgi()))["paths"] == {}

    class Odd:
        pass

    @flows.ai.flow
    async def odd() -> Odd:
        return Odd()

    found = await document(call)
    answers = found["paths"]["/odd"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert answers["properties"]["result"] == {}


async def test_it_can_be_left_out(call: Call, flows: Served):
    answer = await call("/openapi.json", method="GET", app=flows.ai.asgi(openapi=False))
    assert answer.status_code == 404
