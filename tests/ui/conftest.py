"""The developer UI as a developer has it: `flowkit start` on a copy of the sample app, and a page in a real browser.

def test_it_greets(page, ui): page.goto(ui.url); expect(page.get_by_role("heading", name="Home")).to_be_visible()

`page` fails its test when the page writes an error to the console, leaves a promise unhandled, or asks another host for
anything; `noise` takes patterns of errors that a test provokes itself.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from tests.conftest import BROWSERS
from tests.server.raw import Answer, ask, request
from tests.server.start.conftest import Project, Started, free_port, until
from tests.support.modules import ROOT
from tests.ui.bundle import DEVUI, STATIC, source_hash

expect.set_options(timeout=20_000)
APP = ROOT / "tests" / "ui" / "app.py"
ARGUMENTS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
)
WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}


class Ui:
    """A running `flowkit start`. `folder` is its project; gates hold steps of the sample app back (see app.py)."""

    def __init__(self, project: Project, bundle: Path | None, env: Mapping[str, str] | None = None) -> None:
        self.project = project
        self.folder = project.folder
        self._env = dict(env or {}) if bundle is None else {"FLOWKIT_DEVUI_DIR": str(bundle), **(env or {})}
        # A port of its own, so that nobody takes it while a test starts the server again.
        self._started = self._start("--port", str(free_port()))
        self.url = self._started.url
        self._started.wait_for("running")

    def _start(self, *arguments: str) -> Started:
        return self.project.start("app.py", *arguments, env=self._env)

    @property
    def process(self) -> Started:
        return self._started

    def restart(self) -> None:
        """Start again, where it was."""
        self._started = self._start("--port", str(urlsplit(self.url).port))
        assert self._started.url == self.url
        self._started.wait_for("running")

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """A request that is no page's."""
        parts = urlsplit(self.url)
        sent = None if body is None else json.dumps(body).encode()
        more = {} if sent is None else {"Content-Type": "application/json"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        host = named.pop("Host", parts.netloc)
        return ask(parts.port or 80, request(method, path, host=host, body=sent, headers=more | named))

    def get(self, path: str) -> Any:
        answer = self.ask("GET", path)
        assert answer.status == 200, answer.body
        return answer.json

    def post(self, path: str, body: Any) -> Any:
        answer = self.ask("POST", path, body)
        assert answer.status == 200, answer.body
        return answer.json

    def start_run(self, key: str, *input: Any) -> Any:
        """Begin a run, as a page does; its ids."""
        return self.post("/api/runs", {"key": key, **({"input": input[0]} if input else {})})

    def run(self, key: str, *input: Any) -> Any:
        """Run to the end: the last event, with `run` and `result` or `error`."""
        started = self.start_run(key, *input)
        answer = self.ask("GET", f"/api/runs/{started['runId']}/events")
        ended = json.loads(answer.body.splitlines()[-1])
        trace_id = started.get("traceId")
        if trace_id:
            until(lambda: self._written(trace_id), f"trace {trace_id}")
        return ended

    def _written(self, trace_id: str) -> bool:
        answer = self.ask("GET", f"/api/traces/{trace_id}/outline")
        return answer.status == 200 and answer.json["summary"]["status"] != "running"

    def edit(self, change: Callable[[str], str]) -> None:
        """Change the app's file, as an editor does."""
        self.project.write("app.py", change((self.folder / "app.py").read_text(encoding="utf-8")))

    def close_gates(self) -> None:
        """From now on, steps wait until a test opens their gate."""
        for opened in self.folder.glob("go-*"):
            opened.unlink()
        (self.folder / "gates").touch()

    def open_gate(self, name: str) -> None:
        (self.folder / f"go-{name}").touch()

    def open_gates(self) -> None:
        (self.folder / "gates").unlink(missing_ok=True)


@pytest.fixture(scope="session")
def bundle() -> Path | None:
    """The folder of the pages: None for the committed ones, when they are those of the sources or none can be built.

    A build is kept beside node_modules, so that sources which have not changed are built once. UI_BUNDLE names a
    folder with a build of your own.
    """
    if "UI_BUNDLE" in os.environ:
        return Path(os.environ["UI_BUNDLE"])
    npx = shutil.which("npx")
    wanted = source_hash()
    info = STATIC / "build-info.json"
    committed = info.is_file() and json.loads(info.read_text())["sources"] == wanted
    if committed or npx is None or not (DEVUI / "node_modules").is_dir():
        return None
    folder = DEVUI / "node_modules" / ".cache" / "bundles" / wanted[:16]
    if not (folder / "build-info.json").is_file():
        build = [npx, "vite", "build", "--outDir", str(folder), "--logLevel", "warn"]
        built = subprocess.run(build, cwd=DEVUI, capture_output=True, text=True, timeout=170)
        assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture
def make_ui(bundle: Path | None, tmp_path: Path) -> Iterator[Callable[..., Ui]]:
    """A UI of the test's own, which may stop it or change its app: `make_ui()`, or `make_ui(app=text, env=…)`."""
    projects: list[Project] = []

    def make(app: str | None = None, env: Mapping[str, str] | None = None) -> Ui:
        folder = tmp_path / f"project-{len(projects)}"
        folder.mkdir()
        project = Project(folder)
        projects.append(project)
        project.write("app.py", APP.read_text(encoding="utf-8") if app is None else app)
        return Ui(project, bundle, env)

    yield make
    for project in projects:
        project.end()


@pytest.fixture(scope="module")
def ui(bundle: Path | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    """One UI for the tests of a file, which leave the app as it is. The menu is indexed."""
    project = Project(tmp_path_factory.mktemp("ui"))
    project.write("app.py", APP.read_text(encoding="utf-8"))
    try:
        started = Ui(project, bundle)
        started.run("/flow/indexMenu")
        yield started
    finally:
        project.end()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # Started and ended with each file: as long as it runs, no other event loop can.
    program = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield browser
        browser.close()


class Watch:
    """What must not happen in a page."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.noise: list[str] = []

    def add(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.found.append(f"unhandled: {error.message}\n{error.stack or ''}"))
        page.on("request", self._request)
        page.on("dialog", self._dialog)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.found.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.hostname not in ("127.0.0.1", "localhost"):
            self.found.append(f"request to {request.url}")

    def _dialog(self, dialog: Any) -> None:
        self.found.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    @property
    def unexpected(self) -> list[str]:
        return [one for one in self.found if not any(re.search(pattern, one) for pattern in self.noise)]


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def noise(watch: Watch) -> list[str]:
    """Patterns of errors that the test provokes."""
    return watch.noise


@pytest.fixture
def make_page(browser: Browser, watch: Watch) -> Iterator[Callable[..., Page]]:
    """A page in a browser profile of its own: `make_page(viewport=PHONE, color_scheme="dark")`."""
    contexts = []

    def make(**options: Any) -> Page:
        context = browser.new_context(**{"viewport": WIDE, "locale": "en-GB", "color_scheme": "light", **options})
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        watch.add(page)
        return page

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def page(make_page: Callable[..., Page], watch: Watch) -> Iterator[Page]:
    made = make_page()
    yield made
    assert not watch.unexpected
