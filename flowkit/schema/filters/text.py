"""A filter as text, for people to read and for `F.parse` to read back.

to_text((F("year") >= 2020) & ~F("lang").in_(["de"]))     # "year >= 2020 AND NOT lang IN ('de')"
"""

import math
from typing import assert_never

from flowkit.errors import InvalidInputError
from flowkit.schema.filters.ast import And, Comparison, Filter, Membership, Not, Or, as_node
from flowkit.schema.filters.lex import RESERVED, WORD

__all__ = ["to_text"]

_SIGN = {"eq": "=", "ne": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "contains": "CONTAINS"}


def to_text(filter: Filter) -> str:
    """The text form; parsing it gives an equal filter.

    Raises:
        InvalidInputError: a value is NaN or infinite, for which the text form has no words.
    """
    node = as_node(filter)
    match node:
        case Comparison(op=op, key=key, value=value):
            return f"{_key(key)} {_SIGN[op]} {_value(value, key)}"
        case Membership(op=op, key=key, values=values):
            listed = ", ".join(_value(value, key) for value in values)
            return f"{_key(key)} {'IN' if op == 'in' else 'NOT IN'} ({listed})"
        case And(left=Comparison(key=key, value=low), right=Comparison(value=high)) if _is_between(node):
            return f"{_key(key)} BETWEEN {_value(low, key)} AND {_value(high, key)}"
        case And(left=left, right=right):
            return f"{_grouped(left, Or)} AND {_grouped(right, Or, And)}"
        case Or(left=left, right=right):
            return f"{to_text(left)} OR {_grouped(right, Or)}"
        case Not(expr=expr):
            return f"NOT {_grouped(expr, Or, And)}"
        case _:
            assert_never(node)


def _grouped(node: Filter, *looser: type[Filter]) -> str:
    text = to_text(node)
    return f"({text})" if isinstance(node, looser) and not _is_between(node) else text


def _is_between(node: Filter) -> bool:
    match node:
        case And(left=Comparison(op="gte", key=key), right=Comparison(op="lte", key=other)):
            return key == other
        case _:
            return False


def _key(key: str) -> str:
    if WORD.fullmatch(key) and key.upper() not in RESERVED:
        return key
    return '"' + key.replace('"', '""') + '"'


def _value(value: object, key: str) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        if not math.isfinite(value):
            raise InvalidInputError(f"key {key!r}: {value} cannot be written as text", hint="use to_wire()")
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"
