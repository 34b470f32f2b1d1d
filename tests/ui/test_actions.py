"""The list of actions: all of them, by kind, filtered as one types, with schema, place in the code and last run."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import Ui

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "the developer UI is looked at in a real browser")]


def test_every_action_is_listed_once_with_counts_for_each_kind(page: Page, ui: Ui):
    page.goto(f"{ui.url}/actions")
    rows = page.get_by_role("table", name="Actions").locator("tbody tr")
    expect(rows.first).to_be_visible()
    listed = [action for action in ui.get("/api/actions")["actions"] if action["kind"] != "tool.v2"]
    assert rows.count() == len(listed)
    assert {row.get_attribute("data-key") for row in rows.all()} == {action["key"] for action in listed}
    kinds = page.get_by_role("group", name="Kinds")
    expect(kinds.get_by_role("button", name=f"All kinds {len(listed)}")).to_be_visible()
    for kind in ("flow", "model", "tool", "retriever", "reranker", "indexer", "embedder"):
        count = sum(action["kind"] == kind for action in listed)
        expect(kinds.get_by_role("button", name=f"{kind} {count}", exact=True)).to_be_visible()


def test_typing_a_part_of_a_name_leaves_what_fits_and_the_address_keeps_it(page: Page, ui: Ui):
    page.goto(f"{ui.url}/actions")
    page.get_by_role("searchbox", name="Filter actions").fill("order")
    rows = page.get_by_role("table", name="Actions").locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile("q=order"))
    page.get_by_role("button", name=re.compile("^flow")).click()
    expect(page).to_have_url(re.compile("kind=flow"))

    page.goto(page.url)
    expect(page.get_by_role("searchbox", name="Filter actions")).to_have_value("order")
    expect(rows).to_have_count(1)
    expect(page.get_by_role("button", name=re.compile("^flow"))).to_have_attribute("aria-pressed", "true")


def test_nothing_found_offers_the_way_back(page: Page, ui: Ui):
    page.goto(f"{ui.url}/actions?q=zebra")
    page.get_by_role("button", name="Show all").click()
    expect(page.get_by_role("link", name="takeOrder")).to_be_visible()


def test_details_show_fields_source_and_the_way_to_run(page: Page, ui: Ui):
    page.goto(f"{ui.url}/actions")
    page.get_by_role("button", name="Details of takeOrder").click()
    details = page.get_by_role("region", name="Details of takeOrder")
    expect(details.get_by_text("guest", exact=True)).to_be_visible()
    expect(details.get_by_text("Who orders. · length ≥ 1")).to_be_visible()
    expect(details.get_by_text("Order", exact=True).first).to_be_visible()
    line = next(n for n, text in enumerate((ui.folder / "app.py").read_text().splitlines(), 1) if '"takeOrder"' in text)
    expect(details.get_by_text(f"app.py:{line}")).to_be_visible()
    details.get_by_role("tab", name="Output").click()
    expect(details.get_by_text("total", exact=True)).to_be_visible()
    details.get_by_role("link", name="Run").click()
    expect(page).to_have_url(f"{ui.url}/run/flow/takeOrder")


def test_an_action_shows_its_last_run_as_soon_as_it_ends(page: Page, ui: Ui):
    page.goto(f"{ui.url}/actions?q=echo")
    expect(page.locator("[data-status=connected]")).to_be_visible()
    row = page.locator("[data-key='/flow/echo']")
    expect(row).to_be_visible()
    ui.run("/flow/echo", [1, 2])
    expect(row.get_by_role("img", name="Success")).to_be_visible()
