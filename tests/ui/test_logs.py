"""Logs: live, by level and text, and the way to the span in which something was logged."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import Ui

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "the developer UI is looked at in a real browser")]


def test_records_appear_as_they_are_written(page: Page, ui: Ui):
    page.goto(f"{ui.url}/logs")
    expect(page.locator("[data-status=connected]")).to_be_visible()
    expect(page.get_by_role("heading", name="Logs")).to_be_visible()
    ui.run("/flow/hello", "Grace")
    expect(page.get_by_role("list", name="Log records").get_by_text("greeting Grace")).to_be_visible()


def test_a_level_leaves_out_what_is_below_it_and_stands_in_the_address(page: Page, ui: Ui):
    ui.run("/flow/hello", "Ada")
    ui.run("/flow/boom")
    page.goto(f"{ui.url}/logs")
    expect(page.get_by_text("greeting Ada").first).to_be_visible()
    page.get_by_role("combobox", name="Level").click()
    page.get_by_role("option", name="Errors", exact=True).click()
    expect(page.get_by_text("the kitchen is on fire").first).to_be_visible()
    expect(page.get_by_text("greeting Ada")).to_have_count(0)
    expect(page).to_have_url(re.compile("level=error"))


def test_words_find_records(page: Page, ui: Ui):
    ui.run("/flow/hello", "Lovelace")
    page.goto(f"{ui.url}/logs")
    page.get_by_role("searchbox", name="Search logs").fill("Lovelace")
    records = page.get_by_role("list", name="Log records").get_by_role("listitem")
    expect(records).to_have_count(1)
    page.get_by_role("searchbox", name="Search logs").fill("nobody has said this")
    expect(page.get_by_text("No record fits")).to_be_visible()


def test_a_record_opens_and_leads_to_its_span(page: Page, ui: Ui):
    trace_id = ui.run("/flow/hello", "Hopper")["run"]["traceId"]
    page.goto(f"{ui.url}/logs?q=Hopper")
    page.get_by_role("button", name=re.compile("greeting Hopper")).click()
    expect(page.get_by_text(re.compile(r"app\.py:\d+")).first).to_be_visible()
    page.get_by_role("link", name=trace_id[:8]).click()
    expect(page).to_have_url(re.compile(rf"/traces/{trace_id}\?span=\w+"))


def test_the_logs_of_one_trace_have_an_address(page: Page, ui: Ui):
    ui.run("/flow/hello", "other")
    trace_id = ui.run("/flow/boom")["run"]["traceId"]
    page.goto(f"{ui.url}/logs?traceId={trace_id}")
    expect(page.get_by_text("the kitchen is on fire")).to_have_count(1)
    expect(page.get_by_text("greeting other")).to_have_count(0)
    page.get_by_role("button", name="Show logs of all traces").click()
    expect(page.get_by_text("greeting other").first).to_be_visible()
