"""Does everything that a page of the docs shows, in order, in a project folder of its own, offline.

    with Page(path, folder, environment) as page: page.run()

A block with a title is a file of the project; `python` files are run too. Other `python` blocks run in one namespace,
with `await` at the top level; a `text` block titled "output" after one is what it printed. `console` blocks: commands
of flowkit, make, python and curl are run, and what they show is compared; servers run until the page ends; installing
is not done, but the names are checked. `toml` and `json` are parsed. `text` and `mermaid` are only shown.
"""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO

from tests.support.console import Step, matches, steps_of
from tests.support.markdown import Block, blocks_of
from tests.support.modules import ROOT

__all__ = ["Page", "PageError"]

SESSION = Path(__file__).with_name("session.py")
RUN = {"curl", "flowkit", "python", "sh"}
INSTALL = re.compile(r"^(?:pip|uv pip|python -m pip) install |^uv add ")
# Make targets that would run this test again, or take long, or change the set-up.
ONLY_NAMED = {"bench", "check", "clean", "constraints", "fmt", "lint", "soak", "test", "types"}
SERVER = re.compile(r"^flowkit (?:start|serve)\b(?!.*--help)|&$")
STARTING_SECONDS = 60
STOPPING_SECONDS = 20


class PageError(AssertionError):
    """The page shows something that is not so."""


