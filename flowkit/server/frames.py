"""JSON as it goes to other people's tools: compact, on one line, ASCII only.

    frame({"jp": "日本"})        b'{"jp":"\\\\u65e5\\\\u672c"}'

Genkit's tools join network packets as text without a decoder, so a character of several bytes may be cut in two.
"""

import json
import re
from typing import Any

from flowkit.core.values import to_json

__all__ = ["frame"]

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


def frame(value: Any) -> bytes:
    """A value as one line of ASCII JSON. Any Python value has one, see `to_json`."""
    text = to_json(value)
    return text if text.isascii() else _BEYOND_ASCII.sub(_escape, text.decode()).encode()


def _escape(found: re.Match[str]) -> str:
    return json.dumps(found.group())[1:-1]
