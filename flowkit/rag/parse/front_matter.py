"""The settings at the top of a Markdown file, as far as they are values and lists of values.

front_matter("---\\ntitle: Menu\\ntags: [soup, bread]\\n---")     # {"title": "Menu", "tags": ["soup", "bread"]}
"""

import re
import tomllib
from typing import Any

__all__ = ["front_matter"]

_ENTRY = re.compile(r"([A-Za-z_][\w .-]{0,60}?)[ \t]*:(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.+)$")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(\.\d{1,15})?")
_LINES = 200
# What chunks say of themselves.
_RESERVED = {
    "content_hash",
    "encoding",
    "encoding_confidence",
    "end",
    "heading",
    "id",
    "index",
    "page",
    "page_breaks",
    "page_starts",
    "parse_warnings",
    "score",
    "source",
    "start",
    "text_format",
}


def front_matter(text: str) -> dict[str, Any]:
    """The entries by name, in small letters with underscores; none where there are no settings.

    In YAML (`---`) numbers, `true` and `false` are such, all else is text; in TOML (`+++`) dates become ISO text.
    """
    lines = text[:100_000].splitlines()[:_LINES]
    mark = lines[0].rstrip() if lines else ""
    if mark not in ("---", "+++"):
        return {}
    ends = ("---", "...") if mark == "---" else ("+++",)
    end = next((at for at in range(1, len(lines)) if lines[at].rstrip() in ends), 0)
    found = _yaml(lines[1:end]) if mark == "---" else _toml("\n".join(lines[1:end]))
    named = {re.sub(r"[ .-]+", "_", key.strip()).lower(): value for key, value in found.items()}
    return {key: value for key, value in named.items() if value not in (None, "", []) and key not in _RESERVED}


def _yaml(lines: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    key = ""
    for line in lines:
        if (item := _ITEM.match(line)) and key and isinstance(found.get(key), list):
            found[key].append(_value(item[1]))
        elif (entry := _ENTRY.match(line)) is not None:
            key = entry[1]
            found[key] = _value(entry[2] or "") if (entry[2] or "").strip() else []
        else:
            key = ""  # something nested, or a text over several lines
    return {key: value for key, value in found.items() if value not in (">", "|", ">-", "|-")}


def _value(written: str) -> Any:
    written = written.strip()
    if written[:1] in ("'", '"') and written[-1:] == written[0] and len(written) > 1:
        return written[1:-1]
    if written.startswith("[") and written.endswith("]"):
        return [_value(each) for each in written[1:-1].split(",") if each.strip()]
    written = re.sub(r"\s#.*$", "", written).rstrip()
    if written.lower() in ("null", "~"):
        return None
    if written in ("true", "false"):
        return written == "true"
    number = _NUMBER.fullmatch(written)
    if number is None:
        return written
    return float(written) if number[1] else int(written)


def _toml(text: str) -> dict[str, Any]:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}
    kept: dict[str, Any] = {}
    for key, value in found.items():
        if isinstance(value, list):
            kept[key] = [each for each in (_plain(item) for item in value) if each is not None]
        else:
            kept[key] = _plain(value)
    return kept


def _plain(value: Any) -> Any:
    if isinstance(value, bool | str | float):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)
    return value.isoformat() if hasattr(value, "isoformat") else None
