"""Vector stores: what is in them, by page; searched, filtered, whole; deleting; and what does not fit."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.ui.conftest import PHONE, Ui

pytestmark = [pytest.mark.heavy, pytest.mark.requires("browser", "a store is looked at by somebody")]

STORE = "/stores/devstore/menu"
LIMITED = '''
"""An app whose store cannot do much."""

from flowkit import Document, Flowkit
from flowkit.rag.stores.abilities import StoreAbilities
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.testing import FakeEmbedder


class Archive(InMemoryStore):
    """Reads what others keep."""

    abilities = StoreAbilities(modes=("vector",), unsupported_filters=("contains",), writes=False, exact=False)


ai = Flowkit(plugins=[FakeEmbedder(dimension=32), Archive("old", embedder="fake-embedder")])


@ai.flow("fill")
async def fill() -> int:
    """Put one document into the archive."""
    return (await ai.index("old", [Document.from_text("An old letter")])).written
'''


@pytest.fixture(autouse=True)
def the_menu_is_there(ui: Ui):
    ui.run("/flow/indexMenu")


def fill(ui: Ui, source: str, number: int) -> None:
    documents = [
        {"content": [{"text": f"Letter {at:03} of {source}"}], "metadata": {"source": source, "index": at}}
        for at in range(number)
    ]
    ui.run("/indexer/devstore/menu", {"documents": documents})


def rows(page: Page) -> Locator:
    return page.get_by_role("region", name="Documents").locator("tbody tr")


def count_of(ui: Ui) -> int:
    return int(ui.get("/api/stores/stats?store=menu")["store"]["count"])


def test_stores_are_listed_with_what_is_in_them(page: Page, ui: Ui):
    page.goto(f"{ui.url}/stores")

    row = page.get_by_role("row").filter(has_text="devstore/menu")
    expect(row).to_contain_text("fake-embedder")
    expect(row).to_contain_text("32")
    for mode in ("vector", "keyword", "hybrid"):
        expect(row.get_by_text(mode)).to_be_visible()
    expect(row).to_contain_text("ready")
    row.get_by_role("link", name="devstore/menu").click()
    expect(page.get_by_role("heading", name="devstore/menu")).to_be_visible()
    expect(page.locator("[data-part=facts]")).to_contain_text("32 dimensions")


def test_documents_come_by_page_and_back_shows_the_page_before(page: Page, ui: Ui):
    fill(ui, "letters.txt", 60)
    page.goto(f"{ui.url}{STORE}?source=letters.txt")
    expect(rows(page)).to_have_count(50)
    first = rows(page).first.get_attribute("data-id")

    page.get_by_role("button", name="Next page").click()

    expect(rows(page)).to_have_count(10)
    expect(page.get_by_role("button", name="Next page")).to_be_disabled()
    page.go_back()
    expect(rows(page)).to_have_count(50)
    expect(rows(page).first).to_have_attribute("data-id", first or "")


def test_a_source_narrows_the_list(page: Page, ui: Ui):
    page.goto(ui.url + STORE)
    sources = page.get_by_role("navigation", name="Sources")

    sources.get_by_role("button", name="drinks.md 1", exact=True).click()

    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("Green tea")
    assert "source=drinks.md" in page.url


def test_documents_are_searched_and_filtered_and_the_address_keeps_it(page: Page, ui: Ui):
    page.goto(ui.url + STORE)
    page.get_by_label("Search documents").fill("vegan")
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(2)
    expect(rows(page).first.locator("mark").first).to_have_text(re.compile("vegan", re.IGNORECASE))

    page.get_by_label("Filter", exact=True).fill("price > 10")
    page.keyboard.press("Enter")

    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("Vegan lasagne")
    page.reload()
    expect(rows(page)).to_have_count(1)
    expect(page.get_by_label("Filter", exact=True)).to_have_value("price > 10")
    page.get_by_role("group", name="Search mode").get_by_role("button", name="vector").click()
    expect(page.get_by_text("by vector")).to_be_visible()


def test_a_filter_that_cannot_be_read_is_told_beside_its_field(page: Page, ui: Ui, noise):
    noise.append("400")
    page.goto(ui.url + STORE)
    page.get_by_label("Filter", exact=True).fill("price >")
    page.keyboard.press("Enter")

    expect(page.get_by_text("expected a value at character")).to_be_visible()
    expect(page.get_by_label("Filter", exact=True)).to_have_attribute("aria-invalid", "true")


def test_a_document_is_shown_whole_with_its_vector_and_its_neighbours(page: Page, ui: Ui):
    fill(ui, "story.txt", 3)
    page.goto(f"{ui.url}{STORE}?source=story.txt")
    rows(page).filter(has_text="Letter 001").get_by_role("button").click()

    document = page.get_by_role("complementary", name="Document")
    expect(document).to_contain_text("Letter 001 of story.txt")
    expect(document).to_contain_text("32 dimensions, norm 1.0000")
    expect(document.get_by_role("list", name="First values").get_by_role("listitem")).to_have_count(16)
    expect(document.get_by_role("tree", name="Metadata")).to_contain_text("story.txt")
    document.get_by_role("button", name="Neighbours").click()
    expect(document.locator("[data-neighbour=before]")).to_contain_text("Letter 000")
    expect(document.locator("[data-neighbour=after]")).to_contain_text("Letter 002")
    page.reload()
    expect(document).to_contain_text("Letter 001 of story.txt")
    document.get_by_role("button", name="Close the document").click()
    expect(document).to_have_count(0)


def test_what_is_selected_is_deleted_after_a_question(page: Page, ui: Ui):
    fill(ui, "waste.txt", 3)
    before = count_of(ui)
    page.goto(f"{ui.url}{STORE}?source=waste.txt")
    for number in (0, 2):
        page.get_by_role("checkbox", name=f"Select Letter 00{number}").click()

    page.get_by_role("button", name="Delete 2 selected").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Delete 2 documents?")
    dialog.get_by_role("button", name="Keep").click()
    expect(dialog).to_have_count(0)
    assert count_of(ui) == before
    page.get_by_role("button", name="Delete 2 selected").click()
    dialog.get_by_role("button", name="Delete 2 documents").click()

    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("Letter 001")
    assert count_of(ui) == before - 2


def test_a_source_is_deleted_whole(page: Page, ui: Ui):
    fill(ui, "gone.txt", 4)
    before = count_of(ui)
    page.goto(ui.url + STORE)

    page.get_by_role("navigation", name="Sources").get_by_role("button", name="Delete gone.txt").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete 4 documents").click()

    expect(page.get_by_text("4 documents deleted")).to_be_visible()
    expect(page.get_by_role("navigation", name="Sources").get_by_text("gone.txt")).to_have_count(0)
    assert count_of(ui) == before - 4


def test_what_a_filter_finds_is_deleted(page: Page, ui: Ui):
    fill(ui, "old.txt", 5)
    before = count_of(ui)
    page.goto(f"{ui.url}{STORE}?where=source = 'old.txt' AND index >= 3")
    expect(rows(page)).to_have_count(2)

    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Delete what the filter finds").click()
    expect(page.get_by_role("dialog")).to_contain_text("where source = 'old.txt' AND index >= 3")
    page.get_by_role("dialog").get_by_role("button", name="Delete 2 documents").click()

    expect(page.get_by_text("No document is like that")).to_be_visible()
    assert count_of(ui) == before - 2


def test_hostile_documents_are_text(page: Page, ui: Ui):
    page.goto(f"{ui.url}{STORE}?q=hostile")
    rows(page).first.get_by_role("button").click()

    document = page.get_by_role("complementary", name="Document")
    expect(document).to_contain_text("<script>window.__xss=1</script>")
    expect(document.locator("img, script, b")).to_have_count(0)
    assert page.evaluate("window.__xss") is None


def test_an_index_of_another_embedder_is_warned_about(make_ui, page: Page, noise: list[str]):
    noise.append("503")  # while the app starts again
    ui = make_ui()
    ui.run("/flow/indexMenu")
    ui.edit(lambda text: text.replace("FakeEmbedder(dimension=32)", "FakeEmbedder(dimension=16)"))
    page.goto(ui.url + STORE)

    notice = page.get_by_role("status").filter(has_text="16")
    expect(notice).to_contain_text("32")
    page.goto(f"{ui.url}/stores")
    expect(page.get_by_text("vectors of another dimension")).to_be_visible()


def test_an_index_that_was_never_built_says_what_to_do(make_ui, page: Page):
    ui = make_ui()
    page.goto(ui.url + STORE)

    expect(page.get_by_text("Nothing was indexed yet")).to_be_visible()
    expect(page.get_by_text("flowkit rag:index docs/ --index devstore/menu")).to_be_visible()


def test_what_a_store_cannot_do_is_said_and_not_offered(make_ui, page: Page):
    ui = make_ui(LIMITED)
    ui.run("/flow/fill")
    page.goto(f"{ui.url}/stores/memory/old")

    expect(page.get_by_text("It cannot search by words or search by meaning and words together.")).to_be_visible()
    expect(page.get_by_text("Filters cannot have contains.")).to_be_visible()
    expect(page.get_by_text("Nothing can be deleted from it here.")).to_be_visible()
    expect(rows(page)).to_have_count(1)
    expect(page.get_by_role("checkbox")).to_have_count(0)
    expect(page.get_by_role("group", name="Search mode")).to_have_count(0)


def test_an_app_without_a_store_says_so(make_ui, page: Page):
    ui = make_ui("from flowkit import Flowkit\n\nai = Flowkit()\n\n\n@ai.flow()\ndef f() -> int:\n    return 1\n")
    page.goto(f"{ui.url}/stores")

    expect(page.get_by_text("This app has no vector store")).to_be_visible()


def test_a_store_fits_a_phone(make_page, ui: Ui):
    page = make_page(viewport=PHONE)
    page.goto(ui.url + STORE)
    expect(rows(page).first).to_be_visible()

    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
