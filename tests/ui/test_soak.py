"""A page that is left open on ten thousand traces while the app works: its memory stays what it was.

`make soak` looks for half an hour; the tests for a minute.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import CDPSession, Page, expect

from flowkit.tracing.rows import SpanRow
from flowkit.tracing.store import TraceStore
from tests.server.start.conftest import Project
from tests.ui.conftest import APP, Ui

pytestmark = [pytest.mark.heavy(seconds=90), pytest.mark.requires("browser", "a page is left open by somebody")]

TRACES = 10_000
WARM_SECONDS = 15.0


@pytest.fixture(scope="module")
def busy(bundle: Path | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    """A UI with ten thousand traces behind it."""
    project = Project(tmp_path_factory.mktemp("soak"))
    project.write("app.py", APP.read_text(encoding="utf-8"))
    store = TraceStore(project.folder / ".flowkit" / "traces.db")
    store.write(list(rows()))
    store.close()
    try:
        yield Ui(project, bundle)
    finally:
        project.end()


def rows() -> Iterator[SpanRow]:
    began = time.time_ns() - TRACES * 100_000_000
    for number in range(1, TRACES + 1):
        for part, name in enumerate(("menuQA", "waiter")):
            start = began + number * 100_000_000 + part * 5_000_000
            row = SpanRow(f"{number:032x}", f"{number:08x}{part:08x}", name, start, start + 30_000_000)
            row.parent_id = f"{number:08x}{0:08x}" if part else None
            row.local_root = part == 0
            row.type, row.kind, row.state = "action", "model" if part else "flow", "success"
            row.key = f"/{row.kind}/{name}"
            row.input = json.dumps(f"question {number}").encode()
            row.output = json.dumps(f"answer {number}").encode()
            yield row


def used_bytes(cdp: CDPSession) -> float:
    """What the page holds when all that it has let go is gone."""
    for _ in range(3):
        cdp.send("HeapProfiler.collectGarbage")
    found: float = cdp.send("Runtime.getHeapUsage")["usedSize"]
    return found


def nodes(cdp: CDPSession) -> int:
    found: int = cdp.send("Memory.getDOMCounters")["nodes"]
    return found


def work(page: Page, ui: Ui, seconds: float) -> int:
    """Runs, one after the other, while the list follows them."""
    end = time.monotonic() + seconds
    done = 0
    while time.monotonic() < end:
        # On a machine that does much else, an app may be late with a sign of life, and a run be refused.
        done += ui.ask("POST", "/api/runs", {"key": "/flow/hello", "input": f"guest {done}"}).status == 200
        page.wait_for_timeout(100)
    return done


@pytest.mark.parametrize("seconds", [40.0, pytest.param(1_800.0, marks=pytest.mark.soak)])
@pytest.mark.timeout(2_400)
def test_a_list_that_follows_does_not_grow(page: Page, busy: Ui, seconds: float):
    page.goto(f"{busy.url}/traces")
    expect(page.locator("[data-trace-id]").first).to_be_visible()
    follow = page.get_by_role("switch", name="Follow")
    if not follow.is_checked():
        follow.click()
    cdp = page.context.new_cdp_session(page)
    cdp.send("HeapProfiler.enable")
    work(page, busy, WARM_SECONDS)
    before, nodes_before = used_bytes(cdp), nodes(cdp)

    runs = work(page, busy, seconds)

    expect(page.locator("[data-trace-id]").first).to_contain_text("hello")
    assert runs > seconds
    assert used_bytes(cdp) - before < 3_000_000
    assert nodes(cdp) - nodes_before < 2_000
