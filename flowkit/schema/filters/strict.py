"""Strict evaluation: a value of another type raises instead of counting as a missing key.

    strictly_matches(F("age") >= 18, {"age": "18"})     # FilterTypeError

This is how LangChain4j reads a filter; its conformance vectors run here. Stores use the other mode, which never raises.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, assert_never
from uuid import UUID

from flowkit.errors import FilterTypeError
from flowkit.schema.filters.ast import And, Comparison, Filter, Membership, Not, Or, as_node
from flowkit.schema.filters.check import key_type

__all__ = ["strictly_matches"]

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def strictly_matches(filter: Filter, metadata: Mapping[str, Any]) -> bool:
    """Whether the metadata matches; AND and OR stop at the first side that decides, so they may hide a type error.

    Raises:
        FilterTypeError: a stored value has another type than the filter's.
    """
    node = as_node(filter)
    match node:
        case And(left=left, right=right):
            return strictly_matches(left, metadata) and strictly_matches(right, metadata)
        case Or(left=left, right=right):
            return strictly_matches(left, metadata) or strictly_matches(right, metadata)
        case Not(expr=expr):
            return not strictly_matches(expr, metadata)
        case Comparison(op=op, key=key):
            found = metadata.get(key)
            return op == "ne" if found is None else _compare(node, found)
        case Membership(op=op, key=key, values=values):
            found = metadata.get(key)
            if found is None or not values:
                return op == "nin"
            return _is_member(node, found) == (op == "in")
        case _:
            assert_never(node)


def _compare(node: Comparison, found: Any) -> bool:
    value: Any = node.value
    if node.op == "contains":
        return _contains(node, found)
    if isinstance(value, UUID) and isinstance(found, str) and node.op in ("eq", "ne"):
        value = str(value)
    _same_type(node.key, found, value)
    if isinstance(value, UUID) and node.op not in ("eq", "ne"):
        raise FilterTypeError(f"key {node.key!r}: UUIDs have no order", hint="use ==, !=, in or not in")
    left, right = _comparable(found), _comparable(value)
    if left is None or right is None:
        return node.op == "ne"
    match node.op:
        case "eq":
            return bool(left == right)
        case "ne":
            return bool(left != right)
        case "gt":
            return bool(left > right)
        case "gte":
            return bool(left >= right)
        case "lt":
            return bool(left < right)
        case "lte":
            return bool(left <= right)
        case _:
            assert_never(node.op)


def _contains(node: Comparison, found: Any) -> bool:
    if isinstance(found, str) and isinstance(node.value, str):
        return node.value in found
    if isinstance(found, list | tuple):
        return any(_kind(item) == _kind(node.value) and _comparable(item) == _comparable(node.value) for item in found)
    raise _mismatch(node.key, found, node.value)


def _is_member(node: Membership, found: Any) -> bool:
    uuids = any(isinstance(value, UUID) for value in node.values)
    if uuids and isinstance(found, str):
        if not _UUID.fullmatch(found):
            raise FilterTypeError(f"key {node.key!r} holds {found!r}, which is no UUID")
        found = UUID(found)
    for value in node.values:
        _same_type(node.key, found, value)
    wanted = _comparable(found)
    return wanted is not None and any(_comparable(value) == wanted for value in node.values)


def _comparable(value: Any) -> Any:
    """What to compare instead: numbers by decimal text, strings by code unit. None for NaN, which equals nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return value
    if isinstance(value, str):
        return value.encode("utf-16-be", "surrogatepass")
    return None if value != value else Decimal(repr(value))


def _kind(value: object) -> str:
    return "uuid" if isinstance(value, UUID) else key_type(value)


def _same_type(key: str, found: object, value: object) -> None:
    if _kind(found) != _kind(value):
        raise _mismatch(key, found, value)


def _mismatch(key: str, found: object, value: object) -> FilterTypeError:
    return FilterTypeError(
        f"key {key!r} holds a {_kind(found)} ({found!r}), not a {_kind(value)} ({value!r})",
        hint="compare it with a value of its own type",
    )
