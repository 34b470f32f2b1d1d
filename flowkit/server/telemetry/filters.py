"""The filter of Genkit's trace list, as a condition on our table.

    where = where_of('{"eq": {"type": "flow"}, "neq": {"status": 2}, "gt": {"start": 1796014088358}}')

Fields are `id`, `type`, `name`, `start` and `end` (ms since the epoch), `status` (0 fine, 2 failed), and the labels of
a run by their name.
"""

import json
from collections.abc import Callable
from typing import Any

from flowkit.errors import InvalidInputError
from flowkit.tracing.reading import Where

__all__ = ["where_of"]

_HINT = 'for instance {"eq": {"type": "flow"}, "contains": {"name": "menu"}}'
_COLUMNS = {
    "id": "trace_id",
    "type": "coalesce(kind, 'UNKNOWN')",
    "name": "name",
    "start": "start_ns / 1e6",
    "end": "CASE WHEN end_ns > 0 THEN end_ns / 1e6 END",
    "status": "CASE WHEN status IN ('error', 'cancelled') THEN 2 ELSE 0 END",
}
_ORDERS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_LABEL = "(SELECT value FROM json_each(labels) WHERE key = ?)"


def where_of(text: str | None) -> Where:
    """The condition; without a text, none.

    Raises:
        InvalidInputError: it is no such filter.
    """
    where = Where()
    if not text:
        return where
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"the filter is no JSON: {error}", hint=_HINT) from None
    if not isinstance(given, dict):
        raise InvalidInputError("the filter is no object", hint=_HINT)
    for operator, fields in given.items():
        add = _OPERATORS.get(operator)
        if add is None or not isinstance(fields, dict):
            raise InvalidInputError(
                f"the filter has no operator {operator!r}", hint=f"there are {', '.join(_OPERATORS)}"
            )
        for name, value in fields.items():
            add(where, operator, str(name), value)
    return where


def _field(name: str) -> tuple[str, list[Any]]:
    column = _COLUMNS.get(name)
    return (column, []) if column is not None else (_LABEL, [name])


def _equal(where: Where, operator: str, name: str, value: Any) -> None:
    column, marks = _field(name)
    wanted = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str | int | float) for item in wanted):
        raise _bad(operator, name)
    text = f"{column} IN (SELECT value FROM json_each(?))"
    if operator == "neq":
        if name == "genkitx:ignore-trace" and wanted == ["true"]:  # what every list asks
            where.add("(labels = '{}' OR NOT coalesce(" + text + ", 0))", *marks, json.dumps(wanted))
            return
        text = f"NOT coalesce({text}, 0)"
    where.add(text, *marks, json.dumps(wanted))


def _ordered(where: Where, operator: str, name: str, value: Any) -> None:
    column, marks = _field(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _bad(operator, name)
    number = f"CAST({column} AS REAL)" if marks else column
    where.add(f"{number} {_ORDERS[operator]} ?", *marks, value)


def _contains(where: Where, operator: str, name: str, value: Any) -> None:
    column, marks = _field(name)
    wanted = value if isinstance(value, list) else [value]
    if not wanted or not all(isinstance(item, str) for item in wanted):
        raise _bad(operator, name)
    terms = " OR ".join([f"instr({column}, ?)"] * len(wanted))
    where.add(f"({terms})", *(mark for item in wanted for mark in (*marks, item)))


def _bad(operator: str, name: str) -> InvalidInputError:
    return InvalidInputError(f"the filter's {operator} of {name!r} has a value that does not fit", hint=_HINT)


_OPERATORS: dict[str, Callable[[Where, str, str, Any], None]] = {
    "eq": _equal,
    "neq": _equal,
    **dict.fromkeys(_ORDERS, _ordered),
    "contains": _contains,
}
