"""Text layers of PDF files that are missing or damaged: which pages, what is wrong, and what to do."""

import io

import pytest

from flowkit import Document
from flowkit.rag import parse
from flowkit.rag.parse.damage import noticed, span, unreadable, warnings
from flowkit.rag.parse.pdf_file import PdfEngine
from tests.rag.parse.papers import paper, with_glyphs

PROSE = "The soup of the day is made of tomatoes, basil and bread; it is served with a glass of water. " * 2


def told(document: Document) -> list[str]:
    found = document.metadata.get("parse_warnings", [])
    assert isinstance(found, list)
    return found


def with_pictures(*pages: str) -> bytes:
    """Pages of text; an empty one has a picture."""
    from PIL import Image
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    file = io.BytesIO()
    canvas = Canvas(file)
    for text in pages:
        if text:
            canvas.drawString(72, 700, text)
        else:
            canvas.drawImage(ImageReader(Image.new("RGB", (8, 8), "red")), 72, 600, 200, 200)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


@pytest.mark.parametrize("engine", ["pypdf", "pdfium"])
def test_scanned_pages_among_others_are_told(engine: PdfEngine):
    document = parse.pdf(with_pictures("Soup", "", "", "Cake", ""), engine=engine)

    assert document.text == "Soup\n\nCake"
    assert told(document) == [
        "pages 2–3, 5: no text, only pictures; run OCR over the file first (for instance ocrmypdf)"
    ]


def test_blank_pages_are_no_damage():
    assert told(parse.pdf(paper("Soup", "", "Cake"))) == []


@pytest.mark.parametrize("engine", ["pypdf", "pdfium"])
def test_glyphs_without_a_name_are_told(engine: PdfEngine):
    document = parse.pdf(with_glyphs("o\ue000ce h\ue001rs"), engine=engine)

    assert document.metadata["text_layer"] == "damaged"
    assert told(document)[0].startswith("page 1: the font does not say what its characters are")


UNREADABLE = (0, 8, 0x0E, 0x1F, 0x7F, 0x80, 0x9F, 0xFFFD, 0xFFFF, 0xE000, 0xF8FF, 0xF0000, 0x10FFFF)


@pytest.mark.parametrize("glyph", [chr(code) for code in UNREADABLE], ids=lambda glyph: hex(ord(glyph)))
def test_a_glyph_that_nobody_can_read_is_counted_wherever_it_stands(glyph: str):
    for around in ("", "Soup", "Crème", "スープ"):
        assert unreadable(f"{around}{glyph}{around}{glyph}") == 2


@pytest.mark.parametrize("glyph", list("\t\n\r\v\f ~\xa0©Âé\u0300\ufb01\uf900\ufffc！𝄞"))
def test_other_glyphs_are_read(glyph: str):
    assert unreadable(f"Soup {glyph} /go /unit (cid:x) {glyph}") == 0


def test_names_of_glyphs_are_counted_as_glyphs():
    assert unreadable("/g12 /uni0041 /G7A soup (cid:3)(cid:44)") == 5


def test_text_that_was_decoded_wrongly_is_told():
    document = parse.pdf(with_glyphs("CafÃ© crÃ¨me brÃ»lÃ©e donâ€™t"))

    assert told(document)[0].startswith("page 1: letters are garbled")


def test_text_whose_letters_are_others_is_told():
    shifted = "".join(chr(ord(letter) - 29) if letter.isalpha() else letter for letter in PROSE)

    assert noticed(PROSE, has_pictures=False) == {}
    assert "cipher" in noticed(shifted, has_pictures=False)
    assert warnings([{}, noticed(shifted, has_pictures=False)])[0].startswith("page 2: the text is no language")


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        "Die Küche schließt um zehn; größere Gruppen rufen vorher an. Straße, Schmutz, Strümpfe. " * 2,
        "Zażółć gęślą jaźń; książka jest na półce w pokoju, a chrząszcz brzmi w trzcinie. " * 2,
        "Strč prst skrz krk. Příliš žluťoučký kůň úpěl ďábelské ódy. " * 3,
        "メニューです。スープは五ユーロ。パンは無料です。" * 5,
        "المرق بخمسة يورو والخبز مجاني" * 5,
        "सूप की कीमत पाँच यूरो है और रोटी मुफ़्त है।" * 5,
        "def total(prices):\n    return sum(prices)\n" * 5,
        "HTTP 404 TLS SSL DNS " * 3,
        "Â§ 5 and Ã",
        "12.5 % 13.0 % 14.25 % " * 20,
    ],
)
def test_good_text_is_not_suspected(text: str):
    assert noticed(text, has_pictures=True) == {}


