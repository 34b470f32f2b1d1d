"""The dev server's API put together: telemetry and everything that pages ask, over one project.

dev = Dev(root)
routes = dev.routes()                     # for a router behind the guard; its policy has `content_types`, `bare_errors`
dev.set_app(supervisor.status.to_wire())
await dev.aclose()
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowkit.config import Settings
from flowkit.server.bodies import TELEMETRY_BYTES
from flowkit.server.dev.actions import Actions, action_operations
from flowkit.server.dev.apps import Apps
from flowkit.server.dev.embed_preview import embed_operations
from flowkit.server.dev.events import Pump, event_operations
from flowkit.server.dev.hub import Hub
from flowkit.server.dev.openapi import openapi
from flowkit.server.dev.plugins import plugin_operations
from flowkit.server.dev.run_routes import run_operations
from flowkit.server.dev.runs import Runs
from flowkit.server.dev.settings import settings_operations
from flowkit.server.dev.shapes import AppState
from flowkit.server.dev.split_preview import split_operations
from flowkit.server.dev.stores import store_operations
from flowkit.server.dev.traces import trace_operations
from flowkit.server.dev.uploads import MULTIPART, Uploads, upload_operations
from flowkit.server.dev.workbench import Workbench
from flowkit.server.guard import Limits
from flowkit.server.operations import Call, Operation, answer_json, bare_errors, not_found
from flowkit.server.telemetry.api import telemetry_operations
from flowkit.server.telemetry.export import OTLP_PATHS
from flowkit.server.telemetry.otlp import PROTOBUF
from flowkit.server.telemetry.traces import Traces
from flowkit.tracing import TRACES_FILE
from flowkit.tracing.redact import PLAIN, Redactor
from flowkit.tracing.retention import Kept

if TYPE_CHECKING:
    from starlette.routing import BaseRoute, Router
    from starlette.types import ASGIApp

__all__ = ["LIMITS", "Dev", "content_types", "dev_app"]

LIMITS = Limits(body_bytes=TELEMETRY_BYTES + 10_000)
"""For the guard around it; the routes have limits of their own, most of them smaller."""


def content_types(path: str) -> Collection[str]:
    """The media types that a path takes in a body: for the guard's policy."""
    if path == "/api/uploads":
        return (MULTIPART,)
    if path.startswith(OTLP_PATHS):
        return ("application/json", PROTOBUF)
    return ("application/json",)


class Dev:
    """What the dev server knows of one project. Make it where its event loop runs, or before; use it there only.

    Of the settings, those count that say how many traces are kept.
    """

    def __init__(self, root: Path, redactor: Redactor = PLAIN, *, settings: Settings | None = None) -> None:
        self.root = root
        self.hub = Hub()
        self.traces = Traces(root / ".flowkit" / TRACES_FILE, redactor, Kept.by(settings or Settings()))
        self.apps = Apps(root)
        self.runs = Runs(self.apps, self.hub)
        self.workbench = Workbench()
        actions = Actions(self.apps)
        self._pump = Pump(self.hub, self.apps, actions, self.runs, self.traces)
        operations = [
            *telemetry_operations(self.traces),
            *trace_operations(self.traces),
            *action_operations(actions, self.apps, self.traces),
            *run_operations(self.runs, self.apps, lambda: self._pump.app),
            *event_operations(self.hub, self._pump),
            *store_operations(self.apps),
            *upload_operations(Uploads(root)),
            *plugin_operations(self.apps),
            *settings_operations(root, self.traces),
            *embed_operations(self.runs),
            *split_operations(root, self.apps, self.workbench),
        ]
        # The fixed ones first, as `summaries` would be taken for the id of a trace; among them the busiest.
        self.operations: Sequence[Operation] = sorted(
            operations, key=lambda operation: (operation.path.count("{"), operation.name != "postTrace")
        )
        self.bare_errors: Callable[[str, str], bool] = bare_errors(self.operations)
        """Where errors have Genkit's form: for the guard's policy."""
        self._document: dict[str, Any] | None = None

    def routes(self) -> "list[BaseRoute]":
        """All routes, and the document that describes them."""

        async def document(call: Call) -> "ASGIApp":
            if self._document is None:
                self._document = openapi(self.operations)
            return answer_json(self._document)

        described = Operation("openapi", "GET", "/api/openapi.json", "The OpenAPI document", document)
        return [operation.route() for operation in (*self.operations, described)]

    def set_app(self, status: Mapping[str, Any]) -> None:
        """What the supervisor knows of the app, in its wire form; pages are told at once."""
        self._pump.set_app(AppState.from_wire(dict(status)))

    def end_streams(self) -> None:
        """Streams that have no end of their own are ended, so that the server can stop."""
        self.hub.close()
        self.traces.changes.close()

    async def aclose(self) -> None:
        """End streams and runs, write what is queued, close files and connections."""
        self.end_streams()
        await self.runs.aclose()
        await self.workbench.aclose()
        await self.apps.aclose()
        await self.traces.aclose()


def dev_app(dev: Dev) -> "Router":
    """The API alone, as a bare router: nothing in it makes an answer of what the guard raises."""
    from starlette.routing import Router

    return Router(dev.routes(), default=not_found, redirect_slashes=False)
