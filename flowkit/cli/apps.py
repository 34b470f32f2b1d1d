"""What commands that need the app share: the `--app` option, and loading with errors in the user's own lines.

ai = load(app)
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from flowkit.cli.lines import CliError, say

__all__ = ["HELP", "app_option", "load", "told"]

HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
app_option = click.option("--app", metavar="APP", help="module:ai or file.py; default: pyproject.toml, then app.py")


def load(app: str | None, *, verbose: bool = False, option: str = "--app ") -> Any:
    """The app, in a process whose runs are kept.

    Args:
        option: what stands before the app on the command line, for hints.

    Raises:
        CliError: there is none, or its code raised; then with file and line of it.
    """
    os.environ.setdefault("FLOWKIT_ENV", "dev")
    os.environ.setdefault("FLOWKIT_TRACES", "1")

    from flowkit.config import project_root
    from flowkit.server.discover import find_app, load_app
    from flowkit.server.reflection.role import stand_down

    stand_down()  # a command runs flows itself and serves nobody
    cwd = Path.cwd()
    with told(verbose=verbose):
        return load_app(find_app(app, cwd=cwd, root=project_root(cwd), option=option))


@contextmanager
def told(*, verbose: bool = False) -> Iterator[None]:
    """Errors of finding and importing an app, told in the user's own lines.

    Raises:
        CliError: instead of them; exit code 1 when the app's code raised. All else is a wrong name or setting.
    """
    from flowkit.cli.failures import place, user_traceback
    from flowkit.errors import FlowkitError
    from flowkit.server.discover import AppImportError

    try:
        yield
    except AppImportError as error:
        cause = error.__cause__ or error
        where = place(cause)
        if verbose:
            say(user_traceback(cause))
        hint = error.hint or (getattr(cause, "hint", None) if isinstance(cause, FlowkitError) else None)
        message = f"{error.message} ({where})" if where else error.message
        raise CliError(message, hint=hint, exit_code=1) from None
    except FlowkitError as error:
        raise CliError(error.message, hint=error.hint) from None
