"""Office files in the formats of 1997 to 2003, which no library here writes: these were saved by LibreOffice."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from flowkit.errors import ParseError
from flowkit.rag import parse, split

FILES = Path(__file__).with_name("old_office.zip")


def old(name: str) -> bytes:
    with ZipFile(FILES) as archive:
        return archive.read(name)


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        (
            "menu.doc",
            "# Guide\n\nCrème brûlée is 5 €.\n\n| Name | Price |\n| --- | --- |\n| Soup | 3 |",
            [(None, "Guide")],
        ),
        ("menu.xls", "# Prices\n\nName: Soup; Price: 3.5", [(None, "Prices")]),
        ("menu.ppt", "## Soups\n\nTomato\n\nNotes: Smile\n\n## Cakes\n\nPlum", [(1, "Soups"), (2, "Cakes")]),
    ],
)
def test_an_old_file_is_read_as_a_new_one(name: str, text: str, places: list[tuple[int | None, str]]):
    document = parse.auto()(old(name), source_name=name)

    assert document.text == text
    chunks = split.auto(max_chars=200)(document)
    assert [(chunk.metadata.get("page"), chunk.metadata["heading"]) for chunk in chunks] == places


def test_an_old_file_with_a_new_name_is_told():
    document = parse.auto()(old("menu.doc"), source_name="menu.docx")

    assert document.text.startswith("# Guide")
    assert document.metadata["parse_warnings"] == ["it is a .doc file, though its name ends in .docx"]


@pytest.mark.parametrize("name", ["menu.doc", "menu.xls", "menu.ppt"])
def test_a_part_of_an_old_file_is_broken(name: str):
    with pytest.raises(ParseError, match=r"is a broken|has no text|of a kind"):
        parse.office(old(name)[:3000], source_name=name)
