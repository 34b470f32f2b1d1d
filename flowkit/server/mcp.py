"""Flows and traces as tools of the Model Context Protocol: an assistant lists flows, runs one, looks at what it did.

server = mcp_server(flows, store)
await server.run_stdio_async()
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

from flowkit.core.signature import MISSING
from flowkit.core.threads import run_in_thread
from flowkit.errors import ConfigError, FlowkitError
from flowkit.server.describe import describe_actions
from flowkit.server.dev.apps import Apps
from flowkit.server.runner import Runner, RunRequest
from flowkit.server.version import flowkit_version
from flowkit.tracing.rows import Trace, TraceSummary
from flowkit.tracing.store import TraceStore
from flowkit.tracing.tree import walk

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from flowkit.app import Flowkit

__all__ = ["Flows", "FlowsHere", "FlowsThere", "mcp_server"]

_VALUE_CHARS = 4_000
Status = Literal["running", "success", "error", "cancelled", "lost"]
_INSTRUCTIONS = (
    "Flows are functions of the user's AI app. list_flows says what there is and what each takes; run_flow runs one; "
    "get_trace shows every step of a run with its inputs, outputs and errors: look there when a result is odd."
)


class Flows(Protocol):
    """Where flows are run."""

    async def describe(self) -> Mapping[str, Any]:
        """Every action by key, as Genkit's tools list them."""
        ...

    async def run(self, key: str, value: Any) -> Mapping[str, Any]:
        """Genkit's answer: `result` or `error`, and `telemetry`."""
        ...


class FlowsHere:
    """In this process."""

    def __init__(self, ai: "Flowkit") -> None:
        self._ai = ai
        sink: Any = ai.runtime.tracing.sink
        self._runner = Runner(ai.registry, flush=getattr(sink, "flush", None))

    async def describe(self) -> Mapping[str, Any]:
        return describe_actions(self._ai.registry)

    async def run(self, key: str, value: Any) -> Mapping[str, Any]:
        run = self._runner.start(RunRequest(key, value))
        try:
            await run.opened()
            answer: dict[str, Any] = json.loads((await run.answer()).frame)
        finally:
            run.close()
        if run.trace_id is not None:
            answer.setdefault("telemetry", {"traceId": run.trace_id})
        return answer


class FlowsThere:
    """In the app that runs already; it may be reloaded in between."""

    def __init__(self, apps: Apps) -> None:
        self._apps = apps

    async def describe(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = await self._apps.get_json(await self._apps.pick(None), "/api/actions")
        return found

    async def run(self, key: str, value: Any) -> Mapping[str, Any]:
        body = {"key": key} if value is MISSING else {"key": key, "input": value}
        async with self._apps.open(await self._apps.pick(None), "/api/runAction", body) as response:
            answer: Mapping[str, Any] = json.loads(await response.aread())
        return answer


def mcp_server(flows: Flows, store: TraceStore) -> "MCPServer[Any]":
    """The server, with its tools.

    Raises:
        ConfigError: the package `mcp` is not installed.
    """
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:
        raise ConfigError("flowkit mcp needs the package mcp", hint="pip install 'flowkit-ai[mcp]'") from None

    server: MCPServer[Any] = MCPServer(
        "flowkit", instructions=_INSTRUCTIONS, version=flowkit_version(), log_level="WARNING"
    )

    async def list_flows() -> list[dict[str, Any]]:
        """List the app's flows: name, description, and the JSON Schema of the input."""
        found = await _told(flows.describe())
        return [
            {"name": about["name"], "description": about.get("description"), "inputSchema": about.get("inputSchema")}
            for key, about in found.items()
            if key.startswith("/flow/")
        ]

    async def run_flow(name: str, input: Any = None) -> dict[str, Any]:
        """Run a flow and return its result, or its error, and the id of its trace.

        Args:
            name: As list_flows names it.
            input: What the flow takes, of its input schema; left out for a flow that takes nothing.
        """
        key = f"/flow/{name.removeprefix('/flow/')}"
        known = await _told(flows.describe())
        if key not in known:
            names = ", ".join(sorted(each.removeprefix("/flow/") for each in known if each.startswith("/flow/")))
            raise ToolError(f"there is no flow {name!r}; there are: {names}")
        takes = known[key].get("inputSchema")
        answer = await _told(flows.run(key, MISSING if input is None and not takes else input))
        found = {"traceId": (answer.get("telemetry") or {}).get("traceId")}
        error = answer.get("error")
        if error is None:
            return {**found, "result": answer.get("result")}
        details = error.get("details") or {}
        found["traceId"] = found["traceId"] or details.get("traceId")
        return {**found, "error": error.get("message"), "fields": details.get("errors")}

    async def list_traces(
        limit: int = 10, status: Status | None = None, flow: str | None = None, text: str | None = None
    ) -> list[dict[str, Any]]:
        """List runs, newest first.

        Args:
            limit: How many at most, up to 100.
            status: Only runs that ended so.
            flow: Only runs of this flow.
            text: Words in names, inputs, outputs or errors.
        """

        def work() -> list[dict[str, Any]]:
            page = store.list(limit=max(1, min(limit, 100)), status=status, action=flow, text=text)
            return [_summary(item) for item in page.items]

        return await _told(run_in_thread(work))  # type: ignore[no-any-return]

    async def get_trace(trace_id: str) -> dict[str, Any]:
        """Show every step of a run: name, kind, duration, input, output, error. Long values are cut.

        Args:
            trace_id: A full id, or the beginning of one.
        """
        return await _told(run_in_thread(lambda: _steps(store.get(trace_id))))  # type: ignore[no-any-return]

    async def _told(work: Any) -> Any:
        try:
            return await work
        except FlowkitError as error:
            raise ToolError(str(error)) from None

    for tool in (list_flows, run_flow, list_traces, get_trace):
        server.add_tool(tool, structured_output=False)
    return server


def _summary(item: TraceSummary) -> dict[str, Any]:
    return {
        "traceId": item.trace_id,
        "name": item.name,
        "kind": item.kind,
        "status": item.status,
        "durationMs": item.duration_ms,
        "steps": item.spans,
        "input": item.input,
        "error": item.error,
    }


def _steps(trace: Trace) -> dict[str, Any]:
    steps = []
    for row, above in walk(trace.spans):
        step: dict[str, Any] = {
            "depth": len(above) - 1,
            "name": row.name,
            "kind": row.label,
            "durationMs": row.duration_ms,
            "status": row.state,
            "input": _cut(row.input),
            "output": _cut(row.output),
        }
        if row.error is not None:
            step["error"] = f"{row.error.type}: {row.error.message}"
            if row.failure_source:
                step["stack"] = row.error.stack
        steps.append({key: value for key, value in step.items() if value is not None})
    return {**_summary(trace.summary), "steps": steps}


def _cut(raw: bytes | None) -> Any:
    """A value, or the beginning of its JSON when it is long."""
    if raw is None:
        return None
    text = raw.decode("utf-8", "replace")
    if len(text) > _VALUE_CHARS:
        return f"{text[:_VALUE_CHARS]}… ({len(text)} characters)"
    try:
        return json.loads(text)
    except ValueError:
        return text
