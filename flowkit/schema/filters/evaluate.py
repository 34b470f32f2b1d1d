"""Evaluation: does this metadata match this filter?

    matches(F("year") >= 2020, {"year": 2021})
    keep = compile(F("year") >= 2020); hits = [row for row in rows if keep(row.metadata)]

The rules. A missing key makes `!=` and `not in` true and every other comparison false; NOT is the exact complement.
A value of another type counts as a missing key: strings, numbers and bools never equal one another, and nothing is
converted. Numbers compare exactly, integers with floats too, and NaN matches nothing but `!=` and `not in`. Strings
order by code point. A list or an object differs from every value that a filter can hold, so `==` and `in` do not match
it; `contains` asks whether a list has an element equal to the value, or a string a part.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeGuard, assert_never
from uuid import UUID

from flowkit.schema.filters.ast import And, Comparison, Filter, Membership, Not, Or, as_node, plain
from flowkit.schema.filters.strict import strictly_matches

__all__ = ["Predicate", "compile", "matches"]

Predicate = Callable[[Mapping[str, Any]], bool]


def matches(filter: Filter, metadata: Mapping[str, Any] | None, *, strict: bool = False) -> bool:
    """Whether the metadata matches. What is not a mapping matches no filter at all, not even a NOT.

    With `strict`, a value of another type raises instead of counting as missing, UUID objects are a type of their own,
    numbers compare by their decimal text, and strings order by UTF-16 code unit: the reading of LangChain4j.

    Raises:
        FilterTypeError: only with `strict`: a stored value has another type than the filter's.
    """
    if not isinstance(metadata, Mapping):
        return False
    if strict:
        return strictly_matches(filter, metadata)
    if any(isinstance(value, UUID) for value in metadata.values()):
        metadata = {key: plain(value) for key, value in metadata.items()}
    return compile(filter)(metadata)


@lru_cache(maxsize=256)
def compile(filter: Filter) -> Predicate:
    """A function that evaluates the filter, for scans over many rows. It never raises.

    It takes stored metadata, which holds no UUID objects.
    """
    return _compile(filter)


def _compile(filter: Filter) -> Predicate:
    node = as_node(filter)
    match node:
        case Comparison():
            return _comparison(node)
        case Membership():
            return _membership(node)
        case And():
            return _all([_compile(part) for part in _chain(node, And)])
        case Or():
            return _any([_compile(part) for part in _chain(node, Or)])
        case Not():
            return _not(_compile(node.expr))
        case _:
            assert_never(node)


def _chain(node: Filter, kind: type[And] | type[Or]) -> Iterator[Filter]:
    """The parts of a & b & c, left to right."""
    if isinstance(node, kind):
        yield from _chain(node.left, kind)
        yield from _chain(node.right, kind)
    else:
        yield node


def _all(parts: list[Predicate]) -> Predicate:
    if len(parts) == 2:
        first, second = parts
        return lambda metadata: first(metadata) and second(metadata)

    def every(metadata: Mapping[str, Any]) -> bool:
        for part in parts:  # noqa: SIM110 - all() with a generator takes twice as long
            if not part(metadata):
                return False
        return True

    return every


def _any(parts: list[Predicate]) -> Predicate:
    if len(parts) == 2:
        first, second = parts
        return lambda metadata: first(metadata) or second(metadata)

    def some(metadata: Mapping[str, Any]) -> bool:
        for part in parts:  # noqa: SIM110
            if part(metadata):
                return True
        return False

    return some


def _not(part: Predicate) -> Predicate:
    return lambda metadata: not part(metadata)


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}
# Looked up by class, which is quicker than isinstance and leaves bool out.
_NUMBERS = frozenset({int, float})


def _is_number(value: object) -> TypeGuard[int | float]:
    return value.__class__ in _NUMBERS or (isinstance(value, int | float) and not isinstance(value, bool))


def _comparison(node: Comparison) -> Predicate:
    key, value = node.key, plain(node.value)
    match node.op:
        case "eq":
            return _equal(key, value)
        case "ne":
            return _not(_equal(key, value))
        case "contains":
            return _contains(key, value)
        case op:
            return _ordered(key, value, _ORDERS[op])


def _equal(key: str, value: str | bool | int | float) -> Predicate:
    if isinstance(value, str):
        return lambda metadata: bool(metadata.get(key) == value)
    if isinstance(value, bool):
        return lambda metadata: metadata.get(key) is value
    # True == 1 in Python, but they are of two types here.
    return lambda metadata: (found := metadata.get(key)) == value and _is_number(found)


def _ordered(key: str, value: str | int | float, test: Callable[[Any, Any], bool]) -> Predicate:
    if isinstance(value, str):
        return lambda metadata: isinstance(found := metadata.get(key), str) and test(found, value)
    return lambda metadata: (
        ((found := metadata.get(key)).__class__ in _NUMBERS or _is_number(found)) and test(found, value)
    )


def _contains(key: str, value: str | int | float) -> Predicate:
    def contains(metadata: Mapping[str, Any]) -> bool:
        found = metadata.get(key)
        if isinstance(found, str):
            return isinstance(value, str) and value in found
        if not isinstance(found, list | tuple):
            return False
        if isinstance(value, str):
            return value in found
        return any(item == value and _is_number(item) for item in found)

    return contains


def _membership(node: Membership) -> Predicate:
    key = node.key
    values = [plain(value) for value in node.values]
    strings = frozenset(value for value in values if isinstance(value, str))
    bools = frozenset(value for value in values if isinstance(value, bool))
    # NaN stays out: a set would find it by identity.
    numbers = frozenset(value for value in values if _is_number(value) and value == value)

    def member(metadata: Mapping[str, Any]) -> bool:
        found = metadata.get(key)
        if isinstance(found, str):
            return found in strings
        if found is True or found is False:
            return found in bools
        return isinstance(found, int | float) and found in numbers

    return member if node.op == "in" else _not(member)
