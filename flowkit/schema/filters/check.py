"""Type names of metadata values, and the check of a filter against the types that an index holds.

check(F("year") >= 2020, {"year": {"string"}})     # FilterTypeError: 'year' holds strings here
"""

from collections.abc import Collection, Iterable, Mapping
from typing import assert_never
from uuid import UUID

from flowkit.errors import FilterTypeError
from flowkit.schema.filters.ast import And, Comparison, Filter, Membership, Not, Or, as_node

__all__ = ["check", "joined_types", "key_type"]


def key_type(value: object) -> str:
    """The type of a metadata value as filters see it: bool, number, string, list or object."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str | UUID):
        return "string"
    return "list" if isinstance(value, list | tuple) else "object"


def joined_types(*known: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """Metadata key → types, of all of them together."""
    joined: dict[str, set[str]] = {}
    for types in known:
        for key, some in types.items():
            joined.setdefault(key, set()).update(some)
    return joined


def check(filter: Filter, key_types: Mapping[str, Collection[str]]) -> None:
    """Compare every value with the types that its key has had in an index.

    A key that was never seen is fine: it is missing everywhere, which has its own rules.

    Raises:
        FilterTypeError: a value is of a type that the key never had.
    """
    node = as_node(filter)
    match node:
        case And(left=left, right=right) | Or(left=left, right=right):
            check(left, key_types)
            check(right, key_types)
        case Not(expr=expr):
            check(expr, key_types)
        case Comparison(op=op, key=key, value=value):
            wanted = key_type(value)
            legal = (wanted,) if op != "contains" else ("string", "list") if wanted == "string" else ("list",)
            _require(key, legal, value, key_types)
        case Membership(key=key, values=values):
            for value in values:
                _require(key, (key_type(value),), value, key_types)
        case _:
            assert_never(node)


def _require(key: str, legal: Collection[str], value: object, key_types: Mapping[str, Collection[str]]) -> None:
    seen = key_types.get(key)
    if not seen or any(name in seen for name in legal):
        return
    held = " or ".join(sorted(seen))
    if "list" in seen and legal != ("list",):
        hint = f"ask whether the list holds it: F({key!r}).contains({value!r})"
    else:
        hint = f"compare it with a {held}"
    raise FilterTypeError(f"key {key!r} holds {held} in this index, not {key_type(value)} ({value!r})", hint=hint)
