"""Writes anew what the docs show of `flowkit … --help`.

    python -m tests.support.refresh docs/reference/cli.md

Other output is written by hand, since most of it has parts that are left open.
"""

import re
import subprocess
import sys
from pathlib import Path

from tests.support.modules import ROOT

__all__ = ["refreshed"]

HELP = re.compile(r"^(\$ flowkit [^\n]*--help)\n.*?(?=^```)", re.MULTILINE | re.DOTALL)


def refreshed(markdown: str) -> str:
    """The page with the present help of every command that it shows the help of, alone in its block."""
    return HELP.sub(lambda found: f"{found[1]}\n{_help(found[1])}\n", markdown)


def _help(command: str) -> str:
    arguments = command.removeprefix("$ flowkit ").split()
    run = subprocess.run([sys.executable, "-m", "flowkit", *arguments], cwd=ROOT, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"{command} ended with {run.returncode}:\n{run.stderr}")
    return "\n".join(line.rstrip() for line in run.stdout.strip().splitlines())


def main(arguments: list[str]) -> None:
    if not arguments:
        raise SystemExit("usage: python -m tests.support.refresh PAGE …")
    for name in arguments:
        page = Path(name)
        page.write_text(refreshed(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
