"""Redaction: what must not be stored or sent is replaced before a value leaves the process.

Redactor().redact_json(b'{"api_key":"k","n":1}')                     b'{"api_key":"<redacted>","n":1}'
Redactor(patterns=[r"[0-9]{4}-[0-9]{4}"]).redact("call 555-1234")    the user's own rules, on string values
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

__all__ = ["FAILED", "PLAIN", "REDACTED", "Redactor", "redact"]

REDACTED = "<redacted>"
FAILED = "[REDACTED:error]"
"""Stands for a value that the user's own hook could not handle."""

_WHOLE = frozenset(
    {
        "accesstoken",
        "apikey",
        "authorization",
        "clientsecret",
        "cookie",
        "idtoken",
        "passwd",
        "password",
        "privatekey",
        "refreshtoken",
        "secret",
        "setcookie",
        "token",
        "xapikey",
    }
)
_ENDS = ("apikey", "password", "secret", "token")
_SEPARATORS = str.maketrans("", "", "-_. ")


@cache
def _suspect() -> re.Pattern[bytes]:
    """Finds a key that could be one of those in JSON text.

    It begins with the closing quote, which `re` finds quickly, and asks cheap questions first: long texts cost next to
    nothing. Keys that end in a separator are looked at more closely. (IGNORECASE would make it four times as slow.)
    """
    words = ("token", "secret", "key", "password", "passwd", "cookie", "authorization")
    endings = ["".join(f"[{letter}{letter.upper()}]" for letter in word) for word in words]
    last = "".join(sorted({word[-1] + word[-1].upper() for word in words}))
    behind = "|".join(f'(?<={ending}")' for ending in [*endings, "[_. -]"])
    return re.compile(rf'"(?=\s*:)(?<=[{last}_. -]")(?:{behind})'.encode())


def _is_secret(key: str) -> bool:
    """By the whole key, case and separators ignored: `X-Api-Key`, `clientSecret`, `db_password`; never `max_tokens`."""
    plain = key.translate(_SEPARATORS).lower()
    return plain in _WHOLE or plain.endswith(_ENDS)


class Redactor:
    """The rules of one app.

    Args:
        patterns: regular expressions; what they match in string values (also in error texts) becomes `<redacted>`.
        hook: a function from JSON value to JSON value, applied last; when it raises, the value is `[REDACTED:error]`.
        content: False drops inputs and outputs altogether; names, times and token counts are still recorded.
    """

    def __init__(
        self,
        *,
        patterns: Iterable[str | re.Pattern[str]] = (),
        hook: Callable[[Any], Any] | None = None,
        content: bool = True,
    ) -> None:
        self.patterns = tuple(re.compile(pattern) for pattern in patterns)
        self.hook = hook
        self.content = content

    def redact(self, value: Any) -> Any:
        """A copy of a JSON value without its secrets."""
        if not self.content:
            return REDACTED
        value = self._walk(value)
        if self.hook is not None:
            try:
                value = self.hook(value)
                json.dumps(value)
            except Exception:  # noqa: BLE001  the user's code; without its verdict nothing of the value may get out
                return FAILED
        return value

    def redact_json(self, text: bytes) -> bytes:
        """The same for JSON text. Text in which no key could be secret is returned as it is."""
        if self.content and self.hook is None and not self.patterns and _suspect().search(text) is None:
            return text
        try:
            value = self.redact(json.loads(text))
        except (ValueError, RecursionError):  # no JSON: nothing can be told about it
            value = FAILED
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    def redact_text(self, text: str) -> str:
        """Plain text, such as an error message: only the patterns apply."""
        for pattern in self.patterns:
            text = pattern.sub(REDACTED, text)
        return text

    def redact_attributes(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Span attributes: a name is judged as a whole and by its last part (`http.request.header.authorization`)."""
        clean = {}
        for key, value in attributes.items():
            if _is_secret(key) or _is_secret(re.split(r"[.:]", key)[-1]):
                clean[key] = REDACTED
            elif isinstance(value, str) and value[:1] in ("{", "["):  # structured values are JSON text here
                clean[key] = self._redact_structure(value)
            else:
                clean[key] = self._walk(value)
        return clean

    def _redact_structure(self, text: str) -> str:
        raw = text.encode("utf-8", "replace")
        if _suspect().search(raw) is not None:
            try:
                return json.dumps(self._walk(json.loads(raw)), ensure_ascii=False, separators=(",", ":"))
            except (ValueError, RecursionError):  # only looks like JSON
                pass
        return self.redact_text(text)

    def _walk(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: REDACTED if _is_secret(key) else self._walk(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._walk(item) for item in value]
        return self.redact_text(value) if isinstance(value, str) and self.patterns else value


PLAIN = Redactor()
"""Only the built-in rules."""


def redact(value: Any) -> Any:
    """A copy of a JSON value without its secrets, by the built-in rules."""
    return PLAIN.redact(value)
