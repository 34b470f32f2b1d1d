"""Two traces side by side: what differs is marked, what is the same can be left out."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.ui.conftest import Ui
from tests.ui.traces_made import span, trace

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "two runs are compared by somebody")]


def compare(page: Page, ui: Ui, a: str, b: str) -> None:
    page.goto(f"{ui.url}/compare?a={a}&b={b}")
    expect(page.get_by_role("region", name="Spans of both")).to_be_visible()


def section(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def test_two_selected_runs_are_compared_and_equal_parts_can_be_left_out(page: Page, ui: Ui):
    lines = {f"line{number:02}": number for number in range(30)}
    for dish in ("soup", "stew"):
        ui.run("/flow/echo", {**lines, "zz": dish})
    page.goto(f"{ui.url}/traces?action=echo")
    for at in (0, 1):
        page.locator("[data-trace-id]").nth(at).get_by_role("checkbox").click()
    page.get_by_role("region", name="Selected traces").get_by_role("button", name="Compare").click()

    output = page.locator("[data-diff=output]")
    changed = output.locator(".cm-changedLine")
    expect(changed).to_have_count(2)
    assert {re.search(r"soup|stew", text)[0] for text in changed.all_inner_texts()} == {"soup", "stew"}
    expect(output.get_by_text("line05").first).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("echo"))).to_contain_text("ms")

    page.get_by_role("switch", name="Only differences").click()
    expect(page).to_have_url(re.compile("only=1"))
    expect(output.get_by_text("line05")).to_have_count(0)
    expect(output.locator(".cm-changedLine")).to_have_count(2)


def test_what_is_the_same_is_left_out_as_a_whole(page: Page, ui: Ui):
    ids = [ui.run("/flow/hello", name)["run"]["traceId"] for name in ("Ada", "Ada")]
    compare(page, ui, *ids)

    expect(section(page, "Input")).to_contain_text("The same in both.")
    page.get_by_role("switch", name="Only differences").click()
    expect(section(page, "Input")).to_have_count(0)
    expect(section(page, "Output")).to_have_count(0)


def test_spans_stand_in_pairs_with_their_difference_in_time_and_tokens(page: Page, ui: Ui):
    def cook(*, look: float, tokens: int, taste: bool) -> str:
        usage = {"gen_ai__usage__input_tokens": tokens, "gen_ai__usage__output_tokens": 1}
        spans = [
            span(1, "cook", 0, 1000),
            span(2, "look", 10, 10 + look, parent=1, kind="tool"),
            *([span(3, "taste", 300, 310, parent=1, kind="tool")] if taste else []),
            span(4, "waiter", 400, 500, parent=1, kind="model", **usage),
            span(5, "serve", 600, 610, parent=1, kind="tool"),
        ]
        return str(ui.post("/api/traces/import", trace(spans))["traceId"])

    compare(page, ui, cook(look=50, tokens=10, taste=False), cook(look=150, tokens=30, taste=True))
    table = page.get_by_role("region", name="Spans of both")
    look = table.locator("tr").filter(has_text="look")
    expect(look).to_contain_text("+100 ms")
    expect(table.locator("tr").filter(has_text="waiter")).to_contain_text("+20")
    expect(table.locator("tr").filter(has_text="taste")).to_contain_text("only in B")
    expect(table.locator("tbody tr")).to_have_count(5)

    page.get_by_role("switch", name="Only differences").click()
    expect(table.locator("tr").filter(has_text="serve")).to_have_count(0)
    expect(look).to_be_visible()
    page.get_by_role("button", name="Swap").click()
    expect(look).to_contain_text("−100 ms")


def test_documents_that_were_found_are_compared_by_their_place(page: Page, ui: Ui):
    ids = [
        ui.run("/flow/askMenu", question)["run"]["traceId"]
        for question in ("a chocolate cake with cherries", "a beef stew with carrots")
    ]
    compare(page, ui, *ids)

    found = section(page, "Documents of devstore/menu")
    expect(found).to_contain_text("in both")
    expect(found.get_by_role("row", name=re.compile("Beef stew"))).to_contain_text(re.compile("↑|new"))
    expect(found.get_by_role("row", name=re.compile("Chocolate cake"))).to_contain_text(re.compile("↓|gone"))


def test_without_two_traces_it_says_how_to_choose_them(page: Page, ui: Ui):
    page.goto(f"{ui.url}/compare")
    page.get_by_role("link", name="Choose traces").click()
    expect(page).to_have_url(re.compile("/traces"))
