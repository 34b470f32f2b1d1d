"""Reflection over HTTP, v1: the routes by which Genkit's tools list and run an app's actions.

app = reflection_app(served, runtime_id="4711-3100")        # an ASGI app
"""

from typing import TYPE_CHECKING, Any

from flowkit.core.values import to_json
from flowkit.errors import InvalidInputError
from flowkit.server.frames import frame
from flowkit.server.reflection.plugins import Plugins
from flowkit.server.reflection.protect import protect
from flowkit.server.reflection.run_route import AskRoute, RunRoute, read_json
from flowkit.server.reflection.served import Served
from flowkit.server.reflection.stores import store_answers
from flowkit.server.version import flowkit_version

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["reflection_app"]


def reflection_app(served: Served, *, runtime_id: str) -> "ASGIApp":
    """The app, with its guard around it."""
    from starlette.background import BackgroundTask
    from starlette.responses import PlainTextResponse
    from starlette.responses import Response as Answer
    from starlette.routing import Route, Router

    def json(value: Any, status: int = 200) -> "Response":
        return Answer(frame(value), status, media_type="application/json")

    async def health(request: "Request") -> "Response":
        asked = request.query_params.get("id")
        if asked is not None and asked != runtime_id:
            return PlainTextResponse("Invalid runtime ID", 503)
        return PlainTextResponse("OK")

    async def actions(request: "Request") -> "Response":
        # The query is ours: Genkit's tools do not ask for facts.
        listed = served.actions(facts=request.query_params.get("facts") == "true")
        return Answer(to_json(listed), media_type="application/json")

    async def values(request: "Request") -> "Response":
        try:
            return json(served.values(request.query_params.get("type")))
        except InvalidInputError as error:
            return PlainTextResponse(str(error), 400)

    async def envs(request: "Request") -> "Response":
        return json(["dev"])

    async def notify(request: "Request") -> "Response":
        body = await read_json(request.receive)
        served.telemetry(body.get("telemetryServerUrl"))
        return PlainTextResponse("OK")

    async def cancel(request: "Request") -> "Response":
        trace_id = (await read_json(request.receive)).get("traceId")
        if not isinstance(trace_id, str) or not trace_id:
            return json({"error": "traceId is required"}, 400)
        if served.runner.cancel(trace_id):
            return json({"message": "Action cancelled"})
        return json({"message": "Action not found or already completed"}, 404)

    async def quit(request: "Request") -> "Response":
        async def end() -> None:
            served.end()

        return PlainTextResponse("OK", background=BackgroundTask(end))

    plugins, stores = Plugins(served.ai), store_answers(served.ai)
    routes = [
        Route("/api/__health", health),
        Route("/api/__quitquitquit", quit, methods=["GET", "POST"]),
        Route("/api/actions", actions),
        Route("/api/values", values),
        Route("/api/envs", envs),
        # Ours: Genkit has no such routes.
        Route("/api/validateInput", AskRoute(served.validate), methods=["POST"]),
        Route("/api/splitPreview", AskRoute(served.split_preview), methods=["POST"]),
        Route("/api/plugins", AskRoute(plugins.list), methods=["POST"]),
        Route("/api/checkPlugin", AskRoute(plugins.check), methods=["POST"]),
        *(Route(f"/api/stores/{name}", AskRoute(ask), methods=["POST"]) for name, ask in stores.items()),
        Route("/api/notify", notify, methods=["POST"]),
        Route("/api/cancelAction", cancel, methods=["POST"]),
        Route("/api/runAction", RunRoute(served.runner), methods=["POST"]),
    ]
    return _with_version(protect(Router(routes=routes)))


def _with_version(app: "ASGIApp") -> "ASGIApp":
    header = (b"x-genkit-version", flowkit_version().encode())

    async def versioned(scope: "Scope", receive: "Receive", send: "Send") -> None:
        async def send_with_header(message: "Message") -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), header]
            await send(message)

        await app(scope, receive, send_with_header)

    return versioned
