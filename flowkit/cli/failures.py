"""Errors of the user's code, told in the user's files and lines: frames of flowkit and of libraries are left out.

exit_code_of(error)       2, when a command was given something that cannot be meant
place(error)              "app.py:14"
user_traceback(error)     what Python would print, with the user's frames only
"""

import sysconfig
import traceback
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from flowkit.errors import InvalidInputError, NotFoundError

__all__ = ["describe", "exit_code_of", "is_users", "place", "user_traceback"]


def exit_code_of(error: BaseException) -> int:
    """What a command ends with: 2 when it was given something that cannot be meant, 1 when something failed.

    A value that is refused, and a name of what is not there, are the caller's mistake; unless the app's own code was at
    work, which may refuse what it likes. A document that cannot be read, a service that is down, a package or key that
    is missing are failures. A `CliError` says for itself.
    """
    return 2 if isinstance(error, InvalidInputError | NotFoundError) and place(error) is None else 1


def describe(error: BaseException) -> str:
    """Type and message in one line; a group names the first error in it."""
    if isinstance(error, BaseExceptionGroup):
        first = describe(error.exceptions[0])
        more = len(error.exceptions) - 1
        return f"{first} (and {more} more)" if more else first
    message = getattr(error, "message", None) or str(error)
    name = type(error).__name__
    return f"{name}: {message}" if message else name


def place(error: BaseException) -> str | None:
    """File and line of the user's innermost frame, relative to the working directory where that is shorter."""
    if isinstance(error, SyntaxError) and error.filename and is_users(error.filename):
        return f"{_short(error.filename)}:{error.lineno}"
    if isinstance(error, BaseExceptionGroup):
        return place(error.exceptions[0])
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_users(frame.filename)]
    return f"{_short(frames[-1].filename)}:{frames[-1].lineno}" if frames else None


def user_traceback(error: BaseException) -> str:
    """The traceback with the user's frames, causes included; without a newline at the end."""
    told = traceback.TracebackException.from_exception(error, compact=True)
    _keep_users(told, set())
    return "".join(told.format()).rstrip()


def _keep_users(told: traceback.TracebackException, seen: set[int]) -> None:
    if id(told) in seen:
        return
    seen.add(id(told))
    told.stack = traceback.StackSummary.from_list([frame for frame in told.stack if is_users(frame.filename)])
    for other in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if other is not None:
            _keep_users(other, seen)


def is_users(filename: str) -> bool:
    """True for a file that is neither of flowkit, of its plugins, nor installed."""
    return not filename.startswith("<") and not any(_is_under(filename, folder) for folder in _foreign())


def _is_under(filename: str, folder: str) -> bool:
    return Path(filename).is_relative_to(folder)


@cache
def _foreign() -> tuple[str, ...]:
    """The folders of flowkit, its plugins, the standard library and installed packages."""
    paths = sysconfig.get_paths()
    folders = {str(Path(__file__).parents[1]), *(paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib"))}
    for entry in metadata.entry_points(group="flowkit.plugins"):
        # Found, not imported: the error may come from another process.
        package = find_spec(entry.module.partition(".")[0])
        folders.update((package and package.submodule_search_locations) or ())
    return tuple(folders)


def _short(filename: str) -> str:
    try:
        return Path(filename).relative_to(Path.cwd()).as_posix()
    except ValueError:
        return filename
