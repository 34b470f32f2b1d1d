"""Tables as text: small ones as in Markdown, sheets of records by row, with the name of the column before each value.

records([["Name", "Price"], ["Soup", "3.50"]])          # ["Name: Soup; Price: 3.50"]
markdown_table([["Name", "Price"], ["Soup", "3.50"]])   # "| Name | Price |\\n| --- | --- |\\n| Soup | 3.50 |"
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

__all__ = ["escaped", "markdown_table", "records"]

_LOOKS_MARKED = re.compile(r"^( {0,3})(#{1,6}(?=[ \t]|$)|`{3}|~{3}|={3,}[ \t]*$|-{3,}[ \t]*$)", re.MULTILINE)
_LONGEST_NAME = 60
_VALUE = re.compile(r"[-+]?[\d.,]+%?|\d{4}-\d\d-\d\d.*")


def escaped(text: str) -> str:
    """Text that is no heading and no listing, although a line of it begins like one in Markdown."""
    return _LOOKS_MARKED.sub(r"\1\\\2", text)


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """The rows with the first as its head; a table of one column is lines, and one without text nothing."""
    kept = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    width = max((len(row) for row in kept), default=0)
    if width <= 1:
        return "\n".join(escaped(cell) for row in kept for cell in row)
    lines = [_line(row, width) for row in kept]
    if len(lines) > 1:
        lines.insert(1, _line(["---"] * width, width))
    return "\n".join(lines)


def records(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A line for each row that is not empty.

    When the first row names the columns (as many different names as there are columns, none of them a number), each
    value has its name before it, so that a line is understood by itself; else values are set apart by a bar.
    """
    filled = (cells for row in rows if any(cells := [" ".join(cell.split()) for cell in row]))
    head = next(filled, None)
    if head is None:
        return
    names = _names(head)
    if names is None:
        yield from (" | ".join(filter(None, cells)) for cells in chain([head], filled))
        return
    alone = True
    for cells in filled:
        alone = False
        yield "; ".join(_named(names, at, cell) for at, cell in enumerate(cells) if cell)
    if alone:
        yield " | ".join(names)


def _names(cells: Sequence[str]) -> Sequence[str] | None:
    used = list(cells)
    while used and not used[-1]:
        used.pop()
    good = len(used) > 1 and all(used) and len(set(used)) == len(used)
    fits = all(len(name) <= _LONGEST_NAME and not _VALUE.fullmatch(name) for name in used)
    return used if good and fits else None


def _named(names: Sequence[str], at: int, cell: str) -> str:
    return f"{names[at]}: {cell}" if at < len(names) else cell


def _line(cells: Sequence[str], width: int) -> str:
    padded = [*cells, *([""] * (width - len(cells)))]
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in padded) + " |"
