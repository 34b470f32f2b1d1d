"""What is kept of each format: headings, lists, tables, rows, cells, headers, attachments."""

import json
from typing import Any

import pytest

from flowkit.errors import InvalidInputError, ParseError
from flowkit.rag import parse, split
from tests.rag.parse.files import book, encrypted_office, mail, sheets, slides, word


def test_a_web_page_is_read_as_it_is_seen():
    page = """<html><head><title> The  menu </title><style>p {}</style></head><body><nav>Home</nav>
    <h1>Soups &amp; more</h1><p>Tomato <b>soup</b> is<br>good<p>Next
    <ul><li>one<li>two<ul><li>deep</ul></ul><ol><li>first<li>second</ol>
    <table><tr><th>Name<th>Price<tr><td>Soup<td>3 | 5</table>
    <pre>def f():
        return 1</pre><script>alert("no")</script><p># no heading</body></html>"""

    document = parse.html(page.encode(), source_name="menu")

    assert document.text == (
        "# Soups & more\n\nTomato soup is\ngood\n\nNext\n\n- one\n- two\n  - deep\n\n1. first\n2. second\n\n"
        "| Name | Price |\n| --- | --- |\n| Soup | 3 \\| 5 |\n\n```\ndef f():\n        return 1\n```\n\n\\# no heading"
    )
    assert document.metadata["title"] == "The menu"
    assert [chunk.metadata["heading"] for chunk in split.auto(max_chars=500)(document)] == ["Soups & more"]


def test_tables_that_lay_out_a_page_are_no_tables():
    page = "<table><tr><td>Left<table><tr><td>a<td>b<tr><td>c<td>d</table>below</td><td>Right</td></tr></table>"

    assert parse.html(page.encode()).text == "Left\n\n| a | b |\n| --- | --- |\n| c | d |\n\nbelow\n\nRight"


def test_broken_pages_are_read_as_far_as_they_go():
    assert parse.html(b"<p>Soup<script>never closed").text == "Soup"
    assert parse.html(b"<nav>Only a menu</nav>").text == "Only a menu"
    assert parse.html(b"<head><title>x</title><p>the head was never closed").text == "the head was never closed"
    assert parse.html(b"<div>" * 5000 + b"deep").text == "deep"
    assert parse.html(b"a < b and <unknown>c</unknown>").text == "a < b and c"


@pytest.mark.parametrize("page", ['<meta charset="shift_jis">', '<meta content="text/html; charset=Shift_JIS">', ""])
def test_a_page_is_in_the_encoding_that_it_names_or_looks_like(page: str):
    data = f"{page}<p>メニューです。スープは五ユーロ。".encode("shift_jis")

    assert parse.html(data).text == "メニューです。スープは五ユーロ。"


def test_a_word_file_keeps_headings_lists_and_tables():
    data = word(
        [("Heading 1", "Guide"), ("Normal", "# of guests"), ("List Bullet", "one"), ("Heading 2", "Paying")],
        table=[["Name", "Price"], ["Soup", "3"]],
    )

    assert parse.office(data).text == (
        "# Guide\n\n\\# of guests\n\n- one\n\n## Paying\n\n| Name | Price |\n| --- | --- |\n| Soup | 3 |"
    )


def test_slides_are_pages_and_keep_their_notes():
    document = parse.office(slides([("Soups", "Tomato\nLentil", "Smile"), ("", "", ""), ("Cakes", "Plum", "")]))

    assert document.text == "## Soups\n\n- Tomato\n- Lentil\n\nNotes: Smile\n\n## Cakes\n\n- Plum"
    assert document.metadata["pages"] == 3
    assert document.metadata["page_starts"] == [0, len("## Soups\n\n- Tomato\n- Lentil\n\nNotes: Smile"), 43]


def test_rows_of_a_sheet_are_lines_with_the_names_of_their_columns():
    from datetime import date

    data = sheets(
        {
            "Prices": [["Name", "Price", "Since", "Sold"], ["Soup", 3.5, date(2026, 1, 5), True], [], ["Cake", 4]],
            "Empty": [],
            "Numbers": [[1, 2], [3, 4]],
        }
    )

    assert parse.office(data).text == (
        "# Prices\n\nName: Soup; Price: 3.5; Since: 2026-01-05; Sold: TRUE\nName: Cake; Price: 4\n\n"
        "# Numbers\n\n1 | 2\n3 | 4"
    )


def test_an_encrypted_office_file_opens_with_its_password():
    data = encrypted_office(word([("Normal", "Secret soup")]), "opensesame")

    assert parse.office(data, password="opensesame").text == "Secret soup"
    with pytest.raises(ParseError, match=r"'a\.docx' is encrypted and needs a password.*pass password="):
        parse.auto()(data, source_name="a.docx")
    with pytest.raises(ParseError, match="does not open with the password given"):
        parse.office(data, password="guess")
    with pytest.raises(ParseError, match=r"is no Office file, but in the format 'text'.*parse\.auto"):
        parse.office(b"Soup")


