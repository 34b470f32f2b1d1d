"""Flows as a web app: Genkit's flow protocol over ASGI, and nothing else. No developer API is in it.

    app = FlowApp(ai)                   # POST /menuQA {"data": "What is vegan?"} → {"result": …}
    app.mount("/ai", ai.asgi())         # in a Starlette or FastAPI app

It is plain ASGI, so that middleware of the user sees everything, and context variables that it sets are seen in flows.
"""

import asyncio
import functools
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flowkit.core.access import ContextProvider, FlowLimits, FlowPolicy, FlowRequest, context_of
from flowkit.core.action import Action
from flowkit.core.signature import MISSING
from flowkit.core.values import to_json
from flowkit.errors import InvalidInputError, NotFoundError
from flowkit.server.flows.answers import Refusal, refusal, send_json
from flowkit.server.flows.call import Call
from flowkit.server.flows.envelope import Envelope, Left, read_envelope
from flowkit.server.flows.openapi import openapi_document
from flowkit.server.flows.stream import stream

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from flowkit.app import Flowkit

__all__ = ["FlowApp"]

_log = logging.getLogger("flowkit.server.flows")

AnyAction = Action[Any, Any, Any]
_NOTHING: Mapping[str, Any] = {}
_HEALTH, _READY, _OPENAPI = "/__health", "/__ready", "/openapi.json"


