"""One parser for a folder of anything: what a file is, told by its bytes, its name and its looks."""

import json
from pathlib import Path

import pytest

from flowkit import Document
from flowkit.errors import FlowkitError, InvalidInputError, NotFoundError, ParseError, UnsupportedError
from flowkit.rag import parse, split
from tests.rag.parse.files import book, mail, packed, sheets, slides, word
from tests.rag.parse.papers import paper

PARSER = parse.auto()
PAGE = b"<!DOCTYPE html><title>Menu</title><h1>Soups</h1><p>Tomato soup"
WORD = word([("Heading 1", "Soups"), ("Normal", "Tomato soup")])
MAIL = mail("Soups", "Tomato soup").as_bytes()


def read(name: str | None, data: bytes, media_type: str | None = None) -> Document:
    return PARSER(data, source_name=name, media_type=media_type)


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.txt", b"# no heading", "# no heading"),
        ("a.md", b"# Soups\n\nTomato soup", "# Soups\n\nTomato soup"),
        ("a.html", PAGE, "# Soups\n\nTomato soup"),
        ("a.pdf", paper("Tomato soup"), "Tomato soup"),
        ("a.docx", WORD, "# Soups\n\nTomato soup"),
        ("a.pptx", slides([("Soups", "Tomato soup", "")]), "## Soups\n\n- Tomato soup"),
        ("a.xlsx", sheets({"Soups": [["Name", "Price"], ["Tomato", 3.5]]}), "# Soups\n\nName: Tomato; Price: 3.5"),
        ("a.epub", book({"one.xhtml": "<h1>Soups</h1><p>Tomato soup"}), "# Soups\n\nTomato soup"),
        ("a.csv", b"Name,Price\nTomato,3.5\n", "Name: Tomato; Price: 3.5"),
        ("a.json", b'{"soup": "tomato"}', '{"soup": "tomato"}'),
        ("a.yaml", b"soup: tomato\n", "soup: tomato\n"),
        ("a.eml", MAIL, "# Soups\n\nFrom: Ann <ann@shop.test>"),
        ("a.ipynb", json.dumps({"cells": [{"cell_type": "markdown", "source": "# Soups"}]}).encode(), "# Soups"),
        ("a.py", b"# a comment\nsoup = 1\n", "# a comment\nsoup = 1\n"),
        ("Makefile", b"soup:\n\ttomato\n", "soup:\n\ttomato\n"),
        (None, b"Tomato soup", "Tomato soup"),
    ],
)
def test_each_format_is_read_as_what_it_is(name: str | None, data: bytes, text: str):
    document = read(name, data)

    assert document.text.startswith(text)
    assert document.source == name
    assert "parse_warnings" not in document.metadata


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a", PAGE, "# Soups"),
        ("a", MAIL, "# Soups"),
        ("a", WORD, "# Soups"),
        ("a", paper("Tomato soup"), "Tomato soup"),
        ("https://shop.test/menu.html?page=2", PAGE, "# Soups"),
        ("https://shop.test/menu.pdf?page=2", paper("Tomato soup"), "Tomato soup"),
    ],
)
def test_what_has_no_telling_name_is_known_by_its_looks(name: str, data: bytes, text: str):
    assert read(name, data).text.startswith(text)


def test_what_a_server_says_counts_where_the_name_says_nothing():
    assert read("https://shop.test/menu", b"<p>Soup", "text/html; charset=utf-8").text == "Soup"
    assert read("https://shop.test/prices", b"Name;Price\nSoup;3", "text/csv").text == "Name: Soup; Price: 3"
    assert read("https://shop.test/a.txt", b"<p>Soup", "text/html").text == "<p>Soup"


