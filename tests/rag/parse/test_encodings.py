"""Text that does not say what it is in is read as it was written, and what is not sure is told."""

from pathlib import Path

import pytest

from flowkit import Document
from flowkit.rag import parse
from tests.rag.parse.files import book

WESTERN = (
    "Crème brûlée à la façon du chef",
    "Müller, Größe, Straße",
    "El niño comió piña.",
    "The café’s menu…",
    "It’s naïve…",
    "à la carte",
    "¿Dónde está el baño?",
    "Não há pão de queijo à venda",
    "Perché è così buono? Città e caffè.",
    "Smörgåsbord på svenska",
    "Rødgrød med fløde",
    "Hyvää päivää, mitä kuuluu?",
    "Þetta er íslenska, súpa með brauði",
    "Één ideeën coördinatie",
    "GRÖSSE ÜBER ALLES",
    "“Soup” – 3.50 €",
    "50 °C, 3 m², ½ kg",
    "© 2024 Müller GmbH",
    "Nº 5, 1ª planta",
    "café",
    "crème",
    "Straße",
    "mañana",
    "don’t",
    "é",
    "Plain words first. " * 30 + "At last: crème brûlée",
)
OTHERS = {
    "Zażółć gęślą jaźń": "cp1250 iso8859-2",
    "Łódź, Kraków, Gdańsk": "cp1250 iso8859-2",
    "Polévka dne je česneková": "cp1250 iso8859-2",
    "Jó étvágyat! Főzelék, gyűrű": "cp1250 iso8859-2",
    "Çorba ve İçecekler, şeker": "cp1254 iso8859-9",
    "Viņš ēd zupu ar krējumu": "cp1257",
    "Œuvre, cœur, sœur": "iso8859-15",
    "Prix : 5 €": "iso8859-15",
    "Привет, мир. Суп дня.": "cp1251 koi8-r cp866 iso8859-5",
    "Меню на сегодня: борщ, пельмени": "cp1251 koi8-r",
    "Доброго дня, їжа смачна є": "cp1251 koi8-u",
    "Спасибо": "cp1251 koi8-r",
    "Η σούπα της ημέρας": "cp1253 iso8859-7",
    "שלום עולם": "cp1255",
    "مرحبا بالعالم": "cp1256",
    "ซุปมะเขือเทศ": "cp874",
    "東京の天気は晴れです": "cp932 euc-jp",
    "スープは五ユーロ。": "cp932 euc-jp",
    "E31: そのようなマッピングはありません": "cp932",
    "日本語": "cp932 euc-jp",
    "今天的汤是番茄汤": "gb18030",
    "使用Python的教程": "gb18030 big5",
    "今天的湯是番茄湯": "big5",
    "오늘의 수프": "euc-kr",
    "highlight와 syntax group이 너무 많습니다": "euc-kr",
    "Crème brûlée à la façon du chef": "mac-roman cp850",
    "Möchte Äpfel, Öl und Übermut; groß und süß": "mac-roman cp850",
}


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
@pytest.mark.parametrize("written", WESTERN)
def test_a_short_western_text_is_read_as_it_was_written(written: str, encoding: str):
    data = written.encode(encoding, "ignore")

    assert parse.text(data).text == data.decode(encoding)


@pytest.mark.parametrize(
    ("written", "encoding"), [(written, each) for written, names in OTHERS.items() for each in names.split()]
)
def test_a_short_text_in_another_encoding_is_read_as_it_was_written(written: str, encoding: str):
    assert parse.text(written.encode(encoding)).text == written


def test_a_long_text_is_known_for_sure():
    french = "Le menu du jour à midi : crème brûlée. "
    russian = "Сегодня в меню борщ, пельмени и пирожки с капустой; добро пожаловать! "
    for written, encoding in ((french, "cp1252"), (russian, "cp1251"), (russian, "koi8-r")):
        document = parse.text((written * 300).encode(encoding))

        assert document.metadata["encoding"] == encoding
        assert document.metadata["encoding_confidence"] > 0.8
        assert "parse_warnings" not in document.metadata


def test_one_letter_is_a_guess_and_that_is_told():
    document = parse.text("Crème".encode("cp1252"))

    assert document.metadata["encoding"] == "cp1252"
    assert 0 < document.metadata["encoding_confidence"] < 0.7
    assert document.metadata["parse_warnings"] == [
        "its encoding is a guess (cp1252); if letters are wrong, pass encoding="
    ]


@pytest.mark.parametrize("data", ["Crème".encode(), "Crème".encode("utf-16"), "Crème".encode("utf-16-le"), b"Cream"])
def test_what_is_no_guess_has_no_confidence(data: bytes):
    assert parse.text(data).metadata.keys() <= {"encoding"}


def test_a_text_in_the_encoding_that_is_named_is_no_guess():
    assert parse.text("Crème".encode("cp1252"), "cp1252").metadata == {}


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("menu.txt", "Crème"),
        ("menu.md", "# Crème"),
        ("menu.csv", "Name;Price\nCrème;5"),
        ("menu.json", '{"name": "Crème"}'),
        ("menu.html", "<p>Crème"),
        ("menu.ipynb", '{"cells": [{"cell_type": "markdown", "source": "Crème"}]}'),
        ("menu.xml", "<name>Crème</name>"),
    ],
)
def test_every_format_of_text_tells_its_guess(name: str, written: str):
    document = parse.auto()(written.encode("cp1252"), source_name=name)

    assert "Crème" in document.text
    assert document.metadata["encoding"] == "cp1252"
    assert document.metadata["encoding_confidence"] < 0.7
    assert "is a guess (cp1252)" in told(document)


def test_a_message_and_a_book_tell_their_guesses():
    message = parse.email("Subject: Soup\nFrom: a@shop.test\n\nCrème".encode("cp1252"))
    chapters = parse.epub(book({"one.xhtml": "<p>Cr\u00e8me"}, more={"OEBPS/one.xhtml": "<p>Crème".encode("cp1252")}))

    assert "Crème" in message.text
    assert "is a guess (cp1252)" in told(message)
    assert chapters.text == "Crème"
    assert "one.xhtml: its encoding is a guess (cp1252)" in told(chapters)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("Grüße aus Köln, schöne".encode() + b"\xff", "Grüße aus Köln, schöne\ufffd"),
        ("日本語のテキストです。".encode()[:-1], "日本語のテキストです\ufffd"),
        (b"\xef\xbb\xbfSoup \xff of the day", "Soup \ufffd of the day"),
    ],
)
def test_utf_8_with_a_spoilt_byte_is_utf_8_and_that_is_told(data: bytes, text: str):
    document = parse.text(data)

    assert document.text == text
    assert told(document) == "characters that are no utf-8 stand as \ufffd in the text: 1"


def test_letters_far_down_a_file_count(tmp_path: Path):
    file = tmp_path / "log.txt"
    file.write_bytes(b"nothing to see\n" * 40_000 + "Crème brûlée à la façon du chef".encode("cp1252"))

    assert parse.auto()(file).text.endswith("Crème brûlée à la façon du chef")


def test_a_long_line_is_looked_at_in_no_time():
    data = ("東京の天気は晴れです。" * 50_000).encode("cp932") + b"x" * 1_000_000

    assert parse.text(data).text.startswith("東京の天気は晴れです。東京")


def told(document: Document) -> str:
    return "; ".join(document.metadata["parse_warnings"])
