"""Texts of models, documents, tools and logs are shown as texts, whatever they hold."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.ui.app import HOSTILE
from tests.ui.conftest import Ui

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "the developer UI is looked at in a real browser")]


@pytest.fixture(autouse=True)
def unharmed(page: Page) -> Iterator[None]:
    """Nothing of it was run, loaded or made an element. That no other host was asked is seen to by `page`."""
    yield
    assert page.evaluate("window.__xss") is None
    assert page.locator("img[src='x'], img[src^='http'], main script, iframe").count() == 0
    assert page.locator("a[href^='javascript:']").count() == 0


def test_a_result_and_its_trace_are_text(page: Page, ui: Ui):
    trace_id = ui.run("/flow/hostile")["run"]["traceId"]
    page.goto(f"{ui.url}/traces/{trace_id}")
    expect(page.get_by_text("hostile").first).to_be_visible()
    expect(page.get_by_text(re.compile("onerror=")).first).to_be_visible()


def test_a_run_is_text(page: Page, ui: Ui):
    page.goto(f"{ui.url}/run/flow/hostile")
    page.get_by_role("button", name=re.compile("^Run")).click()
    expect(page.get_by_text(re.compile("onerror=")).first).to_be_visible()


def test_a_tools_name_and_description_are_text(page: Page, ui: Ui):
    page.goto(f"{ui.url}/actions?kind=tool")
    link = page.get_by_role("link", name="<b>evil</b>")
    expect(link).to_be_visible()
    expect(page.get_by_text('<img src=x onerror="window.__xss=1"> in a description.')).to_be_visible()
    link.click()
    expect(page.get_by_role("heading", name="<b>evil</b>")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search or run a command").fill("evil")
    expect(page.get_by_role("option", name="<b>evil</b>").first).to_be_visible()


def test_a_log_record_is_text(page: Page, ui: Ui):
    ui.run("/flow/hostile")
    page.goto(f"{ui.url}/logs")
    page.get_by_role("button", name=re.compile("hostile:")).first.click()
    expect(page.get_by_text(HOSTILE).first).to_be_visible()


def test_a_models_answer_has_no_elements_of_its_own_and_its_picture_is_a_link(page: Page, ui: Ui):
    page.goto(f"{ui.url}/run/model/waiter")
    page.get_by_role("textbox", name="Message", exact=True).fill("hostile")
    page.keyboard.press("Enter")
    answer = page.get_by_role("article", name="model")
    expect(answer.get_by_text(re.compile("<script>"))).to_be_visible()
    picture = answer.get_by_role("link", name="picture (evil.example)")
    expect(picture).to_have_attribute("rel", "noopener noreferrer")
    expect(answer.get_by_role("link", name="click")).to_have_count(0)


def test_a_documents_text_and_metadata_are_text(page: Page, ui: Ui):
    page.goto(f"{ui.url}/stores/devstore/menu")
    expect(page.get_by_text(re.compile("A hostile dish")).first).to_be_visible()
    expect(page.get_by_text("<i>evil</i>.md").first).to_be_visible()


def test_a_hit_is_text(page: Page, ui: Ui):
    page.goto(f"{ui.url}/run/retriever/devstore/menu?q=hostile&k=3")
    page.get_by_role("button", name=re.compile("^Run")).click()
    expect(page.get_by_text(re.compile("hostile dish")).first).to_be_visible()
