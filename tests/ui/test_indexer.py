"""The indexer's bench: how a file is cut is seen before it is written, and how far the writing is."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.server.start.conftest import until
from tests.support.modules import ROOT
from tests.ui.conftest import Ui

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "a text is looked at by somebody")]

BENCH = "/run/indexer/devstore/menu"
LUNCH = ROOT / "samples" / "menu" / "lunch.pdf"
PROSE = " ".join(f"Sentence number {at} tells of a dish and of its price." for at in range(60))


@pytest.fixture(autouse=True)
def gates_are_open(ui: Ui) -> Iterator[None]:
    yield
    ui.open_gates()


def number_of_chunks(page: Page) -> int:
    told = page.get_by_role("region", name="Chunks", exact=True).locator("b").first.inner_text()
    return int(told.split()[0])


def write_text(page: Page, text: str, name: str = "note.txt") -> None:
    page.get_by_role("button", name="Text", exact=True).first.click()
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_label("Stored as").fill(name)
    expect(page.get_by_role("region", name="Chunks", exact=True)).to_be_visible()


def test_a_pdf_is_uploaded_cut_written_stage_by_stage_and_then_found(page: Page, ui: Ui):
    page.goto(ui.url + BENCH)
    page.get_by_label("File to index").set_input_files(LUNCH)
    page.get_by_label("Max Tokens").fill("60")
    page.get_by_label("Overlap Tokens").fill("15")
    chunks = page.get_by_role("region", name="Chunks", exact=True)
    text = page.get_by_role("region", name="Text with its chunks")
    expect(text.locator("[data-band=overlap]").first).to_be_visible()
    expect(text.get_by_text("Page 1")).to_be_visible()
    expect(text.get_by_text("Page 2")).to_be_visible()
    until(lambda: number_of_chunks(page) > 8, "the preview of small chunks")
    number = number_of_chunks(page)
    expect(text.locator("[data-begins]")).to_have_count(number)
    expect(chunks).to_contain_text("% twice")

    page.get_by_role("button", name=f"Index {number} chunks").click()

    progress = page.get_by_role("region", name="Progress")
    expect(progress).to_have_attribute("data-state", "done")
    for stage in ("read", "split", "embed", "store"):
        expect(progress.locator(f"[data-stage={stage}]")).to_have_attribute("data-state", "done")
    expect(progress.get_by_role("progressbar")).to_have_attribute("aria-valuenow", str(number))
    report = page.get_by_role("region", name="Report")
    expect(report).to_contain_text(f"{number} chunks of lunch.pdf")
    report.get_by_role("link", name="Search it").click()
    page.get_by_label("Query", exact=True).fill("carrot and ginger soup on Monday")
    page.keyboard.press("Control+Enter")
    best = page.get_by_role("region", name="Results").locator("li[data-rank]").first
    expect(best.locator("[data-part=source]")).to_have_text("lunch.pdf")
    expect(best.locator("[data-part=page]")).to_have_text("page 1")


def test_the_preview_follows_the_settings(page: Page, ui: Ui):
    page.goto(ui.url + BENCH)
    write_text(page, PROSE)
    before = number_of_chunks(page)

    page.get_by_label("Max Tokens").fill("30")

    chunks = page.get_by_role("region", name="Chunks", exact=True).locator("b").first
    expect(chunks).not_to_have_text(re.compile(rf"^{before} "))
    assert number_of_chunks(page) > before
    page.get_by_role("combobox", name="Splitter").click()
    page.get_by_role("option", name="exact", exact=True).click()
    page.get_by_label("Max Chars").fill("100")
    page.get_by_label("Overlap Chars").fill("20")
    page.get_by_role("button", name="Table").click()
    rows = page.get_by_role("region", name="Chunks", exact=True).locator("tbody tr")
    expect(rows.nth(1).locator("td").nth(4)).to_contain_text("20 (")
    sizes = [int(row.locator("td").nth(3).inner_text()) for row in rows.all()]
    assert max(sizes) <= 100
    end = int(rows.first.locator("td").nth(5).inner_text().split("–")[1])
    expect(rows.nth(1).locator("td").nth(5)).to_have_text(re.compile(f"^{end - 20}–"))


def test_bands_are_the_text_and_overlaps_are_where_two_chunks_meet(page: Page, ui: Ui):
    page.goto(ui.url + BENCH)
    write_text(page, "🥗 " + PROSE[:600])
    page.get_by_role("combobox", name="Splitter").click()
    page.get_by_role("option", name="exact", exact=True).click()
    page.get_by_label("Max Chars").fill("100")
    page.get_by_label("Overlap Chars").fill("20")
    text = page.get_by_role("region", name="Text with its chunks")
    expect(text.locator("[data-band=overlap]").first).to_be_visible()

    overlaps = text.locator("[data-band=overlap]").all_text_contents()
    assert {len(overlap) for overlap in overlaps[:-1]} == {20}
    assert "".join(text.locator("[data-band]").all_text_contents()) == "🥗 " + PROSE[:600]
    tones = [band.get_attribute("data-tone") for band in text.locator("[data-band=chunk]").all()]
    assert tones[:3] == ["a", "b", "a"]


def test_a_setting_that_does_not_fit_is_told_beside_its_field_and_nothing_can_be_written(page: Page, ui: Ui, noise):
    noise.append("400")
    page.goto(ui.url + BENCH)
    write_text(page, PROSE)

    page.get_by_label("Max Chars").fill("10")
    page.get_by_label("Overlap Tokens").fill("2")

    expect(page.get_by_text("the limit is in characters, so the overlap is, too")).to_be_visible()
    expect(page.get_by_role("button", name="Index")).to_be_disabled()


def test_a_source_that_changes_leaves_nothing_of_what_it_was(page: Page, ui: Ui):
    page.goto(ui.url + BENCH)
    report = page.get_by_role("region", name="Report")
    write_text(page, "The old price is 5 euros.", "prices.txt")
    page.keyboard.press("Control+Enter")
    expect(report).to_contain_text("1 chunk of prices.txt")

    write_text(page, "The new price is 6 euros.", "prices.txt")
    expect(page.get_by_role("region", name="Text with its chunks")).to_contain_text("new price")
    page.keyboard.press("Control+Enter")

    expect(report).to_contain_text("outdated and deleted")
    documents = ui.get("/api/stores/documents?store=menu&source=prices.txt")["documents"]
    assert [document["text"] for document in documents] == ["The new price is 6 euros."]


def test_progress_is_counted_and_cancelling_stops_it(page: Page, ui: Ui):
    ui.close_gates()
    page.goto(f"{ui.url}/run/indexer/pantry")
    write_text(page, PROSE)
    page.get_by_label("Max Tokens").fill("20")
    expect(page.get_by_role("button", name=re.compile(r"Index \d\d chunks"))).to_be_enabled()

    page.keyboard.press("Control+Enter")

    progress = page.get_by_role("region", name="Progress")
    expect(progress.locator("[data-stage=split]")).to_have_attribute("data-state", "done")
    expect(progress.locator("[data-stage=store]")).to_have_attribute("data-state", "running")
    expect(progress.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "0")
    progress.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. What was written stays")).to_be_visible()

    ui.open_gates()
    page.keyboard.press("Control+Enter")
    expect(progress).to_have_attribute("data-state", "done")
    expect(page.get_by_role("region", name="Report")).to_contain_text("new")


def test_a_file_of_the_project_is_named_by_its_path(page: Page, ui: Ui, noise):
    noise.append("404")
    ui.project.write("guide.md", "# Cooking\n\nBoil the water.\n\n# Eating\n\nUse a spoon.")
    page.goto(ui.url + BENCH)
    page.get_by_role("button", name="Project file").click()
    page.get_by_label("Path in the project").fill("guide.md")

    text = page.get_by_role("region", name="Text with its chunks")
    expect(text.get_by_text("Cooking", exact=True)).to_be_visible()
    expect(text.get_by_text("Eating", exact=True)).to_be_visible()
    page.get_by_label("Path in the project").fill("../secret.txt")
    expect(page.get_by_role("alert")).to_contain_text("no file '../secret.txt' in the project")
