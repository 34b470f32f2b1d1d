"""Filters as SQL conditions over a row's metadata, true exactly where the shared evaluator says so.

sql, values = condition((F("price") < 10) & ~F("tags").contains("nuts"), {})

A condition that is NULL counts as false, as in WHERE: a missing key makes every comparison NULL. So the complement of
one is `IS NOT TRUE`, never NOT. Keys and values are parameters (`%(flowkit_0)s`), and never part of the text.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from flowkit import Filter
from flowkit.plugin import And, Comparison, Membership, Not, Or
from flowkit_pgvector.layout import ColumnType
from flowkit_pgvector.names import column_name, quoted
from flowkit_pgvector.rows import number_text

__all__ = ["condition"]

_ORDERS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_CASTS: dict[ColumnType, str] = {"bool": "boolean", "number": "numeric", "string": "text"}
_SEPARATE = 16
"""Up to so many values of an `in` are compared one by one, each of which can use an index."""


def condition(
    where: Filter, columns: Mapping[str, ColumnType], *, source_column: bool = True
) -> tuple[str, dict[str, Any]]:
    """The condition and its parameters, for rows named `r`.

    Args:
        columns: keys that have a typed column.
        source_column: whether there is a column `source` beside the metadata.
    """
    writer = _Writer(columns, source_column)
    return writer.write(where), writer.values


class _Writer:
    def __init__(self, columns: Mapping[str, ColumnType], source_column: bool) -> None:
        self.values: dict[str, Any] = {}
        self._keys: dict[str, str] = {}
        self._columns = columns
        self._source_column = source_column

    def write(self, where: Filter) -> str:
        match where:
            case And(left=left, right=right):
                return f"({self.write(left)} AND {self.write(right)})"
            case Or(left=left, right=right):
                return f"({self.write(left)} OR {self.write(right)})"
            case Not(expr=expr):
                return f"({self.write(expr)} IS NOT TRUE)"
            case Comparison(op="eq", key=key, value=value):
                return self._equal(key, value)
            case Comparison(op="ne", key=key, value=value):
                return f"({self._equal(key, value)} IS NOT TRUE)"
            case Comparison(op="contains", key=key, value=value):
                return self._contains(key, value)
            case Comparison(op=op, key=key, value=value):
                return self._ordered(key, _ORDERS[op], value)
            case Membership(op="in", key=key, values=values):
                return self._member(key, values)
            case Membership(key=key, values=values):
                return f"({self._member(key, values)} IS NOT TRUE)"
        raise TypeError(f"{where!r} is no filter")

    def _equal(self, key: str, value: Any) -> str:
        value = _plain(value)
        kind = _kind(value)
        if kind == "number" and not math.isfinite(value):
            return "FALSE"  # metadata holds finite numbers only
        if (column := self._column(key, kind)) is not None:
            return f"({column} = {self._typed(value, kind)})"
        # Of two JSON objects, @> asks whether the left one has the right one's entry: type and value alike.
        entry = f"{{{json.dumps(key)}: {_json(value)}}}"
        return f"(r.metadata @> {self._bind(entry, 'jsonb')})"

    def _member(self, key: str, values: Sequence[Any]) -> str:
        usable = [value for value in map(_plain, values) if _kind(value) != "number" or math.isfinite(value)]
        if not usable:
            return "FALSE"
        if len(usable) <= _SEPARATE:
            return f"({' OR '.join(self._equal(key, value) for value in usable)})"
        if key == "source" and self._source_column and all(isinstance(value, str) for value in usable):
            return f"(r.source = ANY({self._bind(usable, 'text[]')}))"
        return f"({self._entry(key)} = ANY({self._bind([_json(value) for value in usable], 'jsonb[]')}))"

    def _ordered(self, key: str, order: str, value: Any) -> str:
        value = _plain(value)
        kind = _kind(value)
        if kind == "number" and not math.isfinite(value):
            above = value > 0 and order in ("<", "<=")
            below = value < 0 and order in (">", ">=")
            return self._when(key, "number", "TRUE") if above or below else "FALSE"
        if (column := self._column(key, kind)) is not None:
            return f"({column} {order} {self._typed(value, kind)})"
        if kind == "number":
            # JSON numbers compare as decimals, whatever their length.
            test = f"{self._entry(key)} {order} {self._bind(number_text(value), 'jsonb')}"
            return self._when(key, "number", test)
        return self._when(key, "string", f"{self._text(key)} {order} {self._bind(value, 'text')}")

    def _contains(self, key: str, value: Any) -> str:
        value = _plain(value)
        if _kind(value) == "number" and not math.isfinite(value):
            return "FALSE"
        listed = self._when(key, "array", f"{self._entry(key)} @> {self._bind(_json(value), 'jsonb')}")
        if not isinstance(value, str):
            return listed
        part = self._when(key, "string", f"strpos({self._text(key)}, {self._bind(value, 'text')}) > 0")
        return f"({part} OR {listed})"

    def _when(self, key: str, json_type: str, test: str) -> str:
        # CASE and not AND: of an AND with a comparison that it has no statistics for, Postgres thinks that next to
        # nothing passes, and reads whole tables rather than a vector index. Of a CASE it thinks that half does.
        return f"(CASE WHEN jsonb_typeof({self._entry(key)}) = '{json_type}' THEN {test} ELSE FALSE END)"

    def _entry(self, key: str) -> str:
        return f"(r.metadata -> {self._key(key)})"

    def _text(self, key: str) -> str:
        return f'(r.metadata ->> {self._key(key)}) COLLATE "C"'

    def _column(self, key: str, kind: ColumnType) -> str | None:
        """The column that holds this key's values of this type."""
        if self._columns.get(key) == kind:
            return f"r.{quoted(column_name(key))}"
        return "r.source" if key == "source" and kind == "string" and self._source_column else None

    def _typed(self, value: Any, kind: ColumnType) -> str:
        return self._bind(number_text(value) if kind == "number" else value, _CASTS[kind])

    def _key(self, key: str) -> str:
        if key not in self._keys:
            self._keys[key] = self._bind(key, "text")
        return self._keys[key]

    def _bind(self, value: Any, type: str) -> str:
        name = f"flowkit_{len(self.values)}"
        self.values[name] = value
        return f"%({name})s::{type}"


def _kind(value: Any) -> ColumnType:
    if isinstance(value, bool):
        return "bool"
    return "number" if isinstance(value, int | float) else "string"


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value


def _json(value: Any) -> str:
    return number_text(value) if _kind(value) == "number" else json.dumps(value)
