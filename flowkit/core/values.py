"""Values as JSON text, for traces, the CLI and the wire: any Python value, real characters, never an exception.

to_json({"q": "こんにちは"})      b'{"q":"\\xe3\\x81\\x93…"}'
"""

import json
import os
from types import GeneratorType
from typing import Any

from pydantic_core import to_json as _encode
from pydantic_core import to_jsonable_python as _plain

from flowkit.schema.text import clean_text
from flowkit.schema.wire import Wire

__all__ = ["to_json", "to_plain"]

_DEPTH = 50


def to_json(value: Any) -> bytes:
    """Compact UTF-8 JSON. Wire models use their aliases and leave unset fields out; what JSON lacks becomes its repr.

    NaN and infinities become strings, lone surrogates U+FFFD, a value inside itself "…". Generators are shown by their
    repr: reading them would empty them.
    """
    try:
        if type(value) is str:  # without options it is five times as fast
            return _encode(value)
        value = _without_generators(value)
        return _encode(value, exclude_none=_is_wire(value), by_alias=True, inf_nan_mode="strings", fallback=_readable)
    except Exception:  # noqa: BLE001  values run their own code here (reprs, serializers), and a trace must not fail a run
        # Also lone surrogates, bytes that are no text, circular values.
        return json.dumps(_cleaned(value, ()), ensure_ascii=False, separators=(",", ":")).encode()


def to_plain(value: Any) -> Any:
    """The same as JSON values (dicts, lists, strings, numbers, bools, None)."""
    return json.loads(to_json(value))


def _is_wire(value: Any) -> bool:
    """Wire models leave None out, since Genkit's validators refuse it; in a user's own values None says something."""
    if isinstance(value, list | tuple) and value:
        value = value[0]
    return isinstance(value, Wire)


def _without_generators(value: Any) -> Any:
    if type(value) is GeneratorType:
        return repr(value)
    if type(value) is dict and any(type(item) is GeneratorType for item in value.values()):
        return {key: _without_generators(item) for key, item in value.items()}
    return value


def _readable(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    tolist = getattr(value, "tolist", None)  # numpy arrays and scalars
    return tolist() if callable(tolist) else repr(value)


def _cleaned(value: Any, above: tuple[int, ...]) -> Any:
    """A value as `json` takes it; one bad part spoils itself only. `above` holds the ids of what it is in."""
    if id(value) in above or len(above) > _DEPTH:
        return "…"
    if isinstance(value, str):
        return clean_text(str(value))[0]
    if isinstance(value, bool | int | None):
        return value
    if isinstance(value, float):
        return float(value) if value - value == 0 else json.dumps(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "replace")
    above = (*above, id(value))
    if isinstance(value, dict):
        return {_key(key): _cleaned(item, above) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_cleaned(item, above) for item in value]
    return _other(value, above)


def _other(value: Any, above: tuple[int, ...]) -> Any:
    """Models, dates, arrays: as pydantic or they themselves say; else their repr; else their type."""
    try:
        plain = _plain(value, exclude_none=_is_wire(value), by_alias=True, fallback=_readable)
        if plain is not value:
            return _cleaned(plain, above)
    except Exception:  # noqa: BLE001  as above
        fields = getattr(value, "__dict__", None)
        if isinstance(fields, dict) and fields and hasattr(value, "model_dump"):
            return _cleaned(fields, above)
    try:
        return clean_text(repr(value))[0]
    except Exception:  # noqa: BLE001  as above
        return f"<{type(value).__name__}>"


def _key(key: Any) -> str:
    try:
        return clean_text(str(key))[0]
    except Exception:  # noqa: BLE001  as above
        return f"<{type(key).__name__}>"
