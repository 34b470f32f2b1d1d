"""Comparing what came out with what should have.

difference({"score": 0.5}, {"score": 0.5000001}) is None
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tests.conformance.decode import value

TOLERANCE = 1e-6


def difference(expected: Any, actual: Any) -> str | None:
    """The first difference in words, None when there is none.

    Numbers may differ by 1e-6, and a bool is no number. The outermost object may hold more than was expected, since a
    vector names what it is about; inner ones may not. The `values` of a filter are a set.
    """
    if isinstance(expected, Mapping) and isinstance(actual, Mapping) and expected.keys() <= actual.keys():
        actual = {key: actual[key] for key in expected}
    return _difference(expected, actual, "")


def _difference(expected: Any, actual: Any, place: str) -> str | None:
    expected = value(expected)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return _between_objects(expected, actual, place)
    if _is_list(expected) and _is_list(actual):
        if len(expected) != len(actual):
            return f"{place or 'result'}: expected {len(expected)} items {expected!r}, got {len(actual)} {actual!r}"
        pairs = enumerate(zip(expected, actual, strict=True))
        return next((found for at, (e, a) in pairs if (found := _difference(e, a, f"{place}[{at}]"))), None)
    if _same(expected, actual):
        return None
    return f"{place or 'result'}: expected {expected!r}, got {actual!r}"


def _between_objects(expected: Mapping[str, Any], actual: Mapping[str, Any], place: str) -> str | None:
    if expected.keys() != actual.keys():
        return f"{place or 'result'}: expected keys {sorted(expected)}, got {sorted(actual)}"
    for key, right in expected.items():
        given = actual[key]
        if key == "values" and _is_list(right) and _is_list(given):
            right, given = sorted(map(value, right), key=repr), sorted(given, key=repr)
        if found := _difference(right, given, f"{place}.{key}"):
            return found
    return None


def _same(expected: Any, actual: Any) -> bool:
    if _is_number(expected) and _is_number(actual):
        if isinstance(expected, int) and isinstance(actual, int):
            return expected == actual
        return expected == actual or math.isclose(expected, actual, rel_tol=0, abs_tol=TOLERANCE)
    return type(expected) is type(actual) and bool(expected == actual)


def _is_list(found: Any) -> bool:
    return isinstance(found, Sequence) and not isinstance(found, str)


def _is_number(found: Any) -> bool:
    return isinstance(found, int | float) and not isinstance(found, bool)
