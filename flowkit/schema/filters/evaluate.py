"""Evaluation: does this metadata match this filter?

    matches(F("year") >= 2020, {"year": 2021})
"""

from collections.abc import Mapping
from typing import Any

from flowkit.schema.filters.ast import And, Comparison, Filter, Membership, Not, Or
from flowkit.schema.filters.check import key_type

__all__ = ["matches"]


def matches(filter: Filter, metadata: Mapping[str, Any], *, strict: bool = False) -> bool:
    match filter:
        case And(left=left, right=right):
            return matches(left, metadata) and matches(right, metadata)
        case Or(left=left, right=right):
            return matches(left, metadata) or matches(right, metadata)
        case Not(expr=expr):
            return not matches(expr, metadata)
        case Membership(op=op, key=key, values=values):
            found = metadata.get(key)
            return any(key_type(found) == key_type(v) and found == v for v in values) == (op == "in")
        case Comparison(op=op, key=key, value=value):
            found = metadata.get(key)
            if op == "contains":
                return isinstance(found, str | list) and value in found
            same = key_type(found) == key_type(value) and found is not None
            compare: dict[str, Any] = {
                "eq": lambda: same and found == value,
                "ne": lambda: not same or found != value,
                "gt": lambda: same and found > value,
                "gte": lambda: same and found >= value,
                "lt": lambda: same and found < value,
                "lte": lambda: same and found <= value,
            }
            return bool(compare[op]())
    raise TypeError(filter)
