"""Draw the sample menus: `texts/*.toml` in, PDF files out.

    python samples/menu/make_menus.py            # writes dinner.pdf, lunch.pdf and karte.pdf beside this file
    python samples/menu/make_menus.py somewhere  # or into another folder

The same text always gives the same bytes. Words are drawn in reading order, so that any parser finds whole sentences.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reportlab.lib.colors import Color, HexColor
from reportlab.lib.enums import TA_CENTER
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    FrameBreak,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
)

__all__ = ["TEXTS", "draw_menu", "main", "read_menu"]

TEXTS = Path(__file__).parent / "texts"
WIDTH, HEIGHT = A4
MARGIN = 24 * mm
BANNER = 62 * mm
# regular, bold, italic. reportlab ships Bitstream Vera; the others are standard fonts that every viewer has.
FONTS = {
    "serif": ("Times-Roman", "Times-Bold", "Times-Italic"),
    "sans": ("Helvetica", "Helvetica-Bold", "Helvetica-Oblique"),
    "embedded": ("Vera", "VeraBd", "VeraIt"),
}

Menu = dict[str, Any]


@dataclass(frozen=True)
class _Look:
    """The fonts and colours of one menu."""

    regular: str
    bold: str
    italic: str
    size: float
    gap: float
    paper: Color
    ink: Color
    main: Color
    second: Color

    def style(self, name: str, **changes: Any) -> ParagraphStyle:
        settings = {
            "fontName": self.regular,
            "fontSize": self.size,
            "leading": self.size * 1.38,
            "textColor": self.ink,
            "spaceAfter": self.size * self.gap,
            "splitLongWords": 0,
            # A dish is never torn apart by a page or column break.
            "allowWidows": 0,
            "allowOrphans": 0,
        }
        return ParagraphStyle(name, **(settings | changes))


class _Title(Flowable):  # type: ignore[misc]
    """A section title between two rules."""

    def __init__(self, text: str, look: _Look) -> None:
        super().__init__()
        self.text, self.look = text, look
        self.keepWithNext = 1
        self.spaceBefore, self.spaceAfter = 5 * mm, 3 * mm

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        self.width = width
        return width, self.look.size * 1.9

    def draw(self) -> None:
        canvas, look = self.canv, self.look
        size = look.size * 1.55
        text_width = pdfmetrics.stringWidth(self.text, look.bold, size)
        middle, base = self.width / 2, look.size * 0.45
        canvas.setFillColor(look.main)
        canvas.setFont(look.bold, size)
        canvas.drawCentredString(middle, base, self.text)
        canvas.setStrokeColor(look.second)
        canvas.setLineWidth(0.8)
        for side in (-1, 1):
            start = middle + side * (text_width / 2 + 4 * mm)
            end = middle + side * self.width / 2
            if (end - start) * side > 0:
                canvas.line(start, base + size * 0.3, end, base + size * 0.3)
                _diamond(canvas, start, base + size * 0.3, 1.1 * mm, look.second)


class _Dish(Paragraph):  # type: ignore[misc]
    """A dish: one sentence, with a leaf in the margin when it is vegan (dark) or vegetarian (open)."""

    def __init__(self, text: str, mark: str, style: ParagraphStyle, look: _Look) -> None:
        super().__init__(text, style)
        self.mark, self.look = mark, look

    def split(self, width: float, height: float) -> list[Flowable]:
        return []  # a dish moves to the next page as a whole

    def draw(self) -> None:
        super().draw()
        if self.mark:
            _leaf(self.canv, 1.6 * mm, self.height - self.look.size * 0.78, filled=self.mark == "vegan", look=self.look)


class _Rows(Flowable):  # type: ignore[misc]
    """The allergen table. A row is one sentence in one text object, so that a parser reads it as one line."""

    def __init__(self, rows: list[list[str]], look: _Look) -> None:
        super().__init__()
        self.rows, self.look = rows, look
        self.size = look.size * 0.8
        self.row_height = self.size * 1.62

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        self.width = width
        return width, self.row_height * len(self.rows)

    def draw(self) -> None:
        canvas, look, height = self.canv, self.look, self.row_height
        for at, row in enumerate(self.rows):
            bottom = height * (len(self.rows) - 1 - at)
            if at == 0 or at % 2 == 0:
                canvas.setFillColor(look.main if at == 0 else look.second, alpha=1 if at == 0 else 0.12)
                canvas.rect(0, bottom, self.width, height, stroke=0, fill=1)
            canvas.setFillColor(look.paper if at == 0 else look.ink, alpha=1)
            text = canvas.beginText()
            text.setFont(look.bold if at == 0 else look.regular, self.size)
            for left, word in zip((0, 0.335, 0.665), row, strict=True):
                text.setTextOrigin(2 * mm + left * self.width, bottom + self.size * 0.48)
                text.textOut(word)
            canvas.drawText(text)
            canvas.setStrokeColor(look.second)
            canvas.setLineWidth(0.3)
            canvas.line(0, bottom, self.width, bottom)


def read_menu(path: Path) -> Menu:
    with path.open("rb") as file:
        return tomllib.load(file)


def draw_menu(menu: Menu, path: Path) -> None:
    """Write one menu as a PDF file."""
    look = _look(menu)
    document = BaseDocTemplate(
        str(path),
        pagesize=A4,
        title=f"{menu['house']}: {menu['tagline']}",
        author=menu["house"],
        lang=menu["language"],
        invariant=1,
    )
    document.addPageTemplates(
        [
            PageTemplate("first", _frames(menu, BANNER), onPage=lambda canvas, _: _first_page(canvas, menu, look)),
            PageTemplate("later", _frames(menu, MARGIN), onPage=lambda canvas, _: _paper(canvas, look)),
        ]
    )
    document.build([NextPageTemplate("later"), *_story(menu, look)])


def main(arguments: list[str] | None = None) -> None:
    arguments = sys.argv[1:] if arguments is None else arguments
    folder = Path(arguments[0]) if arguments else Path(__file__).parent
    for path in sorted(TEXTS.glob("*.toml")):
        menu = read_menu(path)
        draw_menu(menu, folder / menu["file"])
        print(folder / menu["file"])


def _look(menu: Menu) -> _Look:
    regular, bold, italic = FONTS[menu["font"]]
    if menu["font"] == "embedded":
        for name in (regular, bold, italic):
            pdfmetrics.registerFont(TTFont(name, f"{name}.ttf"))
    pdfmetrics.registerFontFamily(regular, normal=regular, bold=bold, italic=italic, boldItalic=bold)
    colours = (HexColor(menu[key]) for key in ("paper", "ink", "main_colour", "second_colour"))
    return _Look(regular, bold, italic, menu["size"], menu["gap"], *colours)


def _frames(menu: Menu, top: float) -> list[Frame]:
    gap = 9 * mm
    columns = menu["columns"]
    width = (WIDTH - 2 * MARGIN - gap * (columns - 1)) / columns
    height = HEIGHT - top - 20 * mm
    return [
        Frame(MARGIN + (width + gap) * at, 20 * mm, width, height, leftPadding=0, rightPadding=0, topPadding=0)
        for at in range(columns)
    ]


def _story(menu: Menu, look: _Look) -> Iterator[Flowable]:
    sentence = look.style("sentence", alignment=TA_CENTER if menu["columns"] == 1 else 0)
    dish_style = look.style("dish", leftIndent=7 * mm)
    note = look.style("note", fontName=look.italic, fontSize=look.size * 0.9, alignment=TA_CENTER)
    yield Paragraph(menu["legend"], note)
    for section in menu["sections"]:
        if "break_before" in section:
            yield PageBreak() if section["break_before"] == "page" else FrameBreak()
        yield _Title(section["title"], look)
        for text in section.get("text", ()):
            yield Paragraph(_bold(text, look), sentence)
        for dish in section.get("dishes", ()):
            yield _Dish(_bold(dish["text"], look), dish.get("mark", ""), dish_style, look)
        if "table" in section:
            yield _allergens(menu, section, look)
            yield Spacer(1, 4 * mm)
        for text in section.get("after", ()):
            yield Paragraph(_bold(text, look), sentence)


def _allergens(menu: Menu, section: Menu, look: _Look) -> _Rows:
    rows = [section["table"]]
    for dish in (dish for each in menu["sections"] for dish in each.get("dishes", ())):
        contains = section["contains"].format(allergens=dish["contains"])
        diet = section["marked"].format(mark=dish["mark"]) if "mark" in dish else section["neither"]
        rows.append([dish["name"], contains, diet])
    return _Rows(rows, look)


def _bold(text: str, look: _Look) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"\*\*(.+?)\*\*", rf'<font name="{look.bold}" color="#{look.main.hexval()[2:]}">\1</font>', escaped)


def _first_page(canvas: Canvas, menu: Menu, look: _Look) -> None:
    _paper(canvas, look)
    bottom = HEIGHT - 50 * mm
    canvas.setFillColor(look.main)
    canvas.rect(0, bottom, WIDTH, HEIGHT - bottom, stroke=0, fill=1)
    canvas.setStrokeColor(look.second)
    canvas.setLineWidth(1.6)
    canvas.line(0, bottom - 1.6 * mm, WIDTH, bottom - 1.6 * mm)
    canvas.setFillColor(look.paper)
    canvas.setFont(look.bold, 34)
    canvas.drawCentredString(WIDTH / 2, bottom + 24 * mm, menu["house"])
    canvas.setFont(look.italic, 13)
    canvas.drawCentredString(WIDTH / 2, bottom + 12 * mm, menu["tagline"])
    for at in (-2, -1, 0, 1, 2):
        _diamond(canvas, WIDTH / 2 + at * 5 * mm, bottom + 19 * mm, (1.5 - abs(at) * 0.35) * mm, look.second)


def _paper(canvas: Canvas, look: _Look) -> None:
    canvas.setFillColor(look.paper)
    canvas.rect(0, 0, WIDTH, HEIGHT, stroke=0, fill=1)
    canvas.setStrokeColor(look.second)
    for inset, line in ((9 * mm, 1.1), (10.6 * mm, 0.4)):
        canvas.setLineWidth(line)
        canvas.rect(inset, inset, WIDTH - 2 * inset, HEIGHT - 2 * inset, stroke=1, fill=0)
    for x in (9 * mm, WIDTH - 9 * mm):
        for y in (9 * mm, HEIGHT - 9 * mm):
            _diamond(canvas, x, y, 2.2 * mm, look.main)
    _leaf(canvas, WIDTH / 2 - 2 * mm, 14 * mm, filled=True, look=look)


def _diamond(canvas: Canvas, x: float, y: float, radius: float, colour: Color) -> None:
    path = canvas.beginPath()
    path.moveTo(x - radius, y)
    for dx, dy in ((0, radius), (radius, 0), (0, -radius)):
        path.lineTo(x + dx, y + dy)
    path.close()
    canvas.setFillColor(colour)
    canvas.drawPath(path, stroke=0, fill=1)


def _leaf(canvas: Canvas, x: float, y: float, *, filled: bool, look: _Look) -> None:
    """A leaf of 4 mm, its stem at (x, y)."""
    tip_x, tip_y = x + 3.6 * mm, y + 2.6 * mm
    path = canvas.beginPath()
    path.moveTo(x, y)
    path.curveTo(x + 0.2 * mm, y + 2.4 * mm, x + 2 * mm, y + 3.2 * mm, tip_x, tip_y)
    path.curveTo(x + 3.4 * mm, y + 0.6 * mm, x + 1.8 * mm, y - 0.6 * mm, x, y)
    canvas.setLineWidth(0.7)
    canvas.setStrokeColor(look.main)
    canvas.setFillColor(look.main if filled else look.paper)
    canvas.drawPath(path, stroke=1, fill=1)
    canvas.setStrokeColor(look.paper if filled else look.main)
    canvas.setLineWidth(0.4)
    canvas.line(x + 0.4 * mm, y + 0.3 * mm, tip_x - 0.9 * mm, tip_y - 0.7 * mm)


if __name__ == "__main__":
    main()
