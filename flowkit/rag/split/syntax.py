"""The parts of source code, as far as splitting needs them: statements, and what is inside functions and classes.

    parsed = parsed_code(text, "python")
    parsed.units, parsed.names

Python is read by its own tokenizer; languages with braces by their brackets; anything else, and code that does not
read, by its indentation.
"""

import io
import re
import tokenize
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from flowkit.rag.split.brackets import bracket_depths
from flowkit.rag.split.packing import Unit, line_starts

__all__ = ["LANGUAGES", "Name", "Parsed", "parsed_code"]

LANGUAGES: dict[str, str] = {
    ending: language
    for language, endings in {
        "python": "py pyi pyw",
        "javascript": "js jsx mjs cjs",
        "typescript": "ts tsx mts cts",
        "java": "java",
        "kotlin": "kt kts",
        "scala": "scala",
        "c": "c h",
        "cpp": "cc cpp cxx hh hpp hxx",
        "csharp": "cs",
        "go": "go",
        "rust": "rs",
        "swift": "swift",
        "php": "php",
        "dart": "dart",
        "css": "css scss less",
        "ruby": "rb",
        "lua": "lua",
        "shell": "sh bash zsh",
        "sql": "sql",
        "r": "r",
    }.items()
    for ending in endings.split()
}
"""File ending → language."""

_BRACES = {"javascript", "typescript", "java", "kotlin", "scala", "c", "cpp", "csharp", "go", "rust"}
_BRACES |= {"swift", "php", "dart", "css"}
_REMARK = re.compile(r"\s*(?://|/?\*|#|--|@|$)")
_CLOSES = re.compile(r"\s*(?:[)\]}]|end\b|else\b|elif\b|except\b|finally\b|fi\b|done\b)")
_NAMED = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|internal|static|final|abstract|sealed|open|override|async|pub|"
    r"inline|virtual|data|suspend|unsafe|extern|readonly|declare)\b(?:\([^)]*\))?\s*)*"
    r"(?:(?:class|interface|trait|struct|enum|impl|module|namespace|object|record|def|fn|func|fun|function\s*\*?|type)"
    r"\s+(?:\([^)]*\)\s*)?(?P<word>[A-Za-z_$][\w$]*(?:(?:::|\.)[A-Za-z_$][\w$]*)*)"
    r"|(?:const|let|var)\s+(?P<value>[A-Za-z_$][\w$]*)\s*=\s*(?:async\b\s*)?(?:function\b|\(|[A-Za-z_$][\w$]*\s*=>))"
)
_DEPTH = 40
_WITHIN = 10_000
"""The depth of a line inside a statement."""


class Name(NamedTuple):
    """A function or class: its qualified name, and the span of its code."""

    name: str
    start: int
    end: int


class Parsed(NamedTuple):
    units: list[Unit]
    names: list[Name]


class _Line(NamedTuple):
    start: int
    end: int
    depth: int
    """How deep the next line is: brackets, blocks or columns of indentation."""
    text: str


def parsed_code(text: str, language: str | None) -> Parsed:
    """The top-level parts, which together are the whole text, and everything in it that has a name."""
    starts = line_starts(text)
    edges = [*starts, len(text)]
    lines = [text[start:end] for start, end in pairwise(edges)]
    depths = None
    if language == "python":
        depths = _python_depths(text, lines)
    elif language in _BRACES:
        depths = bracket_depths(lines, language)
    if depths is None:
        depths = _indentation(lines)
    found = [
        _Line(start, end, depth, line) for start, end, depth, line in zip(edges, edges[1:], depths, lines, strict=False)
    ]
    return Parsed(_units(found, 0, _DEPTH), list(_names(found, 0, "", _DEPTH)))


def _units(lines: Sequence[_Line], depth: int, further: int) -> list[Unit]:
    return [
        Unit(group[0].start, group[-1].end, inside=_inside(group, depth, further)) for group in _groups(lines, depth)
    ]


def _inside(group: Sequence[_Line], depth: int, further: int) -> Callable[[], Sequence[Unit]]:
    def inside() -> Sequence[Unit]:
        deeper = [line.depth for line in group if line.depth > depth]
        if not deeper or not further:
            return ()
        return _units(group, min(deeper), further - 1)

    return inside


def _groups(lines: Sequence[_Line], depth: int) -> Iterator[Sequence[_Line]]:
    """Statements of that depth: each with the remarks and decorators before it, and all that is deeper."""
    begun = 0
    remark = True
    for at, line in enumerate(lines):
        remark = remark and _REMARK.match(line.text) is not None
        if line.depth <= depth and not remark and not (at + 1 < len(lines) and _CLOSES.match(lines[at + 1].text)):
            yield lines[begun : at + 1]
            begun, remark = at + 1, True
    if begun < len(lines):
        yield lines[begun:]


def _names(lines: Sequence[_Line], depth: int, outer: str, further: int) -> Iterator[Name]:
    for group in _groups(lines, depth):
        head = next((at for at, line in enumerate(group) if not _REMARK.match(line.text)), 0)
        found = _NAMED.match(group[head].text)
        name = outer
        if found is not None:
            own = found["word"] or found["value"]
            name = f"{outer}.{own}" if outer else own
            yield Name(name, group[0].start, group[-1].end)
        deeper = [line.depth for line in group if depth < line.depth < _WITHIN]
        if deeper and further:
            yield from _names(group[head + 1 :], min(deeper), name, further - 1)


def _python_depths(text: str, lines: Sequence[str]) -> list[int] | None:
    """For each line, how deep the statement after it is; None when Python's tokenizer does not read the text."""
    depths = [-1] * len(lines)
    depth = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.INDENT:
                depth += 1
            elif token.type == tokenize.DEDENT:
                depth -= 1
            elif token.type == tokenize.NEWLINE:
                depths[token.start[0] - 1] = depth
    except (SyntaxError, tokenize.TokenError, IndexError, RecursionError):
        return None
    # INDENT and DEDENT come after the line that they follow: what counts is the depth of the next statement.
    following = 0
    for at in range(len(lines) - 1, -1, -1):
        if depths[at] >= 0:
            depths[at], following = following, depths[at]
    # Lines without an end of statement are inside one, or blank: they end nothing.
    return [depth if depth >= 0 else _WITHIN for depth in depths]


def _indentation(lines: Sequence[str]) -> list[int]:
    """For each line, the indentation of the next one that is not blank."""
    depths = [0] * len(lines)
    following = 0
    for at in range(len(lines) - 1, -1, -1):
        depths[at] = following
        bare = lines[at].expandtabs(4)
        if bare.strip():
            following = len(bare) - len(bare.lstrip(" "))
    return depths
