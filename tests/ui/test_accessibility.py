"""axe finds nothing serious on any page, in either theme; and all of it can be done by keyboard."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import Ui

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "the developer UI is looked at in a real browser")]

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
PAGES = {
    "home": "/",
    "actions": "/actions?key=/flow/takeOrder",
    "runner": "/run/flow/takeOrder",
    "result": "/run/flow/hello",
    "chat": "/run/model/waiter",
    "retrieval": "/run/retriever/devstore/menu",
    "reranker": "/run/reranker/byWords",
    "embedder": "/run/embedder/fake-embedder",
    "indexer": "/run/indexer/devstore/menu",
    "traces": "/traces",
    "trace": "/traces/{trace}",
    "compare": "/compare?a={trace}&b={other}",
    "stores": "/stores",
    "store": "/stores/devstore/menu",
    "logs": "/logs",
    "settings": "/settings",
}


@pytest.fixture(scope="module")
def runs(ui: Ui) -> dict[str, str]:
    ui.run("/flow/hello", "Ada")
    first, second = (ui.run("/flow/boom", dish)["run"]["traceId"] for dish in ("soup", "stew"))
    return {"trace": first, "other": second}


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(make_page: Callable[..., Page], ui: Ui, runs: dict[str, str], watch: Any, name: str):
    page = make_page(color_scheme="light")
    page.goto(ui.url + PAGES[name].format(**runs))
    expect(page.get_by_role("heading", level=1).first).to_be_visible()
    expect(page.locator("[data-status=connected]")).to_be_visible()
    page.wait_for_load_state("load")
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    page.evaluate(f"() => {{ {AXE} }}")
    found = serious(page)
    background = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("light => getComputedStyle(document.body).backgroundColor !== light", arg=background)
    found += serious(page, runOnly=["color-contrast"])  # of all rules, the one that looks at colours
    assert not found, "\n".join(found)
    assert not watch.unexpected


def serious(page: Page, **options: Any) -> list[str]:
    found = page.evaluate("options => axe.run(document, options)", {"resultTypes": ["violations"], **options})
    return [
        f"{one['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]


def press_until(page: Page, key: str, reached: str, most: int = 60) -> None:
    """Press a key until the focused element fits, as somebody without a mouse does; each stop can be seen."""
    for _ in range(most):
        page.keyboard.press(key)
        shown = page.evaluate(
            """() => {
              const at = document.activeElement
              const rings = [at, at.parentElement, at.parentElement?.parentElement].filter(Boolean).some((one) => {
                const { outlineStyle, boxShadow } = getComputedStyle(one)
                return outlineStyle !== "none" || boxShadow !== "none"
              })
              const seen = rings || at === document.body || at.hasAttribute("aria-activedescendant")
              return [at.getAttribute("aria-label") ?? at.textContent ?? "", seen]
            }"""
        )
        assert shown[1], f"nothing shows that {shown[0]!r} has the focus"
        if re.search(reached, shown[0]):
            return
    raise AssertionError(f"{key} does not lead to {reached}")


def test_from_run_to_trace_to_span_and_back_by_keyboard_alone(page: Page, ui: Ui):
    page.goto(ui.url)
    expect(page.locator("[data-status=connected]")).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("threeSteps")
    expect(page.get_by_role("option", name="threeSteps").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="threeSteps")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-status=success]").first).to_be_visible()
    press_until(page, "Tab", "^Trace [0-9a-f]{8}$")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/traces/[0-9a-f]{32}"))
    expect(page.get_by_role("treeitem", name=re.compile("^wash step"))).to_be_visible()
    press_until(page, "Tab", "^Spans$")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("span="))
    expect(page.get_by_role("region", name="Span details").get_by_role("heading", name="cut")).to_be_visible()
    while "/traces/" in page.url:
        page.go_back()
    expect(page.get_by_role("heading", name="threeSteps", level=1)).to_be_visible()
