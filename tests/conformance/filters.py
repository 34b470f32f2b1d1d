"""Areas filter and filter_parser.

ADAPTERS["filter"]({"filter": {...}, "metadatas": [{...}]})     # {"results": [True, "error"]}
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from flowkit.errors import FilterTypeError
from flowkit.schema.filters import And, Comparison, F, Filter, Membership, Not, Or, matches
from tests.conformance.decode import metadata, tree


def evaluate(given: Mapping[str, Any]) -> Any:
    return {"results": results(tree(given["filter"]), given["metadatas"])}


def results(filter: Filter, metadatas: list[Any]) -> list[bool | str]:
    found: list[bool | str] = []
    for encoded in metadatas:
        try:
            found.append(matches(filter, metadata(encoded), strict=True))
        except FilterTypeError:
            found.append("error")
    return found


def parse(given: Mapping[str, Any]) -> Any:
    now = datetime.fromisoformat(given["now"]) if "now" in given else None
    filter = F.parse(given["expression"], clock=(lambda: now) if now else None)
    if "metadatas" in given:
        return {"results": results(filter, given["metadatas"])}
    return {"filter": encoded(filter)}


def encoded(filter: Filter) -> dict[str, Any]:
    """The tree as the vectors write it: the values of a list are a set, so they are sorted."""
    match filter:
        case And(left=left, right=right):
            return {"op": "and", "left": encoded(left), "right": encoded(right)}
        case Or(left=left, right=right):
            return {"op": "or", "left": encoded(left), "right": encoded(right)}
        case Not(expr=expr):
            return {"op": "not", "expr": encoded(expr)}
        case Membership(op=op, key=key, values=values):
            return {"op": op, "key": key, "values": values}
        case Comparison(op=op, key=key, value=value):
            return {"op": op, "key": key, "value": value}
    raise AssertionError(filter)


ADAPTERS = {"filter": evaluate, "filter_parser": parse}
