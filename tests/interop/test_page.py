"""The page of the docs about Genkit's tools is followed word for word, with the tools from npm."""

import os
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.interop.conftest import REASON, Project
from tests.support.console import Step
from tests.support.modules import ROOT, plugin_packages
from tests.support.page import Page, PageError

pytestmark = [pytest.mark.heavy, pytest.mark.requires("npm", REASON), pytest.mark.timeout(300)]

PAGE = ROOT / "docs" / "how-to" / "genkit-tools.md"
LEFT_OUT = "<!-- not run: tests/interop follows it"
SHOWN_ID = "31182931a0302653fc0bc3a3802da294"


class Followed(Page):
    """Also runs what needs npm. An app that stays is waited for until tools can find it, as it prints nothing."""

    def __init__(self, path: Path, project: Project, environment: dict[str, str]) -> None:
        super().__init__(path, project.folder, environment)
        self.project = project

    def _step(self, step: Step, exits: int) -> None:
        if step.command.endswith("&") or step.command.startswith("genkit start"):
            self._stays(step)
        elif step.command.partition(" ")[0] in ("genkit", "node"):
            newest = self.project.traces()[-1].name if SHOWN_ID in step.command else ""
            self._command(Step(step.command.replace(SHOWN_ID, newest), step.shown, step.line), exits)
        else:
            super()._step(step, exits)

    def _stays(self, step: Step) -> None:
        for _, before in self._servers:  # one app at a time
            os.killpg(before.pid, 15)
            before.wait(20)
        with tempfile.TemporaryFile(dir=self.folder) as output:
            process = self._start(step.command.removesuffix("&").strip(), output, self.here)
        self._servers.append((step.command, process))
        until = time.monotonic() + 60
        while not [*self.folder.glob(".genkit/runtimes/*.json")]:
            if time.monotonic() > until:
                raise PageError(f"`{step.command}` is found by no tool")
            time.sleep(0.05)


def test_the_page_about_genkits_tools_does_what_it_shows(tmp_path: Path, packages: Path, cli: Path):
    project = Project(tmp_path)
    (project.folder / "node_modules").symlink_to(packages / "node_modules")
    programs = tmp_path / "bin"
    programs.mkdir()
    genkit = programs / "genkit"
    genkit.write_text(f'#!/bin/sh\nexec node {cli} "$@"\n')
    genkit.chmod(0o755)
    sources = [project.env["PYTHONPATH"], *(str(package.parent) for package in plugin_packages())]
    path = [str(programs), str(Path(sys.executable).parent), project.env["PATH"]]
    environment = {
        **project.env,
        "PATH": os.pathsep.join(path),
        "PYTHONPATH": os.pathsep.join(sources),
        "NO_PROXY": "localhost,127.0.0.1",
    }
    lines = PAGE.read_text(encoding="utf-8").splitlines(keepends=True)
    followed = [line for line in lines if not line.startswith(LEFT_OUT)]
    assert len(followed) < len(lines)
    page = tmp_path / PAGE.name
    page.write_text("".join(followed), encoding="utf-8")

    with Followed(page, project, environment) as run:
        run.run()

    assert "Hello, Bo!" in (project.folder / "answers.json").read_text(encoding="utf-8")
    assert "Hello, Bo!" in (project.folder / "cases.json").read_text(encoding="utf-8")
