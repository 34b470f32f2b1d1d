"""Settings: plugins and whether they answer, names of the environment without their values, data and versions."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import Ui

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "the developer UI is looked at in a real browser")]


def test_the_page_shows_data_versions_and_retention(page: Page, ui: Ui):
    page.goto(f"{ui.url}/settings")
    expect(page.get_by_text(str(ui.folder))).to_be_visible()
    expect(page.get_by_role("row", name="traces .flowkit/traces.db")).to_be_visible()
    expect(page.get_by_text("Kept: 10,000 traces")).to_be_visible()
    expect(page.get_by_text("pydantic", exact=True)).to_be_visible()


def test_a_plugin_says_whether_it_works(page: Page, ui: Ui):
    page.goto(f"{ui.url}/settings")
    page.get_by_role("button", name="Test devstore/menu").click()
    plugin = page.get_by_role("listitem").filter(has=page.get_by_role("button", name="Test devstore/menu"))
    expect(plugin.get_by_role("status")).to_contain_text("document")


def test_the_environment_is_names_only(page: Page, make_ui: Callable[..., Ui]):
    ui = make_ui(env={"GEMINI_API_KEY": "a-secret-that-nobody-sees"})
    page.goto(f"{ui.url}/settings")
    item = page.get_by_role("listitem").filter(has_text="GEMINI_API_KEY")
    expect(item.get_by_text("set", exact=True)).to_be_visible()
    assert "a-secret-that-nobody-sees" not in page.content()


def test_the_theme_is_chosen_here_too(page: Page, ui: Ui):
    page.goto(f"{ui.url}/settings")
    page.get_by_role("group", name="Theme").get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