def test_a_book_is_read_in_the_order_of_its_chapters():
    document = parse.epub(book({"two.xhtml": "<h1>Two</h1>b", "one.xhtml": "<h1>One</h1>a", "gone.xhtml": ""}))

    assert document.text == "# Two\n\nb\n\n# One\n\na"
    assert {key: document.metadata[key] for key in ("title", "author", "language")} == {
        "title": "Soups",
        "author": "Ann",
        "language": "en",
    }
    assert document.metadata["parse_warnings"] == ["1 chapters are named in its table, and not in the file"]


def test_a_locked_book_is_told_and_disguised_fonts_are_no_lock():
    def locked(algorithm: str) -> dict[str, str | bytes]:
        return {
            "META-INF/encryption.xml": '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>'
            f'<e:EncryptionMethod Algorithm="{algorithm}"/></e:EncryptedData></encryption>'
        }

    pages = {"one.xhtml": "<p>Soup"}
    assert parse.epub(book(pages, more=locked("http://www.idpf.org/2008/embedding"))).text == "Soup"
    with pytest.raises(ParseError, match="is locked"):
        parse.epub(book(pages, more=locked("http://www.w3.org/2001/04/xmlenc#aes128-cbc")))
    with pytest.raises(ParseError, match="defines entities"):
        parse.epub(book(pages, more={"META-INF/container.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}))


def test_a_message_keeps_its_headers_and_names_what_is_attached():
    message = mail("Order 7", "Two soups,\n\nplease.", html="<p>no</p>", attached={"menu.pdf": b"x", "Größe.txt": b"y"})

    document = parse.email(message.as_bytes())

    assert document.text == (
        "# Order 7\n\nFrom: Ann <ann@shop.test>\nTo: Bob <bob@shop.test>\nDate: Mon, 05 Jan 2026 12:30:00 +0100\n\n"
        "Two soups,\n\nplease.\n\nAttachments: menu.pdf, Größe.txt"
    )
    assert document.metadata["title"] == "Order 7"
    assert document.metadata["date"] == "2026-01-05T12:30:00+01:00"
    assert document.metadata["attachments"] == ["menu.pdf", "Größe.txt"]


def test_forwarded_messages_and_pages_in_messages_are_read():
    inner = mail("Inner", "", html="<h1>Soup</h1><p>is out")
    outer = mail("Outer", "See below")
    outer.add_attachment(inner)

    text = parse.email(outer.as_bytes()).text

    assert text.startswith("# Outer")
    assert "## Inner" in text
    assert text.endswith("# Soup\n\nis out")


def test_messages_that_break_the_rules_are_read():
    assert parse.email(b"Subject: =?utf-8?q?Cr=C3=A8me?=\nFrom: a\nDate: never\n\nsoup\xe9").text.startswith("# Crème")
    odd = b"Subject: a\nContent-Type: text/plain; charset=nonsense\n\nCr\xc3\xa8me"
    assert parse.email(odd).text == "# a\n\nCrème"
    with pytest.raises(ParseError, match="is no e-mail"):
        parse.email(b"only text")


def test_a_notebook_keeps_text_code_and_output():
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "source": ["# Soups\n", "by price"]},
        {
            "cell_type": "code",
            "source": "print(1)",
            "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "display_data", "data": {"image/png": "aaaa", "text/plain": "<Figure>"}},
                {"output_type": "error", "ename": "KeyError", "evalue": "'soup'", "traceback": ["long"]},
                {"output_type": "stream", "text": "x" * 3000},
            ],
        },
        {"cell_type": "code", "source": "", "outputs": []},
    ]
    data = json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4}).encode()

    text = parse.notebook(data).text

    assert text.startswith("# Soups\nby price\n\n```python\nprint(1)\n```\n\nOutput:\n\n```\n1\n```\n\n")
    assert "KeyError: 'soup'" in text
    assert "aaaa" not in text
    assert len(text) < 2400
    assert "Output" not in parse.notebook(data, include_outputs=False).text
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": "a", "outputs": []}]}], "nbformat": 3}
    assert parse.notebook(json.dumps(old).encode()).text == "```\na\n```"


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        ("Name;Price\nSoup;3,50\n", ["Name: Soup; Price: 3,50"]),
        ("Name\tPrice\nSoup\t3\n", ["Name: Soup; Price: 3"]),
        ('Name,Text\nSoup,"two\nlines, and a comma"\n', ["Name: Soup; Text: two lines, and a comma"]),
        ("1,2\n3,4\n", ["1 | 2", "3 | 4"]),
        ("Name,Price\n", ["Name | Price"]),
        ("Name,Name\na,b\n", ["Name | Name", "a | b"]),
        ("sep=;\nName;Price\nSoup;3\n", ["Name: Soup; Price: 3"]),
        ('Name,Text\nSoup,"never closed\nCake,x\n', ["Name: Soup; Text: never closed Cake,x"]),
        ("Name,Price\nSoup,3,extra\n", ["Name: Soup; Price: 3; extra"]),
        ("just a line\nand another\n", ["just a line", "and another"]),
    ],
)
def test_a_row_of_a_table_is_a_line(data: str, lines: list[str]):
    text = parse.csv(data.encode()).text

    assert text.split("\n") == lines


