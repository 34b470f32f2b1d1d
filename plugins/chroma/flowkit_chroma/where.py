"""Filters as Chroma's `where`: what it can do exactly is left to it, the rest is narrowed down and evaluated here.

plan(F("price").between(5, 10), {"price": {"number"}})
Plan(where={"$and": [{"price": {"$gte": 5}}, {"price": {"$lte": 10}}]}, exact=True)
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from flowkit import Filter
from flowkit.plugin import And, Comparison, Membership, Not, Or, compile
from flowkit_chroma.rows import LARGEST, ODD, WHOLE, is_exact, is_native_key

__all__ = ["Kinds", "Plan", "is_settled", "plan"]

Kinds = Mapping[str, Collection[str]]
"""Metadata key → the types that it has had, ODD and WHOLE."""
_LONGEST_LIST = 500
_DEEPEST = 40


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


def is_settled(filter: Filter, kinds: Kinds) -> bool:
    """Whether no row that anybody adds can change the plan."""
    if filter.depth > _DEEPEST:
        return False
    match filter:
        case Not(expr=expr):
            return is_settled(expr, kinds)
        case And(left=left, right=right) | Or(left=left, right=right):
            return is_settled(left, kinds) and is_settled(right, kinds)
        case Comparison(key=key) | Membership(key=key):
            # A float with a fraction is asked for in another way once the key has integers.
            return key in kinds and _is_held(filter) and all(not _is_fraction(value) for value in _asked(filter))
    return False


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
            if ODD in kinds[key] and not _is_held(node):
                return _LOOK
            whole = WHOLE in kinds[key]
            if isinstance(node, Comparison):
                return _comparison(node, whole, negated)
            return _equal(key, map(_plain, node.values), whole, (node.op == "in") is not negated)
    raise TypeError(f"{node!r} is no filter")


def _comparison(node: Comparison, whole: bool, negated: bool) -> Plan:
    key, value = node.key, _plain(node.value)
    if node.op in ("eq", "ne"):
        return _equal(key, [value], whole, (node.op == "eq") is not negated)
    # Chroma orders numbers only, and has no word for a row that lacks a key, which a negated comparison matches.
    if negated or node.op == "contains" or isinstance(value, str):
        return _LOOK
    upper = node.op in ("lt", "lte")
    inward = "$lte" if upper else "$gte"
    if value != value:
        return _NONE
    if not -LARGEST <= value <= LARGEST:
        # Every number that Chroma itself holds lies within.
        return Plan({key: {inward: LARGEST if upper else -LARGEST}}, True) if (value > 0) is upper else _NONE
    floor, ceiling = math.floor(value), math.ceil(value)
    if not is_exact(value):
        return Plan({key: {inward: ceiling if upper else floor}}, False)
    if floor == ceiling or not whole:
        return Plan({key: {f"${node.op}": value}}, True)
    # Chroma would cut 2.5 to 2 before it compares integers with it; so those get a bound of their own.
    near, far = (floor, ceiling) if upper else (ceiling, floor)
    between = [{key: {f"${node.op}": value}}, {key: {"$gt" if upper else "$lt": near}}, {key: {"$ne": far}}]
    return Plan({"$or": [{key: {inward: near}}, {"$and": between}]}, True)


def _equal(key: str, values: Iterable[Any], whole: bool, same: bool) -> Plan:
    """Rows with one of the values, or (not `same`) with none of them."""
    # What Chroma could not hold as it is, no row of a key without ODD values has; but of a large number without a
    # fraction it may have the integer.
    values = [same for value in values for same in _same(value)[:1] if _is_storable(same)]
    if len(values) > _LONGEST_LIST:
        return _LOOK
    # The values of one list must be of one type to Chroma, for which 1 and 1.0 are two.
    by_type: dict[object, list[Any]] = {}
    for value in values:
        by_type.setdefault("cut" if whole and _is_fraction(value) else type(value), []).append(value)
    parts: list[Plan] = []
    for kind, some in by_type.items():
        part: dict[str, Any] = {key: _listed(some, same)}
        if kind == "cut":
            # Chroma would take 2.5 for 2 among integers.
            around = sorted({bound for value in some for bound in (math.floor(value), math.ceil(value))})
            part = {"$and" if same else "$or": [part, {key: _listed(around, not same)}]}
        parts.append(Plan(part, True))
    return _either(parts) if same else _both(parts)


def _is_held(node: Comparison | Membership) -> bool:
    """Whether the node asks for values that Chroma has as they are, wherever they occur: ODD rows have others."""
    if isinstance(node, Comparison) and node.op not in ("eq", "ne"):
        return False
    return is_native_key(node.key) and all(_is_storable(same) for value in _asked(node) for same in _same(value))


def _same(value: Any) -> tuple[Any, ...]:
    """The value as it is held, if Chroma holds it at all, and what else is equal to it: 2^53 is held as an integer, and
    not as a float."""
    if type(value) not in (int, float) or not math.isfinite(value) or value != int(value) or abs(value) > LARGEST:
        return (value,)
    whole, real = int(value), float(value)
    return (real, whole) if isinstance(value, float) and is_exact(value) else (whole, real)


def _asked(node: Comparison | Membership) -> list[Any]:
    return list(map(_plain, node.values if isinstance(node, Membership) else (node.value,)))


def _is_fraction(value: Any) -> bool:
    return isinstance(value, float) and not value.is_integer()


def _listed(values: list[Any], same: bool) -> dict[str, Any]:
    if len(values) == 1:
        return {"$eq" if same else "$ne": values[0]}
    return {"$in" if same else "$nin": values}


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
        flat.extend(part.get(word, [part]))
    if not flat:
        return Plan(empty, exact)
    return Plan(flat[0] if len(flat) == 1 else {word: flat}, exact)


def _is_storable(value: Any) -> bool:
    """Whether Chroma could hold the value as it is."""
    if isinstance(value, str | bool):
        return True
    return bool(value == value) and math.isfinite(value) and is_exact(value)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value
