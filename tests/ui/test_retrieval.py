"""The retrieval bench: what was found and why, two retrievers side by side, and what a reranker moves."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.ui.conftest import PHONE, Ui

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "hits are looked at by somebody")]

MENU = "/run/retriever/devstore/menu"


def ask(page: Page, ui: Ui, query: str, path: str = MENU) -> Locator:
    """Ask on the bench; its cards."""
    page.goto(ui.url + path)
    page.get_by_label("Query", exact=True).fill(query)
    page.keyboard.press("Control+Enter")
    return cards(page)


def cards(page: Page) -> Locator:
    return page.get_by_role("region", name="Results").locator("li[data-rank]")


def set_k(page: Page, k: int) -> None:
    page.get_by_label("k", exact=True).fill(str(k))
    page.get_by_label("k", exact=True).press("Enter")


def bar_widths(found: Locator) -> list[float]:
    return [float(bar.evaluate("bar => parseFloat(bar.style.width)")) for bar in found.locator("[data-part=bar]").all()]


def test_a_query_gives_ranked_cards_with_score_bar_words_and_place(page: Page, ui: Ui):
    found = ask(page, ui, "vegan lasagne")
    expect(found).to_have_count(3)

    best = found.first
    expect(best).to_contain_text("Vegan lasagne with spinach and tofu")
    expect(best.locator("mark")).to_have_text(["Vegan", "lasagne"])
    expect(best.locator("[data-part=source]")).to_have_text("menu.pdf")
    expect(best.locator("[data-part=page]")).to_have_text("page 2")
    expect(best.get_by_role("list", name="Metadata")).to_contain_text("price 12")
    scores = [float(re.findall(r"\d\.\d+", card.inner_text())[0]) for card in found.all()]
    assert scores == sorted(scores, reverse=True)
    assert bar_widths(found) == pytest.approx([100 * score for score in scores], abs=0.2)
    expect(page.locator("[data-part=scale]")).to_have_text("vector similarity, 0–1")
    expect(page.get_by_role("region", name="Results").get_by_role("link", name="Trace")).to_be_visible()

    set_k(page, 2)
    expect(found).to_have_count(2)
    set_k(page, 5)
    expect(found).to_have_count(5)


def test_words_of_other_scripts_are_marked(page: Page, ui: Ui):
    found = ask(page, ui, "green tea: 緑茶はありますか")

    expect(found.first.locator("mark")).to_have_text(["Green", "tea", "緑茶"])


def test_the_address_has_all_of_it_and_shows_it_again_without_asking_again(page: Page, ui: Ui):
    ask(page, ui, "soup")
    expect(cards(page)).to_have_count(3)
    page.get_by_label("Filter", exact=True).fill("price < 10")
    set_k(page, 2)
    expect(cards(page)).to_have_count(2)
    given = parse_qs(urlsplit(page.url).query)
    assert {name: given[name][0] for name in ("q", "k", "where")} == {"q": "soup", "k": "2", "where": "price < 10"}
    traces = len(ui.get("/api/traces/summaries?action=devstore/menu")["traces"])

    page.reload()

    expect(cards(page)).to_have_count(2)
    expect(page.get_by_label("Filter", exact=True)).to_have_value("price < 10")
    assert len(ui.get("/api/traces/summaries?action=devstore/menu")["traces"]) == traces
    page.go_back()
    expect(cards(page)).to_have_count(3)
    expect(page.get_by_label("k", exact=True)).to_have_value("3")


def test_a_filter_is_typed_built_or_taken_from_a_chip(page: Page, ui: Ui):
    ask(page, ui, "vegan")
    where = page.get_by_label("Filter", exact=True)

    page.get_by_role("button", name="Add a condition").click()
    page.get_by_label("Key").click()
    page.get_by_role("option", name="page · number").click()
    page.get_by_label("Value").fill("3")
    page.get_by_role("button", name="Add", exact=True).click()
    page.keyboard.press("Escape")
    expect(where).to_have_value("page = 3")
    page.keyboard.press("Control+Enter")
    expect(cards(page)).to_have_count(1)
    expect(cards(page)).to_contain_text("Chocolate cake")

    where.fill("")
    where.press("Enter")
    expect(cards(page)).to_have_count(3)
    cards(page).filter(has_text="Vegan lasagne").get_by_role("button", name="price 12").click()
    expect(cards(page)).to_have_count(1)
    expect(where).to_have_value("price = 12")


def test_a_filter_that_cannot_be_read_is_told_beside_its_field(page: Page, ui: Ui):
    ask(page, ui, "soup")
    expect(cards(page)).to_have_count(3)

    page.get_by_label("Filter", exact=True).fill("price <")
    page.keyboard.press("Enter")

    expect(page.get_by_label("Filter", exact=True)).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("expected a value at character")).to_be_visible()


def test_nothing_found_says_so(page: Page, ui: Ui):
    page.goto(ui.url + MENU)
    page.get_by_label("Query", exact=True).fill("soup")
    page.get_by_label("Filter", exact=True).fill("price > 1000")
    page.keyboard.press("Enter")

    expect(page.get_by_text("Nothing found")).to_be_visible()


def test_neighbours_of_a_chunk_are_shown_and_it_is_opened_in_its_store(page: Page, ui: Ui):
    chunks = [f"Chapter {at} of the story of {name}." for at, name in enumerate(("Ann", "Bob", "Cleo", "Dan"))]
    documents = [
        {"content": [{"text": text}], "metadata": {"source": "story.txt", "index": at}}
        for at, text in enumerate(chunks)
    ]
    ui.run("/indexer/devstore/menu", {"documents": documents})
    found = ask(page, ui, "story of Bob")

    found.first.get_by_role("button", name="Neighbours").click()

    expect(found.first.locator("[data-neighbour=before]")).to_contain_text(chunks[0])
    expect(found.first.locator("[data-neighbour=this]")).to_contain_text(chunks[1])
    expect(found.first.locator("[data-neighbour=after]")).to_contain_text(chunks[2])
    found.first.get_by_role("link", name="Store").click()
    expect(page.get_by_role("complementary", name="Document")).to_contain_text(chunks[1])


def test_text_and_metadata_of_a_document_are_never_markup(page: Page, ui: Ui):
    found = ask(page, ui, "hostile dish")

    expect(found.first).to_contain_text("<script>window.__xss=1</script>")
    expect(found.first.locator("[data-part=source]")).to_have_text("<i>evil</i>.md")
    assert page.evaluate("window.__xss") is None
    expect(found.locator("img, script, i")).to_have_count(0)


def test_two_retrievers_stand_side_by_side(page: Page, ui: Ui):
    ask(page, ui, "green tea")
    expect(cards(page)).to_have_count(3)

    page.get_by_label("Compare with", exact=True).click()
    page.get_by_role("option", name="devstore/menu (other options)").click()
    page.get_by_role("group", name="Search mode of the right").get_by_role("button", name="keyword").click()
    page.keyboard.press("Control+Enter")

    both = page.get_by_role("region", name="Comparison")
    expect(both.locator("[data-part=overlap]")).to_contain_text(re.compile(r"\d of \d shared"))
    expect(both.locator("[data-side=right] li[data-rank]").first).to_contain_text("Green tea from Uji")
    expect(both.locator("[data-side=left]").get_by_text("same rank").first).to_be_attached()
    expect(both.locator("[data-side=right] [data-part=scale]")).to_contain_text("BM25")

    page.get_by_label("Compare with", exact=True).click()
    page.get_by_role("option", name="drinks").click()
    page.keyboard.press("Control+Enter")

    expect(both.locator("[data-part=overlap]")).to_contain_text("0 of 5 shared")
    expect(both.get_by_text("only here")).to_have_count(5)
    page.reload()
    expect(both.get_by_text("only here")).to_have_count(5)


def test_a_reranker_shows_where_each_document_was_and_is(page: Page, ui: Ui):
    page.goto(f"{ui.url}/run/reranker/byWords")
    page.get_by_label("Candidates from", exact=True).click()
    page.get_by_role("option", name="devstore/menu").click()
    page.get_by_label("Query", exact=True).fill("cherries, with spinach and tofu")
    page.get_by_label("Candidates", exact=True).fill("5")
    page.keyboard.press("Control+Enter")

    before = page.get_by_role("list", name="Before", exact=True).get_by_role("listitem")
    after = page.get_by_role("list", name="After", exact=True).get_by_role("listitem")
    expect(before).to_have_count(5)
    expect(after).to_have_count(5)
    old = [text.split("\n") for text in before.all_inner_texts()]
    texts = [lines[2] for lines in old]
    for rank, row in enumerate(after.all()):
        lines = row.inner_text().split("\n")
        was = texts.index(lines[2])
        expect(row).to_contain_text(f"Was rank {was + 1}")
        expect(row.locator("[data-move]")).to_have_attribute(
            "data-move", "up" if was > rank else "down" if was < rank else "same"
        )
    assert page.locator("svg [data-move]").count() == 5
    after.first.get_by_role("button").click()
    expect(page.get_by_role("list", name="Chosen document")).to_contain_text("Vegan lasagne")


def test_a_reranker_takes_texts_that_are_typed(page: Page, ui: Ui):
    page.goto(f"{ui.url}/run/reranker/byWords")
    page.get_by_label("Candidates from", exact=True).click()
    page.get_by_role("option", name="texts of my own").click()
    page.get_by_label("Texts, one on each line").fill("green salad\nred soup with beans")
    page.get_by_label("Query", exact=True).fill("soup with beans")
    page.keyboard.press("Control+Enter")

    after = page.get_by_role("list", name="After", exact=True).get_by_role("listitem")
    expect(after).to_have_count(2)
    expect(after.first).to_contain_text("red soup with beans")
    expect(after.first).to_contain_text("Was rank 2")


def test_queries_are_pinned_stepped_through_and_run_together(page: Page, ui: Ui):
    page.goto(ui.url + MENU)
    for query in ("vegan lasagne", "green tea"):
        page.get_by_label("Query", exact=True).fill(query)
        page.get_by_role("button", name="Pin to the query set").click()
    queries = page.get_by_role("complementary", name="Query set")
    expect(queries.get_by_role("listitem")).to_have_count(2)

    queries.get_by_role("button", name="Run all").click()

    expect(queries.get_by_role("listitem").first).to_contain_text("menu.pdf p. 2")
    expect(queries.get_by_role("listitem").nth(1)).to_contain_text("drinks.md p. 1")
    queries.get_by_role("button", name="green tea", exact=False).first.click()
    expect(cards(page).first).to_contain_text("Green tea")
    expect(page.get_by_label("Query", exact=True)).to_have_value("green tea")
    queries.get_by_role("button", name="Previous query").click()
    expect(cards(page).first).to_contain_text("Vegan lasagne")
    page.reload()
    page.get_by_role("button", name="Query set (2)").click()
    expect(queries).to_contain_text("1 / 2")


def test_a_failure_of_the_retriever_is_told_with_its_reason(page: Page, ui: Ui):
    page.goto(ui.url + MENU)
    page.get_by_label("Query", exact=True).fill("soup")
    page.get_by_label("Filter", exact=True).fill("colour = 'red'")
    page.keyboard.press("Enter")

    expect(page.get_by_text("Nothing found")).to_be_visible()


def test_benches_begin_with_the_input_of_an_earlier_run(page: Page, ui: Ui):
    query = {"content": [{"text": "green tea"}]}
    found = ui.run("/retriever/devstore/menu", {"query": query, "options": {"k": 4, "where": "price < 10"}})
    documents = found["result"]["documents"]
    ranked = ui.run("/reranker/byWords", {"query": query, "documents": documents})
    embedded = ui.run("/embedder/fake-embedder", {"input": [{"content": [{"text": "plum"}]}, query]})

    page.goto(f"{ui.url}{MENU}?from={found['run']['traceId']}&span={found['run']['spanId']}")
    expect(page.get_by_label("Query", exact=True)).to_have_value("green tea")
    expect(page.get_by_label("k", exact=True)).to_have_value("4")
    expect(page.get_by_label("Filter", exact=True)).to_have_value("price < 10")
    page.goto(f"{ui.url}/run/reranker/byWords?from={ranked['run']['traceId']}")
    expect(page.get_by_label("Query", exact=True)).to_have_value("green tea")
    expect(page.get_by_label("Texts, one on each line")).to_have_value(re.compile("Green tea from Uji"))
    page.goto(f"{ui.url}/run/embedder/fake-embedder?from={embedded['run']['traceId']}")
    expect(page.get_by_label("Text 1", exact=True)).to_have_value("plum")
    expect(page.get_by_label("Text 2", exact=True)).to_have_value("green tea")


def test_the_bench_fits_a_phone(make_page, ui: Ui):
    page = make_page(viewport=PHONE)
    ask(page, ui, "vegan lasagne")
    expect(cards(page)).to_have_count(3)

    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
