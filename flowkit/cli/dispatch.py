"""From the arguments to a command, and from what it raises to an exit code.

exit_code = dispatch(["flow:run", "menuQA", "What is vegan?"])
"""

import difflib
from importlib import import_module

import click

from flowkit.cli.commands import COMMANDS
from flowkit.cli.lines import INTERRUPTED, CliError, ReaderLeft, complain, prepare_streams, say, show_warnings
from flowkit.errors import FlowkitError

__all__ = ["dispatch"]


def dispatch(arguments: list[str]) -> int:
    """Run a command; returns 0 fine, 1 failed, 2 wrong usage or input, 130 interrupted."""
    prepare_streams()
    show_warnings()
    name, rest = arguments[0], arguments[1:]
    try:
        return _command(name).main(rest, prog_name=f"flowkit {name}", standalone_mode=False) or 0
    except CliError as error:
        complain(error.message, error.hint)
        return error.exit_code
    except click.ClickException as error:
        complain(error.format_message(), f"flowkit {name} --help")
        return error.exit_code
    except FlowkitError as error:
        from flowkit.cli.failures import exit_code_of

        complain(error.message, error.hint)
        return exit_code_of(error)
    except (click.Abort, KeyboardInterrupt):
        say("interrupted", "dim")
        return INTERRUPTED
    except ReaderLeft:
        return 0
    except OSError as error:
        complain(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
        return 1


def _command(name: str) -> click.Command:
    entry = COMMANDS.get(name)
    if entry is None:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        what = "option" if name.startswith("-") else "command"
        raise CliError(f"no {what} {name!r}", hint=f"did you mean {near[0]}?" if near else "flowkit --help lists them")
    command: click.Command = getattr(import_module(entry.module), entry.function)
    return command
