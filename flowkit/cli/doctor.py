"""`doctor`: is everything in place, and what to do where it is not.

$ flowkit doctor
"""

import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flowkit.cli.apps import HELP, app_option, load
from flowkit.cli.checks import Finding, State, check_installation, check_project
from flowkit.cli.lines import CliError, Style, one_line, paint, write

if TYPE_CHECKING:
    from flowkit.app import Flowkit

__all__ = ["doctor"]

_MARKS: dict[State, tuple[str, Style]] = {"fine": ("✓", "good"), "broken": ("✗", "bad"), "absent": ("–", "dim")}


@click.command("doctor", context_settings=HELP)
@app_option
def doctor(app: str | None) -> int:
    """Check the installation and this project.

    ✓ is in order, ✗ is broken and has to be mended, – is not there and need not be. Exits with 1 when something is
    broken.
    """
    from flowkit.cli.results import Results

    with Results():  # importing the app may print
        loaded, problem = _app(app)
        findings = [*check_installation(loaded), *check_project(loaded, problem, Path.cwd())]
    write(_report(findings))
    return int(any(finding.state == "broken" for finding in findings))


def _app(name: str | None) -> "tuple[Flowkit | None, Finding | None]":
    """The app, or why there is none. That a folder has no app at all is no fault of it."""
    try:
        return load(name), None
    except CliError as error:
        missing = name is None and error.message.startswith("no app found")
        return None, Finding("Project", "absent" if missing else "broken", "app", error.message, error.hint)


def _report(findings: Iterable[Finding]) -> str:
    findings = list(findings)
    width = max(len(finding.what) for finding in findings) + 2
    lines: list[str] = []
    for group, members in groupby(findings, lambda finding: finding.group):
        lines += ["", paint(group, "strong", sys.stdout)]
        for finding in members:
            mark, style = _MARKS[finding.state]
            gap = " " * (width - len(finding.what))
            lines.append(f"  {paint(mark, style, sys.stdout)} {finding.what}{gap}{one_line(finding.detail)}")
            if finding.advice:
                lines.append(" " * (width + 4) + paint(f"→ {one_line(finding.advice)}", "accent", sys.stdout))
    return "\n".join(lines[1:]) + "\n"
