"""The form of an action: a control for each field, nothing lost on the way to JSON and back, errors beside fields."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import Ui

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "a form is filled in by somebody")]


def open_order(page: Page, ui: Ui) -> None:
    page.goto(f"{ui.url}/run/flow/takeOrder")
    expect(page.get_by_role("textbox", name="Guest")).to_be_visible()


def press_run(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()


def status_is(page: Page, status: str) -> None:
    expect(page.locator("[data-part=run]")).to_have_attribute("data-status", status)


def input_of_the_last_run(ui: Ui, key: str) -> Any:
    (found, *_) = ui.get(f"/api/inputs?key={key}")["inputs"]
    return found["input"]


def write_json(page: Page, text: str) -> None:
    editor = page.get_by_role("textbox", name="Input as JSON")
    editor.focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def shown_json(page: Page) -> Any:
    lines = page.get_by_role("textbox", name="Input as JSON").locator(".cm-line").all_inner_texts()
    return json.loads("\n".join(lines))


def test_every_field_has_a_labelled_control_and_the_required_ones_are_enough(page: Page, ui: Ui):
    open_order(page, ui)
    form = page.get_by_role("region", name="Input")
    for name in ("Guest", "People", "Note"):
        expect(form.get_by_role("textbox", name=name)).to_be_visible()
    expect(form.get_by_role("combobox", name="Course")).to_be_visible()
    expect(form.get_by_role("checkbox", name="Vegan")).to_be_visible()
    expect(form.get_by_label("On", exact=True)).to_have_attribute("type", "date")
    expect(form.get_by_role("combobox", name="Type of Payment")).to_be_visible()
    expect(form.get_by_role("group", name="Address")).to_be_visible()
    expect(form.get_by_role("button", name="Add to Dishes")).to_be_visible()

    form.get_by_role("textbox", name="Guest").fill("Ada")
    form.get_by_role("textbox", name="People").fill("3")
    form.get_by_role("combobox", name="Course").select_option("dessert")
    press_run(page)

    status_is(page, "success")
    assert input_of_the_last_run(ui, "/flow/takeOrder") == {"guest": "Ada", "people": 3, "course": "dessert"}


def test_nested_objects_lists_dates_and_unions_become_the_input(page: Page, ui: Ui):
    open_order(page, ui)
    page.get_by_role("textbox", name="Guest").fill("宇治")
    page.get_by_role("textbox", name="People").fill("2")
    page.get_by_role("combobox", name="Course").select_option("main")
    for at, (dish, price) in enumerate([("soup", "5"), ("cake", "6.5")]):
        page.get_by_role("button", name="Add to Dishes").click()
        row = page.get_by_role("group", name=f"Dishes {at + 1}")
        row.get_by_role("textbox", name="Name").fill(dish)
        row.get_by_role("textbox", name="Price").fill(price)
    page.get_by_role("button", name="Move Dishes 2 up").click()
    page.get_by_role("checkbox", name="Vegan").check()
    page.get_by_label("On", exact=True).fill("2026-12-24")
    page.get_by_role("button", name="Add Address").click()
    page.get_by_role("textbox", name="Street").fill("Long Lane 1")
    page.get_by_role("combobox", name="Type of Payment").select_option("Card")
    page.get_by_role("textbox", name="Number").fill("4242")
    press_run(page)

    status_is(page, "success")
    assert input_of_the_last_run(ui, "/flow/takeOrder") == {
        "guest": "宇治",
        "people": 2,
        "course": "main",
        "dishes": [{"name": "cake", "price": 6.5}, {"name": "soup", "price": 5}],
        "vegan": True,
        "on": "2026-12-24",
        "address": {"street": "Long Lane 1"},
        "payment": {"kind": "card", "number": "4242"},
    }


def test_what_was_added_can_be_left_out_again(page: Page, ui: Ui):
    open_order(page, ui)
    page.get_by_role("textbox", name="Guest").fill("Ada")
    page.get_by_role("textbox", name="People").fill("1")
    page.get_by_role("combobox", name="Course").select_option("main")
    page.get_by_role("button", name="Add Address").click()
    page.get_by_role("button", name="Remove Address").click()
    page.get_by_role("checkbox", name="Vegan").check()
    page.get_by_role("button", name="Clear Vegan").click()
    page.get_by_role("textbox", name="Note").fill("quick")
    page.get_by_role("button", name="Clear Note").click()
    page.get_by_role("combobox", name="Type of Payment").select_option("Cash")
    page.get_by_role("combobox", name="Type of Payment").select_option("—")
    press_run(page)

    status_is(page, "success")
    assert input_of_the_last_run(ui, "/flow/takeOrder") == {"guest": "Ada", "people": 1, "course": "main"}


def test_a_missing_field_and_a_broken_bound_are_told_beside_the_field_and_nothing_runs(page: Page, ui: Ui):
    before = ui.get("/api/runs")["runs"]
    open_order(page, ui)
    page.get_by_role("textbox", name="People").fill("13")
    page.get_by_role("combobox", name="Course").select_option("main")
    press_run(page)

    guest, people = page.get_by_role("textbox", name="Guest"), page.get_by_role("textbox", name="People")
    expect(guest).to_be_focused()
    expect(guest).to_have_attribute("aria-invalid", "true")
    expect(guest).to_have_accessible_description("Field required Who orders.")
    expect(people).to_have_accessible_description("Input should be less than or equal to 12")
    assert ui.get("/api/runs")["runs"] == before

    people.fill("12")
    expect(people).not_to_have_attribute("aria-invalid", "true")
    guest.fill("Ada")
    press_run(page)
    status_is(page, "success")


def test_errors_deep_within_are_told_at_their_place(page: Page, ui: Ui):
    open_order(page, ui)
    page.get_by_role("textbox", name="Guest").fill("Ada")
    page.get_by_role("textbox", name="People").fill("1")
    page.get_by_role("combobox", name="Course").select_option("main")
    page.get_by_role("button", name="Add to Dishes").click()
    page.get_by_role("textbox", name="Name").fill("soup")
    page.get_by_role("textbox", name="Price").fill("2000")
    page.get_by_role("combobox", name="Type of Payment").select_option("Card")
    page.get_by_role("textbox", name="Number").fill("1")
    press_run(page)

    expect(page.get_by_role("textbox", name="Price")).to_be_focused()
    expect(page.get_by_role("textbox", name="Price")).to_have_accessible_description(
        "Input should be less than or equal to 1000 In euros."
    )
    expect(page.get_by_role("textbox", name="Number")).to_have_accessible_description(
        "String should have at least 4 characters"
    )


def test_form_and_json_are_one_value_and_unknown_keys_survive(page: Page, ui: Ui):
    value = {
        "guest": "Ada",
        "people": 2,
        "course": "main",
        "extra": {"of": ["nobody", 1, None]},
        "dishes": [{"name": "soup", "price": 5, "spicy": True}],
        "address": {"street": "Long Lane 1", "floor": 3},
    }
    open_order(page, ui)
    page.keyboard.press("Control+j")
    write_json(page, json.dumps(value))
    page.keyboard.press("Control+j")
    expect(page.get_by_role("textbox", name="Guest")).to_have_value("Ada")
    expect(page.get_by_role("textbox", name="Street")).to_have_value("Long Lane 1")
    page.get_by_role("textbox", name="Guest").fill("Bob")
    page.keyboard.press("Control+j")
    assert shown_json(page) == {**value, "guest": "Bob"}
    press_run(page)

    status_is(page, "success")
    assert input_of_the_last_run(ui, "/flow/takeOrder") == {**value, "guest": "Bob"}


def test_invalid_json_shows_line_and_column_and_cannot_run(page: Page, ui: Ui):
    open_order(page, ui)
    page.get_by_role("region", name="Input").get_by_role("button", name="JSON", exact=True).click()
    write_json(page, '{\n  "guest": "Ada"\n  "people": 1\n}')
    expect(page.get_by_role("alert")).to_have_text("Line 3, column 3: A comma or } is expected")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()

    page.keyboard.press("Control+j")  # there is no form for what is no value
    expect(page.get_by_role("textbox", name="Input as JSON")).to_be_visible()
    write_json(page, '{"guest": "Ada", "people": 99, "course": "main"}')
    press_run(page)
    expect(page.get_by_role("alert")).to_contain_text("people Input should be less than or equal to 12")


def test_a_value_of_any_type_is_written_as_json(page: Page, ui: Ui):
    page.goto(f"{ui.url}/run/flow/echo")
    field = page.get_by_role("textbox", name="Input")
    field.fill('{"a": ')
    expect(page.get_by_text("Line 1, column 7: It ends too early: a value is expected")).to_be_visible()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    field.fill('{"a": [1, "日本"]}')
    press_run(page)

    status_is(page, "success")
    assert input_of_the_last_run(ui, "/flow/echo") == {"a": [1, "日本"]}
