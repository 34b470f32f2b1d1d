"""Filters, answered from the index over metadata: which slots match.

mask = matching(connection, keys, where, slots=1000)       # 1000 bools
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from flowkit import Filter
from flowkit.plugin import And, Comparison, Membership, Not, Or, check, compile
from flowkit_devstore.rows import BOOL, LONG, NUMBER, OTHER, STRING, TYPE_BITS, read_metadata

__all__ = ["Keys", "Mask", "matching", "read_keys"]

Mask = np.ndarray[Any, np.dtype[np.bool_]]
Keys = Mapping[str, tuple[int, int]]
"""Metadata key → its number, and the sum of the types that it has had."""

_VARIABLES = 500  # values bound to one statement
_SQL = {"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_BOUNDS = ("gt", "gte", "lt", "lte")
_SLOTS = "SELECT group_concat(slot) FROM entries WHERE key = ? AND type = ? AND "


def read_keys(connection: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    return {name: (key, types) for key, name, types in connection.execute("SELECT key, name, types FROM keys")}


def matching(connection: sqlite3.Connection, keys: Keys, where: Filter, *, slots: int) -> Mask:
    """Which of the first `slots` slots match. Slots without a row may be among the matches of a NOT.

    Each leaf is a range of the index; the tree is put together from their masks. `!=` and `not in` are the complement
    of `==` and `in`, so a missing key needs no care.

    Raises:
        FilterTypeError: a value is of a type that its key has never had here.
    """
    check(where, {name: _type_names(types) for name, (_, types) in keys.items()})
    return _Search(connection, keys, slots).mask(where)


def _type_names(types: int) -> list[str]:
    return [name for name, bit in TYPE_BITS.items() if types & bit]


class _Search:
    def __init__(self, connection: sqlite3.Connection, keys: Keys, slots: int) -> None:
        self._connection = connection
        self._keys = keys
        self._slots = slots

    def mask(self, where: Filter) -> Mask:
        match where:
            case And():
                return self._all(where)
            case Or(left=left, right=right):
                return self.mask(left) | self.mask(right)
            case Not(expr=expr):
                return ~self.mask(expr)
            case Comparison(op="ne", key=key, value=value):
                return ~self.mask(Comparison("eq", key, value))
            case Membership(op="nin", key=key, values=values):
                return ~self.mask(Membership("in", key, values))
            case Comparison() | Membership():
                return self._leaf(where)
        raise TypeError(f"{where!r} is no filter")

    def _all(self, where: And) -> Mask:
        """All parts of a & b & c. Bounds of one key become one range, as each alone may match nearly every row."""
        ranges: dict[tuple[str, int], list[Comparison]] = {}
        others: list[Filter] = []
        for part in _parts(where):
            if isinstance(part, Comparison) and part.op in _BOUNDS:
                ranges.setdefault((part.key, _bound(part.value)[0]), []).append(part)
            else:
                others.append(part)
        found: Mask = np.ones(self._slots, dtype=np.bool_)
        for bounds in ranges.values():
            found &= self._range(bounds)
        for part in others:
            if not found.any():
                break
            found &= self.mask(part)
        return found

    def _range(self, bounds: Sequence[Comparison]) -> Mask:
        if len(bounds) == 1:
            return self._leaf(bounds[0])
        found: Mask = np.zeros(self._slots, dtype=np.bool_)
        if bounds[0].key in self._keys:
            key, types = self._keys[bounds[0].key]
            condition = " AND ".join(f"value {_SQL[bound.op]} ?" for bound in bounds)
            kind = _bound(bounds[0].value)[0]
            self._add(found, condition, key, kind, *(_bound(bound.value)[1] for bound in bounds))
            whole: Filter = bounds[0]
            for bound in bounds[1:]:
                whole = And(whole, bound)
            self._add_by_reading(found, whole, key, _reading(types, bounds[0]))
        return found

    def _leaf(self, leaf: Comparison | Membership) -> Mask:
        found: Mask = np.zeros(self._slots, dtype=np.bool_)
        if leaf.key not in self._keys:
            return found
        key, types = self._keys[leaf.key]
        if isinstance(leaf, Membership):
            for kind, values in _by_type(leaf.values).items():
                for at in range(0, len(values), _VARIABLES):
                    some = values[at : at + _VARIABLES]
                    self._add(found, f"value IN ({','.join('?' * len(some))})", key, kind, *some)
        elif leaf.op == "contains":
            if isinstance(leaf.value, str):
                self._add(found, "instr(value, ?) > 0", key, STRING, leaf.value)
        else:
            kind, value = _bound(leaf.value)
            self._add(found, f"value {_SQL[leaf.op]} ?", key, kind, value)
        self._add_by_reading(found, leaf, key, _reading(types, leaf))
        return found

    def _add(self, found: Mask, condition: str, key: int, kind: int, *values: Any) -> None:
        # One string for all slots: a row object for each costs more than the search itself.
        (text,) = self._connection.execute(_SLOTS + condition, (key, kind, *values)).fetchone()
        if text is not None:
            found[np.fromstring(text, dtype=np.int64, sep=",")] = True

    def _add_by_reading(self, found: Mask, where: Filter, key: int, kinds: Sequence[int]) -> None:
        """Add matches among the rows whose value the index does not hold."""
        keep = compile(where)
        for kind in kinds:
            rows = self._connection.execute(
                "SELECT rows.slot, rows.metadata FROM entries JOIN rows USING (slot) WHERE key = ? AND type = ?",
                (key, kind),
            )
            for slot, metadata in rows:
                if keep(read_metadata(metadata)):
                    found[slot] = True


def _reading(types: int, leaf: Comparison | Membership) -> list[int]:
    """The entry types that a leaf is to be tried on row by row: long strings, and lists for `contains`."""
    kinds = [LONG] if types & TYPE_BITS["string"] else []
    if types & TYPE_BITS["list"] and isinstance(leaf, Comparison) and leaf.op == "contains":
        kinds.append(OTHER)
    return kinds


def _parts(where: Filter) -> Iterator[Filter]:
    if isinstance(where, And):
        yield from _parts(where.left)
        yield from _parts(where.right)
    else:
        yield where


def _bound(value: Any) -> tuple[int, Any]:
    """Type and value to compare with. NaN binds as NULL, which equals nothing."""
    if isinstance(value, bool):
        return BOOL, int(value)
    if isinstance(value, int | float):
        return NUMBER, value
    return STRING, str(value)


def _by_type(values: Sequence[Any]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for value in values:
        kind, bound = _bound(value)
        found.setdefault(kind, []).append(bound)
    return found
