"""Lines for people: what goes to stdout and stderr, in which colours.

say("Trace ID: 4bf9…", "dim")          a line on stderr
raise CliError("no flow 'menu'", hint="there are: menuQA")

The colours are of the 256-colour palette and readable on light and dark backgrounds; NO_COLOR turns them off.
"""

import os
import re
import sys
import warnings
from typing import IO, Literal, TextIO

__all__ = [
    "INTERRUPTED",
    "STYLES",
    "CliError",
    "ReaderLeft",
    "Style",
    "coloured",
    "complain",
    "one_line",
    "paint",
    "prepare_streams",
    "say",
    "show_warnings",
    "write",
]

INTERRUPTED = 130  # the exit code after Ctrl-C

Style = Literal["accent", "bad", "dim", "good", "strong", "warn"]
STYLES: dict[Style, str] = {
    "accent": "38;5;31",
    "bad": "38;5;167",
    "dim": "2",
    "good": "38;5;28",
    "strong": "1",
    "warn": "38;5;136",
}

_BREAKS = re.compile(r"\s*[\r\n\x0b\x0c\x85\u2028\u2029]\s*|\t")
_CONTROLS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x1f\x7f-\x9f]")  # escape sequences go as a whole
_ERROR_LENGTH = 600  # characters of an error's one line; the trace has all of it


class CliError(Exception):
    """What ends a command: a line, what to do about it, and the exit code (2 for usage and bad input)."""

    def __init__(self, message: str, *, hint: str | None = None, exit_code: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code


class ReaderLeft(Exception):
    """The program that reads our output has ended (`flowkit … | head`). No error, and nothing to say."""


def prepare_streams() -> None:
    """UTF-8 in pipes and files, whatever the locale; a terminal keeps its encoding and never fails on a character."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")


def coloured(stream: IO[str]) -> bool:
    """True when colours may be written: a terminal, and neither NO_COLOR nor a dumb one."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream is not None and stream.isatty())


def paint(text: str, style: Style, stream: IO[str]) -> str:
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if text and coloured(stream) else text


def write(text: str) -> None:
    """Write to stdout, as it is.

    Raises:
        ReaderLeft: nobody reads it any more.
        CliError: it cannot be written, for instance to a full disk.
    """
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # What is still buffered goes nowhere, instead of an error when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise ReaderLeft from None
        message = f"the output cannot be written: {error.strerror or error}"
        raise CliError(message, hint="where does stdout go to?", exit_code=1) from None


def say(text: str, style: Style | None = None) -> None:
    """A line on stderr. That nobody can read it is no reason to fail."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write((paint(text, style, sys.stderr) if style else text) + "\n")
        sys.stderr.flush()
    except OSError:
        return


def complain(message: str, hint: str | None = None) -> None:
    """An error on stderr: one line, and a second one that says what to do."""
    say(f"{paint('Error:', 'bad', sys.stderr)} {one_line(message.strip())}")
    if hint:
        say(f"{paint('Hint:', 'accent', sys.stderr)}  {one_line(hint.strip())}")


def show_warnings() -> None:
    """From now on, flowkit's own warnings are a line each; those of other code look as Python shows them."""
    before = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if filename == "flowkit" and file is None:
            say(f"{paint('Warning:', 'warn', sys.stderr)} {one_line(str(message))}")
        else:
            before(message, category, filename, lineno, file, line)

    warnings.showwarning = show


def one_line(text: str, *, whole: bool = False) -> str:
    """Text as one line without control characters, so that no message can move the cursor; long ones are cut."""
    line = _CONTROLS.sub("", _BREAKS.sub(" ", text))
    return line if whole or len(line) <= _ERROR_LENGTH else line[: _ERROR_LENGTH - 1] + "…"