class FlowApp:
    """An ASGI app. At the end of ASGI's lifespan it closes `ai`; a mounted one has none, and whoever owns `ai` does.

    Args:
        flows: Names, or the flows themselves; None serves every flow of the app.
        context_providers: Make the context of each run, in this order; what one raises is the answer.
        policies: By flow name, asked after the providers.
        path_prefix: Before the flow's name: `"api"` makes `/api/menuQA`.
        openapi: Whether `/openapi.json` describes the flows to everybody.
        dev: Tell callers what went wrong inside; default: in dev mode only.

    Raises:
        NotFoundError: `flows` or `policies` names a flow that does not exist.
    """

    def __init__(
        self,
        ai: "Flowkit",
        flows: Sequence[str | AnyAction] | None = None,
        *,
        context_providers: Sequence[ContextProvider] = (),
        policies: Mapping[str, FlowPolicy] | None = None,
        path_prefix: str = "",
        limits: FlowLimits | None = None,
        openapi: bool = True,
        dev: bool | None = None,
    ) -> None:
        self.ai = ai
        self._names = None if flows is None else frozenset(self._name(flow) for flow in flows)
        self._providers = tuple(context_providers)
        self._policies = {self._name(name): policy for name, policy in (policies or {}).items()}
        self._prefix = f"/{path_prefix.strip('/')}/" if path_prefix.strip("/") else "/"
        self.limits = limits or FlowLimits()
        self._openapi = openapi
        self.dev = ai.settings.dev if dev is None else dev
        self._attached: asyncio.AbstractEventLoop | None = None
        self._calls: set[asyncio.Task[Any]] = set()
        self._draining = False

    @property
    def flows(self) -> list[str]:
        """The names of the flows that are served, sorted."""
        known = [key.removeprefix("/flow/") for key in self.ai.registry.keys("flow")]
        return known if self._names is None else sorted(self._names)

    @property
    def asks_who(self) -> bool:
        """True when something stands between a stranger and a flow."""
        return bool(self._providers or self._policies)

    def path_of(self, flow: str) -> str:
        return self._prefix + flow

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        kind = scope["type"]
        if kind == "http":
            self._attach()
            try:
                await self._http(scope, receive, send)
            except Refusal as refused:
                await send_json(send, refused.http_status, refused.body, refused.headers)
            except Left:
                return
        elif kind == "lifespan":
            await self._lifespan(receive, send)
        elif kind == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": "flows are called by POST"})

    async def drain(self, seconds: float) -> None:
        """Take no more calls; wait for those that run, then cancel them. Streams get their last frame."""
        self._draining = True
        if self._calls:
            await asyncio.wait(self._calls, timeout=seconds)
        calls = list(self._calls)
        for call in calls:
            if not call.cancelling():  # by the server, which has lost patience already
                call.cancel()
        if calls:
            await asyncio.wait(calls, timeout=2.0)

    # Requests.

    async def _http(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        path, method = _path(scope), scope["method"]
        if method == "POST" and path.startswith(self._prefix):
            if self._draining:
                raise _shutting_down()
            task = asyncio.current_task()
            assert task is not None  # servers call apps in tasks
            self._calls.add(task)
            try:
                await self._flow(path.removeprefix(self._prefix), scope, receive, send)
            finally:
                self._calls.discard(task)
        elif path in (_HEALTH, _READY, _OPENAPI):
            if method not in ("GET", "HEAD"):
                raise Refusal(405, "INVALID_ARGUMENT", f"{path} is asked by GET", [(b"allow", b"GET, HEAD")])
            await self._about(path, send)
        elif path.startswith(self._prefix) and path.removeprefix(self._prefix) in self.flows:
            raise Refusal(405, "INVALID_ARGUMENT", "flows are called by POST", [(b"allow", b"POST")])
        else:
            raise Refusal(404, "NOT_FOUND", f"there is nothing at {path}")

    async def _about(self, path: str, send: "Send") -> None:
        if path == _OPENAPI:
            if not self._openapi:
                raise Refusal(404, "NOT_FOUND", f"there is nothing at {path}")
            actions = {self.path_of(name): await self._action(name) for name in self.flows}
            await send_json(send, 200, openapi_document(actions, title=self.ai.settings.root.name or "flowkit"))
            return
        if path == _READY and self._draining:
            raise _shutting_down()
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"OK"})

    async def _flow(self, name: str, scope: "Scope", receive: "Receive", send: "Send") -> None:
        action = await self._action(name)
        envelope = await read_envelope(scope, receive, self.limits)
        call = Call(action, envelope.input, envelope.headers, run_seconds=self.limits.run_seconds)
        result: Any = None
        try:
            call.context = await self._context(name, scope["method"], envelope)
            if not envelope.stream:
                async with call.unless_left(receive):
                    result = await call.run()
        except asyncio.CancelledError as error:
            if _is_being_cancelled():
                gone = _shutting_down()
                await send_json(send, gone.http_status, gone.body, call.id_headers)
                raise
            await self._refuse(send, call, error)
        except Exception as error:  # noqa: BLE001  whatever a flow raises is an answer
            await self._refuse(send, call, error)
        else:
            if envelope.stream:
                tell = functools.partial(self._told, call)
                await stream(call, receive, send, limits=self.limits, tell=lambda error: tell(error)[1])
            elif not call.left:
                await send_json(send, 200, b'{"result":' + to_json(result) + b"}", call.id_headers)

    async def _context(self, name: str, method: str, envelope: Envelope) -> Mapping[str, Any]:
        policy = self._policies.get(name)
        if policy is None and not self._providers:
            return _NOTHING
        value = None if envelope.input is MISSING else envelope.input
        return await context_of(FlowRequest(name, method, envelope.headers, value), self._providers, policy)

    async def _refuse(self, send: "Send", call: Call, error: BaseException) -> None:
        http_status, body = self._told(call, error)
        await send_json(send, http_status, body, call.id_headers)

    def _told(self, call: Call, error: BaseException) -> tuple[int, dict[str, Any]]:
        schema = call.action.input_schema if isinstance(error, InvalidInputError) and call.is_refused else None
        return refusal(error, flow=call.action.name, trace_id=call.ids[0], schema=schema, dev=self.dev)

    async def _action(self, name: str) -> AnyAction:
        if self._names is None or name in self._names:
            try:
                return await self.ai.registry.get(f"/flow/{name}")
            except (NotFoundError, InvalidInputError):
                pass
        raise Refusal(404, "NOT_FOUND", f"there is no flow {name!r}")

    def _name(self, flow: str | AnyAction) -> str:
        name = flow if isinstance(flow, str) else flow.name
        known = self.ai.registry.keys("flow")
        if f"/flow/{name}" not in known:
            there = ", ".join(key.removeprefix("/flow/") for key in known)
            raise NotFoundError(f"no flow {name!r} can be served", hint=f"there are: {there}" if there else None)
        return name

    # The life of the server.

    def _attach(self) -> None:
        """Runs from outside use the loop that serves; a mounted app is only told of it by its first request."""
        loop = asyncio.get_running_loop()
        if loop is not self._attached:
            self._attached = loop
            self.ai.attach()

    async def _lifespan(self, receive: "Receive", send: "Send") -> None:
        await receive()
        self._attach()
        self._draining = False
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.drain(0)
        try:
            await self.ai.aclose()
        except Exception:  # noqa: BLE001  the server ends all the same
            _log.exception("the app could not be closed")
        await send({"type": "lifespan.shutdown.complete"})


def _path(scope: "Scope") -> str:
    """The path below the place where the app is mounted."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(root + "/") else path


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _shutting_down() -> Refusal:
    return Refusal(503, "UNAVAILABLE", "the server is shutting down", [(b"connection", b"close")])
