"""The embedder's bench: vectors of some texts, and which of them are alike."""

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import Ui

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "a matrix is looked at by somebody")]

BENCH = "/run/embedder/fake-embedder"


def embed(page: Page, ui: Ui, *texts: str) -> None:
    page.goto(ui.url + BENCH)
    page.get_by_label("Text 1", exact=True).fill("\n".join(texts))
    page.keyboard.press("Control+Enter")


def matrix(page: Page) -> list[list[str]]:
    rows = page.get_by_role("region", name="Similarity of each pair").locator("tbody tr")
    expect(rows.first).to_be_visible()
    return [row.locator("td").all_inner_texts() for row in rows.all()]


def test_equal_texts_are_alike_and_others_are_less_so(page: Page, ui: Ui):
    embed(page, ui, "green tea", "green tea", "beef stew with carrots")

    found = matrix(page)
    assert [found[at][at] for at in range(3)] == ["1.00"] * 3
    assert found[0][1] == found[1][0] == "1.00"
    assert float(found[0][2]) < 0.9
    assert found[0][2] == found[2][0]
    facts = page.locator("dl").first
    expect(facts).to_contain_text("Dimension\n32", use_inner_text=True)
    expect(facts).to_contain_text("Texts\n3", use_inner_text=True)


def test_each_vector_has_its_norm_its_nearest_and_its_first_values(page: Page, ui: Ui):
    embed(page, ui, "green tea", "beef stew", "green tea from Uji")

    row = page.get_by_role("table").last.locator("tbody tr").first
    expect(row).to_contain_text("1.000")
    expect(row.locator("td").nth(3)).to_contain_text("3 (")
    assert len(row.locator("code").inner_text().split(", ")) == 9


def test_texts_are_added_split_at_lines_and_removed(page: Page, ui: Ui):
    page.goto(ui.url + BENCH)
    first = page.get_by_label("Text 1", exact=True)
    first.fill("one\ntwo\nthree")
    texts = page.locator("textarea")
    expect(page.get_by_label("Text 3", exact=True)).to_have_value("three")

    page.get_by_role("button", name="Remove text 2").click()
    expect(page.get_by_label("Text 2", exact=True)).to_have_value("three")
    page.get_by_label("Text 2", exact=True).press("Enter")
    page.keyboard.type("four")
    expect(page.get_by_label("Text 3", exact=True)).to_have_value("four")
    number = texts.count()
    page.reload()
    expect(texts).to_have_count(number)
    page.get_by_label("Text 1", exact=True).fill("\n".join(f"text {at}" for at in range(80)))
    expect(texts).to_have_count(50)
    expect(page.get_by_role("button", name="Add a text")).to_be_disabled()


def test_a_point_of_the_plane_tells_its_text_when_it_has_the_focus(page: Page, ui: Ui):
    embed(page, ui, "green tea", "beef stew", "chocolate cake")
    point = page.get_by_role("img", name="2: beef stew")

    point.focus()

    expect(page.locator("figcaption").filter(has_text="beef stew")).to_be_visible()
    places = [
        page.get_by_role("img", name=f"{at}: ").evaluate("circle => [circle.cx.baseVal.value, circle.cy.baseVal.value]")
        for at in (1, 2, 3)
    ]
    assert len({tuple(place) for place in places}) == 3


def test_one_text_has_a_vector_and_no_matrix(page: Page, ui: Ui):
    embed(page, ui, "green tea")

    expect(page.get_by_text("First values")).to_be_visible()
    expect(page.get_by_role("region", name="Similarity of each pair")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_can_be_read_on_every_colour_in_both_themes(make_page, ui: Ui, scheme: str):
    page = make_page(color_scheme=scheme)
    embed(page, ui, "green tea", "green tea", "beef stew with carrots", "green cake")
    matrix(page)

    least = page.evaluate(
        """() => {
          const paint = (colour) => {
            const context = new OffscreenCanvas(1, 1).getContext("2d")
            context.fillStyle = colour
            context.fillRect(0, 0, 1, 1)
            return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255)
          }
          const light = (colour) => paint(colour)
            .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
            .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0)
          const cells = [...document.querySelectorAll("section[aria-label='Similarity of each pair'] tbody td")]
          return Math.min(...cells.map((cell) => {
            const style = getComputedStyle(cell)
            const [a, b] = [light(style.color), light(style.backgroundColor)]
            return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
          }))
        }"""
    )

    assert least >= 4.5
