"""Why a process ended, read from the last words on its stderr.

crash = read_crash(text, exit_code=1, root=Path.cwd())
crash.message, crash.file, crash.line              # "NameError: name 'x' is not defined", "app.py", 3
"""

import os
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Crash", "read_crash"]

# Frames in an exception group stand behind bars.
_FRAME = re.compile(r'^[\s|+-]*File "(?P<file>[^"\n]+)", line (?P<line>\d+)', re.MULTILINE)
_BAR = re.compile(r"^\s*\| ")
_HEAD = "Traceback (most recent call last):"
_OURS = str(Path(__file__).parents[2]) + os.sep
_FOREIGN = (_OURS, "site-packages", "dist-packages", "/lib/python3", "\\Lib\\", "<frozen ", "<string>")
_LINES = 60
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Crash:
    """What is known of the end of a process."""

    message: str
    exit_code: int
    file: str | None = None
    """Relative to the project where it is in it."""
    line: int | None = None
    traceback: str = ""
    """The last traceback, or the last lines."""
    is_users: bool = False
    """The file is of the user's code, and not of a library."""

    @property
    def place(self) -> str | None:
        return None if self.file is None else f"{self.file}:{self.line}"

    def to_wire(self) -> dict[str, object]:
        return {
            "message": self.message,
            "exitCode": self.exit_code,
            "file": self.file,
            "line": self.line,
            "traceback": self.traceback,
        }


def read_crash(
    error_output: str, *, exit_code: int, root: Path, is_users: Callable[[str], bool] | None = None
) -> Crash:
    """Read what a process has left. Python's tracebacks are understood; of others the last line counts.

    Args:
        is_users: Whether a file is of the user's own code; by default all are that are not installed.
    """
    is_users = is_users or _is_users
    text = _ESCAPES.sub("", error_output).rstrip()
    frames = list(_FRAME.finditer(text))
    message = _message(text[frames[-1].end() :]) if frames else None
    if message is None:
        last = text.rpartition("\n")[2].strip()
        return Crash(last or _ending(exit_code), exit_code, traceback="\n".join(text.splitlines()[-_LINES:]))
    start = text.rfind(_HEAD)
    if start < 0:  # a syntax error in the first file has no head
        start = frames[0].start()
    told = [frame for frame in frames if frame.start() >= start]
    own = [frame for frame in told if is_users(frame["file"])]
    frame = (own or told)[-1]
    file = _relative(frame["file"], root)
    return Crash(message, exit_code, file, int(frame["line"]), text[start:].strip(), is_users=bool(own))


def _is_users(file: str) -> bool:
    return not any(part in file for part in _FOREIGN)


def _message(after: str) -> str | None:
    """The exception's own line: the first after the frames that is not indented."""
    for line in after.splitlines()[1:]:
        bare = _BAR.sub("", line, count=1)
        if bare.strip() and not bare[0].isspace():
            return bare.strip()
    return None


def _ending(exit_code: int) -> str:
    if exit_code < 0:
        try:
            return f"it was ended by {signal.Signals(-exit_code).name}"
        except ValueError:
            return f"it was ended by signal {-exit_code}"
    return f"it ended with exit code {exit_code}"


def _relative(file: str, root: Path) -> str:
    try:
        return Path(file).resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return file
