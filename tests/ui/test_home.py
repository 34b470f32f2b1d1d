"""Home: how the app stands, what ran last, what failed, and how one begins."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import Ui

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "the developer UI is looked at in a real browser")]


def test_home_says_which_file_runs_in_which_process(page: Page, ui: Ui):
    page.goto(ui.url)
    status = page.get_by_label("Status", exact=True)
    expect(status.get_by_text("app.py")).to_be_visible()
    expect(status.get_by_text(str(ui.get("/api/status")["pid"]))).to_be_visible()
    expect(status.get_by_text("running")).to_be_visible()


def test_home_shows_runs_as_they_happen_and_why_one_failed(page: Page, ui: Ui):
    page.goto(ui.url)
    expect(page.locator("[data-status=connected]")).to_be_visible()
    ended = ui.run("/flow/boom", "stew")
    row = page.locator(f"[data-trace-id='{ended['run']['traceId']}']")
    expect(row.get_by_role("img", name="Error")).to_be_visible()
    expect(row.get_by_text('"stew"')).to_be_visible()
    expect(page.get_by_role("table", name="Failed").get_by_text("there is no stew today")).to_be_visible()
    row.get_by_role("link", name="boom").click()
    expect(page).to_have_url(f"{ui.url}/traces/{ended['run']['traceId']}")


def test_counts_of_kinds_lead_to_their_actions(page: Page, ui: Ui):
    page.goto(ui.url)
    page.get_by_role("link", name="retriever 2").click()
    expect(page.get_by_role("link", name="drinks")).to_be_visible()
    expect(page.get_by_role("link", name="takeOrder")).to_have_count(0)


def test_an_app_without_actions_is_told_how_to_write_the_first(page: Page, make_ui: Callable[..., Ui]):
    ui = make_ui("from flowkit import Flowkit\n\nai = Flowkit()\n")
    page.goto(ui.url)
    code = page.get_by_role("region", name="Quick start").get_by_text('@ai.flow("hello")')
    expect(code).to_be_visible()
    expect(page.locator("[data-status=connected]")).to_be_visible()
    # What it says is what works.
    ui.edit(lambda _: code.inner_text())
    expect(page.get_by_role("link", name="flow 1")).to_be_visible()
    assert ui.run("/flow/hello", "Ada")["result"] == "Hello, Ada!"
