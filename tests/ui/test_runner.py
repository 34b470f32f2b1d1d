"""The runner: a run is started, watched, cancelled and repeated; what it shows is what happened."""

import json
import re
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.server.start.conftest import free_port
from tests.ui.conftest import PHONE, Ui

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "a run is watched by somebody")]

AWKWARD = 'it\'s "quoted", `$HOME` \\ & 100%\nおいしい 抹茶'


@pytest.fixture(autouse=True)
def gates_are_open(ui: Ui):
    yield
    ui.open_gates()


def open_runner(page: Page, ui: Ui, path: str) -> None:
    page.goto(f"{ui.url}/run/{path}")
    expect(page.get_by_role("region", name="Output")).to_be_visible()


def press_run(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()


def status_is(page: Page, status: str) -> None:
    expect(page.locator("[data-part=run]")).to_have_attribute("data-status", status)


def output(page: Page) -> Any:
    return page.get_by_role("region", name="Output")


def copied(page: Page, label: str) -> str:
    page.get_by_role("button", name="Copy as").click()
    page.get_by_role("menuitem", name=label, exact=False).first.click()
    expect(page.get_by_text(f"Copied as {label.split()[0]}").first).to_be_visible()
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def shell(ui: Ui, command: str) -> str:
    done = subprocess.run(
        ["bash", "-c", command], cwd=ui.folder, env=ui.project.env, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_chunks_are_seen_before_the_last_one_and_the_result_takes_their_place(page: Page, ui: Ui):
    ui.close_gates()
    open_runner(page, ui, "flow/countUp")
    page.get_by_role("textbox", name="Input").fill("3")
    press_run(page)
    status_is(page, "running")
    ui.open_gate("chunk-0")
    expect(output(page).get_by_text("number 0")).to_be_visible()
    ui.open_gate("chunk-1")
    expect(output(page).get_by_text("number 0 number 1")).to_be_visible()
    status_is(page, "running")
    ui.open_gates()

    status_is(page, "success")
    expect(output(page).locator("[data-part=result]")).to_contain_text("number 0")
    output(page).get_by_role("button", name="Stream").click()
    chunks = output(page).get_by_role("region", name="Chunks").get_by_role("listitem")
    expect(chunks).to_have_text(['1"number 0 "', '2"number 1 "', '3"number 2 "'])
    output(page).get_by_role("button", name="JSON", exact=True).click()
    expect(output(page).get_by_role("tree", name="Output")).to_contain_text("number 2")


def test_a_reload_of_the_page_keeps_the_run(page: Page, ui: Ui):
    ui.close_gates()
    open_runner(page, ui, "flow/countUp")
    page.get_by_role("textbox", name="Input").fill("2")
    press_run(page)
    ui.open_gate("chunk-0")
    expect(output(page).get_by_text("number 0")).to_be_visible()
    page.reload()
    expect(page.get_by_role("textbox", name="Input")).to_have_value("2")
    expect(output(page).get_by_text("number 0")).to_be_visible()
    status_is(page, "running")
    ui.open_gates()
    status_is(page, "success")


def test_cancelling_ends_a_run_and_the_process_still_answers(page: Page, ui: Ui):
    open_runner(page, ui, "flow/sleep")
    press_run(page)
    status_is(page, "running")
    page.keyboard.press("Escape")
    dialog = page.get_by_role("dialog", name="Cancel the run?")
    dialog.get_by_role("button", name="Cancel the run").click()

    status_is(page, "cancelled")
    expect(output(page).get_by_role("status")).to_have_text("Cancelled")
    trace_id = re.search(r"run=([0-9a-f]{32})", page.url)
    assert trace_id is not None
    page.goto(f"{ui.url}/traces/{trace_id[1]}")
    expect(page.get_by_text("Cancelled").first).to_be_visible()
    assert ui.run("/flow/hello", "Ada")["result"] == "Hello, Ada!"


def test_a_failure_shows_its_type_message_and_the_line_of_the_user(page: Page, ui: Ui):
    open_runner(page, ui, "flow/boom")
    page.get_by_role("textbox", name="Input").fill("soup")
    press_run(page)

    status_is(page, "error")
    error = output(page).get_by_role("alert")
    expect(error).to_contain_text("ValueError")
    expect(error).to_contain_text("there is no soup today")
    expect(error.get_by_text(re.compile(r"^app\.py:\d+$")).first).to_be_visible()
    expect(error).to_contain_text('raise ValueError(f"there is no {dish} today") from error')
    expect(error).to_contain_text("caused by KeyError")
    beside = page.get_by_role("region", name="Trace and history")
    failing = beside.locator("[data-span-id]", has_text="fetch-dish")
    expect(failing).to_have_attribute("aria-selected", "true")

    page.get_by_role("textbox", name="Input").fill("cake")
    output(page).get_by_role("button", name="Retry").click()
    status_is(page, "success")
    expect(output(page).locator("[data-part=result]")).to_contain_text("a cake")


def test_the_input_of_any_span_can_be_run_again_and_the_old_trace_stays(page: Page, ui: Ui):
    order = {"guest": "Ada", "people": 2, "course": "main", "note": AWKWARD}
    first = ui.run("/flow/takeOrder", order)["run"]
    before = ui.get(f"/api/traces/{first['traceId']}")
    page.goto(f"{ui.url}/run/flow/takeOrder?from={first['traceId']}&span={first['spanId']}")
    expect(page.get_by_role("textbox", name="Note")).to_have_value(AWKWARD)
    page.get_by_role("textbox", name="Guest").fill("Bob")
    page.keyboard.press("Control+Enter")

    status_is(page, "success")
    second = re.search(r"run=([0-9a-f]{32})", page.url)
    assert second is not None
    assert second[1] != first["traceId"]
    assert ui.get("/api/inputs?key=/flow/takeOrder")["inputs"][0]["input"] == {**order, "guest": "Bob"}
    assert ui.get(f"/api/traces/{first['traceId']}") == before


def test_a_large_input_is_taken_whole(page: Page, ui: Ui):
    text = "抹茶 " * 30_000  # more than comes with the list of spans
    first = ui.run("/flow/hello", text)["run"]
    page.goto(f"{ui.url}/run/flow/hello?from={first['traceId']}")
    field = page.get_by_role("textbox", name="Input")
    expect(field).to_have_js_property("textLength", len(text))
    whole = field.input_value() == text
    assert whole


def test_documents_that_were_indexed_are_an_input_of_the_raw_tab(page: Page, ui: Ui):
    found = ui.run("/flow/indexMenu")["run"]
    spans = ui.get(f"/api/traces/{found['traceId']}/outline")["spans"]
    (indexed, *_) = [one for one in spans if one["key"] == "/indexer/devstore/menu"]
    page.goto(f"{ui.url}/run/indexer/devstore/menu?from={found['traceId']}&span={indexed['spanId']}")
    expect(page).to_have_url(f"{ui.url}/run/indexer/devstore/menu?tab=raw")
    page.keyboard.press("Control+j")
    expect(page.get_by_role("textbox", name="Input as JSON")).to_contain_text("Tomato soup")
    press_run(page)
    status_is(page, "success")
    assert "tab=raw" in page.url


def test_history_shows_earlier_runs_and_the_last_input_comes_back(page: Page, ui: Ui):
    ui.run("/flow/hello", "Grace")
    ui.run("/flow/hello", "Ada")
    open_runner(page, ui, "flow/hello")
    earlier = page.get_by_role("list", name="Earlier runs").get_by_role("listitem")
    expect(earlier.first).to_contain_text("Ada")
    field = page.get_by_role("textbox", name="Input")
    field.press("ArrowUp")
    expect(field).to_have_value("Ada")
    earlier.filter(has_text="Grace").first.get_by_role("button", name="Use its input").click()
    expect(field).to_have_value("Grace")
    earlier.filter(has_text="Grace").first.get_by_role("button").first.click()
    status_is(page, "success")
    expect(output(page)).to_contain_text("Hello, Grace!")


def test_a_draft_is_kept_for_each_action(page: Page, ui: Ui):
    open_runner(page, ui, "flow/hello")
    page.get_by_role("textbox", name="Input").fill("not yet run")
    page.goto(f"{ui.url}/run/flow/echo")
    expect(page.get_by_role("textbox", name="Input")).to_have_value("")
    page.goto(f"{ui.url}/run/flow/hello")
    expect(page.get_by_role("textbox", name="Input")).to_have_value("not yet run")


def test_what_is_copied_runs_in_a_shell_and_in_python(page: Page, ui: Ui):
    open_runner(page, ui, "flow/hello")
    page.get_by_role("textbox", name="Input").fill(AWKWARD)
    expected = f"Hello, {AWKWARD}!"

    assert shell(ui, copied(page, "CLI")) == f"{expected}\n"
    events = [json.loads(line) for line in shell(ui, copied(page, "curl this")).splitlines()]
    assert events[-1]["result"] == expected
    (ui.folder / "copied.py").write_text(copied(page, "Python"), encoding="utf-8")
    assert shell(ui, "python copied.py") == f"{expected}\n"
    assert json.loads(copied(page, "JSON")) == AWKWARD

    port = free_port()
    served = ui.project.serve("app.py", "--port", str(port))
    served.until_says("Ctrl-C")
    command = copied(page, "curl for serve")
    assert ":8000/" in command
    assert json.loads(shell(ui, command.replace(":8000/", f":{port}/"))) == {"result": expected}


def test_a_large_output_is_a_size_and_a_download(page: Page, ui: Ui):
    open_runner(page, ui, "flow/large")
    press_run(page)
    expect(output(page).get_by_text("The output has 5.2 MB.")).to_be_visible()
    assert page.evaluate("document.body.innerText.length") < 10_000
    with page.expect_download() as saved:
        output(page).get_by_role("button", name="Download").click()
    assert saved.value.path().stat().st_size == 5 * 65_536 * 16
    page.get_by_role("textbox", name="Input").fill("0.001")  # and the page still takes what is typed
    expect(page.get_by_role("textbox", name="Input")).to_have_value("0.001")


def test_the_context_reaches_the_flow_and_must_be_an_object(page: Page, ui: Ui):
    open_runner(page, ui, "flow/hello")
    page.get_by_role("textbox", name="Input").fill("Ada")
    page.get_by_role("tab", name="Context").click()
    editor = page.get_by_role("textbox", name="Context as JSON")
    editor.focus()
    page.keyboard.insert_text("[1]")
    expect(page.get_by_role("alert")).to_contain_text("A context is an object")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text('{"auth": {"uid": "ada"}, "tenant": "kyoto"}')
    page.keyboard.press("Control+Enter")
    status_is(page, "success")
    trace_id = re.search(r"run=([0-9a-f]{32})", page.url)
    assert trace_id is not None
    (root,) = ui.get(f"/api/traces/{trace_id[1]}/outline")["spans"]
    assert root["context"]["tenant"] == "kyoto"

    # Taken again, what was secret is asked for, and never run as the mark that stands for it.
    page.goto(f"{ui.url}/run/flow/hello?from={trace_id[1]}")
    expect(page.get_by_role("note")).to_contain_text("give them again: context.auth")
    page.get_by_role("tab", name="Context").click()
    expect(page.get_by_role("textbox", name="Context as JSON")).to_have_text('{  "tenant": "kyoto"}')


def test_hostile_text_is_text(page: Page, ui: Ui):
    open_runner(page, ui, "flow/hostile")
    press_run(page)
    status_is(page, "success")
    expect(output(page)).to_contain_text("<script>window.__xss=1</script>")
    assert page.evaluate("window.__xss") is None


def test_a_phone_runs_an_action_and_reads_its_error(make_page: Callable[..., Page], ui: Ui):
    page = make_page(viewport=PHONE, has_touch=True)
    open_runner(page, ui, "flow/boom")
    press_run(page)
    error = output(page).get_by_role("alert")
    expect(error).to_contain_text("there is no soup today")
    error.scroll_into_view_if_needed()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
