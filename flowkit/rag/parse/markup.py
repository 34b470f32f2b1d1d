"""HTML as the text that a reader sees, with its headings, lists, tables and listings marked as in Markdown.

page = render("<title>Menu</title><h1>Soups</h1><p>Tomato")
page.text, page.title             # "# Soups\\n\\nTomato", "Menu"
"""

import re
from html.parser import HTMLParser
from typing import NamedTuple

from flowkit.rag.parse.tables import escaped, markdown_table

__all__ = ["Rendered", "render"]

_SPACE = re.compile("[ \t\n\f\r\u00a0]+")
_INVISIBLE = re.compile("[\u200b\u00ad\ufeff]")
_UNSEEN = {"script", "style", "template", "noscript", "svg", "iframe", "object", "canvas", "head", "select", "datalist"}
_ASIDE = {"nav"}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = {
    *_HEADINGS,
    *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl"),
    *("dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html", "legend", "li"),
    *(
        "main",
        "menu",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ),
}
_DEEPEST_LIST = 8


class Rendered(NamedTuple):
    text: str
    title: str | None


def render(html: str) -> Rendered:
    """The text of a page or of a piece of one. Navigation is left out, unless there is nothing else."""
    renderer = _Renderer(_UNSEEN | _ASIDE)
    renderer.feed(html)
    renderer.close()
    if not renderer.blocks:
        renderer = _Renderer(_UNSEEN)
        renderer.feed(html)
        renderer.close()
    return Rendered("\n\n".join(renderer.blocks), renderer.title)


class _Table:
    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.cell: list[str] | None = None
        self.is_layout = False


class _Renderer(HTMLParser):
    """Builds blocks as the tags come; nothing is kept of the tree, so pages may be nested and broken as they like."""

    def __init__(self, unseen: set[str]) -> None:
        super().__init__(convert_charrefs=True)
        self._unseen = unseen
        self.blocks: list[str] = []
        self.title: str | None = None
        self._pieces: list[str] = []
        self._title_pieces: list[str] | None = None
        self._skipped = ""
        self._skipped_depth = 0
        self._heading = 0
        self._lists: list[int] = []
        self._bullet = ""
        self._in_list = 0
        self._tables: list[_Table] = []
        self._listing = 0

    def close(self) -> None:
        super().close()
        while self._tables:
            self._end_table()
        self._flush()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and self.title is None and self._skipped in ("", "head"):
            self._title_pieces = []
            return
        if self._skipped == "head" and tag not in _UNSEEN and tag in _BLOCKS:
            self._skipped = ""  # the head was never closed
        if self._skipped:
            self._skipped_depth += tag == self._skipped
            return
        if tag in self._unseen:
            self._skipped, self._skipped_depth = tag, 1
            return
        if tag == "br":
            self._pieces.append("\n")
            return
        if tag in _BLOCKS:
            self._start_block(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("br", "hr"):
            self.handle_starttag(tag, attrs)

    def _start_block(self, tag: str) -> None:
        if not self._listing:
            self._flush()
        if tag in _HEADINGS:
            self._heading = _HEADINGS[tag]
        elif tag in ("ul", "ol", "menu"):
            self._in_list = self._in_list if self._lists else 0
            self._lists.append(1 if tag == "ol" else 0)
        elif tag == "li":
            self._start_item()
        elif tag == "pre":
            self._listing += 1
        elif tag == "table":
            self._start_table()
        elif self._tables and not self._tables[-1].is_layout:
            table = self._tables[-1]
            if tag == "tr":
                self._end_cell()
                table.rows.append([])
            elif tag in ("td", "th"):
                self._end_cell()
                table.cell = []

    def handle_endtag(self, tag: str) -> None:
        if tag == "title" and self._title_pieces is not None:
            self.title = _plain("".join(self._title_pieces)).strip() or None
            self._title_pieces = None
            return
        if self._skipped:
            self._skipped_depth -= tag == self._skipped
            if self._skipped_depth <= 0:
                self._skipped = ""
            return
        if tag not in _BLOCKS:
            return
        if tag != "pre" and self._listing:
            return
        self._flush()
        if tag in _HEADINGS:
            self._heading = 0
        elif tag in ("ul", "ol", "menu") and self._lists:
            self._lists.pop()
        elif tag == "pre" and self._listing:
            self._listing -= 1
        elif tag == "table" and self._tables:
            self._end_table()
        elif tag in ("td", "th"):
            self._end_cell()

    def handle_data(self, data: str) -> None:
        if self._title_pieces is not None:
            self._title_pieces.append(data)
        elif not self._skipped:
            self._pieces.append(data if self._listing else _plain(data))

    def _start_item(self) -> None:
        depth = min(len(self._lists), _DEEPEST_LIST) or 1
        number = self._lists[-1] if self._lists else 0
        if number:
            self._lists[-1] += 1
        self._bullet = "  " * (depth - 1) + (f"{number}. " if number else "- ")

    def _start_table(self) -> None:
        """A table in a cell of another: the other one only lays out the page."""
        for outer in self._tables:
            if not outer.is_layout:
                outer.is_layout = True
                cell, outer.cell = outer.cell, None
                for row in outer.rows:
                    self._add(" ".join(each for each in row if each))
                outer.rows = []
                if cell:
                    self._add(" ".join(cell))
        self._tables.append(_Table())

    def _end_cell(self) -> None:
        table = self._tables[-1] if self._tables else None
        if table is None or table.cell is None:
            return
        if not table.rows:
            table.rows.append([])
        table.rows[-1].append(" ".join(table.cell))
        table.cell = None

    def _end_table(self) -> None:
        self._end_cell()
        table = self._tables.pop()
        text = markdown_table(table.rows)
        if text:
            self.blocks.append(text)

    def _flush(self) -> None:
        """The text since the last block began, as a block or as part of a cell."""
        if not self._pieces:
            return
        text = "".join(self._pieces)
        self._pieces = []
        if self._listing:
            if text.strip():
                self.blocks.append(f"```\n{text.strip(chr(10)).rstrip()}\n```")
            return
        lines = [re.sub(" {2,}", " ", line) for each in text.split("\n") if (line := each.strip())]
        if lines:
            self._add("\n".join(lines))

    def _add(self, text: str) -> None:
        if not text:
            return
        table = self._tables[-1] if self._tables else None
        if table is not None and not table.is_layout and table.cell is not None:
            table.cell.append(text.replace("\n", " "))
            return
        if self._heading:
            self.blocks.append(f"{'#' * self._heading} {' '.join(text.split())}")
            return
        bullet, self._bullet = self._bullet, ""
        if bullet:
            text = bullet + text.replace("\n", "\n" + " " * len(bullet))
            if self._lists and self._in_list == len(self.blocks):
                self.blocks[-1] += "\n" + text  # items of a list stand together
                return
            self.blocks.append(text)
            self._in_list = len(self.blocks)
            return
        self.blocks.append(escaped(text))


def _plain(text: str) -> str:
    return _INVISIBLE.sub("", _SPACE.sub(" ", text))
