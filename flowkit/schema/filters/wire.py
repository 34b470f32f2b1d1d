"""The JSON form of filters.

    {"op": "or", "left": {"op": "gte", "key": "n", "value": 5}, "right": {"op": "in", "key": "lang", "values": ["de"]}}

Operators: `eq ne gt gte lt lte contains` with `value`, `in nin` with `values`, `and or` with `left` and `right`,
`not` with `expr`, and, in reading only, `between` with `from` and `to`. A value is a string, a bool or a number;
numbers that JSON or JavaScript would spoil are written as `{"type": "long", "value": "9007199254740993"}` or
`{"type": "double", "value": "NaN"}`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, assert_never, cast
from uuid import UUID

from flowkit.errors import InvalidInputError
from flowkit.schema.filters.ast import And, Comparison, ComparisonOp, Filter, Membership, MembershipOp, Not, Or, as_node

__all__ = ["from_wire", "to_wire"]

_MEMBERS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("eq", "ne", "gt", "gte", "lt", "lte", "contains"), frozenset({"key", "value"})),
    **dict.fromkeys(("in", "nin"), frozenset({"key", "values"})),
    **dict.fromkeys(("and", "or"), frozenset({"left", "right"})),
    "not": frozenset({"expr"}),
    "between": frozenset({"key", "from", "to"}),
}
_EXACT_IN_JAVASCRIPT = 2**53


def to_wire(filter: Filter) -> dict[str, Any]:
    """The JSON form of a filter; UUID values become strings."""
    node = as_node(filter)
    match node:
        case Comparison(op=op, key=key, value=value):
            return {"op": op, "key": key, "value": _to_value(value)}
        case Membership(op=op, key=key, values=values):
            return {"op": op, "key": key, "values": [_to_value(value) for value in values]}
        case And(left=left, right=right):
            return {"op": "and", "left": to_wire(left), "right": to_wire(right)}
        case Or(left=left, right=right):
            return {"op": "or", "left": to_wire(left), "right": to_wire(right)}
        case Not(expr=expr):
            return {"op": "not", "expr": to_wire(expr)}
        case _:
            assert_never(node)


def from_wire(value: Any) -> Filter:
    """Read the JSON form; a `Filter` is returned as it is, and a string is parsed.

    Raises:
        InvalidInputError: the value has not this shape; the message names the place.
    """
    if isinstance(value, Filter):
        return value
    if isinstance(value, str):
        from flowkit.schema.filters.parse import parse

        return parse(value)
    return _read(value, "filter")


def _read(value: Any, place: str) -> Filter:
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{place} is {value!r}, not an object with an op")
    op = value.get("op")
    members = _MEMBERS.get(op) if isinstance(op, str) else None
    if members is None:
        raise InvalidInputError(f"{place} has op {op!r}", hint=f"use one of {' '.join(_MEMBERS)}")
    # An unknown member might have meant something; dropping it would return other rows than were asked for.
    if value.keys() - {"op"} != members:
        given = ", ".join(sorted(map(str, value.keys() - {"op"}))) or "nothing"
        raise InvalidInputError(f"{place}: {op!r} takes {' and '.join(sorted(members))}, not {given}")
    match op:
        case "and":
            return And(_read(value["left"], f"{place}.left"), _read(value["right"], f"{place}.right"))
        case "or":
            return Or(_read(value["left"], f"{place}.left"), _read(value["right"], f"{place}.right"))
        case "not":
            return Not(_read(value["expr"], f"{place}.expr"))
        case "in" | "nin":
            return Membership(cast(MembershipOp, op), value["key"], _read_values(value["values"], place))
        case "between":
            low, high = _read_value(value["from"], f"{place}.from"), _read_value(value["to"], f"{place}.to")
            return And(Comparison("gte", value["key"], low), Comparison("lte", value["key"], high))
        case _:
            return Comparison(cast(ComparisonOp, op), value["key"], _read_value(value["value"], f"{place}.value"))


def _read_values(values: Any, place: str) -> Any:
    if isinstance(values, str) or not isinstance(values, Sequence):
        return values  # the node refuses it, in words
    return tuple(_read_value(item, f"{place}.values[{at}]") for at, item in enumerate(values))


def _read_value(value: Any, place: str) -> Any:
    if not isinstance(value, Mapping):
        return value
    kind, text = value.get("type"), value.get("value")
    if value.keys() == {"type", "value"} and isinstance(text, str) and len(text) < 400:
        try:
            if kind in ("int", "long"):
                return int(text)
            if kind in ("float", "double"):
                return float(text)
            if kind == "uuid":
                return str(UUID(text))
        except ValueError:
            raise InvalidInputError(f"{place}: {text!r} is no {kind}") from None
    raise InvalidInputError(f"{place} is an object", hint='write the value itself, or {"type": "long", "value": "5"}')


def _to_value(value: object) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return {"type": "double", "value": "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, int) and abs(value) > _EXACT_IN_JAVASCRIPT:
        return {"type": "long", "value": str(value)}
    return value
