"""What a vector is, and what became of it.

Vector.from_json({"id": "filter-001", "area": "filter", "input": {...}, "expected": {...}})
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["passed", "failed", "deviation", "n/a"]


@dataclass(frozen=True, slots=True)
class Vector:
    """One input and its right outcome; `expected` may be `{"error": kind}`, where any refusal will do."""

    id: str
    area: str
    input: Mapping[str, Any]
    expected: Any

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Vector":
        return cls(id=value["id"], area=value["area"], input=value["input"], expected=value["expected"])

    @property
    def must_fail(self) -> bool:
        return isinstance(self.expected, Mapping) and set(self.expected) == {"error"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a vector. `note` says why: the difference, the reason of a deviation, the missing operation."""

    vector: Vector
    status: Status
    note: str = ""


class NoCounterpart(Exception):
    """The public API has no such operation; the message names it."""
