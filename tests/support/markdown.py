"""The fenced blocks of a Markdown page.

    for block in blocks_of(path.read_text()): block.language, block.title, block.text, block.line

A comment before a block says how to treat it; the reason is for the reader of the page's source:

    <!-- not run: needs a key -->      <!-- needs npm: the stock Genkit CLI -->      <!-- exits 2 -->
"""

import re
from dataclasses import dataclass, field

__all__ = ["Block", "MarkdownError", "blocks_of"]

FENCE = re.compile(r"^(?P<indent> *)(?P<marks>`{3,}|~{3,})(?P<info>[^`]*)$")
TITLE = re.compile(r'\btitle="([^"]*)"')
ORDER = re.compile(r"^\s*<!--\s*(not run|needs (\w+)|exits (\d+))(?::\s*(.*?))?\s*-->\s*$")


class MarkdownError(ValueError):
    """A page whose blocks cannot be told apart, or a comment without its reason."""


@dataclass(frozen=True)
class Block:
    """One fenced block.

    `line` is the line of its first text line, from 1. `not_run` and `needs` hold reasons; `exits` is the exit code that
    the last command of a console block shall have.
    """

    language: str
    text: str
    line: int
    title: str | None = None
    not_run: str | None = None
    needs: dict[str, str] = field(default_factory=dict)
    exits: int = 0


def blocks_of(markdown: str) -> list[Block]:
    """All fenced blocks in order.

    Raises:
        MarkdownError: a fence is not closed, or a comment gives no reason.
    """
    found: list[Block] = []
    lines = markdown.splitlines()
    at = 0
    orders: list[re.Match[str]] = []
    while at < len(lines):
        line = lines[at]
        at += 1
        if order := ORDER.match(line):
            orders.append(order)
        elif fence := FENCE.match(line):
            first = at
            while at < len(lines) and not _closes(lines[at], fence["marks"]):
                at += 1
            if at == len(lines):
                raise MarkdownError(f"line {first}: the block is not closed")
            text = "\n".join(each.removeprefix(fence["indent"]) for each in lines[first:at])
            found.append(_block(fence["info"].strip(), text, first + 1, orders))
            orders = []
            at += 1
        elif line.strip():
            orders = []
    return found


def _closes(line: str, marks: str) -> bool:
    stripped = line.strip()
    return len(stripped) >= len(marks) and set(stripped) == {marks[0]}


def _block(info: str, text: str, line: int, orders: list[re.Match[str]]) -> Block:
    title = TITLE.search(info)
    not_run, exits = None, 0
    needs: dict[str, str] = {}
    for order in orders:
        what, need, code, reason = order.groups()
        if code is not None:
            exits = int(code)
        elif not reason:
            raise MarkdownError(f"line {line}: say why: <!-- {what}: … -->")
        elif need is not None:
            needs[need] = reason
        else:
            not_run = reason
    return Block(info.split(" ")[0].lower(), text, line, title[1] if title else None, not_run, needs, exits)
