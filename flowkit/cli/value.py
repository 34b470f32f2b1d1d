"""The input of a flow from the command line: JSON, plain text, `@file`, or `-` for stdin.

given = read_input("menu.pdf", action.input_schema, "flow 'indexMenu'")
given.value, given.note         "menu.pdf", "the input is not JSON and was treated as text"

JSON comes first. What is no JSON, or JSON of a type that the flow cannot take, is text if the flow takes text.
"""

import json
import math
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flowkit.cli.lines import CliError
from flowkit.cli.shape import example, json_types, types_of

__all__ = ["Given", "parse_json", "read_file", "read_input", "read_object", "read_raw"]


class _SyntaxProblem(ValueError):
    """Text that is no JSON at all, where a shell may be the cause."""


_SHOWN = 60  # characters of a bad input that an error repeats


@dataclass(frozen=True, slots=True)
class Given:
    """An input value, and what is to be said about how it was read."""

    value: Any
    note: str | None = None


def read_input(argument: str, schema: Mapping[str, Any] | None, where: str) -> Given:
    """The value that an argument stands for, for a flow with this input schema.

    Raises:
        CliError: no such file, no text in it, or neither JSON nor a flow that takes text.
    """
    text = read_raw(argument)
    accepted = json_types(schema if schema is not None else True)
    problem: ValueError | None = None
    try:
        value = parse_json(text)
    except ValueError as error:
        problem = error
    else:
        if types_of(value) & accepted or "string" not in accepted:
            return Given(value)
    if schema is not None and "string" in accepted:
        return Given(text, f"the input is {'not JSON' if problem else 'no JSON string'} and was treated as text")
    if schema is None or problem is None:
        raise CliError(f"{where} takes no input")
    raise _not_json(argument, text, problem, schema, where)


def read_object(argument: str, option: str) -> dict[str, Any]:
    """An option that takes a JSON object, also as `@file`.

    Raises:
        CliError: it is something else.
    """
    text = read_raw(argument)
    try:
        value = parse_json(text)
    except ValueError as error:
        raise _not_json(argument, text, error, {"type": "object"}, option) from None
    if not isinstance(value, dict):
        raise CliError(
            f"{option} is a JSON {next(iter(types_of(value)))}, not an object", hint=f"{option} '{{\"auth\": …}}'"
        )
    return value


def parse_json(text: str) -> Any:
    """Strict JSON; `NaN` and numbers beyond a float are refused.

    Raises:
        ValueError: says what is wrong, and where.
    """
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, character {error.colno}" if error.lineno > 1 else f"character {error.colno}"
        raise _SyntaxProblem(f"{error.msg.removesuffix(':')} at {at}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_raw(argument: str) -> str:
    """The text of an argument, of the file in `@file`, or of stdin for `-`.

    A byte order mark is dropped, and the newline at the end of a file.

    Raises:
        CliError: the file cannot be read, or is no text.
    """
    if argument == "-":
        if sys.stdin is None:
            raise CliError("the input is to come from stdin, which is closed")
        if sys.stdin.isatty():
            print("reading the input from the terminal; end it with Ctrl-D on a line of its own", file=sys.stderr)
        buffer = getattr(sys.stdin, "buffer", None)
        return _decoded(buffer.read() if buffer is not None else sys.stdin.read().encode(), "stdin")
    if not argument.startswith("@"):
        return argument.removeprefix("\ufeff")
    if argument == "@":
        raise CliError("there is no file name after @", hint="write @file.json, or - for stdin")
    name = argument[1:]
    try:
        path = Path(name).expanduser()
    except RuntimeError:  # the home of somebody who is not known
        path = Path(name)
    return read_file(path, name, hint="text that begins with @ goes as JSON: '\"@…\"'")


def read_file(path: Path, name: str | None = None, *, hint: str = "check the path") -> str:
    """The text of a file, as `read_raw` reads it; `name` is what the user calls it.

    Raises:
        CliError: the file cannot be read, or is no text.
    """
    try:
        return _decoded(path.read_bytes(), str(path))
    except (OSError, ValueError) as error:
        reason = "there is no file" if isinstance(error, FileNotFoundError) else f"{_reason(error)}:"
        raise CliError(f"{reason} {name or str(path)!r}", hint=hint) from None


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _decoded(data: bytes, where: str) -> str:
    # PowerShell writes UTF-16 with a byte order mark, other Windows tools UTF-8 with one.
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise CliError(f"{where} is no UTF-8 text (byte {error.start})", hint="convert it to UTF-8") from None
    return text.removesuffix("\n").removesuffix("\r")


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is beyond what a float holds")
    return number


def _not_json(argument: str, text: str, problem: ValueError, schema: Mapping[str, Any], where: str) -> CliError:
    """One line: what is wrong, what a shell may have done to it, and the ways around shells."""
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    message = f"the input of {where} is not JSON ({problem}): {shown}"
    if argument == "-" or argument.startswith("@") or not isinstance(problem, _SyntaxProblem):
        return CliError(message)
    form = json.dumps(example(schema), ensure_ascii=False)
    if text[:1] == text[-1:] == "'":
        cause = "the single quotes around it came through (cmd.exe keeps them); there, write " + json.dumps(form)
    else:
        cause = f"the shell may have taken its quotes; write {shlex.quote(form)}"
    return CliError(f"{message} — {cause}, or use @file.json or - for stdin")
