"""Filters as Chroma's `where`: what it can do exactly is left to it, the rest is narrowed down and evaluated here.

plan(F("price").between(5, 10), {"price": {"number"}})
Plan(where={"$and": [{"price": {"$gte": 5}}, {"price": {"$lte": 10}}]}, exact=True)
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from flowkit import Filter
from flowkit.plugin import And, Comparison, Membership, Not, Or, compile
from flowkit_chroma.rows import LARGEST, ODD, is_exact

__all__ = ["Kinds", "Plan", "plan"]

Kinds = Mapping[str, Collection[str]]
"""Metadata key → the types that it has had, and ODD."""
_LONGEST_LIST = 500
_DEEPEST = 40
_OPPOSITE: dict[str, Literal["eq", "ne"]] = {"eq": "ne", "ne": "eq"}


@dataclass(frozen=True, slots=True)
class Plan:
    """What Chroma is asked for: a `where`, True for every row, or False for none, so that there is no need to ask.

    Unless `exact`, more rows than wanted match, and each has to be evaluated.
    """

    where: dict[str, Any] | bool
    exact: bool


_ALL, _NONE, _LOOK = Plan(True, True), Plan(False, True), Plan(True, False)


def plan(filter: Filter, kinds: Kinds) -> Plan:
    """The best legal `where`. A key that `kinds` lacks is missing in every row."""
    if filter.depth > _DEEPEST:
        return _LOOK
    return _plan(filter, kinds, negated=False)


def _plan(node: Filter, kinds: Kinds, *, negated: bool) -> Plan:
    match node:
        case Not(expr=expr):
            return _plan(expr, kinds, negated=not negated)
        case And(left=left, right=right) | Or(left=left, right=right):
            parts = [_plan(part, kinds, negated=negated) for part in (left, right)]
            return _both(parts) if isinstance(node, And) is not negated else _either(parts)
        case Comparison(key=key) | Membership(key=key):
            if key not in kinds:
                return _ALL if compile(node)({}) is not negated else _NONE
            if ODD in kinds[key]:
                return _LOOK
            return _comparison(node, negated) if isinstance(node, Comparison) else _membership(node, negated)
    raise TypeError(f"{node!r} is no filter")


def _comparison(node: Comparison, negated: bool) -> Plan:
    value = _plain(node.value)
    if node.op in _OPPOSITE:
        same = (node.op == "eq") is not negated
        if not _is_storable(value):
            return _NONE if same else _ALL
        return Plan({node.key: {"$eq" if same else "$ne": value}}, True)
    # Chroma orders numbers only, and has no word for a row that lacks a key, which a negated comparison matches.
    if negated or node.op == "contains" or isinstance(value, str):
        return _LOOK
    upper = node.op in ("lt", "lte")
    if value != value or (value >= math.inf and not upper) or (value <= -math.inf and upper):
        return _NONE
    if not -LARGEST <= value <= LARGEST:
        # Every number that Chroma itself holds lies within.
        beyond = value > 0
        return Plan({node.key: {"$lte" if upper else "$gte": LARGEST if upper else -LARGEST}}, True) if (
            beyond is upper
        ) else _NONE
    if not is_exact(value):
        bound = math.ceil(value) if upper else math.floor(value)
        return Plan({node.key: {"$lte" if upper else "$gte": bound}}, False)
    return Plan({node.key: {f"${node.op}": value}}, True)


def _membership(node: Membership, negated: bool) -> Plan:
    inside = (node.op == "in") is not negated
    values = [value for value in map(_plain, node.values) if _is_storable(value)]
    if not values:
        return _NONE if inside else _ALL
    if len(values) > _LONGEST_LIST:
        return _LOOK
    # Values of one list must be of one type to Chroma, for which 1 and 1.0 are two.
    by_type: dict[type, list[Any]] = {}
    for value in values:
        by_type.setdefault(type(value), []).append(value)
    parts = [Plan({node.key: {"$in" if inside else "$nin": some}}, True) for some in by_type.values()]
    return _either(parts) if inside else _both(parts)


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
    """One part stands alone, and lists of lists become one: Chroma takes no list of one."""
    flat: list[Any] = []
    for part in parts:
        flat.extend(part[word] if word in part else [part])
    if not flat:
        return Plan(empty, exact)
    return Plan(flat[0] if len(flat) == 1 else {word: flat}, exact)


def _is_storable(value: Any) -> bool:
    """Whether Chroma could hold the value as it is; what it could not, no row of a key without ODD ones has."""
    if isinstance(value, str | bool):
        return True
    return bool(value == value) and math.isfinite(value) and is_exact(value)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value
