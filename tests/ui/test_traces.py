"""The list of traces: filtered by its address, page by page, alive without moving under the reader's eyes."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.server.start.conftest import until
from tests.ui.conftest import Ui
from tests.ui.traces_made import span, trace

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "a list is looked through by somebody")]

MANY = 120


@pytest.fixture(scope="module")
def filled(ui: Ui) -> Ui:
    """More traces than a page holds, from long ago, and a few of today."""
    long_ago = time.time() * 1000 - 10 * 86_400_000
    for number in range(MANY):
        ui.post(
            "/api/traces/import", trace([span(1, f"old-{number}", 0, 5 + number)], started=long_ago + number * 1000)
        )
    ui.run("/flow/hello", "Ada")
    ui.run("/flow/boom")
    ui.run("/retriever/drinks", {"query": {"content": [{"text": "tea"}]}})
    return ui


def rows(page: Page) -> Locator:
    return page.locator("[data-trace-id]")


def names(page: Page) -> list[str]:
    return rows(page).get_by_role("link").all_inner_texts()


def open_list(page: Page, ui: Ui, query: str = "") -> None:
    page.goto(f"{ui.url}/traces{query}")
    expect(page.get_by_role("heading", name="Traces", exact=True)).to_be_visible()
    expect(rows(page).first).to_be_visible()


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_the_list_is_filtered_by_status_kind_action_and_text_and_its_address_holds_the_filter(page: Page, filled: Ui):
    open_list(page, filled)
    expect(rows(page)).to_have_count(50)

    choose(page, "Status", "error")
    expect(rows(page)).to_have_count(1)
    assert names(page) == ["boom"]
    expect(page).to_have_url(re.compile("status=error"))
    expect(rows(page)).to_contain_text("ValueError: there is no soup today")

    page.get_by_role("button", name="Clear", exact=True).click()
    choose(page, "Kind", "retriever")
    expect(rows(page)).to_have_count(1)
    assert names(page) == ["drinks"]

    page.goto(f"{filled.url}/traces?action=%2Fflow%2Fhello")
    expect(rows(page)).to_have_count(1)
    assert names(page) == ["hello"]

    open_list(page, filled)
    page.get_by_role("searchbox", name="Search traces").fill("Ada")
    expect(page).to_have_url(re.compile("q=Ada"))
    expect(rows(page)).to_have_count(1)
    page.reload()
    expect(page.get_by_role("searchbox", name="Search traces")).to_have_value("Ada")
    expect(rows(page)).to_have_count(1)
    page.get_by_role("searchbox", name="Search traces").fill("nothing is called so")
    expect(page.get_by_text("No trace is like that")).to_be_visible()


def test_the_next_page_has_other_rows_and_back_restores_filter_and_place(page: Page, filled: Ui):
    open_list(page, filled, "?kind=flow")
    first = names(page)
    page.get_by_role("button", name="Next page").click()
    expect(page).to_have_url(re.compile("kind=flow&cursor="))
    expect(rows(page).get_by_role("link").first).not_to_have_text(first[0])
    expect(page.get_by_role("button", name="First page")).to_be_enabled()
    second = names(page)
    assert len(second) == 50
    assert not set(second) & {name for name in first if name.startswith("old")}

    list_of = page.locator("[data-scroll-restoration-id=traces]")
    rows(page).nth(45).scroll_into_view_if_needed()
    place = list_of.evaluate("element => element.scrollTop")
    assert place > 100
    rows(page).nth(45).get_by_role("link").click()
    expect(page.get_by_role("tree", name="Spans")).to_be_visible()
    page.go_back()
    expect(rows(page).nth(45)).to_be_in_viewport()
    assert names(page) == second
    assert abs(list_of.evaluate("element => element.scrollTop") - place) < 60

    page.go_back()
    expect(rows(page).get_by_role("link").first).to_have_text(first[0])
    expect(page).to_have_url(re.compile("kind=flow$"))


def test_new_rows_wait_behind_a_count_unless_the_list_is_followed(page: Page, filled: Ui):
    open_list(page, filled, "?action=%2Fflow%2Fhello")
    before = rows(page).count()
    for name in ("one", "two", "three"):
        filled.run("/flow/hello", name)
    filled.run("/flow/echo", 1)
    fresh = page.get_by_role("button", name="3 new")
    expect(fresh).to_be_visible()
    assert rows(page).count() == before
    fresh.click()
    expect(rows(page)).to_have_count(before + 3)
    expect(page.get_by_role("button", name=re.compile(r"\d new"))).to_have_count(0)

    page.get_by_role("switch", name="Follow").click()
    filled.run("/flow/hello", "four")
    expect(rows(page)).to_have_count(before + 4)


def test_a_row_that_runs_ends_in_its_place(page: Page, filled: Ui):
    run = filled.start_run("/flow/sleep", 60)
    until(lambda: filled.get("/api/traces/summaries?action=sleep")["traces"], "the run is in the list")
    open_list(page, filled, "?action=sleep")
    expect(rows(page).first).to_have_attribute("data-status", "running")
    filled.post(f"/api/runs/{run['runId']}/cancel", {})
    expect(rows(page).first).to_have_attribute("data-status", "cancelled")


def test_selected_traces_are_deleted_and_exported(page: Page, ui: Ui):
    for number in range(3):
        ui.post("/api/traces/import", trace([span(1, "throwaway", 0, 10 + number)]))
    open_list(page, ui, "?action=throwaway")
    expect(rows(page)).to_have_count(3)

    rows(page).nth(0).get_by_role("checkbox").click()
    rows(page).nth(1).get_by_role("checkbox").click()
    chosen = page.get_by_role("region", name="Selected traces")
    with page.expect_download() as loading:
        chosen.get_by_role("button", name="Export").click()
    assert json.loads(loading.value.path().read_text())["format"] == "flowkit-trace"
    chosen.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(rows(page)).to_have_count(1)
    expect(chosen).to_have_count(0)


def test_a_trace_from_a_file_is_opened(page: Page, ui: Ui, tmp_path: Path, noise: list[str]):
    noise.append("400 .*/api/traces/import")
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(trace([span(1, "from-a-colleague", 0, 10)])))
    (tmp_path / "letter.json").write_text('{"dear": "colleague"}')
    open_list(page, ui)

    page.get_by_label("Trace files").set_input_files(tmp_path / "letter.json")
    expect(page.get_by_text("A file was not imported").first).to_be_visible()
    page.get_by_label("Trace files").set_input_files(file)
    expect(page.get_by_role("heading", name="from-a-colleague", level=1)).to_be_visible()


def test_a_trace_that_is_dropped_on_the_list_is_opened(page: Page, ui: Ui):
    text = json.dumps(trace([span(1, "dropped", 0, 10)]))
    open_list(page, ui)
    drop = """([target, text]) => {
        const data = new DataTransfer()
        data.items.add(new File([text], "trace.json", { type: "application/json" }))
        for (const type of ["dragover", "drop"])
            target.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: data }))
    }"""
    page.evaluate(drop, [page.get_by_role("heading", name="Traces", exact=True).element_handle(), text])
    expect(page.get_by_role("heading", name="dropped", level=1)).to_be_visible()


def test_a_filter_is_kept_by_name(page: Page, filled: Ui):
    open_list(page, filled, "?status=error&minMs=1")
    page.get_by_role("button", name="Saved").click()
    page.get_by_role("textbox", name="Name of this filter").fill("slow failures")
    page.get_by_role("button", name="Save", exact=True).click()

    open_list(page, filled)
    page.get_by_role("button", name="Saved 1").click()
    page.get_by_role("button", name="slow failures", exact=True).click()
    expect(page).to_have_url(re.compile(r"status=error&minMs=1"))
    expect(rows(page)).to_have_count(1)


def test_an_empty_project_says_what_to_do(page: Page, make_ui: Any):
    ui = make_ui()
    page.goto(f"{ui.url}/traces")
    expect(page.get_by_text("Nothing has run yet")).to_be_visible()
    expect(page.get_by_text("flowkit flow:run NAME INPUT")).to_be_visible()