def test_pages_are_told_in_few_words():
    assert span([3]) == "page 3"
    assert span([1, 2, 3, 7]) == "pages 1–3, 7"
    assert span(list(range(1, 60, 2))).endswith("17, 19 and 20 more")


def test_both_engines_read_the_same_without_stray_blanks():
    data = paper("  Tomato soup  \n   Green   salad", "Cake")

    for engine in ("pypdf", "pdfium"):
        document = parse.pdf(data, engine=engine)
        assert document.text == "Tomato soup\nGreen salad\n\nCake"
        assert document.metadata["page_starts"] == [0, 25]


def test_words_that_are_parted_at_the_end_of_a_line_are_joined():
    from flowkit.rag.parse.read_pdf import _page

    assert _page("dan\ufffe\r\ngerous", has_pictures=False).text == "dangerous"


def test_what_a_file_says_of_itself_is_kept_on_demand():
    data = paper("Soup")

    assert "Producer" not in parse.pdf(data).metadata
    for engine in ("pypdf", "pdfium"):
        assert "ReportLab" in str(parse.pdf(data, engine=engine, include_metadata=True).metadata["Producer"])


GLUED = "\n".join([PROSE.replace(" ", "")[:90]] * 4)
TORN = "\n".join(" ".join(PROSE.replace(" ", "")[:60]) for _ in range(5))


@pytest.mark.parametrize("engine", ["pypdf", "pdfium"])
def test_words_that_run_together_are_told(engine: PdfEngine):
    document = parse.pdf(paper(PROSE, GLUED, GLUED, "Cake"), engine=engine)

    assert told(document) == [
        'pages 2–3: words run together; try another engine= ("pdfium" or "pypdf"), which may see where words end'
    ]


def test_letters_that_stand_apart_are_told():
    assert warnings([noticed(TORN, has_pictures=False)]) == [
        'page 1: letters stand apart; try another engine= ("pdfium" or "pypdf"), which may see where words end'
    ]


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        "Donaudampfschifffahrtsgesellschaft und Rindfleischetikettierungsaufgaben " * 6,
        "\n".join(["https://www.shop.test/menus/of-the-day/tomato-soup-with-bread"] * 20),
        "\n".join(["org.shop.kitchen.soups.internal.TomatoSoupServiceFactoryImplementation"] * 20),
        "\n".join(["acgtaggctaacgtttagcagacgatagcacgattacagacgatacgacttag"] * 20),
        "\n".join(["TUlJQ2dUQ0NBZW1nQXdJQkFnSVJBTTBRa2VZUkt6bVhlV1NqQnFoN0FqQU5CZ2"] * 20),
        "A B C D E F G H I K L M N O P Q R S T V X Y Z " * 20,
        "a b c d x = y + z " * 40,
        "東京の天気は晴れです。" * 60,
        "1 2 3 4 5 6 7 8 9 " * 40,
        "soup",
    ],
    ids=[
        "prose",
        "German",
        "addresses",
        "classes",
        "genes",
        "keys",
        "letters",
        "formulas",
        "Japanese",
        "digits",
        "few",
    ],
)
def test_what_is_no_prose_or_is_right_is_not_taken_for_glued_or_torn(text: str):
    assert noticed(text, has_pictures=False).keys().isdisjoint({"glued", "torn"})
