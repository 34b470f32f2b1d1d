"""What an Office file holds, element by element, as text with headings, lists and tables marked as in Markdown.

text_of([{"type": "heading", "level": 1, "content": [{"type": "text", "text": "Menu"}]}])      # "# Menu"
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from flowkit.rag.parse.tables import escaped, markdown_table, records

__all__ = ["slide", "text_of", "workbook"]

Element = dict[str, Any]

_DEEPEST = 50
_INVISIBLE = re.compile("[\u2061-\u2064\u00ad\ufeff]")
_BREAKS = {"page_break", "thematic_break", "column_break", "image"}


def text_of(elements: Sequence[Element]) -> str:
    """The blocks, a blank line apart."""
    return "\n\n".join(_blocks(elements, 0))


def slide(section: Element, number: int) -> str:
    """A slide: its title as a heading, what is on it, and what is to be said."""
    blocks = list(_blocks(section.get("elements", []), 0, levelled=False))
    title = section.get("title")
    is_made_up = title == f"Slide {number}"
    if title and not is_made_up and not any(block.startswith("## ") for block in blocks):
        blocks.insert(0, f"## {' '.join(str(title).split())}")
    notes = text_of(section.get("speaker_notes") or [])
    return "\n\n".join([*blocks, *([f"Notes: {notes}"] if notes else [])])


def workbook(sections: Sequence[Element]) -> str:
    """The sheets that have something in them, each under its name, a line for each row."""
    found = []
    for section in sections:
        lines: list[str] = []
        for element in section.get("elements", []):
            if element.get("type") == "table":
                lines += records(_rows(element, 0))
            else:
                lines += _block(element, 0, levelled=False)
        if lines:
            found.append("\n".join([f"# {' '.join(str(section.get('title') or 'Sheet').split())}", "", *lines]))
    return "\n\n".join(found)


def _blocks(elements: Sequence[Element], depth: int, *, levelled: bool = True) -> Iterator[str]:
    for element in elements if depth < _DEEPEST else ():
        yield from (block for block in _block(element, depth, levelled=levelled) if block.strip())


def _block(element: Element, depth: int, *, levelled: bool) -> Iterator[str]:
    kind = element.get("type")
    content = element.get("content") or []
    if kind == "heading":
        level = min(max(int(element.get("level", 1)), 1), 6) if levelled else 2
        title = " ".join(_inline(content).split())
        if title:
            yield f"{'#' * level} {title}"
    elif kind == "paragraph":
        yield escaped(_inline(content).strip())
    elif kind == "list":
        yield "\n".join(_items(element, depth))
    elif kind == "table":
        yield markdown_table(_rows(element, depth))
    elif kind == "code_block":
        yield f"```\n{_text(content) or element.get('code') or element.get('text') or ''}\n```"
    elif kind in ("footnote", "endnote"):
        marker = element.get("marker") or element.get("id")
        yield f"{marker}: {_inside(content, depth)}"
    elif kind not in _BREAKS and isinstance(content, list):
        # A text box, a group or a kind of a later version: what is in it.
        if content and all("type" in each and each["type"] in ("text", "line_break") for each in content):
            yield escaped(_inline(content).strip())
        else:
            yield from _blocks(content, depth + 1, levelled=levelled)


def _items(element: Element, depth: int) -> Iterator[str]:
    indent = "  " * min(int(element.get("level") or 0) + depth, 8)
    for at, item in enumerate(element.get("items", []), start=int(element.get("start") or 1)):
        mark = f"{at}. " if element.get("ordered") else "- "
        content = item.get("content") or []
        own = [each for each in content if each.get("type") != "list"]
        text = _inside(own, depth)
        if text:
            yield f"{indent}{mark}{text}"
        for inner in [
            *(each for each in content if each.get("type") == "list"),
            *([item["nested"]] if item.get("nested") else []),
        ]:
            if depth < _DEEPEST:
                yield from _items(inner, depth + 1)


def _rows(table: Element, depth: int) -> list[list[str]]:
    rows = []
    for row in table.get("rows", []):
        cells: list[str] = []
        for cell in row.get("cells", []):
            cells.append(_inside(cell.get("content") or [], depth))
            cells += [""] * (int(cell.get("col_span") or 1) - 1)
        rows.append(cells)
    return rows


def _inside(elements: Sequence[Element], depth: int) -> str:
    """What is in a cell or item, on one line."""
    parts = []
    for element in elements if depth < _DEEPEST else ():
        if element.get("type") == "table":
            parts += [", ".join(cell for cell in row if cell) for row in _rows(element, depth + 1)]
        elif element.get("type") == "list":
            parts += [item.strip() for item in _items(element, depth + 1)]
        elif element.get("type") in ("paragraph", "heading"):
            parts.append(_inline(element.get("content") or []))
        elif element.get("type") not in _BREAKS:
            parts.append(_inside(element.get("content") or [], depth + 1) or _inline(element.get("content") or []))
    return " ".join(" ".join(part.split()) for part in parts if part.strip())


def _inline(content: Sequence[Element]) -> str:
    pieces = []
    for each in content:
        if not isinstance(each, dict) or (each.get("strikethrough") and each.get("deleted")):
            continue
        if each.get("type") == "line_break":
            pieces.append("\n")
        elif isinstance(each.get("text"), str):
            pieces.append(each["text"])
        elif isinstance(each.get("content"), list):
            pieces.append(_inline(each["content"]))
    return _INVISIBLE.sub("", "".join(pieces))


def _text(content: Any) -> str:
    return content if isinstance(content, str) else _inline(content)
