"""`flowkit serve`: the app's flows in production, over HTTP.

$ flowkit serve app.py --host 0.0.0.0 --port 8000
"""

import ipaddress
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flowkit.cli.apps import HELP, told
from flowkit.cli.lines import CliError, paint, say

if TYPE_CHECKING:
    from flowkit.server.flows.app import FlowApp

__all__ = ["serve"]

_FIRST_PORT = 8000
_LISTED = 20


@click.command("serve", context_settings=HELP)
@click.argument("app", required=False)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on")
@click.option("--port", type=click.IntRange(1, 65535), default=_FIRST_PORT, show_default=True)
@click.option("--workers", type=click.IntRange(1, 512), default=1, show_default=True, help="Processes that serve")
@click.option(
    "--grace-seconds",
    type=click.FloatRange(0, 3600),
    default=10.0,
    show_default=True,
    help="How long calls may go on after SIGTERM",
)
def serve(app: str | None, host: str, port: int, workers: int, grace_seconds: float) -> int:
    """Serve the app's flows over HTTP: POST /<flow> with {"data": …}.

    APP is module:ai or file.py; without it, pyproject.toml says which, or it is app.py. What the app has made by
    ai.asgi(…) is served, with its API keys and limits; without one, every flow is. The developer UI and API are not
    there.
    """
    from flowkit.config import project_root
    from flowkit.server.discover import find_app, load_flows
    from flowkit.server.flows.serve import serve_flows
    from flowkit.server.flows.workers import serve_with_workers
    from flowkit.server.reflection.role import stand_down
    from flowkit.server.start.ports import listen
    from flowkit.tracing.otlp import start_export
    from flowkit.tracing.provider import install_if_unset

    stand_down()
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    cwd = Path.cwd()
    with told():
        place = find_app(app, cwd=cwd, root=project_root(cwd))
        flows = load_flows(place)
    if not flows.flows:
        raise CliError(f"{place.label} has no flows", hint="@ai.flow() above a function makes one")
    listening = listen(host="127.0.0.1" if host == "localhost" else host, port=port)

    def ready() -> None:
        _show(flows, place.label, f"http://{f'[{host}]' if ':' in host else host}:{port}")
        if not flows.asks_who and not _is_loopback(host):
            note = "whoever reaches this address can call these flows; ai.asgi(context_providers=[api_key(…)])"
            say(f"{paint('!', 'warn', sys.stderr)} {note}")

    if workers > 1:
        return serve_with_workers(place, listening, workers=workers, grace_seconds=grace_seconds, on_ready=ready)
    settings, sink = flows.ai.settings, flows.ai.runtime.tracing.sink
    stop_export = start_export(settings.otlp, sink)
    if sink is not None:
        install_if_unset(sink)
    try:
        serve_flows(flows, [listening], grace_seconds=grace_seconds, on_ready=ready)
    finally:
        if stop_export is not None:
            stop_export()
    return 0


def _show(flows: "FlowApp", label: str, url: str) -> None:
    names = flows.flows
    count = f"{len(names)} flow" if len(names) == 1 else f"{len(names)} flows"
    say(f"{paint('✓', 'good', sys.stderr)} {label} serves {count}   {paint('Ctrl-C ends it', 'dim', sys.stderr)}")
    for name in names[:_LISTED]:
        say(f"  POST {paint(url + flows.path_of(name), 'strong', sys.stderr)}")
    if len(names) > _LISTED:
        say(f"  and {len(names) - _LISTED} more: {url}/openapi.json")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
