"""Random filters and metadata, from small pools so that they meet, and an evaluator that is slow and obvious.

@given(filters(), metadata()) ... matches(filter, row) == obviously_matches(filter, row)
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from flowkit.schema.filters import And, Comparison, Filter, Membership, Not, Or

KEYS = ["a", "b", "year", "a b", 'quo"te', "名前", "not", "SELECT", "x.y", "1st"]
STRINGS = ["", "a", "b", "ab", "B", "5", "O'Neil", 'say "x"', "x') OR 1=1 --", "\n", "é", "\uffff", "\U0001f600"]
NUMBERS = [0, 1, -1, 5, 5.0, -2.5, 0.1, 1e300, 2**53, 2**53 + 1, float(2**53), 2**63 - 1, -(2**63)]
EXTREMES = [float("inf"), float("-inf"), float("nan")]


def metadata() -> st.SearchStrategy[dict[str, Any]]:
    scalar = st.sampled_from([*STRINGS, *NUMBERS, *EXTREMES, True, False])
    value = scalar | st.lists(scalar, max_size=3) | st.fixed_dictionaries({"nested": scalar})
    return st.dictionaries(st.sampled_from(KEYS), value, max_size=4)


def filters(*, finite: bool = False) -> st.SearchStrategy[Filter]:
    key = st.sampled_from(KEYS)
    ordered = st.sampled_from([*STRINGS, *NUMBERS, *([] if finite else EXTREMES)])
    any_value = ordered | st.booleans()
    leaf = (
        st.builds(Comparison, st.sampled_from(["eq", "ne"]), key, any_value)
        | st.builds(Comparison, st.sampled_from(["gt", "gte", "lt", "lte", "contains"]), key, ordered)
        | st.builds(Membership, st.sampled_from(["in", "nin"]), key, st.lists(any_value, max_size=3).map(tuple))
    )
    return st.recursive(
        leaf,
        lambda inner: st.builds(And, inner, inner) | st.builds(Or, inner, inner) | st.builds(Not, inner),
        max_leaves=8,
    )


def obviously_matches(filter: Filter, row: Mapping[str, Any]) -> bool:
    """The rules, spelled out one by one over exact fractions and code points."""
    match filter:
        case And(left=left, right=right):
            return obviously_matches(left, row) and obviously_matches(right, row)
        case Or(left=left, right=right):
            return obviously_matches(left, row) or obviously_matches(right, row)
        case Not(expr=expr):
            return not obviously_matches(expr, row)
        case Membership(op="in", key=key, values=values):
            return any(obviously_matches(Comparison("eq", key, value), row) for value in values)
        case Membership(key=key, values=values):
            return all(obviously_matches(Comparison("ne", key, value), row) for value in values)
        case Comparison(op="ne", key=key, value=value):
            return not obviously_matches(Comparison("eq", key, value), row)
        case Comparison(op="contains", key=key, value=value):
            found = row.get(key)
            if isinstance(found, list):
                return any(obviously_matches(Comparison("eq", key, value), {key: item}) for item in found)
            return isinstance(found, str) and isinstance(value, str) and value in found
        case Comparison(op=op, key=key, value=value):
            order = _order(row.get(key), value)
            return (
                order is not None
                and {
                    "eq": order == 0,
                    "gt": order > 0,
                    "gte": order >= 0,
                    "lt": order < 0,
                    "lte": order <= 0,
                }[op]
            )
    raise AssertionError(filter)


def _order(found: object, value: object) -> int | None:
    """-1, 0 or 1; None when the two cannot be compared."""
    if isinstance(found, bool) or isinstance(value, bool):
        return (0 if found is value else 1) if isinstance(found, bool) and isinstance(value, bool) else None
    if isinstance(found, str) and isinstance(value, str):
        left, right = [*map(ord, found)], [*map(ord, value)]
        return (left > right) - (left < right)
    if isinstance(found, int | float) and isinstance(value, int | float):
        if found != found or value != value:
            return None
        left, right = _exact(found), _exact(value)
        return (left > right) - (left < right)
    return None


def _exact(number: int | float) -> Fraction:
    if number in (float("inf"), float("-inf")):
        return Fraction(10) ** 400 * (1 if number > 0 else -1)
    return Fraction(number)
