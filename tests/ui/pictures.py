"""Makes the pictures of the developer UI in docs/images, from the real app: the menu sample, light and dark.

    python -m tests.ui.pictures [name…]

It needs Chromium, and a bundle (`make ui`), or UI_BUNDLE with the folder of one.
"""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.conftest import BROWSERS
from tests.server.start.conftest import Project
from tests.support.modules import ROOT
from tests.ui.conftest import ARGUMENTS, Ui

IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1440, "height": 860}
QUESTION = "Which dessert is vegan?"


def home(page: Page, ui: Ui) -> None:
    page.goto(ui.url)
    expect(page.get_by_role("link", name="menuQA").first).to_be_visible()


def runner(page: Page, ui: Ui) -> None:
    page.goto(f"{ui.url}/run/flow/menuQA")
    page.get_by_role("textbox").first.fill(QUESTION)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-status=success]").first).to_be_visible()


def trace(page: Page, ui: Ui) -> None:
    found = ui.get("/api/traces/summaries")["traces"]
    trace_id = next(one["traceId"] for one in found if one["name"] == "menuQA")
    page.goto(f"{ui.url}/traces/{trace_id}")
    page.locator("[data-span-id][data-kind=retriever]").first.click()


def retrieval(page: Page, ui: Ui) -> None:
    page.goto(f"{ui.url}/run/retriever/devstore/menu")
    page.get_by_role("textbox").first.fill("vegan dessert with chocolate")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("dessert").first).to_be_visible()


def store(page: Page, ui: Ui) -> None:
    page.goto(f"{ui.url}/stores/devstore/menu")
    expect(page.get_by_text("dinner.pdf").first).to_be_visible()


def chat(page: Page, ui: Ui) -> None:
    page.goto(f"{ui.url}/run/model/local/extractive")
    page.get_by_role("combobox", name="Answer from").click()
    page.get_by_role("option", name="devstore/menu").click()
    page.get_by_role("textbox", name="Message", exact=True).fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.get_by_role("article", name="model")).to_contain_text("Trace")


PICTURES: dict[str, Callable[[Page, Ui], None]] = {
    picture.__name__: picture for picture in (home, runner, trace, retrieval, store, chat)
}


def main(names: list[str]) -> None:
    IMAGES.mkdir(exist_ok=True)
    program = next(filter(None, map(shutil.which, BROWSERS)))
    bundle = Path(os.environ["UI_BUNDLE"]) if "UI_BUNDLE" in os.environ else None
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary) / "menu"
        shutil.copytree(ROOT / "samples" / "menu", folder)
        project = Project(folder)
        try:
            ui = Ui(project, bundle)
            for menu in ("dinner.pdf", "lunch.pdf"):
                ui.run("/flow/indexMenu", menu)
            for question in ("What does the soup cost?", "Is there fish?", QUESTION):
                ui.run("/flow/menuQA", question)
            ui.run("/flow/indexMenu", "breakfast.pdf")
            browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
            for name in names or PICTURES:
                for theme in ("light", "dark"):
                    context = browser.new_context(
                        viewport=SIZE, color_scheme=theme, locale="en-GB", reduced_motion="reduce"
                    )
                    page = context.new_page()
                    page.set_default_timeout(60_000)
                    PICTURES[name](page, ui)
                    page.wait_for_timeout(1500)  # what moves has come to rest
                    page.screenshot(path=IMAGES / f"{name}-{theme}.png")
                    context.close()
                    print(json.dumps({"picture": f"{name}-{theme}"}))
            browser.close()
        finally:
            project.end()


if __name__ == "__main__":
    main(sys.argv[1:])
