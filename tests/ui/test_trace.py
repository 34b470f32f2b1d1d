"""One trace: its spans as they come, their values, why one failed, and the ways on from there."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.ui.conftest import PHONE, Ui
from tests.ui.traces_made import bulk, span, trace

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "a trace is looked at by somebody")]


def rows_of(page: Page) -> Locator:
    return page.get_by_role("tree", name="Spans").get_by_role("treeitem")


def row(page: Page, name: str) -> Locator:
    return rows_of(page).filter(has=page.get_by_text(name, exact=True))


def details(page: Page) -> Locator:
    return page.get_by_role("region", name="Span details")


def fact(page: Page, name: str) -> Locator:
    return page.locator(f"[data-fact={name}]")


def open_trace(page: Page, ui: Ui, trace_id: str, query: str = "") -> None:
    page.goto(f"{ui.url}/traces/{trace_id}{query}")
    expect(page.get_by_role("tree", name="Spans")).to_be_visible()


def imported(ui: Ui, data: dict[str, Any]) -> str:
    answer = ui.post("/api/traces/import", data)
    return str(answer["traceId"])


def traced(ui: Ui, key: str, *input: Any) -> str:
    return str(ui.run(key, *input)["run"]["traceId"])


def test_spans_of_a_running_flow_appear_one_by_one_below_and_after_their_parent(page: Page, ui: Ui):
    ui.close_gates()
    try:
        started = ui.start_run("/flow/threeSteps", "leek")
        open_trace(page, ui, started["traceId"])
        page.evaluate("window.sameDocument = true")
        shown = page.locator("[data-trace]")

        expect(row(page, "wash")).to_have_attribute("data-state", "running")
        expect(shown).to_have_attribute("data-status", "running")
        expect(row(page, "cut")).to_have_count(0)
        ui.open_gate("wash")
        expect(row(page, "cut")).to_have_attribute("data-state", "running")
        expect(row(page, "wash")).to_have_attribute("data-state", "success")
        expect(row(page, "cook")).to_have_count(0)
        ui.open_gate("cut")
        expect(row(page, "cook")).to_be_visible()
        ui.open_gate("cook")
        expect(shown).to_have_attribute("data-status", "success")

        expect(rows_of(page)).to_have_count(4)
        expect(row(page, "threeSteps")).to_have_attribute("data-state", "success")
        parent = row(page, "threeSteps").locator("[data-bar]").bounding_box()
        for name in ("wash", "cut", "cook"):
            bar = row(page, name).locator("[data-bar]").bounding_box()
            assert bar is not None
            assert parent is not None
            assert parent["x"] - 0.5 <= bar["x"]
            assert bar["x"] + bar["width"] <= parent["x"] + parent["width"] + 2.5
        assert page.evaluate("window.sameDocument")
    finally:
        ui.open_gates()


def test_the_failing_span_is_selected_and_says_why_with_the_users_line_and_the_cause(page: Page, ui: Ui):
    open_trace(page, ui, traced(ui, "/flow/boom"))

    expect(row(page, "fetch-dish")).to_have_attribute("aria-selected", "true")
    expect(row(page, "fetch-dish").get_by_role("img", name="failed")).to_be_visible()
    expect(details(page)).to_contain_text("ValueError")
    expect(details(page)).to_contain_text("there is no soup today")
    expect(details(page).get_by_text(re.compile(r"^app\.py:\d+$")).first).to_be_visible()
    expect(details(page).get_by_role("heading", name="caused by KeyError: 'soup'")).to_be_visible()
    folded = details(page).get_by_role("button", name="1 frame of libraries")
    folded.click()
    expect(details(page)).to_contain_text("await")


def test_open_in_runner_fills_the_input_in_and_a_new_run_leaves_the_old_trace_as_it_was(page: Page, ui: Ui):
    old = traced(ui, "/flow/hello", "Ada")
    before = ui.get(f"/api/traces/{old}")
    open_trace(page, ui, old)

    details(page).get_by_role("link", name="Open in runner").click()
    expect(page).to_have_url(re.compile(rf"/run/flow/hello\?from={old}&span=[0-9a-f]{{16}}"))
    name = page.get_by_role("region", name="Input").get_by_role("textbox").first
    expect(name).to_have_value("Ada")
    name.fill("Grace")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("Hello, Grace!").first).to_be_visible()

    newest = ui.get("/api/traces/summaries?action=hello&limit=2")["traces"]
    assert newest[0]["input"] == '"Grace"'
    assert newest[0]["traceId"] != old
    assert ui.get(f"/api/traces/{old}") == before


def test_a_step_leads_to_the_runner_of_its_flow(page: Page, ui: Ui):
    trace_id = traced(ui, "/flow/threeSteps", "leek")
    open_trace(page, ui, trace_id)

    row(page, "cut").click()
    link = details(page).get_by_role("link", name="Open flow in runner")
    expect(link).to_have_attribute("href", re.compile(rf"/run/flow/threeSteps\?from={trace_id}"))


def test_tokens_of_models_are_summed_and_a_cost_is_shown_only_when_it_is_known(page: Page, ui: Ui):
    open_trace(page, ui, traced(ui, "/flow/askMenu", "what is vegan"))
    expect(row(page, "waiter")).to_contain_text("3 → ")
    own = row(page, "waiter").get_by_title(re.compile("tokens in")).inner_text()
    expect(fact(page, "tokens")).to_have_text(own)
    expect(fact(page, "cost")).to_have_text("—")

    usage = {"gen_ai__usage__input_tokens": 100, "gen_ai__usage__output_tokens": 7}
    models = [
        span(2, "one", 1, 4, parent=1, kind="model", gen_ai__usage__cost=0.002, **usage),
        span(3, "two", 5, 9, parent=1, kind="model", gen_ai__usage__cost=0.001, **usage),
    ]
    open_trace(page, ui, imported(ui, trace([span(1, "cook", 0, 10), *models])))
    expect(fact(page, "tokens")).to_have_text("200 → 14")
    expect(fact(page, "cost")).to_have_text("$0.00300")


def test_values_have_the_form_that_suits_them(page: Page, ui: Ui):
    open_trace(page, ui, traced(ui, "/flow/askMenu", "what is vegan"))

    row(page, "devstore/menu").click()
    cards = details(page).get_by_role("list", name="Documents").get_by_role("listitem")
    expect(details(page).get_by_text("menu.pdf").first).to_be_visible()
    scores = [
        float(text)
        for text in details(page).get_by_title(re.compile("^score ")).all_inner_texts()
        for text in re.findall(r"\d\.\d+", text)
    ]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 4
    assert cards.count() >= 4

    row(page, "byWords").click()
    expect(details(page).locator("[data-pointed]")).to_have_count(0)
    row(page, "devstore/menu").hover()
    expect(details(page).locator("[data-pointed]")).to_have_count(4)

    row(page, "waiter").click()
    details(page).get_by_role("tab", name="Input").click()
    expect(details(page).get_by_role("region", name="Documents it was given")).to_contain_text("page")
    messages = details(page).get_by_role("list", name="Messages")
    expect(messages).to_contain_text("what is vegan")
    details(page).get_by_role("button", name="JSON", exact=True).click()
    expect(details(page).get_by_role("tree", name="Input")).to_contain_text("messages")


def test_a_value_of_megabytes_is_a_size_and_a_download_until_it_is_wished(page: Page, ui: Ui):
    open_trace(page, ui, traced(ui, "/flow/large", 5))

    expect(details(page)).to_contain_text("5.2 MB")
    with page.expect_download() as loading:
        details(page).get_by_role("link", name="Download").click()
    assert loading.value.path().stat().st_size > 5_000_000
    assert len(details(page).inner_text()) < 1000


def test_a_trace_of_five_thousand_spans_draws_only_what_is_seen(page: Page, ui: Ui):
    trace_id = imported(ui, bulk(5000))
    open_trace(page, ui, trace_id)
    rows = rows_of(page)

    expect(row(page, "bulk")).to_be_visible()
    assert rows.count() < 200
    page.keyboard.press("/")
    page.keyboard.type("call-4999")
    expect(page.get_by_text("1 found")).to_be_visible()
    expect(rows).to_have_count(3)
    page.keyboard.press("Enter")
    expect(row(page, "call-4999")).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile(f"span={4999:016x}"))

    page.get_by_role("searchbox", name="Search spans").fill("")
    expect(row(page, "call-4999")).to_be_visible()
    assert rows.count() < 200
    page.get_by_role("button", name="Timeline").click()
    expect(page.get_by_role("region", name="Spans by time")).to_be_visible()
    assert page.locator("[data-span-id]").count() < 200


def test_the_view_and_the_span_are_in_the_address(page: Page, ui: Ui):
    trace_id = traced(ui, "/flow/askMenu", "what is vegan")
    open_trace(page, ui, trace_id)
    row(page, "waiter").click()

    page.keyboard.press("t")
    expect(page).to_have_url(re.compile("view=timeline"))
    page.reload()
    expect(page.get_by_role("region", name="Spans by time")).to_be_visible()
    expect(details(page).get_by_role("heading", name="waiter")).to_be_visible()

    page.get_by_role("button", name="Graph").click()
    graph = page.get_by_role("region", name="Graph of calls")
    graph.get_by_role("button", name=re.compile("byWords")).click()
    expect(details(page).get_by_role("heading", name="byWords")).to_be_visible()

    page.get_by_role("button", name="Log", exact=True).click()
    log = page.get_by_role("region", name="Log of the trace")
    expect(log.get_by_role("button").filter(has_text="waiter")).to_have_count(2)
    page.go_back()
    expect(page).not_to_have_url(re.compile(trace_id))


def test_what_was_logged_is_with_its_span(page: Page, ui: Ui):
    open_trace(page, ui, traced(ui, "/flow/boom"))

    row(page, "boom").click()
    details(page).get_by_role("tab", name="Logs").click()
    expect(details(page).get_by_role("list", name="Log records")).to_contain_text("the kitchen is on fire")
    page.get_by_role("button", name="Log", exact=True).click()
    expect(page.get_by_role("region", name="Log of the trace")).to_contain_text("the kitchen is on fire")


def test_parts_are_folded_by_keys_and_idle_time_is_compressed_when_it_is_wished(page: Page, ui: Ui):
    spans = [
        span(1, "wait", 0, 10_000),
        span(2, "look", 0, 50, parent=1, kind="tool"),
        span(3, "cook", 9_900, 10_000, parent=1, kind=None),
        span(4, "stir", 9_910, 9_990, parent=3, kind="tool"),
    ]
    open_trace(page, ui, imported(ui, trace(spans)))
    rows = rows_of(page)
    expect(rows).to_have_count(4)

    page.keyboard.press("[")
    expect(rows).to_have_count(1)
    expect(row(page, "wait")).to_contain_text("+3")
    page.keyboard.press("]")
    expect(rows).to_have_count(4)
    row(page, "cook").click()
    page.keyboard.press("ArrowLeft")
    expect(rows).to_have_count(3)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(row(page, "stir")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(row(page, "look")).to_have_attribute("aria-selected", "true")

    narrow = row(page, "look").locator("[data-bar]").bounding_box()
    page.get_by_role("button", name=re.compile("% idle: compress")).click()
    expect(page.get_by_role("button", name="Show idle time")).to_be_visible()
    wide = row(page, "look").locator("[data-bar]").bounding_box()
    assert narrow is not None
    assert wide is not None
    assert wide["width"] > 10 * narrow["width"]


def test_drawing_a_range_zooms_in(page: Page, ui: Ui):
    open_trace(page, ui, imported(ui, bulk(300)))
    minimap = page.locator("[data-minimap]").bounding_box()
    assert minimap is not None
    y = minimap["y"] + 10
    page.mouse.move(minimap["x"] + 2, y)
    page.mouse.down()
    page.mouse.move(minimap["x"] + minimap["width"] / 20, y)
    page.mouse.up()

    whole = page.get_by_role("button", name="Whole trace")
    expect(whole).to_be_visible()
    zoomed = row(page, "batch-0").locator("[data-bar]").bounding_box()
    whole.click()
    expect(whole).to_have_count(0)
    unzoomed = row(page, "batch-0").locator("[data-bar]").bounding_box()
    assert zoomed is not None
    assert unzoomed is not None
    assert zoomed["width"] > 5 * unzoomed["width"]


def test_run_trace_span_and_back_by_keyboard(page: Page, ui: Ui):
    def tab_to(target: Locator) -> None:
        for _ in range(80):
            page.keyboard.press("Tab")
            if target.evaluate("element => element === document.activeElement"):
                ring = "element => getComputedStyle(element).outlineStyle + getComputedStyle(element).boxShadow"
                assert target.evaluate(ring) != "nonenone"
                return
        raise AssertionError(f"Tab never comes to {target}")

    page.goto(f"{ui.url}/run/flow/threeSteps")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-part=run]")).to_have_attribute("data-status", "success")
    trace_id = ui.get("/api/traces/summaries?action=threeSteps&limit=1")["traces"][0]["traceId"]
    tab_to(page.locator(f"[data-part=run] a[href*='{trace_id}']"))
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile(f"/traces/{trace_id}"))
    expect(row(page, "cook")).to_be_visible()
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.get_by_role("tree", name="Spans").evaluate("element => element === document.activeElement"):
            break
    page.keyboard.press("End")
    expect(row(page, "cook")).to_have_attribute("aria-selected", "true")
    assert row(page, "cook").evaluate("element => getComputedStyle(element).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(details(page).get_by_role("tab", name="Output")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(details(page).get_by_role("tab", name="Input")).to_have_attribute("aria-selected", "true")
    page.go_back()
    expect(page).to_have_url(re.compile("/run/flow/threeSteps"))


def test_a_trace_leads_to_the_one_before_and_after(page: Page, ui: Ui):
    first = traced(ui, "/flow/hello", "one")
    second = traced(ui, "/flow/hello", "two")
    open_trace(page, ui, second)

    page.keyboard.press("j")
    expect(page).to_have_url(re.compile(first))
    expect(page.locator("[data-trace]")).to_have_attribute("data-status", "success")
    page.keyboard.press("k")
    expect(page).to_have_url(re.compile(second))


def test_a_trace_is_deleted_after_asking(page: Page, ui: Ui, noise: list[str]):
    noise.append("404")
    trace_id = traced(ui, "/flow/hello", "gone")
    open_trace(page, ui, trace_id)

    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Keep").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page).to_have_url(re.compile("/traces$"))
    expect(page.locator(f"[data-trace-id='{trace_id}']")).to_have_count(0)
    page.goto(f"{ui.url}/traces/{trace_id}")
    expect(page.get_by_role("heading", name=re.compile("There is no trace"))).to_be_visible()


def test_a_trace_without_some_of_its_parents_says_so(page: Page, ui: Ui):
    open_trace(page, ui, imported(ui, trace([span(1, "cook", 0, 10), span(3, "stir", 2, 4, parent=2)])))

    expect(page.get_by_role("note")).to_contain_text("1 span")
    expect(rows_of(page)).to_have_count(2)


def test_on_a_phone_names_stand_above_their_bars_and_errors_can_be_read(make_page: Any, ui: Ui):
    page = make_page(viewport=PHONE)
    open_trace(page, ui, traced(ui, "/flow/boom"))

    name = row(page, "fetch-dish").get_by_text("fetch-dish", exact=True).bounding_box()
    bar = row(page, "fetch-dish").locator("[data-bar]").bounding_box()
    assert name["y"] + name["height"] <= bar["y"] + 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(details(page).get_by_text("there is no soup today").first).to_be_visible()
    page.goto(f"{ui.url}/traces")
    expect(page.locator("[data-trace-id]").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
