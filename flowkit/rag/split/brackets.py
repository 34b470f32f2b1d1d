"""How deep brackets are nested at the end of each line, in languages of the family of C and JavaScript.

bracket_depths(["if (x) {\\n", "  f();\\n", "}\\n"], "javascript")     # [1, 1, 0]
"""

import re
from collections.abc import Sequence

__all__ = ["bracket_depths"]

# Where a slash begins a regular expression rather than dividing.
_BEFORE_PATTERN = re.compile(r"(?:^|[(,=:\[!&|?{};+*%~^<>]|=>|\breturn|\btypeof|\bcase)\s*$")
_PATTERN = re.compile(r"/(?![*/])(?:[^\\/\[\n]|\\.|\[(?:[^\\\]\n]|\\.)*\])+/[a-z]*")
_RUST_CHAR = re.compile(r"'(?:\\[^']+|[^\\'])'")
_TEXTS = {"javascript": "\"'`", "typescript": "\"'`", "go": "\"'`", "css": "\"'", "php": "\"'", "dart": "\"'"}
_OVER_LINES = "`"


def bracket_depths(lines: Sequence[str], language: str) -> list[int] | None:
    """The depth after each line; None when the brackets do not match, so that they say nothing.

    Inside a comment or a text that goes on, the depth is one more, so that nothing seems to end there.
    """
    quotes = _TEXTS.get(language, "\"'")
    patterns = language in ("javascript", "typescript")
    depths = []
    depth = 0
    open_until = ""
    for line in lines:
        at = 0
        while at < len(line):
            if open_until:
                at, open_until = _closed(line, at, open_until)
                continue
            char = line[at]
            if (line.startswith("//", at) and language != "css") or (char == "#" and language == "php"):
                break
            if line.startswith("/*", at):
                at, open_until = at + 2, "*/"
            elif char in quotes:
                if char == "'" and language == "rust":
                    found = _RUST_CHAR.match(line, at)
                    at = found.end() if found else at + 1  # a lifetime
                else:
                    at, open_until = at + 1, char
            elif (
                char == "/" and patterns and _BEFORE_PATTERN.search(line, 0, at) and (found := _PATTERN.match(line, at))
            ):
                at = found.end()
            else:
                depth += (char in "([{") - (char in ")]}")
                at += 1
        if open_until and open_until not in (*_OVER_LINES, "*/") and not line.rstrip("\r\n").endswith("\\"):
            open_until = ""  # a quote that the line does not close is an apostrophe
        if depth < 0:
            return None
        depths.append(depth + bool(open_until))
    return depths if depth == 0 and not open_until else None


def _pattern_end(line: str, at: int) -> int:
    """Where the regular expression ends whose slash stands here; 0 when it is a division."""
    found = _PATTERN.match(line, at) if _BEFORE_PATTERN.search(line, 0, at) else None
    return found.end() if found else 0


def _closed(line: str, at: int, until: str) -> tuple[int, str]:
    """Where the text or comment ends in this line, and what is still open then."""
    while at < len(line):
        if line[at] == "\\" and until != "*/":
            at += 2
        elif line.startswith(until, at):
            return at + len(until), ""
        else:
            at += 1
    return at, until
