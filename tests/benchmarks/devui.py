"""How quick the developer UI is in a real browser, from `flowkit start` on the sample app of its tests.

    python -m tests.benchmarks.devui                     # all; UI_BUNDLE names a folder with a build of your own
    python -m tests.benchmarks.devui --only trace        # page, size, trace, large, stream

Times are taken within the page, from the click or the start of the navigation until what was asked for is painted.
Every first page has a browser profile of its own, so nothing is cached; the server is warm. Values are medians; a
machine that does something else shows it here.
"""

import argparse
import gzip
import json
import os
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.conftest import BROWSERS
from tests.server.start.conftest import Project
from tests.ui.conftest import APP, ARGUMENTS, WIDE, Ui
from tests.ui.traces_made import bulk

BARS = {
    "first page usable": (1.0, "s"),
    "first load, gzip": (230.0, "kB"),
    "5,000 spans open": (0.5, "s"),
    "5,000 spans, rows in the page": (199.0, "rows"),
    "50,000 spans open": (1.5, "s"),
    "50,000 spans, rows in the page": (199.0, "rows"),
    "200 chunks/s, frames p95": (33.0, "ms"),
}

CHATTER = '''

@ai.flow("chatter")
async def chatter(seconds: float = 5.0) -> AsyncIterator[str]:
    """Two hundred chunks a second, with markup."""
    import time

    began = time.perf_counter()
    for number in range(int(seconds * 200)):
        await asyncio.sleep(max(0.0, began + number / 200 - time.perf_counter()))
        yield "\\n\\n" if number % 60 == 59 else f"word **{number}** "
'''

# Until the next frame but one, what has changed is painted.
PAINTED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
OPENED = """
async ([selector, least]) => {
  const began = performance.now()
  document.querySelector(selector).click()
  const rows = () => document.querySelectorAll('[role=tree] [role=treeitem]').length
  while (rows() < least) await new Promise(requestAnimationFrame)
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
  return [(performance.now() - began) / 1000, rows()]
}
"""
FRAMES = """
() => {
  window.frames_ = []
  let last = performance.now()
  const tick = now => { window.frames_.push(now - last); last = now; requestAnimationFrame(tick) }
  requestAnimationFrame(tick)
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("page", "size", "trace", "large", "stream"))
    parser.add_argument("--times", type=int, default=5)
    asked = parser.parse_args()
    found: dict[str, float] = {}
    with served() as ui, sync_playwright() as playwright:
        program = next(filter(None, map(shutil.which, BROWSERS)))
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        if asked.only in (None, "page", "size"):
            found |= first_page(browser, ui, asked.times)
        if asked.only in (None, "trace"):
            found |= trace(browser, ui, 5_000, asked.times)
        if asked.only in (None, "large"):
            found |= trace(browser, ui, 50_000, max(1, asked.times // 2))
        if asked.only in (None, "stream"):
            found |= stream(browser, ui)
        browser.close()
    tell(found)


@contextmanager
def served() -> Iterator[Ui]:
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        project.write("app.py", APP.read_text(encoding="utf-8") + CHATTER)
        bundle = os.environ.get("UI_BUNDLE")
        try:
            ui = Ui(project, Path(bundle) if bundle else None)
            for _ in range(3):
                ui.run("/flow/hello", "Ada")
            yield ui
        finally:
            project.end()


def fresh(browser: Browser) -> Page:
    return browser.new_context(viewport=WIDE).new_page()


def first_page(browser: Browser, ui: Ui, times: int) -> dict[str, float]:
    """Home, until its numbers are there and it can be used; and what had to be loaded for that."""
    seconds: list[float] = []
    sizes: list[float] = []
    for _ in range(times):
        page = fresh(browser)
        bodies: list[Any] = []
        page.on("response", lambda answer, bodies=bodies: bodies.append(answer))
        page.goto(ui.url, wait_until="commit")
        page.get_by_role("link", name="hello").first.wait_for()
        seconds.append(page.evaluate(f"{PAINTED}.then(() => performance.now())") / 1000)
        sizes.append(sum(packed(answer.body()) for answer in bodies if is_bundle(answer.url)) / 1000)
        page.context.close()
    return {"first page usable": statistics.median(seconds), "first load, gzip": statistics.median(sizes)}


def is_bundle(url: str) -> bool:
    return "/api/" not in url


def packed(body: bytes) -> int:
    return len(gzip.compress(body, 9))


def trace(browser: Browser, ui: Ui, spans: int, times: int) -> dict[str, float]:
    """From the click in the list of traces until its spans are seen; each time another trace."""
    page = fresh(browser)
    page.set_default_timeout(60_000)
    seconds: list[float] = []
    rows: list[float] = []
    for _ in range(times + 1):
        trace_id = written(ui, bulk(spans))
        page.goto(f"{ui.url}/traces")
        row = f"[data-trace-id='{trace_id}'] a"
        page.wait_for_selector(row)
        took, shown = page.evaluate(OPENED, [row, 10])
        seconds.append(took)
        rows.append(shown)
    page.context.close()
    name = f"{spans:,} spans"
    # The first one also loads the page's own part of the bundle; it is a first load, not an opening.
    return {f"{name} open": statistics.median(seconds[1:]), f"{name}, rows in the page": max(rows)}


def written(ui: Ui, data: dict[str, Any]) -> str:
    """Parts of a trace are put together by the server: 50,000 spans are more than one request may hold."""
    spans = list(data["spans"].items())
    for at in range(0, len(spans), 5_000):
        answer = ui.ask("POST", "/api/traces", {**data, "spans": dict(spans[at : at + 5_000])})
        assert answer.status in (200, 204), answer.body
    return str(data["traceId"])


def stream(browser: Browser, ui: Ui) -> dict[str, float]:
    """Time between frames while a run streams two hundred chunks a second into the runner."""
    page = fresh(browser)
    page.goto(f"{ui.url}/run/flow/chatter")
    page.get_by_role("textbox", name="Input").fill("6")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("word").first.wait_for()
    page.evaluate(FRAMES)
    page.wait_for_timeout(4_000)
    frames: Sequence[float] = page.evaluate("window.frames_.slice(5)")
    page.locator("[data-part=run][data-status=success]").wait_for(timeout=60_000)
    page.context.close()
    return {"200 chunks/s, frames p95": statistics.quantiles(frames, n=20)[-1]}


def tell(found: dict[str, float]) -> None:
    for name, value in found.items():
        bar, unit = BARS[name]
        verdict = "ok" if value <= bar else "over the bar"
        print(f"{name:34} {value:10.3f} {unit:5} bar {bar:8.2f}   {verdict}")
    print(json.dumps({name: round(value, 4) for name, value in found.items()}))


if __name__ == "__main__":
    main()
