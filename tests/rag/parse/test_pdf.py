"""Reading PDF files: their text and pages, or one line that says what is wrong and what to do."""

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from flowkit.errors import NotFoundError, ParseError
from flowkit.rag import parse, split
from flowkit.rag.parse.pdf_file import PdfEngine
from tests.rag.parse.papers import encrypted, paper, with_glyphs, with_unknown_filter

MENU = paper("Tomato soup\nGreen salad", "", "Lentil curry\nPlum cake")


def test_the_text_of_all_pages_with_their_places(tmp_path: Path):
    file = tmp_path / "menu.pdf"
    file.write_bytes(MENU)

    document = parse.pdf(file)

    assert document.text == "Tomato soup\nGreen salad\n\nLentil curry\nPlum cake"
    assert document.metadata == {"source": file.as_posix(), "pages": 3, "page_starts": [0, 23, 25]}
    assert document.text[25:].startswith("Lentil curry")


def test_a_relative_path_stays_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "food").mkdir()
    (tmp_path / "food" / "menu.pdf").write_bytes(MENU)
    monkeypatch.chdir(tmp_path)

    assert parse.pdf(Path("food/menu.pdf")).source == "food/menu.pdf"
    assert parse.pdf(Path("food/menu.pdf"), source_name="menu").source == "menu"


def test_bytes_have_a_source_only_if_they_are_given_one():
    assert parse.pdf(MENU).source is None
    assert parse.pdf(MENU, source_name="upload/menu.pdf").source == "upload/menu.pdf"


def test_chunks_know_their_page():
    chunks = split.recursive(max_chars=25)(parse.pdf(MENU))

    assert [(chunk.text, chunk.metadata["page"]) for chunk in chunks] == [
        ("Tomato soup\nGreen salad", 1),
        ("Lentil curry\nPlum cake", 3),
    ]


def test_a_page_may_have_any_length():
    line = "The soup of the day comes with bread and butter, and a glass of water. " * 5
    pages = ["\n".join([line] * 45), "Cake", "\n".join([line] * 90)]

    for engine in get_args(PdfEngine):
        document = parse.pdf(paper(*pages), engine=engine)
        assert document.text.split() == " ".join(pages).split()


def test_a_missing_file_is_named():
    with pytest.raises(NotFoundError, match=r"no file 'nowhere/menu\.pdf'"):
        parse.pdf(Path("nowhere/menu.pdf"))


def test_a_folder_is_no_file(tmp_path: Path):
    with pytest.raises(ParseError, match="is a folder"):
        parse.pdf(tmp_path)


def test_a_path_that_no_file_can_have_is_told(tmp_path: Path):
    for path in (tmp_path / "a\x00b.pdf", tmp_path / ("long" * 100)):
        with pytest.raises(ParseError, match=r"cannot be read|is no path"):
            parse.pdf(path)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "'menu.pdf' is empty"),
        (b"Tomato soup, 4 euros", "'menu.pdf' is not a PDF"),
        (b"PK\x03\x04" + bytes(500), "'menu.pdf' is not a PDF"),
        (MENU[:300], "'menu.pdf' is a broken PDF"),
        (b"%PDF-1.7\nnothing else", "'menu.pdf' is a broken PDF"),
        (paper(""), "'menu.pdf' has no text layer: its page is empty or scanned.*OCR"),
        (paper("", ""), "'menu.pdf' has no text layer: its 2 pages are"),
        (encrypted(MENU, "secret"), "'menu.pdf' is encrypted and needs a password.*pass password="),
    ],
    ids=["empty", "text", "zip", "cut", "header", "blank page", "blank pages", "encrypted"],
)
def test_what_cannot_be_read_is_one_line_with_a_way_out(data: bytes, says: str):
    with pytest.raises(ParseError, match=says) as raised:
        parse.pdf(data, source_name="menu.pdf")

    assert raised.value.hint
    assert "\n" not in str(raised.value)


def test_a_broken_page_is_told_and_the_others_are_read():
    document = parse.pdf(with_unknown_filter("Soup", "Salad"), engine="pypdf")

    assert document.text == "Soup"
    assert document.metadata["pages"] == 2
    assert document.metadata["parse_warnings"][0].startswith("page 2: the page is broken, and left out")
    with pytest.raises(ParseError, match="is a broken PDF: page 1 cannot be read"):
        parse.pdf(with_unknown_filter("Soup"), engine="pypdf")


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_an_encrypted_file_opens_with_its_password(algorithm: str):
    data = encrypted(MENU, "secret", algorithm)

    assert parse.pdf(data, password="secret").text.startswith("Tomato soup")
    with pytest.raises(ParseError, match="does not open with the password given"):
        parse.pdf(data, password="guess")


def test_a_file_encrypted_with_an_empty_password_opens():
    data = encrypted(MENU, "")

    assert parse.pdf(data).text == parse.pdf(MENU).text
    assert parse.pdf(data, password="needless").text == parse.pdf(MENU).text


def test_ligatures_become_letters_and_japanese_stays():
    assert (
        parse.pdf(with_glyphs("o\ufb03ce \ufb01eld \ufb00\ufb02\ufb04\ufb05\ufb06")).text == "office field ffflfflstst"
    )
    assert parse.pdf(with_glyphs("ＡＢＣ㍍")).text == "ＡＢＣ㍍"


def test_nul_goes_and_pages_are_counted_without_it():
    document = parse.pdf(with_glyphs("a\0b" + "c" * 150), engine="pypdf")

    assert document.text == "ab" + "c" * 150
    assert document.cleaned_characters == 1
    assert "text_layer" not in document.metadata


def test_a_text_layer_with_many_unreadable_glyphs_is_marked():
    document = parse.pdf(with_glyphs("o\ue000ce"))

    assert document.text == "o\ue000ce"
    assert document.metadata["text_layer"] == "damaged"
    assert document.metadata["unreadable_glyphs"] == 1
    assert "text_layer" not in parse.pdf(with_glyphs("\ue000" + "c" * 150)).metadata


def test_nothing_is_printed_and_nothing_heavy_is_loaded_before():
    # A wrong startxref makes the library remark on it.
    program = f"""
import sys
from flowkit.rag import parse, split
assert not {{"pypdf", "semchunk", "numpy"}} & sys.modules.keys()
print(parse.pdf({MENU!r}.replace(b"startxref", b"startxref 7")).metadata["pages"])
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=Path.cwd())

    assert (run.stdout, run.stderr) == ("3\n", "")


@pytest.mark.parametrize("engine", ["pypdf", "pdfium"])
def test_columns_come_in_the_order_in_which_they_are_drawn(engine: PdfEngine):
    from io import BytesIO

    from reportlab.pdfgen.canvas import Canvas

    file = BytesIO()
    canvas = Canvas(file)
    for left, words in ((320, "Right"), (72, "Left")):
        for row in range(3):
            canvas.drawString(left, 700 - 16 * row, f"{words} {row}")
    canvas.save()

    text = parse.pdf(file.getvalue(), engine=engine).text

    assert " ".join(text.split()) == "Right 0 Right 1 Right 2 Left 0 Left 1 Left 2"
