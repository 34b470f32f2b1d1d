"""Metadata filters: build them with `F`, read them from text or JSON, evaluate them anywhere.

matches((F("year") >= 2020) & (F("lang") == "de"), {"year": 2021, "lang": "de"})
"""

from flowkit.schema.filters.ast import And, Comparison, Filter, Membership, Not, Or
from flowkit.schema.filters.build import F
from flowkit.schema.filters.check import check, joined_types, key_type
from flowkit.schema.filters.evaluate import Predicate, compile, matches

__all__ = [
    "And",
    "Comparison",
    "F",
    "Filter",
    "Membership",
    "Not",
    "Or",
    "Predicate",
    "check",
    "compile",
    "joined_types",
    "key_type",
    "matches",
]
