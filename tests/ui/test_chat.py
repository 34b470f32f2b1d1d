"""Talking to a model: turns that know each other, streamed, with branches, settings, tokens, and documents."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import Ui

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "the developer UI is looked at in a real browser")]


def say(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Message", exact=True).fill(text)
    page.keyboard.press("Enter")


def test_the_second_turn_sees_the_first_and_each_has_its_tokens(page: Page, ui: Ui):
    page.goto(f"{ui.url}/run/model/waiter")
    say(page, "What is vegan?")
    answers = page.get_by_role("article", name="model")
    expect(answers.nth(0)).to_contain_text("You asked What is vegan?. This is turn 1.")
    expect(answers.nth(0)).to_contain_text("3 tokens in")
    say(page, "And cheap?")
    expect(answers.nth(1)).to_contain_text("This is turn 2. You began with: What is vegan?.")
    expect(answers.nth(1)).to_contain_text(re.compile(r"\d+ tokens in.*\d+ tokens out"))
    expect(page.get_by_text(re.compile("^2 turns, "))).to_be_visible()


def test_the_answer_is_seen_while_it_is_made_and_can_be_stopped(page: Page, ui: Ui):
    ui.close_gates()
    try:
        page.goto(f"{ui.url}/run/model/waiter")
        say(page, "slowly please")
        answer = page.get_by_role("article", name="model")
        ui.open_gate("word-0")
        ui.open_gate("word-1")
        expect(answer).to_contain_text("You asked")
        expect(answer).not_to_contain_text("This is turn")
        page.get_by_role("button", name="Stop").click()
        expect(answer).to_contain_text("Cancelled")
        expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    finally:
        ui.open_gates()


def test_editing_the_first_message_makes_a_branch_and_the_old_one_can_be_seen(page: Page, ui: Ui):
    page.goto(f"{ui.url}/run/model/waiter")
    say(page, "First words")
    expect(page.get_by_role("article", name="model")).to_contain_text("turn 1")
    say(page, "Second words")
    expect(page.get_by_role("article", name="model").nth(1)).to_contain_text("turn 2")

    page.get_by_role("button", name="Edit and send again").first.click()
    page.get_by_role("textbox", name="Edited message").fill("Other words")
    page.get_by_role("button", name="Send as a branch").click()
    expect(page.get_by_role("article", name="model")).to_have_count(1)
    expect(page.get_by_role("article", name="model")).to_contain_text("You asked Other words. This is turn 1.")
    expect(page.get_by_text("Branch 2 of 2")).to_be_visible()

    page.get_by_role("button", name="Earlier branch").click()
    expect(page.get_by_role("article", name="user").nth(1)).to_contain_text("Second words")
    page.reload()
    expect(page.get_by_role("article", name="user").nth(1)).to_contain_text("Second words")


def test_answering_again_is_a_branch_too(page: Page, ui: Ui):
    page.goto(f"{ui.url}/run/model/waiter")
    say(page, "Again")
    page.get_by_role("button", name="Answer again").click()
    expect(page.get_by_text("Branch 2 of 2")).to_be_visible()
    expect(page.get_by_role("article", name="model")).to_contain_text("This is turn 1.")


def test_system_message_and_settings_are_sent(page: Page, ui: Ui):
    page.goto(f"{ui.url}/run/model/waiter")
    page.get_by_role("textbox", name="System message").fill("Be kind.")
    page.get_by_role("combobox", name=re.compile("Style")).select_option(label="short")
    say(page, "What is the cheapest dish of all?")
    answer = page.get_by_role("article", name="model")
    expect(answer).to_contain_text("tokens out")
    expect(answer).not_to_contain_text("This is turn")
    page.get_by_role("button", name="Copy as").click()
    page.get_by_role("menuitem", name="JSON").click()
    expect(page.get_by_text("Copied as JSON")).to_be_visible()
    request = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert request["messages"][0] == {"role": "system", "content": [{"text": "Be kind."}]}
    assert request["config"] == {"style": "short"}


def test_a_retriever_gives_the_documents_to_answer_from(page: Page, ui: Ui):
    page.goto(f"{ui.url}/run/model/waiter")
    page.get_by_role("combobox", name="Answer from").click()
    page.get_by_role("option", name="drinks").click()
    say(page, "What can I drink?")
    expect(page.get_by_role("article", name="model")).to_contain_text("This is turn 1.")
    page.get_by_role("button", name="Copy as").click()
    page.get_by_role("menuitem", name="JSON").click()
    expect(page.get_by_text("Copied as JSON")).to_be_visible()
    request = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert [doc["content"][0]["text"] for doc in request["docs"]] == ["Green tea", "Plum wine"]


def test_a_failure_is_told_in_its_turn_and_the_talk_goes_on(page: Page, ui: Ui):
    page.goto(f"{ui.url}/run/model/waiter")
    say(page, "please fail")
    expect(page.get_by_role("article", name="model").get_by_role("alert")).to_contain_text("dropped the tray")
    say(page, "never mind")
    expect(page.get_by_role("article", name="model").nth(1)).to_contain_text("You asked never mind")
