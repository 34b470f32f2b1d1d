"""Who may call: context providers, API keys, policies; which flows are there at all."""

from collections.abc import Mapping
from typing import Any

import pytest

from flowkit import FlowkitError, FlowRequest, api_key
from flowkit.errors import ConfigError, NotFoundError
from tests.server.flows.conftest import Call, Served, frames


async def test_an_api_key_is_asked_for(call: Call, flows: Served):
    app = flows.ai.asgi(context_providers=[api_key("sek")])

    missing = await call("/who", app=app)
    assert (missing.status_code, missing.json()["status"]) == (401, "UNAUTHENTICATED")
    wrong = await call("/who", app=app, headers={"authorization": "nope"})
    assert (wrong.status_code, wrong.json()["status"]) == (403, "PERMISSION_DENIED")
    for given in ("sek", "Bearer sek", "bearer sek"):
        right = await call("/who", app=app, headers={"authorization": given})
        assert right.json()["result"]["auth"] == {"apiKey": "sek"}


@pytest.mark.parametrize("given", ["", " ", "Bearer", "Bearer ", "se", "sekk", "SEK", "sek, sek", "Basic sek", "\xff"])
async def test_nothing_else_is_the_key(call: Call, flows: Served, given: str):
    app = flows.ai.asgi(context_providers=[api_key("sek")])
    answer = await call("/nothing", app=app, headers={b"authorization": given.encode("latin-1")})

    assert answer.status_code in (401, 403)
    assert flows.seen == []


async def test_two_keys_are_valid_while_one_is_replaced(call: Call, flows: Served):
    app = flows.ai.asgi(context_providers=[api_key("old", "new")])

    for key, status in (("old", 200), ("new", 200), ("older", 403)):
        assert (await call("/who", app=app, headers={"authorization": key})).status_code == status


@pytest.mark.parametrize("keys", [(), ("",), ("  ",), ("sek", "")])
def test_a_key_that_is_not_set_opens_nothing(keys: tuple[str, ...]):
    with pytest.raises(ConfigError, match="needs a key"):
        api_key(*keys)


async def test_a_refused_stream_is_refused_by_its_status(call: Call, flows: Served):
    app = flows.ai.asgi(context_providers=[api_key("sek")])

    answer = await call("/count?stream=true", 1, app=app)
    assert (answer.status_code, answer.json()["status"]) == (401, "UNAUTHENTICATED")
    allowed = await call("/count?stream=true", 1, app=app, headers={"authorization": "sek"})
    assert len(frames(allowed.text)) == 2


async def test_a_provider_sees_the_request_and_gives_the_context(call: Call, flows: Served):
    seen: list[FlowRequest] = []

    def by_header(request: FlowRequest) -> Mapping[str, Any]:
        seen.append(request)
        return {"auth": {"uid": request.headers["x-user"]}, "from": "first"}

    async def later(request: FlowRequest) -> Mapping[str, Any]:
        return {"from": "second"}

    def none(request: FlowRequest) -> None:
        return None

    app = flows.ai.asgi(context_providers=[by_header, later, none])
    answer = await call("/who", {"a": 1}, app=app, headers={"X-User": "ada"})

    assert answer.status_code == 400  # the flow takes no input; the provider has seen it all the same
    answer = await call("/who", app=app, headers={"X-User": "ada"})
    assert answer.json()["result"]["values"] == {"auth": {"uid": "ada"}, "from": "second"}
    assert [(request.flow, request.method, request.input) for request in seen] == [
        ("who", "POST", {"a": 1}),
        ("who", "POST", None),
    ]


async def test_what_a_provider_raises_is_the_answer_and_its_faults_stay_inside(call: Call, flows: Served):
    def forbid(request: FlowRequest) -> None:
        raise FlowkitError("come back tomorrow", status="RESOURCE_EXHAUSTED")

    def broken(request: FlowRequest) -> None:
        raise KeyError("x-user")

    refused = await call("/nothing", app=flows.ai.asgi(context_providers=[forbid]))
    assert (refused.status_code, refused.json()["message"]) == (429, "come back tomorrow")
    failed = await call("/nothing", app=flows.ai.asgi(context_providers=[broken]))
    assert (failed.status_code, failed.json()) == (500, {"message": "Internal Error", "status": "INTERNAL"})
    assert flows.seen == []


async def test_a_policy_is_of_one_flow(call: Call, flows: Served):
    async def only_ada(request: FlowRequest, context: Mapping[str, Any]) -> bool:
        return bool(context["auth"]["apiKey"] == "ada")

    app = flows.ai.asgi(context_providers=[api_key("ada", "bob")], policies={"nothing": only_ada})

    refused = await call("/nothing", app=app, headers={"authorization": "bob"})
    assert (refused.status_code, refused.json()["status"]) == (403, "PERMISSION_DENIED")
    assert flows.seen == []
    assert (await call("/nothing", app=app, headers={"authorization": "ada"})).status_code == 200
    assert (await call("/who", app=app, headers={"authorization": "bob"})).status_code == 200


async def test_a_policy_may_say_why(call: Call, flows: Served):
    def working_hours(request: FlowRequest, context: Mapping[str, Any]) -> None:
        raise FlowkitError("closed today", status="FAILED_PRECONDITION")

    answer = await call("/nothing", app=flows.ai.asgi(policies={"nothing": working_hours}))
    assert (answer.status_code, answer.json()["message"]) == (400, "closed today")


def test_a_policy_for_a_flow_that_does_not_exist_is_a_mistake(flows: Served):
    """A name with a typing error must not leave a flow open."""
    with pytest.raises(NotFoundError, match="nothin"):
        flows.ai.asgi(policies={"nothin": lambda request, context: False})


async def test_only_chosen_flows_are_there(call: Call, flows: Served):
    app = flows.ai.asgi(["hello", flows.ai.registry.registered("flow")[-1]])

    assert (await call("/hello", "Ada", app=app)).status_code == 200
    for path in ("/nothing", "/boom"):
        for method in ("POST", "GET"):
            assert (await call(path, app=app, method=method)).status_code == 404
    assert set((await call("/openapi.json", app=app, method="GET")).json()["paths"]) == {"/hello", "/who"}
    with pytest.raises(NotFoundError, match="no flow 'helo' can be served"):
        flows.ai.asgi(["helo"])


async def test_only_flows_are_there(call: Call, flows: Served):
    """Tools, models and retrievers are the app's own; a caller reaches them through flows alone."""

    @flows.ai.tool()
    async def secret_tool() -> str:
        """Never from outside."""
        return "secret"

    for path in ("/secret_tool", "/tool/secret_tool", "/flow/../tool/secret_tool", "//tool/secret_tool"):
        assert (await call(path)).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/api/__health",
        "/api/__quitquitquit",
        "/api/actions",
        "/api/cancelAction",
        "/api/envs",
        "/api/events",
        "/api/notify",
        "/api/otlp",
        "/api/runAction",
        "/api/runs",
        "/api/settings",
        "/api/status",
        "/api/traces",
        "/api/uploads",
        "/api/values",
        "/v1/traces",
        "/index.html",
    ],
)
async def test_no_developer_api_is_mounted(call: Call, flows: Served, path: str):
    for method in ("GET", "POST", "PUT", "DELETE"):
        answer = await call(path, app=flows.ai.asgi(), method=method)
        assert answer.status_code == 404, (method, path)
