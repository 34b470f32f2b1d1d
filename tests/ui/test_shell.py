"""The frame around every page: the app's name, the ways to everything, and what it says when app or server go away."""

import json
import re
import signal
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import PHONE, Ui

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "the developer UI is looked at in a real browser")]


def test_the_page_names_the_app_and_says_that_it_answers(page: Page, ui: Ui):
    page.goto(ui.url)
    expect(page.get_by_role("button", name=f"Connected: {ui.folder.name}")).to_be_visible()
    expect(page.locator("[data-status=connected]")).to_be_visible()
    expect(page).to_have_title("Home · flowkit")


def test_the_rail_leads_to_every_room(page: Page, ui: Ui):
    page.goto(ui.url)
    rail = page.get_by_role("navigation", name="Main")
    for name in ("Actions", "Traces", "Stores", "Logs", "Settings", "Home"):
        rail.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page).to_have_title(re.compile(rf"^{name} · flowkit$"))
        expect(rail.get_by_role("link", name=name, exact=True)).to_have_attribute("aria-current", "page")


def test_the_palette_opens_a_flow_by_a_part_of_its_name(page: Page, ui: Ui):
    page.goto(ui.url)
    expect(page.locator("[data-status=connected]")).to_be_visible()
    page.keyboard.press("Control+k")
    search = page.get_by_role("combobox", name="Search or run a command")
    expect(search).to_be_focused()
    search.fill("three")
    expect(page.get_by_role("option", name="threeSteps")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{ui.url}/run/flow/threeSteps")
    expect(page.get_by_role("heading", name="threeSteps", level=1)).to_be_visible()


def test_the_palette_finds_a_trace_by_the_beginning_of_its_id(page: Page, ui: Ui):
    trace_id = ui.run("/flow/hello", "Ada")["run"]["traceId"]
    page.goto(ui.url)
    page.get_by_role("button", name="Search or run a command").click()
    page.get_by_role("combobox", name="Search or run a command").fill(trace_id[:8])
    page.get_by_role("option", name="hello").click()
    expect(page).to_have_url(re.compile(f"/traces/{trace_id}"))


def test_the_palette_runs_commands_and_closes_with_escape(page: Page, ui: Ui):
    page.goto(f"{ui.url}/settings")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search or run a command").fill("dark theme")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_keys_lead_to_pages_and_to_the_sheet_of_keys_but_not_while_one_types(page: Page, ui: Ui):
    page.goto(ui.url)
    expect(page.locator("[data-status=connected]")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("a")
    search = page.get_by_role("searchbox", name="Filter actions")
    expect(search).to_be_visible()
    page.keyboard.press("/")
    expect(search).to_be_focused()
    page.keyboard.type("?gt")
    expect(search).to_have_value("?gt")
    page.keyboard.press("Escape")
    expect(search).to_have_value("")
    search.blur()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet.get_by_text("Search actions, traces, pages and commands")).to_be_visible()


def test_the_theme_follows_the_system_until_one_is_chosen(make_page: Callable[..., Page], ui: Ui, watch: Any):
    page = make_page(color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    page.goto(ui.url)
    dark = page.evaluate(background)
    page.emulate_media(color_scheme="light")
    light = page.evaluate(background)
    assert dark != light

    page.get_by_role("button", name="Theme").click()
    page.get_by_role("menuitem", name="Dark").click()
    assert page.evaluate(background) == dark
    page.reload()
    assert page.evaluate(background) == dark
    assert not watch.unexpected


def test_runs_are_counted_and_can_be_cancelled_from_any_page(page: Page, ui: Ui):
    page.goto(f"{ui.url}/settings")
    expect(page.locator("[data-status=connected]")).to_be_visible()
    started = ui.start_run("/flow/sleep", 100)
    page.get_by_role("button", name="1 running").click()
    page.get_by_role("button", name="Cancel sleep").click()
    expect(page.get_by_role("button", name="1 running")).to_have_count(0)
    assert ui.get(f"/api/runs/{started['runId']}")["status"] == "cancelled"


def test_an_address_that_is_no_page_says_so(page: Page, ui: Ui):
    page.goto(f"{ui.url}/nothing/here")
    expect(page.get_by_text("There is no such page")).to_be_visible()
    page.get_by_role("link", name="Go home").click()
    expect(page.get_by_role("heading", name="Home")).to_be_visible()


def test_saving_a_flow_shows_it_and_says_what_has_changed(page: Page, make_ui: Callable[..., Ui]):
    ui = make_ui()
    page.goto(f"{ui.url}/actions?q=brandNew")
    expect(page.get_by_text("No action fits")).to_be_visible()
    expect(page.locator("[data-status=connected]")).to_be_visible()
    ui.edit(lambda text: f'{text}\n\n@ai.flow("brandNew")\nasync def brand_new() -> str:\n    return "new"\n')
    expect(page.get_by_role("link", name="brandNew")).to_be_visible()
    expect(page.get_by_text("Reloaded · 1 action added")).to_be_visible()


def test_a_broken_file_shows_its_traceback_over_the_page_and_keeps_what_was_typed(
    page: Page, make_ui: Callable[..., Ui]
):
    ui = make_ui()
    page.goto(f"{ui.url}/run/flow/hello")
    field = page.get_by_role("textbox").first
    field.fill("Ada, unsaved")
    good = (ui.folder / "app.py").read_text(encoding="utf-8")
    ui.edit(lambda text: f"{text}\nthis is no python\n")
    failed = page.get_by_role("alert", name="The app does not run")
    expect(failed.get_by_text("SyntaxError").first).to_be_visible()
    expect(failed.get_by_text(f"app.py:{good.count(chr(10)) + 2}")).to_be_visible()
    expect(page.locator("[data-status=failed]")).to_be_visible()
    ui.edit(lambda _: good)
    expect(failed).to_have_count(0)
    expect(page.locator("[data-status=connected]")).to_be_visible()
    expect(field).to_have_value("Ada, unsaved")


def test_a_server_that_goes_leaves_what_was_loaded_and_one_that_comes_is_taken_up(
    page: Page, make_ui: Callable[..., Ui], noise: list[str]
):
    noise.append("Failed to load resource|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED")
    ui = make_ui()
    page.goto(f"{ui.url}/actions")
    expect(page.get_by_role("link", name="takeOrder")).to_be_visible()
    ui.process.stop(signal.SIGTERM)
    expect(page.locator("[data-status=disconnected]")).to_be_visible()
    expect(page.get_by_role("alert").get_by_text("Disconnected.")).to_be_visible()
    expect(page.get_by_role("link", name="takeOrder")).to_be_visible()

    ui.edit(lambda text: text.replace('"takeOrder"', '"takeOrderAgain"'))
    ui.restart()
    expect(page.locator("[data-status=connected]")).to_be_visible()
    expect(page.get_by_role("link", name="takeOrderAgain")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_what_was_recorded_is_there_after_a_restart(page: Page, make_ui: Callable[..., Ui], noise: list[str]):
    noise.append("Failed to load resource|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED")
    ui = make_ui()
    trace_id = ui.run("/flow/threeSteps", "soup")["run"]["traceId"]
    ui.process.stop(signal.SIGTERM)
    ui.restart()
    page.goto(f"{ui.url}/traces")
    page.get_by_role("link", name="threeSteps").first.click()
    expect(page).to_have_url(re.compile(trace_id))
    expect(page.get_by_text("wash").first).to_be_visible()


@pytest.mark.parametrize(
    "path",
    ["/", "/actions", "/run/flow/takeOrder", "/run/flow/boom", "/traces", "/stores", "/logs", "/settings", "trace"],
)
def test_a_telephone_shows_pages_without_sideways_scrolling(
    make_page: Callable[..., Page], ui: Ui, watch: Any, path: str
):
    page = make_page(viewport=PHONE)
    if path == "trace":
        path = f"/traces/{ui.run('/flow/boom')['run']['traceId']}"
    page.goto(ui.url + path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.wait_for_load_state("load")
    widths = page.evaluate(
        "[document.documentElement.scrollWidth, document.querySelector('main').scrollWidth,"
        " document.querySelector('main').clientWidth]"
    )
    assert widths[0] <= PHONE["width"]
    assert widths[1] <= widths[2], json.dumps(widths)
    expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Traces")).to_be_in_viewport()
    assert not watch.unexpected
