"""The encodings of the vectors: typed values and filter trees.

value({"type": "uuid", "value": "3f25…"})     # a UUID
tree({"op": "eq", "key": "a", "value": 1})    # F("a") == 1
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flowkit.schema.filters import And, Comparison, F, Filter, Membership, Not, Or

_TYPES = {"uuid": UUID, "int": int, "long": int, "float": float, "double": float}


def value(encoded: Any) -> Any:
    """A metadata or filter value; anything that is not typed is itself."""
    if isinstance(encoded, Mapping) and encoded.keys() == {"type", "value"} and encoded["type"] in _TYPES:
        return _TYPES[encoded["type"]](encoded["value"])
    return encoded


def metadata(encoded: Any) -> Any:
    """A metadata object with its values decoded; null and other targets are themselves."""
    return {key: value(item) for key, item in encoded.items()} if isinstance(encoded, Mapping) else encoded


def tree(encoded: Any) -> Filter:
    """A filter, by the builder; UUID values stay UUIDs, for which the nodes are made directly."""
    op = encoded["op"]
    match op:
        case "and":
            return And(tree(encoded["left"]), tree(encoded["right"]))
        case "or":
            return Or(tree(encoded["left"]), tree(encoded["right"]))
        case "not":
            return Not(tree(encoded["expr"]))
        case "between":
            return F(encoded["key"]).between(value(encoded["from"]), value(encoded["to"]))
        case "in" | "nin":
            values = encoded["values"]
            return Membership(op, encoded["key"], values if values is None else tuple(map(value, values)))
        case _:
            return Comparison(op, encoded["key"], value(encoded["value"]))
