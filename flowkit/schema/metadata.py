"""Metadata: a dict of JSON values with typed getters and strict rules about what may be stored.

md = Metadata({"page": "3", "note": None})     # None drops the key
md.get_int("page")
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Self
from uuid import UUID

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from flowkit.errors import InvalidInputError
from flowkit.schema.text import clean_text, is_blank
from flowkit.schema.wire import JSON

__all__ = ["Metadata", "StoredMetadata"]

_DEEPEST = 100
"""Lists and dicts in each other: deeper ones cannot be written as JSON everywhere, and a value in itself has no end."""
_INT64 = range(-(2**63), 2**63)
_INTEGER = re.compile(r"[+-]?[0-9]{1,30}")
_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?|NaN|Infinity)")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class Metadata(dict[str, JSON]):
    """A dict whose every entry has passed the rules.

    Keys are strings that are not blank. Values are JSON: strings (cleaned of NUL and lone surrogates), bools, finite
    numbers (integers within 64 bits), lists and dicts of such. A tuple becomes a list, and None drops the key. A UUID
    stays one until a `Document` is made, which holds its string. Anything else raises `InvalidInputError` naming the
    key.
    """

    __slots__ = ()

    def __init__(self, entries: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> None:
        super().__init__()
        if isinstance(entries, type(self)):
            super().update(entries)  # already checked
        else:
            self.update(entries)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str) or is_blank(key):
            raise InvalidInputError(f"metadata key {key!r} is blank or not a string", hint="use a non-empty string")
        key = clean_text(key)[0]
        value = self._stored(value, key)
        if value is None:
            self.pop(key, None)
        else:
            super().__setitem__(key, value)

    def _stored(self, value: Any, key: str) -> Any:
        return value if isinstance(value, UUID) else _checked(value, key)

    def update(self, entries: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), /, **more: Any) -> None:  # type: ignore[override]
        """Overwrite entries, each under the rules."""
        pairs = entries.items() if isinstance(entries, Mapping) else entries
        for key, value in pairs:
            self[key] = value
        for key, value in more.items():
            self[key] = value

    def __ior__(self, entries: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> Self:  # type: ignore[override,misc]
        self.update(entries)
        return self

    def setdefault(self, key: str, default: Any = None, /) -> Any:
        if key not in self:
            self[key] = default
        return self.get(key)

    def copy(self) -> Self:
        return type(self)(self)

    def merge(self, other: Mapping[str, Any] | None) -> "Metadata":
        """A new Metadata holding both; a key in both raises, even when the values are equal."""
        shared = sorted(self.keys() & (other or {}).keys())
        if shared:
            raise InvalidInputError(f"metadata keys on both sides: {', '.join(shared)}", hint="drop or rename one side")
        merged = self.copy()
        merged.update(other or {})
        return merged

    def get_str(self, key: str) -> str | None:
        """The stored string, None when the key is missing; any other type raises."""
        value = self.get(key)
        if value is None or isinstance(value, str):
            return value
        raise self._mismatch(key, "a string")

    def get_uuid(self, key: str) -> UUID | None:
        """A UUID, or a string read as one (8-4-4-4-12 hex digits)."""
        value = self.get(key)
        if value is None or isinstance(value, UUID):
            return value
        if isinstance(value, str) and _UUID.fullmatch(value):
            return UUID(value)
        raise self._mismatch(key, "a UUID")

    def get_int(self, key: str) -> int | None:
        """A number, truncated toward zero, or a string read strictly (`"2.5"` and `" 2"` are not integers)."""
        value = self.get(key)
        if value is None:
            return None
        if isinstance(value, str):
            if _INTEGER.fullmatch(value) and int(value) in _INT64:
                return int(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            return int(value)
        raise self._mismatch(key, "an integer")

    def get_float(self, key: str) -> float | None:
        """A number, or a string read strictly: decimal digits, or the words `NaN` and `Infinity`."""
        value = self.get(key)
        if value is None:
            return None
        if isinstance(value, str):
            if _NUMBER.fullmatch(value):
                return float(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        raise self._mismatch(key, "a number")

    def get_bool(self, key: str) -> bool | None:
        value = self.get(key)
        if value is None or isinstance(value, bool):
            return value
        raise self._mismatch(key, "a bool")

    def _mismatch(self, key: str, wanted: str) -> InvalidInputError:
        return InvalidInputError(f"metadata {key!r} is {self[key]!r}, not {wanted}")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        plain = core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())
        return core_schema.no_info_plain_validator_function(
            _from_any,
            serialization=core_schema.plain_serializer_function_ser_schema(dict),
            json_schema_input_schema=plain,
        )


class StoredMetadata(Metadata):
    """Metadata as a `Document` holds it: JSON through and through, so a UUID becomes its string."""

    __slots__ = ()

    def _stored(self, value: Any, key: str) -> JSON:
        return _checked(value, key)


def _from_any(value: Any) -> Metadata:
    if value is None:
        return StoredMetadata()
    if not isinstance(value, Mapping):
        raise ValueError(f"metadata is {type(value).__name__}, not an object")
    return StoredMetadata(value)


def _checked(value: Any, key: str, depth: int = 0) -> JSON:
    """The value as it is stored, or InvalidInputError naming the key."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean_text(value)[0]
    if isinstance(value, int):
        if value not in _INT64:
            raise InvalidInputError(
                f"metadata {key!r}: {value} is beyond 64 bits", hint="store it as a string; it would lose digits"
            )
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInputError(f"metadata {key!r}: {value} is not a finite number", hint="drop the key instead")
        return float(value)
    if isinstance(value, UUID):
        return str(value)
    if depth == _DEEPEST:
        raise InvalidInputError(
            f"metadata {key[:60]!r} nests over {_DEEPEST} deep, or holds itself", hint="store it flat, or as text"
        )
    if isinstance(value, Mapping):
        return {clean_text(str(k))[0]: _checked(v, f"{key}.{k}", depth + 1) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_checked(item, key, depth + 1) for item in value]
    raise InvalidInputError(
        f"metadata {key!r}: a {type(value).__name__} is no JSON value",
        hint="use text, numbers, bools, lists or dicts; dates as ISO text",
    )
