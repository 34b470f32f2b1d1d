"""Console blocks: what was typed, what was shown, and whether it is shown again.

    for step in steps_of("$ flowkit --version\nflowkit 0.1.0"): step.command, step.shown

In what is shown, `…` stands for any text in its line, and for any lines when it is alone in one.
"""

import re
from dataclasses import dataclass

__all__ = ["ConsoleError", "Step", "matches", "steps_of"]

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class ConsoleError(ValueError):
    """A console block that does not begin with a command."""


@dataclass(frozen=True)
class Step:
    """A command and the lines shown after it; `line` counts from 0 in the block."""

    command: str
    shown: str
    line: int


def steps_of(block: str) -> list[Step]:
    """The commands of a block, each after `$ `. A backslash at the end continues the command in the next line.

    Raises:
        ConsoleError: there is text before the first command.
    """
    steps: list[Step] = []
    lines = block.splitlines()
    at = 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            raise ConsoleError(f"a console block begins with `$ command`, not with {lines[at]!r}")
        start, command = at, lines[at][2:]
        at += 1
        while command.endswith("\\") and at < len(lines):
            command = command[:-1].rstrip() + " " + lines[at].removeprefix("> ").strip()
            at += 1
        first = at
        while at < len(lines) and not lines[at].startswith("$ "):
            at += 1
        steps.append(Step(command.strip(), "\n".join(lines[first:at]).strip("\n"), start))
    return steps


def matches(shown: str, output: str) -> bool:
    """Whether `output` is what the page shows. Colours and spaces at line ends do not count."""
    pattern = ""
    for line in _plain(shown):
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*"
        else:
            pattern += ".*".join(re.escape(piece) for piece in line.split("…")) + r"\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _plain(output))) is not None


def _plain(text: str) -> list[str]:
    return [line.rstrip() for line in ESCAPES.sub("", text).replace("\r\n", "\n").strip("\n").split("\n")]