class Page:
    """One page, being followed in `folder`."""

    def __init__(
        self,
        path: Path,
        folder: Path,
        environment: dict[str, str],
        require: Callable[[str, str], None] = lambda need, reason: None,
    ) -> None:
        self.path, self.folder, self.environment, self.require = path, folder, environment, require
        self.here = folder
        self.printed: str | None = None
        self._session: subprocess.Popen[str] | None = None
        self._servers: list[tuple[str, subprocess.Popen[bytes]]] = []

    def __enter__(self) -> "Page":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        left = [command for command, process in self._servers if not _stop(process)]
        if self._session is not None:
            assert self._session.stdin is not None
            assert self._session.stdout is not None
            self._session.stdin.close()
            try:
                self._session.wait(STOPPING_SECONDS)
            except subprocess.TimeoutExpired:
                left.append("the Python blocks")
                self._session.kill()
                self._session.wait()
            self._session.stdout.close()
        if left and error is None:
            raise PageError(f"{self.path.name}: did not end: {', '.join(left)}")

    def run(self) -> None:
        """Follow the whole page.

        Raises:
            PageError: something is not as the page shows it; the message begins with file and line.
        """
        for block in blocks_of(self.path.read_text(encoding="utf-8")):
            try:
                self._block(block)
            except PageError as error:
                raise PageError(f"{self.path.name}:{block.line}: {error}") from None

    def _block(self, block: Block) -> None:
        for need, reason in block.needs.items():
            self.require(need, reason)
        printed, self.printed = self.printed, None
        output = block.title == "output"
        if block.title is not None and not output:
            self._write(block)
        match block.language:
            case "python" if block.not_run is not None:
                _compiled(block)
            case "python" if block.title is not None:
                _compiled(block)
                self._command(Step(f"python {block.title}", "", 0), block.exits, folder=self.folder)
            case "python":
                self.printed = self._python(block)
            case "console" if block.not_run is None:
                steps = steps_of(block.text)
                for step in steps:
                    self._step(step, block.exits if step is steps[-1] else 0)
            case "toml":
                _parsed(tomllib.loads, block.text)
            case "json":
                _parsed(json.loads, block.text)
            case "text" | "" if output:
                _check_output(block, printed)
            case "text" | "mermaid" | "":
                pass
            case language if block.not_run is None and block.title is None:
                raise PageError(
                    f"a block of {language!r} cannot be run: use python, console, toml, json or text, "
                    "give it a file name (title=…), or say why not (<!-- not run: … -->)"
                )

    def _write(self, block: Block) -> None:
        assert block.title is not None
        target = (self.folder / block.title).resolve()
        if not target.is_relative_to(self.folder.resolve()):
            raise PageError(f"{block.title} is not in the project folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.text + "\n", encoding="utf-8")

    def _python(self, block: Block) -> str:
        if self._session is None:
            self._session = subprocess.Popen(
                [sys.executable, str(SESSION)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=self.folder,
                # The blocks import the files of the page, as a script in that folder would.
                env={**self.environment, "PYTHONPATH": f"{self.folder}{os.pathsep}{self.environment['PYTHONPATH']}"},
                text=True,
                encoding="utf-8",
                start_new_session=True,
            )
        assert self._session.stdin is not None
        assert self._session.stdout is not None
        print(
            json.dumps({"code": block.text, "file": str(self.path), "line": block.line}),
            file=self._session.stdin,
            flush=True,
        )
        line = self._session.stdout.readline()
        if not line:
            raise PageError("the Python process ended")
        answer = json.loads(line)
        if answer["error"] is not None:
            raise PageError(answer["error"])
        return str(answer["output"])

    def _step(self, step: Step, exits: int) -> None:
        command = step.command
        bare = re.sub(r"^(?:[A-Z_]+=\S+ +)+", "", command)
        head, _, rest = bare.partition(" ")
        if INSTALL.match(bare):
            _check_names(INSTALL.sub("", bare))
        elif head == "cd":
            self.here = (self.here / rest.strip()).resolve()
            if not self.here.is_dir():
                raise PageError(f"there is no folder {rest.strip()!r}")
        elif head == "make":
            self._make(step, rest.split(), exits)
        elif SERVER.search(bare):
            self._server(step)
        elif head in RUN:
            self._command(step, exits)
        else:
            raise PageError(f"the docs run {', '.join(sorted(RUN))} and make, not {head!r}")

    def _make(self, step: Step, words: list[str], exits: int) -> None:
        targets = [word for word in words if "=" not in word]
        known = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
        if unknown := [target for target in targets if target not in known]:
            raise PageError(f"there is no make target {unknown[0]!r}")
        if not ONLY_NAMED & set(targets):
            # The set-up has been done by whoever runs this test; it is not the time to install.
            quoted = step.command.replace("make", "make --no-print-directory -o .venv/.ready", 1)
            self._command(Step(quoted, step.shown, step.line), exits, folder=ROOT)

    def _command(self, step: Step, exits: int, folder: Path | None = None) -> None:
        with tempfile.TemporaryFile() as output:
            code = self._start(step.command, output, folder or self.here).wait()
            shown = _text(output)
        if code != exits:
            raise PageError(f"`{step.command}` ended with {code}:\n{shown}")
        if step.shown and not matches(step.shown, shown):
            raise PageError(f"`{step.command}` showed\n{shown}")

    def _server(self, step: Step) -> None:
        """Start it, wait until it shows what the page shows (or an address), and leave it running."""
        with tempfile.NamedTemporaryFile(dir=self.folder, prefix=".server-", delete=False) as output:
            process = self._start(step.command.removesuffix("&").strip(), output, self.here)
        self._servers.append((step.command, process))
        lines = step.shown.splitlines()
        # In any order, as long as they are few: an app that is slow to start shows its address before it is ready.
        orders = itertools.permutations(lines) if 0 < len(lines) <= 3 else [lines or ["…", "…http://…"]]
        wanted = ["\n".join([*order, "…"]) for order in orders]
        end = time.monotonic() + STARTING_SECONDS
        while time.monotonic() < end:
            shown = Path(output.name).read_text(encoding="utf-8", errors="replace")
            if any(matches(order, shown + "\n") for order in wanted):
                return
            if process.poll() is not None:
                break
            time.sleep(0.05)
        raise PageError(f"`{step.command}` {'ended' if process.poll() is not None else 'shows'}:\n{shown}")

    def _start(self, command: str, output: IO[bytes], folder: Path) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            ["sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=self.environment,
            start_new_session=True,
        )


def _stop(process: "subprocess.Popen[bytes]") -> bool:
    """Ctrl-C for the whole group; whether that was enough."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(STOPPING_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False
    return True


def _check_output(block: Block, printed: str | None) -> None:
    if printed is None:
        raise PageError("an output stands directly after the Python block that printed it")
    if not matches(block.text, printed):
        raise PageError(f"the block printed\n{printed}")


def _compiled(block: Block) -> None:
    try:
        compile("\n" * (block.line - 1) + block.text, "block", "exec")
    except SyntaxError as error:
        raise PageError(f"no Python: {error}") from None


def _parsed(parse: Callable[[str], object], text: str) -> None:
    try:
        parse(text)
    except ValueError as error:
        raise PageError(str(error)) from None


def _check_names(arguments: str) -> None:
    """`pip install "flowkit-ai[easy]" flowkit-chroma`: are there such packages and extras?"""
    projects = [
        tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        for path in (ROOT / "pyproject.toml", *ROOT.glob("plugins/*/pyproject.toml"))
    ]
    extras = {project["name"]: set(project.get("optional-dependencies", ())) for project in projects}
    pinned = {line.split("==")[0] for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()}
    for word in arguments.split():
        name, _, wanted = word.strip("'\"").rstrip("]").partition("[")
        if name.startswith("-"):
            continue
        if name not in extras.keys() | pinned:
            raise PageError(f"there is no package {name!r} in this project")
        if missing := set(filter(None, wanted.split(","))) - extras.get(name, set()):
            raise PageError(f"{name} has no extra {', '.join(sorted(missing))}")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")
