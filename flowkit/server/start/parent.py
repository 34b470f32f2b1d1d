"""The web app of the parent process: what it knows of the child, the developer API, the pages; the guard around all.

    app = parent_app(supervisor, about=About(url=…, app="app.py"), routes=[Mount("/api", dev_api)], policy=policy)

Routes of the developer API and of the telemetry API come in through `routes`; nothing is reachable around the guard.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowkit.config import devui_folder
from flowkit.server.frames import frame
from flowkit.server.guard import Guard, Limits, Policy, is_page
from flowkit.server.reflection.protect import explaining
from flowkit.server.start.page import SHIPPED, Pages
from flowkit.server.start.supervise import Status, Supervisor
from flowkit.server.version import flowkit_version

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["About", "parent_app", "status_body", "write_only"]


@dataclass(frozen=True, slots=True)
class About:
    """What stays the same as long as the parent runs."""

    url: str
    """Where the UI is, without the token."""
    app: str
    """For people: `app.py`, `shop.flows:ai`, or the command."""
    root: Path


def parent_app(
    supervisor: Supervisor,
    *,
    about: About,
    routes: "Sequence[BaseRoute]" = (),
    policy: Policy | None = None,
    limits: Limits | None = None,
) -> "ASGIApp":
    """Everything that answers on the parent's port."""
    from starlette.responses import PlainTextResponse
    from starlette.responses import Response as Answer
    from starlette.routing import Router

    from flowkit.server.operations import Call, Operation, not_found

    async def health(call: Call) -> "Response":
        return PlainTextResponse("OK")

    async def status(call: Call) -> "Response":
        return Answer(frame(status_body(supervisor.status, about)), media_type="application/json")

    own = (
        Operation("health", "GET", "/api/__health", "Whether the server answers", health),
        Operation("status", "GET", "/api/status", "How the app is", status),
    )
    api = Router([*(each.route() for each in own), *routes], redirect_slashes=False, default=not_found)
    pages = Pages(devui_folder() or SHIPPED, lambda: _plain(supervisor.status, about))

    async def both(scope: "Scope", receive: "Receive", send: "Send") -> None:
        await (pages if scope["type"] == "http" and is_page(scope["path"]) else api)(scope, receive, send)

    return Guard(explaining(both), policy=policy, limits=limits)


def status_body(status: Status, about: About) -> Mapping[str, Any]:
    """The body of `GET /api/status`."""
    return {
        **status.to_wire(),
        "app": about.app,
        "url": about.url,
        "root": str(about.root),
        "python": ".".join(map(str, sys.version_info[:3])),
        "version": flowkit_version(),
    }


def write_only(app: "ASGIApp") -> "ASGIApp":
    """Only what a runtime needs to send its spans: for a port without a token, from which nothing can be read."""

    async def filtered(scope: "Scope", receive: "Receive", send: "Send") -> None:
        allowed = scope["type"] == "http" and (
            (scope["method"] == "POST" and scope["path"].startswith(("/api/traces", "/api/otlp")))
            or (scope["method"] == "GET" and scope["path"] == "/api/__health")
        )
        if allowed:
            await app(scope, receive, send)
            return
        from starlette.responses import PlainTextResponse

        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http":
            await PlainTextResponse("spans can be sent here, and nothing else", 404)(scope, receive, send)

    return filtered


def _plain(status: Status, about: About) -> tuple[str, str, str]:
    states = {
        "starting": "is starting",
        "running": "runs",
        "failed": "does not run",
        "ended": "has ended",
        "stopping": "is being stopped",
    }
    return (
        about.root.name or "flowkit",
        f"{about.app} {states[status.state]}.",
        ("" if status.error is None else status.error.traceback or status.error.message),
    )