def test_the_encoding_that_a_server_names_is_taken_where_it_fits():
    latin = "Crème brûlée".encode("latin-1")
    assert PARSER(latin, source_name="a.txt", encoding="latin-1").text == "Crème brûlée"
    assert PARSER("Crème".encode(), source_name="a.txt", encoding="latin-1").text == "Crème"
    assert PARSER(latin, source_name="a.txt", encoding="utf-8").text == "Crème brûlée"
    assert PARSER(latin, source_name="a.txt", encoding="no such thing").text == "Crème brûlée"


@pytest.mark.parametrize(
    ("name", "data", "text", "says"),
    [
        ("a.txt", paper("Tomato soup"), "Tomato soup", "it is a PDF, though its name ends in .txt"),
        ("a.pdf", WORD, "# Soups", "it is a .docx file, though its name ends in .pdf"),
        ("a.doc", WORD, "# Soups", "it is a .docx file, though its name ends in .doc"),
        ("a.xls", PAGE, "# Soups", "it is a web page, though its name ends in .xls"),
        ("a.xls", b"Name\tPrice\nSoup\t3\n", "Name: Soup; Price: 3", "it is a table as text, though its name ends in"),
    ],
)
def test_the_content_decides_and_a_wrong_name_is_told(name: str, data: bytes, text: str, says: str):
    document = read(name, data)

    assert document.text.startswith(text)
    assert document.metadata["parse_warnings"][0].startswith(says)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.zip", packed({"a.txt": "soup"}), "'a.zip' is a zip archive, which is not read.*unpack it first"),
        ("a.odt", packed({"mimetype": "application/vnd.oasis.opendocument.text"}), "OpenDocument text.*soffice.*docx"),
        ("a.ods", packed({"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}), "spreadsheet.*to xlsx"),
        ("a.rtf", b"{\\rtf1 soup}", "a Rich Text file.*soffice --headless --convert-to docx"),
        ("a.xlsb", packed({"xl/workbook.bin": b"\1"}), "a binary Excel workbook.*convert-to xlsx"),
        (
            "a.msg",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "__properties_version1.0".encode("utf-16-le"),
            "an Outlook message",
        ),
        ("a", b"\x89PNG\r\n\x1a\n" + bytes(50), "a PNG image.*OCR"),
        ("a", b"\x1f\x8b\x08\x00" + bytes(50), "a gzip archive.*unpack"),
        ("a.db", b"SQLite format 3\0" + bytes(50), "an SQLite database.*CSV"),
    ],
)
def test_what_is_not_read_is_named_with_a_way_to_convert_it(name: str, data: bytes, says: str):
    with pytest.raises(UnsupportedError, match=says):
        read(name, data)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.txt", b"", "is empty"),
        ("a.md", b" \n\t\n", "has no text, only blanks"),
        ("a.html", b"<p> </p><script>1</script>", "has no text"),
        ("a.csv", b"\n,,\n", "has no text"),
        ("a.docx", word([]), "has no text"),
        ("a.xlsx", sheets({"Empty": []}), "has no text"),
        ("a.pdf", b"no pdf", "is not a PDF"),
        ("a.docx", b"no zip", "is a broken Word file"),
        ("a.docx", WORD[:2000], "is a broken Word file"),
        ("a.epub", packed({"mimetype": "application/epub+zip"}), "is a broken EPUB"),
        ("a.ipynb", b"{}", "is no notebook"),
        ("a.bin", bytes(range(256)) * 20, "is no text in any encoding"),
    ],
)
def test_what_cannot_be_read_is_one_line_with_a_way_out(name: str, data: bytes, says: str):
    with pytest.raises(ParseError, match=says) as raised:
        read(name, data)

    assert raised.value.hint
    assert repr(name) in raised.value.message
    assert "\n" not in str(raised.value)


def test_text_that_begins_like_an_archive_is_text():
    for begin in ("BZh is no word", "ID3 tags explained", "PAR1 is a mark", "Rar! they said", "GIF89a is a format"):
        assert read("a.txt", begin.encode()).text == begin


