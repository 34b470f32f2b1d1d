"""Tables, trees and JSON on stdout. In a terminal they fit its width; in a pipe they are plain text, nothing cut.

print_table([Column("Flow", "accent"), Column("Input")], [("menuQA", "question: str")])
"""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

from flowkit.cli.lines import coloured, one_line, write

__all__ = ["Column", "Row", "console", "print_json", "print_lines", "print_table", "styled"]

_GAP = 2  # columns between two cells
_PIPE_WIDTH = 10_000  # characters: enough for every line
# As STYLES in lines.py, in rich's words.
_RICH = {
    "accent": Style(color="color(31)"),
    "bad": Style(color="color(167)"),
    "dim": Style(dim=True),
    "good": Style(color="color(28)"),
    "strong": Style(bold=True),
    "warn": Style(color="color(136)"),
    "": Style(),
}


class Column(NamedTuple):
    """A heading. In a narrow terminal `flexible` columns are wrapped and a `cut` one is cut; the others stay."""

    heading: str
    style: str = ""
    right: bool = False
    flexible: bool = False
    cut: bool = False


Row = Sequence["str | Text"]


def console() -> Console:
    """A rich console on stdout, by our rules for colours and widths."""
    colours = coloured(sys.stdout)
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Console(
        file=sys.stdout,
        width=width,
        force_terminal=colours,
        color_system="256" if colours else None,
        no_color=not colours,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=width is not None,
    )


def styled(text: str, style: str, *, whole: bool = False) -> Text:
    """Text in one of our styles, without control characters; long ones are cut unless they are wanted `whole`."""
    return Text(one_line(text, whole=whole), style=_RICH[style])


def print_table(columns: Sequence[Column], rows: Iterable[Row]) -> None:
    """Aligned columns under dim headings, without lines."""
    out = console()
    cells = [[styled(cell, "") if isinstance(cell, str) else cell for cell in row] for row in rows]
    _cut(columns, cells, out.width)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style=_RICH["dim"])
    for column in columns:
        table.add_column(
            column.heading,
            style=_RICH[column.style],
            justify="right" if column.right else "left",
            no_wrap=not column.flexible,
            overflow="fold" if column.flexible else "ellipsis",
        )
    for row in cells:
        table.add_row(*row)
    with out.capture() as captured:
        out.print(table, soft_wrap=False)
    write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def print_lines(lines: Iterable[Text]) -> None:
    """Lines as they are; a terminal wraps those that are too long."""
    out = console()
    with out.capture() as captured:
        for line in lines:
            out.print(line, soft_wrap=True)
    write(captured.get())


def _cut(columns: Sequence[Column], rows: Sequence[Sequence[Text]], width: int) -> None:
    """Shorten the cells of the `cut` column to what the others leave of the line, but not below a third of it."""
    at = next((at for at, column in enumerate(columns) if column.cut), None)
    if at is None:
        return
    others = [max(cell_len(column.heading), *(row[n].cell_len for row in rows)) for n, column in enumerate(columns)]
    left = width - sum(others[:at] + others[at + 1 :]) - _GAP * (len(columns) - 1)
    for row in rows:
        row[at].truncate(max(left, width // 3), overflow="ellipsis")


def print_json(value: Any) -> None:
    """JSON with real characters."""
    write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
