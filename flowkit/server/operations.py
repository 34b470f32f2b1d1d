"""Operations: the routes of an API, each with the shapes of what it takes and gives, so that code and document agree.

    routes = [operation.route() for operation in operations]

Paths have strict parts: an id that is not of its pattern is refused before anything looks for it.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ValidationError

from flowkit.core.types import problems, summary
from flowkit.core.values import to_json
from flowkit.errors import FlowkitError, InvalidInputError, UnsupportedError
from flowkit.server.bodies import JSON_BYTES, json_of, read_body
from flowkit.server.errors import wire_error

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import Route
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["PATTERNS", "Call", "Operation", "answer_json", "bare_errors", "not_found"]

_log = logging.getLogger("flowkit.server")

PATTERNS = {
    "trace_id": "[0-9a-f]{32}",
    "span_id": "[0-9a-f]{16}",
    "parent_trace_id": "[0-9a-f]{32}",
    "parent_span_id": "[0-9a-f]{16}",
    "run_id": "[0-9a-f]{16}",
    "upload_id": "[A-Za-z0-9_-]{22}",
    "field": "input|output",
}
"""Regular expressions of the parts of paths; a part that is not here may be anything."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request: what was in its path, its query and its body, checked."""

    request: "Request"
    params: Mapping[str, str]
    query: Any
    body: Any
    raw: bytes


Endpoint = Callable[[Call], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Operation:
    """A method on a path.

    An endpoint returns a model, or a Starlette response where the body is no plain JSON. `answer` is its shape; of a
    stream (`gives` NDJSON or server-sent events) it is that of each line.
    """

    name: str
    method: Literal["GET", "POST", "DELETE"]
    path: str
    summary: str
    endpoint: Endpoint
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    answer: type[BaseModel] | None = None
    tag: str = "dev"
    takes: Sequence[str] = ("application/json",)
    reads: Literal["json", "bytes", "nothing"] = "json"
    """`bytes`: the endpoint makes something of the body itself, or (`nothing`) reads it itself."""
    gives: str = "application/json"
    body_bytes: int = JSON_BYTES
    genkit: bool = False
    """Errors have the form of Genkit's telemetry server: the error object itself, not in `error`."""

    def route(self) -> "Route":
        """The route, with errors as answers."""
        from starlette.routing import Route

        class OurRoute(Route):
            async def handle(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
                if scope["method"] in (self.methods or ()):
                    await self.app(scope, receive, send)
                else:  # Starlette's own answer is no JSON
                    await _other_method(scope)(scope, receive, send)

        return OurRoute(self.path, _Endpoint(self), methods=[self.method], name=self.name)


class _Endpoint:
    """An ASGI app, so that Starlette adds nothing of its own."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        from starlette.requests import Request
        from starlette.responses import Response

        operation = self._operation
        request = Request(scope, receive)
        raw = b""
        try:
            params = _checked_params(scope["path_params"]) if scope["path_params"] else {}
            if operation.body is not None and operation.reads != "nothing":
                raw = await read_body(request, limit=operation.body_bytes)
        except FlowkitError as error:
            await _error(error, genkit=operation.genkit)(scope, receive, send)
            return
        try:
            query = _checked_query(operation, request)
            body = _checked_body(operation, raw)
            found = await operation.endpoint(Call(request, params, query, body, raw))
        except FlowkitError as error:
            found = _error(error, genkit=operation.genkit)
        except Exception as error:  # noqa: BLE001  a bug of ours; the page is to say so, too
            _log.exception("%s %s failed", operation.method, operation.path)
            found = _error(error, genkit=operation.genkit)
        if not callable(found):
            found = answer_json(found)
        response: ASGIApp | Response = found
        await response(scope, receive, send)


def answer_json(value: Any, status: int = 200) -> "ASGIApp":
    """JSON with real characters; models without what is unset."""
    from starlette.responses import Response

    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return Response(to_json(value), status, media_type="application/json")


def bare_errors(operations: Sequence[Operation]) -> Callable[[str, str], bool]:
    """Where errors are Genkit's object itself, for the guard's policy: it refuses before an operation is found."""
    routes = [(operation.genkit, operation.route()) for operation in operations]

    def bare(method: str, path: str) -> bool:
        from starlette.routing import Match

        scope = {"type": "http", "method": method, "path": path}
        return next((genkit for genkit, route in routes if route.matches(scope)[0] is Match.FULL), False)

    return bare


async def not_found(scope: "Scope", receive: "Receive", send: "Send") -> None:
    """The answer where nothing is."""
    if scope["type"] == "websocket":
        await receive()  # the connect event
        await send({"type": "websocket.close", "code": 1008})
        return
    told = {
        "code": 5,
        "status": "NOT_FOUND",
        "message": f"there is nothing at {scope['path'][:200]}",
        "details": {"hint": "GET /api/openapi.json lists what there is"},
    }
    await answer_json({"error": told}, 404)(scope, receive, send)


def _other_method(scope: "Scope") -> "ASGIApp":
    from starlette.responses import Response
    from starlette.routing import Match, Route

    found = (route for route in scope["router"].routes if isinstance(route, Route))
    at = (route.methods or () for route in found if route.matches(scope)[0] is not Match.NONE)
    methods = sorted(set().union(*at))
    told = {
        "code": 12,
        "status": "UNIMPLEMENTED",
        "message": f"{scope['path']} is not answered to {scope['method']}",
        "details": {"hint": f"it is asked by {' or '.join(methods)}"},
    }
    return Response(to_json({"error": told}), 405, {"allow": ", ".join(methods)}, "application/json")


def _error(error: Exception, *, genkit: bool) -> "ASGIApp":
    told = wire_error(error)
    status = error.http_status if isinstance(error, FlowkitError) else 500
    if isinstance(error, FlowkitError):
        told["details"].pop("stack", None)  # what was wrong is said; where in our code is nobody's concern
    if genkit:
        return answer_json(told, status)
    return answer_json({"error": {**told, "status": told["details"].get("status", "INTERNAL")}}, status)


def _checked_params(params: Mapping[str, Any]) -> dict[str, str]:
    for name, value in params.items():
        pattern = PATTERNS.get(name)
        if pattern is not None and not re.fullmatch(pattern, str(value)):
            raise InvalidInputError(f"{str(value)[:100]!r} is no {name.replace('_', ' ')}", hint=f"it is {pattern}")
    return {name: str(value) for name, value in params.items()}


def _checked_query(operation: Operation, request: "Request") -> Any:
    if operation.query is None:
        return None
    given = {key: value for key, value in request.query_params.items() if value != ""}
    return _validated(operation.query, given, "query")


def _checked_body(operation: Operation, raw: bytes) -> Any:
    if operation.body is None or operation.reads != "json":
        return None
    return _validated(operation.body, json_of(raw), "body")


def _validated(model: type[BaseModel], value: Any, what: str) -> Any:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = problems(error)
        raise InvalidInputError(f"bad {what}: {summary(found)}", details={"errors": found}) from None
    except RecursionError:
        raise UnsupportedError(f"the {what} is nested too deeply") from None