def test_a_path_is_read_and_named(tmp_path: Path):
    (tmp_path / "Menü.DOCX").write_bytes(WORD)

    document = PARSER(tmp_path / "Menü.DOCX", source_name="docs/Menü.DOCX")

    assert document.source == "docs/Menü.DOCX"
    assert PARSER(tmp_path / "Menü.DOCX").source == (tmp_path / "Menü.DOCX").as_posix()
    with pytest.raises(NotFoundError):
        PARSER(tmp_path / "nothing.docx")
    with pytest.raises(ParseError, match="is a folder"):
        PARSER(tmp_path)


def test_settings_reach_the_parsers():
    assert parse.auto(encoding="cp1252")("Crème".encode("cp1252"), source_name="a.csv").text == "Crème"
    with pytest.raises(ParseError, match="not ascii text"):
        parse.auto(encoding="ascii")("Crème".encode(), source_name="a.md")
    titled = word([("Normal", "Soup")], title="The menu")
    assert parse.auto(include_metadata=True)(titled, source_name="a.docx").metadata["title"] == "The menu"
    assert "title" not in read("a.docx", titled).metadata
    with pytest.raises(InvalidInputError, match="no encoding"):
        parse.auto(encoding="utf-9")


def test_lone_surrogates_and_nul_are_cleaned_in_every_format():
    for name, data in (
        ("a.json", b'{"soup": "to\\ud800mato\\u0000"}'),
        ("a.html", b"<p>to&#xd800;mato"),
        ("a.csv", b"Name,Price\nto\xed\xa0\x80mato,3\n"),
    ):
        text = read(name, data).text
        text.encode()
        assert "mato" in text
        assert "\0" not in text


def test_five_megabytes_of_each_text_format_are_read():
    line = "Tomato soup with basil, bread and a very long name. "
    long = (line * 100 + "\n") * 1000
    for name, data in (
        ("a.txt", long),
        ("a.md", f"# Soups\n\n{long}"),
        ("a.html", f"<h1>Soups</h1><p>{long}</p>"),
        ("a.csv", "Name;Price\n" + f"{line};3\n" * 95_000),
        ("a.json", json.dumps({"soups": [line] * 95_000})),
    ):
        assert len(read(name, data.encode()).text) > 5_000_000


@pytest.mark.parametrize(
    "data", [b"\xff\xfe", b"\xef\xbb\xbf", b"PK\x03\x04", b"%PDF-", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"]
)
def test_a_mark_alone_is_an_error_and_no_crash(data: bytes):
    for name in ("a", "a.txt", "a.pdf", "a.docx", "a.xls", "a.eml"):
        with pytest.raises(FlowkitError) as raised:
            read(name, data)
        assert raised.value.hint


def test_chunks_know_slide_sheet_and_heading():
    cut = split.auto(max_chars=40)

    def places(document: Document) -> list[tuple[object, object]]:
        return [(chunk.metadata.get("page"), chunk.metadata.get("heading")) for chunk in cut(document)]

    deck = read("a.pptx", slides([("Soups", "Tomato", "Smile"), ("", "", ""), ("Cakes", "Plum", "")]))
    assert places(deck) == [(1, "Soups"), (3, "Cakes")]
    book_ = read(
        "a.xlsx", sheets({"Soups": [["Name", "Price"], ["Tomato", 3]], "Cakes": [["Name", "Price"], ["Plum", 4]]})
    )
    assert places(book_) == [(None, "Soups"), (None, "Cakes")]
    text = read("a.docx", word([("Heading 1", "Guide"), ("Heading 2", "Paying"), ("Normal", "By card or invoice.")]))
    assert places(text) == [(None, "Guide > Paying")]
    for chunk in cut(deck):
        assert deck.text[chunk.metadata["start"] : chunk.metadata["end"]].strip() == chunk.text
        assert not {"page_starts", "text_format", "parse_warnings"} & chunk.metadata.keys()
