"""Filters as Pinecone's: what it can do exactly is left to it, the rest is narrowed down and evaluated here.

plan(F("price") < 10, {"price": {"number"}})
Plan(where={"price": {"$lt": 10.0}}, exact=True)
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from flowkit import Filter
from flowkit.plugin import And, Comparison, Membership, Not, Or, compile
from flowkit_pinecone.rows import ODD

__all__ = ["Kinds", "Plan", "keys", "plan"]

Kinds = Mapping[str, Collection[str]]
"""Metadata key → the types that it has had, and ODD."""
_LONGEST_LIST = 1_000
_DEEPEST = 40


@dataclass(frozen=True, slots=True)
class Plan:
    """What Pinecone is asked for: a filter, True for every row, or False for none, so that there is no need to ask.

    Unless `exact`, more rows than wanted match, and each has to be evaluated.
    """

    where: dict[str, Any] | bool
    exact: bool


_ALL, _NONE, _LOOK = Plan(True, True), Plan(False, True), Plan(True, False)
_OPPOSITE = {"$eq": "$ne", "$in": "$nin", "$gt": "$lte", "$gte": "$lt", "$lt": "$gte", "$lte": "$gt"}


def plan(filter: Filter, kinds: Kinds) -> Plan:
    """The best filter there is. A key that `kinds` lacks is missing in every row."""
    if filter.depth > _DEEPEST:
        return _LOOK
    return _plan(filter, kinds, negated=False)


def keys(filter: Filter) -> set[str]:
    """The metadata keys that it looks at."""
    match filter:
        case And(left=left, right=right) | Or(left=left, right=right):
            return keys(left) | keys(right)
        case Not(expr=expr):
            return keys(expr)
        case Comparison(key=key) | Membership(key=key):
            return {key}
    raise TypeError(f"{filter!r} is no filter")


def _plan(node: Filter, kinds: Kinds, *, negated: bool) -> Plan:
    match node:
        case Not(expr=expr):
            return _plan(expr, kinds, negated=not negated)
        case And(left=left, right=right) | Or(left=left, right=right):
            parts = [_plan(part, kinds, negated=negated) for part in (left, right)]
            return _both(parts) if isinstance(node, And) is not negated else _either(parts)
        case Comparison(key=key) | Membership(key=key):
            had = kinds.get(key)
            if not had:
                return _ALL if compile(node)({}) is not negated else _NONE
            if ODD in had or len(had) != 1:
                return _LOOK  # how Pinecone compares values of two types is not laid down anywhere
            (kind,) = had
            found = _compared(node, kind)
            if negated is (node.op in ("ne", "nin")):
                return found
            # How `$ne` reads lists is not laid down anywhere, either.
            return _LOOK if kind == "list" and isinstance(found.where, dict) else _complement(key, found)
    raise TypeError(f"{node!r} is no filter")


def _compared(node: Comparison | Membership, kind: str) -> Plan:
    """The comparison, `ne` and `nin` read as `eq` and `in`, of a key whose values all have this type."""
    key = node.key
    values = [_plain(value) for value in (node.values if isinstance(node, Membership) else [node.value])]
    if isinstance(node, Membership) or node.op in ("eq", "ne"):
        return _equal(key, kind, values)
    (value,) = values
    if node.op == "contains":
        if kind == "list":
            # To Pinecone a list of strings equals each of its strings.
            return Plan({key: {"$eq": value}}, True) if isinstance(value, str) else _NONE
        return _LOOK if kind == "string" and isinstance(value, str) else _NONE
    if kind != _kind(value):
        return _NONE
    return _ordered(key, node.op, value) if kind == "number" else _LOOK  # Pinecone orders numbers only


def _equal(key: str, kind: str, values: Iterable[Any]) -> Plan:
    same = list(dict.fromkeys(value for value in values if _kind(value) == kind))
    if kind == "number":
        same = [float(value) for value in same if _is_float(value)]
    if not same or kind not in ("string", "number", "bool"):
        return _NONE
    if len(same) > _LONGEST_LIST:
        return _LOOK
    if kind == "bool" and len(same) == 2:
        return Plan({key: {"$exists": True}}, True)
    return Plan({key: {"$eq": same[0]} if len(same) == 1 else {"$in": same}}, True)


def _ordered(key: str, op: str, value: int | float) -> Plan:
    """Rows hold 64-bit floats, so an integer that is none is compared by the float beside it."""
    upper = op in ("lt", "lte")
    if value != value:
        return _NONE
    near = float(value)
    if math.isinf(near):
        return Plan({key: {"$exists": True}}, True) if (near > 0) is upper else _NONE
    if near > value:
        op = "lt" if upper else "gte"
    elif near < value:
        op = "lte" if upper else "gt"
    return Plan({key: {f"${op}": near}}, True)


def _complement(key: str, found: Plan) -> Plan:
    """Everything else, rows without the key too: what `$ne` says of them is not laid down, `$exists` is."""
    if not isinstance(found.where, dict):
        return _ALL if found == _NONE else _NONE if found == _ALL else _LOOK
    ((op, value),) = found.where[key].items()
    missing = {key: {"$exists": False}}
    if op == "$exists":
        return Plan(missing, True)
    if isinstance(value, bool):
        return Plan({"$or": [missing, {key: {"$eq": not value}}]}, True)
    return Plan({"$or": [missing, {key: {_OPPOSITE[op]: value}}]}, True)


def _both(parts: Iterable[Plan]) -> Plan:
    parts = list(parts)
    if any(part == _NONE for part in parts):
        return _NONE
    return _joined("$and", [part.where for part in parts if part.where is not True], all(p.exact for p in parts), True)


def _either(parts: Iterable[Plan]) -> Plan:
    parts = [part for part in parts if part != _NONE]
    if any(part == _ALL for part in parts):
        return _ALL
    if any(part.where is True for part in parts):
        return _LOOK
    return _joined("$or", [part.where for part in parts], all(part.exact for part in parts), False)


def _joined(word: str, parts: list[Any], exact: bool, empty: bool) -> Plan:
    flat: list[Any] = []
    for part in parts:
        flat.extend(part.get(word, [part]))
    if not flat:
        return Plan(empty, exact)
    return Plan(flat[0] if len(flat) == 1 else {word: flat}, exact)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    return "number" if isinstance(value, int | float) else "string"


def _is_float(value: int | float) -> bool:
    """Whether a row could hold just this number."""
    return math.isfinite(value) and float(value) == value


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value
