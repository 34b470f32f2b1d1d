"""`flowkit start`: the app in development, with its UI, restarted when its files change.

$ flowkit start
$ flowkit start -- uvicorn app:app --port 8000
"""

import ipaddress
import logging
import re
import secrets
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flowkit.cli.apps import HELP, told
from flowkit.cli.lines import CliError

if TYPE_CHECKING:
    from flowkit.server.guard import Policy
    from flowkit.server.start.parent import About
    from flowkit.server.start.serve import Additions
    from flowkit.server.start.supervise import Supervisor

__all__ = ["start"]

_WILDCARDS = ("0.0.0.0", "::")
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|\[?[0-9A-Fa-f:]+\]?")
_ORIGIN = re.compile(r"https?://(\*|[A-Za-z0-9-]+|\[[0-9A-Fa-f:]+\])(\.[A-Za-z0-9-]+)*(:\d{1,5})?")


class _WithCommand(click.Command):
    """`--` begins a command line; `--token` needs no value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        own, ctx.obj = args[:at], args[at + 1 :]
        if at < len(args) and not ctx.obj:
            raise click.UsageError("there is no command after --", ctx)
        for number, word in enumerate(own):
            following = own[number + 1] if number + 1 < len(own) else "-"
            if word == "--token" and (following.startswith("-") or _is_app(following)):
                own[number] = "--token="
        return super().parse_args(ctx, own)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND…]"]


@click.command("start", cls=_WithCommand, context_settings=HELP)
@click.argument("app", required=False)
@click.option("--port", type=click.IntRange(1, 65535), help="Default: 4100, or the next free one")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on")
@click.option("--token", metavar="[TOKEN]", help="Ask for a token; without a value one is made up")
@click.option("--allow-host", metavar="NAME", multiple=True, help="A host name under which browsers may come")
@click.option(
    "--allow-origin", metavar="ORIGIN", multiple=True, help="An origin whose pages may call, as https://x.dev"
)
@click.option("-n", "--no-open", is_flag=True, help="Do not open the browser")
@click.pass_obj
def start(
    command: list[str],
    app: str | None,
    port: int | None,
    host: str,
    token: str | None,
    allow_host: tuple[str, ...],
    allow_origin: tuple[str, ...],
    no_open: bool,
) -> int:
    """Run the app for development: with its UI, and started again whenever its files change.

    APP is module:ai or file.py; without it, pyproject.toml says which, or it is app.py. A COMMAND is run as it is, with
    GENKIT_ENV=dev.
    """
    if app is not None and command:
        raise CliError("there are an APP and a COMMAND", hint="give one of them")
    host = "127.0.0.1" if host == "localhost" else host
    if token == "":
        token = secrets.token_urlsafe(18)
    policy = _policy(host, token, allow_host, allow_origin)

    from flowkit.cli.start_screen import Screen
    from flowkit.config import Settings, project_root
    from flowkit.server.discover import find_app
    from flowkit.server.start.parent import About
    from flowkit.server.start.ports import listen
    from flowkit.server.start.serve import Plan, serve_parent

    cwd = Path.cwd()
    root = project_root(cwd)
    label, folders = shlex.join(command), [root]
    if not command:
        with told():
            place = find_app(app, cwd=cwd, root=root)
        label, folders = place.label, [root, place.folder]
        command = [sys.executable, "-m", "flowkit.cli.start_app", *([] if app is None else [app])]
    data_folder = Settings.from_env().data_folder
    if data_folder.exists() and not data_folder.is_dir():
        raise CliError(
            f"a file is in the way of the folder {data_folder}", hint="move it away: traces and indexes are kept there"
        )
    listening = listen(host=host, port=port)
    shown = next(iter(policy.hosts), host) if host in _WILDCARDS else host
    url = f"http://{f'[{shown}]' if ':' in shown else shown}:{listening.getsockname()[1]}"
    screen = Screen(f"{url}/#token={token}" if token else url, label, open_browser=_quiet if no_open else _browse)
    logging.getLogger("flowkit").addHandler(screen)
    if token is not None and not _is_loopback(host):
        screen.note(f"whoever reaches {host} and has the token can run this app and read its traces")
    plan = Plan(
        command=command,
        about=About(url=url, app=label, root=Settings.from_env().root),
        listening=listening,
        policy=policy,
        folders=folders,
        add=_dev_api,
        spans_listening=None if token is None else listen(host="127.0.0.1", port=None, first_port=4200),
    )
    serve_parent(plan, on_status=screen.show, on_error_output=screen.tee, on_ready=screen.ready, say=screen.note)
    return 0


def _dev_api(supervisor: "Supervisor", about: "About") -> "Additions":
    """Loaded while the app starts, not before."""
    from flowkit.server.dev.mount import add_dev_api

    return add_dev_api(supervisor, about)


def _policy(host: str, token: str | None, allow_host: tuple[str, ...], allow_origin: tuple[str, ...]) -> "Policy":
    """What the guard admits.

    Raises:
        CliError: an address that others can reach without a token, or something that is no name or origin.
    """
    from flowkit.server.guard import Policy

    if not _is_loopback(host):
        if token is None:
            raise CliError(f"--host {host} can be reached by others", hint="add --token; one is made up and shown")
        if host in _WILDCARDS and not allow_host:
            raise CliError(f"--host {host} has no name of its own", hint="add --allow-host with the name you will open")
    hosts = [_host(name) for name in allow_host]
    if host not in _WILDCARDS and not _is_loopback(host):
        hosts.append(f"[{host}]" if ":" in host else host)
    for origin in allow_origin:
        if not _ORIGIN.fullmatch(origin):
            raise CliError(
                f"--allow-origin {origin!r} is no origin",
                hint="such as https://dev.example.com, or https://*.example.dev for one label",
            )
    return Policy(hosts=hosts, origins=allow_origin, token=token)


def _host(name: str) -> str:
    bare = re.sub(r":\d+$", "", name) if name.count(":") == 1 or name.startswith("[") else name
    if not _NAME.fullmatch(bare):
        raise CliError(f"--allow-host {name!r} is no host name", hint="such as dev.example.com; each one by its name")
    return f"[{bare}]" if ":" in bare and not bare.startswith("[") else bare


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_app(word: str) -> bool:
    return word.endswith(".py") or ":" in word or Path(word).exists()


def _quiet(url: str) -> None:
    return None


def _browse(url: str) -> None:
    """Open the browser, where a person sits at a screen."""
    import os
    import threading
    import webbrowser

    elsewhere = any(os.environ.get(name) for name in ("SSH_CONNECTION", "CI"))
    screen = sys.platform in ("darwin", "win32") or any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY"))
    if sys.stderr is not None and sys.stderr.isatty() and screen and not elsewhere:
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
