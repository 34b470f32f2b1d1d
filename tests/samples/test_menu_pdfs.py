"""The menu PDFs say what their texts say, whole and in order, and are drawn the same every time."""

import re
from pathlib import Path

import pytest
from pypdf import PdfReader

from samples.menu.make_menus import TEXTS, draw_menu, read_menu

MENUS = sorted(TEXTS.glob("*.toml"))
FOLDER = TEXTS.parent


def words_of(pdf: Path) -> str:
    return " ".join(" ".join(page.extract_text() for page in PdfReader(pdf).pages).split())


def sentences_of(text_file: Path) -> list[str]:
    menu = read_menu(text_file)
    found = [menu["house"], menu["tagline"], menu["legend"]]
    for section in menu["sections"]:
        texts = [*section.get("text", ()), *(dish["text"] for dish in section.get("dishes", ()))]
        found += [section["title"], *texts, *section.get("after", ())]
    return [sentence.replace("**", "") for sentence in found]


@pytest.mark.parametrize("text_file", MENUS, ids=lambda path: path.stem)
def test_a_committed_menu_holds_every_sentence_in_reading_order(text_file: Path):
    words = words_of(FOLDER / read_menu(text_file)["file"])

    at = 0
    for sentence in sentences_of(text_file):
        assert sentence in words[at:]
        at = words.index(sentence, at) + len(sentence)


@pytest.mark.parametrize("text_file", MENUS, ids=lambda path: path.stem)
def test_a_menu_is_drawn_the_same_every_time(text_file: Path, tmp_path: Path):
    menu = read_menu(text_file)
    draw_menu(menu, tmp_path / "first.pdf")
    draw_menu(menu, tmp_path / "second.pdf")

    assert (tmp_path / "first.pdf").read_bytes() == (tmp_path / "second.pdf").read_bytes()
    assert words_of(tmp_path / "first.pdf") == words_of(FOLDER / menu["file"])


@pytest.mark.parametrize("text_file", MENUS, ids=lambda path: path.stem)
def test_a_menu_has_a_title_and_enough_pages_to_be_worth_searching(text_file: Path):
    menu = read_menu(text_file)
    reader = PdfReader(FOLDER / menu["file"])

    assert reader.metadata is not None
    assert reader.metadata.title == f"{menu['house']}: {menu['tagline']}"
    assert len(reader.pages) >= {"dinner.pdf": 4, "karte.pdf": 3, "lunch.pdf": 2}[menu["file"]]


def test_the_marks_agree_with_the_sentences():
    words = {"vegan": "vegan", "vegetarian": "vegetarian", "vegetarisch": "vegetarisch"}
    for text_file in MENUS:
        for section in read_menu(text_file)["sections"]:
            for dish in section.get("dishes", ()):
                said = [word for word in words if re.search(rf"\b{word}\b", dish["text"])]
                assert said == ([dish["mark"]] if "mark" in dish else []), dish["name"]


def test_an_allergen_row_is_read_as_one_line():
    pages = [page.extract_text() for page in PdfReader(FOLDER / "dinner.pdf").pages]

    assert any("Lentil shepherd's pie contains celery, mustard and is vegan.\n" in page for page in pages)
