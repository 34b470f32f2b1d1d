"""Values as JSON text, for traces, the CLI and the wire: any Python value, real characters, never an exception.

    to_json({"q": "こんにちは"})      b'{"q":"\\xe3\\x81\\x93…"}'
"""

import json
from typing import Any

from pydantic_core import PydanticSerializationError
from pydantic_core import to_json as _encode
from pydantic_core import to_jsonable_python as _plain

from flowkit.schema.text import clean_text

__all__ = ["to_json", "to_plain"]


def to_json(value: Any) -> bytes:
    """Compact UTF-8 JSON. Wire models use their aliases and leave unset fields out; what JSON lacks becomes its repr."""
    try:
        return _encode(value, exclude_none=True, by_alias=True, inf_nan_mode="strings", fallback=_readable)
    except (UnicodeEncodeError, UnicodeDecodeError, PydanticSerializationError, ValueError, RecursionError):
        # Lone surrogates, keys that are no strings, bytes that are no text, circular values.
        return json.dumps(_cleaned(value, 0), ensure_ascii=False, separators=(",", ":")).encode()


def to_plain(value: Any) -> Any:
    """The same as JSON values (dicts, lists, strings, numbers, bools, None)."""
    return json.loads(to_json(value))


def _readable(value: Any) -> Any:
    tolist = getattr(value, "tolist", None)  # numpy arrays and scalars
    return tolist() if callable(tolist) else repr(value)


def _cleaned(value: Any, depth: int) -> Any:
    if depth > 50:
        return "…"
    if isinstance(value, str):
        return clean_text(value)[0]
    if isinstance(value, bool | int | None):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, dict):
        return {_cleaned(str(key), depth): _cleaned(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_cleaned(item, depth + 1) for item in value]
    try:
        plain = _plain(value, exclude_none=True, by_alias=True, fallback=_readable)
    except (ValueError, RecursionError):
        return clean_text(repr(value))[0]
    return clean_text(repr(value))[0] if plain is value else _cleaned(plain, depth + 1)