def test_a_delimiter_may_be_named():
    assert parse.csv(b"a:b\nc:d", delimiter=":").text == "a: c; b: d"
    with pytest.raises(InvalidInputError, match="delimiter is '::'"):
        parse.csv(b"a:b", delimiter="::")


def test_json_is_laid_out_where_it_is_not():
    assert parse.json(b'{"soup": "tomato"}').text == '{"soup": "tomato"}'
    assert parse.json(b'{"soup": "cr\\u00e8me"}').text == '{\n "soup": "crème"\n}'
    long = {"soups": ["tomato"] * 500}
    assert parse.json(json.dumps(long).encode()).text.count("\n") > 500
    lines = b'{"a": "\\u00e9"}\n{"a": 2}\n'
    assert parse.json(lines).text == '{\n "a": "é"\n}\n\n{\n "a": 2\n}'
    assert parse.json(b"{not json \\u00e9").text == "{not json \\u00e9"
    assert parse.json(b"[" * 100_000 + b"\\u00e9").text.startswith("[[[")


def test_settings_at_the_top_of_a_markdown_file_are_metadata_and_stay_in_the_text():
    data = (
        "---\ntitle: 'The menu'\ntags: [soup, bread]\nRating: 4.5\ndraft: false\nsource: elsewhere\nauthors:\n"
        "  - Ann\n  - Bob\nnested:\n  a: 1\nempty:\n---\n# Soups\n\nTomato"
    )

    document = parse.markdown(data.encode(), source_name="menu.md")

    assert document.text == data
    assert {key: value for key, value in document.metadata.items() if key not in ("source", "text_format")} == {
        "title": "The menu",
        "tags": ["soup", "bread"],
        "rating": 4.5,
        "draft": False,
        "authors": ["Ann", "Bob"],
    }
    assert document.source == "menu.md"
    toml = parse.markdown(b'+++\ntitle = "Menu"\ndate = 2026-01-05\n[more]\na = 1\n+++\nSoup').metadata
    assert (toml["title"], toml["date"]) == ("Menu", "2026-01-05")


@pytest.mark.parametrize("data", ["---\nno end", "---\n---\nx", "+++\nnot = = toml\n+++\nx", "# ---", "--- a\n---\nx"])
def test_what_is_no_settings_is_text(data: str):
    assert parse.markdown(data.encode()).metadata.keys() == {"text_format"}


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("“Crème brûlée” – 5 €, très bon. Le garçon apporte l’addition.", "cp1252"),
        ("Die Küche schließt um zehn Uhr. Größere Gruppen müssen vorher anrufen.", "latin-1"),
        ("Суп стоит пять евро. Хлеб бесплатно для всех гостей.", "cp1251"),
        ("Суп стоит пять евро. Хлеб бесплатно для всех гостей.", "koi8-r"),
        ("メニューです。スープは五ユーロ。パンは無料です。", "shift_jis"),
        ("メニューです。スープは五ユーロ。パンは無料です。", "euc_jp"),
        ("メニューです。スープは五ユーロ。パンは無料です。", "iso2022_jp"),
        ("菜单上的汤是五欧元，面包免费。", "gb18030"),
        ("菜單上的湯是五歐元，麵包免費。", "big5"),
        ("수프는 오 유로입니다. 빵은 무료입니다.", "euc_kr"),
        ("Η σούπα κοστίζει πέντε ευρώ και το ψωμί είναι δωρεάν.", "cp1253"),
        ("המרק עולה חמישה אירו והלחם חינם", "cp1255"),
        ("Tomato soup is five euros.", "utf-16"),
        ("Tomato soup is five euros.", "utf-16-le"),
        ("Tomato soup is five euros.", "utf-16-be"),
        ("Tomato soup is five euros.", "utf-32"),
        ("Tomato soup is five euros.", "utf-8-sig"),
    ],
)
def test_the_encoding_of_text_is_found_out(text: str, encoding: str):
    document = parse.text(text.encode(encoding))

    assert document.text == text
    assert ("encoding" in document.metadata) == (encoding != "utf-8-sig")
