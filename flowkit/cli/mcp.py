"""`flowkit mcp`: flows and traces for an assistant, by the Model Context Protocol on stdin and stdout.

$ flowkit mcp
"""

import asyncio
from typing import TYPE_CHECKING, Any

import click

from flowkit.cli.apps import HELP, load
from flowkit.cli.traces import open_traces

if TYPE_CHECKING:
    from flowkit.server.mcp import Flows

__all__ = ["mcp"]


@click.command("mcp", context_settings=HELP)
@click.argument("app", required=False)
def mcp(app: str | None) -> int:
    """Serve the app's flows and traces to an assistant, by MCP on stdin and stdout.

    Its tools are list_flows, run_flow, list_traces and get_trace. Flows run in the app that runs already (flowkit
    start), else in this process; with APP, module:ai or file.py, always here. Needs pip install 'flowkit-ai[mcp]'.
    """
    from flowkit.cli.results import Results
    from flowkit.errors import ConfigError

    try:
        import mcp.server  # noqa: F401  before the app is loaded for nothing
    except ImportError:
        raise ConfigError("flowkit mcp needs the package mcp", hint="pip install 'flowkit-ai[mcp]'") from None
    # While the app is loaded its prints go to stderr; afterwards MCP's own transport sees to that.
    ai = None
    runtime = None if app is not None else _running()
    if runtime is None:
        with Results():
            ai = load(app, option="")
    asyncio.run(_serve(ai))
    return 0


def _running() -> Any:
    from flowkit.config import Settings
    from flowkit.server.runtimes import running

    return running(Settings.from_env().root)


async def _serve(ai: Any) -> None:
    from flowkit.config import Settings
    from flowkit.server.dev.apps import Apps
    from flowkit.server.mcp import FlowsHere, FlowsThere, mcp_server

    apps = Apps(Settings.from_env().root)
    flows: Flows = FlowsHere(ai) if ai is not None else FlowsThere(apps)
    try:
        await mcp_server(flows, open_traces()).run_stdio_async()
    finally:
        await apps.aclose()
        if ai is not None:
            await ai.aclose()
