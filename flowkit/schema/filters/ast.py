"""The filter tree: frozen nodes that say which metadata matches. `F` and `F.parse` build them.

    And(Comparison("gte", "year", 2020), Not(Membership("in", "lang", ("de", "fr"))))

A UUID may stand in a node for strict evaluation only. `F`, the text and the wire form give its string instead.
"""

import operator
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NoReturn
from uuid import UUID

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from flowkit.errors import InvalidInputError
from flowkit.schema.text import clean_text, is_blank

__all__ = [
    "MAX_DEPTH",
    "And",
    "Comparison",
    "ComparisonOp",
    "Filter",
    "Membership",
    "MembershipOp",
    "Node",
    "Not",
    "Or",
    "Value",
    "as_node",
    "checked_key",
    "plain",
]

Value = str | bool | int | float | UUID
ComparisonOp = Literal["eq", "ne", "gt", "gte", "lt", "lte", "contains"]
MembershipOp = Literal["in", "nin"]

MAX_DEPTH = 200
"""How deep nodes may nest. Keeps every walk, and every JSON reader, clear of its recursion limit."""


class Filter:
    """A condition on metadata. A value: equal trees are equal, and hash alike.

    In a pydantic model a field of this type takes a `Filter`, its wire form, or a string that is parsed.
    """

    __slots__ = ()
    depth: int

    def __and__(self, other: "Filter") -> "And":
        return And(self, other) if isinstance(other, Filter) else NotImplemented

    def __or__(self, other: "Filter") -> "Or":
        return Or(self, other) if isinstance(other, Filter) else NotImplemented

    def __invert__(self) -> "Not":
        return Not(self)

    def __bool__(self) -> NoReturn:
        raise InvalidInputError(
            "a filter is neither true nor false",
            hint="join filters with & | ~ instead of and, or, not; write F(key).between(a, b) for a < F(key) < b",
        )

    def __str__(self) -> str:
        try:
            return self.to_text()
        except InvalidInputError:
            return repr(self)

    def to_text(self) -> str:
        """The filter as text that `F.parse` reads back to an equal filter.

        Raises:
            InvalidInputError: a value is NaN or infinite, for which the text form has no words.
        """
        from flowkit.schema.filters.text import to_text

        return to_text(self)

    def to_wire(self) -> dict[str, Any]:
        """The JSON form: `{"op": "eq", "key": "lang", "value": "de"}`, `{"op": "and", "left": …, "right": …}`."""
        from flowkit.schema.filters.wire import to_wire

        return to_wire(self)

    @staticmethod
    def from_wire(value: Any) -> "Filter":
        """Read the JSON form; a `Filter` is returned as it is, and a string is parsed.

        Raises:
            InvalidInputError: the value has not this shape; the message names the place.
        """
        from flowkit.schema.filters.wire import from_wire

        return from_wire(value)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        serialization = core_schema.plain_serializer_function_ser_schema(
            lambda value: value.to_wire(), return_schema=core_schema.dict_schema()
        )
        return core_schema.no_info_plain_validator_function(Filter.from_wire, serialization=serialization)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {
            "description": "A metadata filter: a tree of operators, or text such as \"year >= 2020 AND lang = 'de'\"",
            "anyOf": [
                {"type": "object", "properties": {"op": {"type": "string"}}, "required": ["op"]},
                {"type": "string"},
            ],
        }


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Filter):
    """One key against one value. `contains` is a substring of a string, or an element of a list."""

    op: ComparisonOp
    key: str
    value: Value
    depth: ClassVar[int] = 1  # type: ignore[misc]

    def __post_init__(self) -> None:
        if self.op not in ("eq", "ne", "gt", "gte", "lt", "lte", "contains"):
            raise InvalidInputError(f"there is no comparison {self.op!r}", hint="use eq ne gt gte lt lte contains")
        object.__setattr__(self, "key", checked_key(self.key))
        value = _checked_value(self.value, self.key)
        if isinstance(value, bool) and self.op not in ("eq", "ne"):
            raise InvalidInputError(
                f"key {self.key!r}: {value} cannot be used with {self.op!r}",
                hint="bool goes with ==, !=, in and not in",
            )
        object.__setattr__(self, "value", value)

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, Comparison) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[object, ...]:
        # With the type, because True == 1 == 1.0 in Python, and a filter for True does not match 1.
        return self.op, self.key, type(self.value), self.value


@dataclass(frozen=True, slots=True, eq=False)
class Membership(Filter):
    """One key against a list. No values: `in` matches nothing, and `nin` everything. Repeated values count once."""

    op: MembershipOp
    key: str
    values: tuple[Value, ...]
    depth: ClassVar[int] = 1  # type: ignore[misc]

    def __post_init__(self) -> None:
        if self.op not in ("in", "nin"):
            raise InvalidInputError(f"there is no membership {self.op!r}", hint="use in or nin")
        object.__setattr__(self, "key", checked_key(self.key))
        values: object = self.values
        if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
            what = "a string" if isinstance(values, str) else f"a {type(values).__name__}"
            raise InvalidInputError(f"key {self.key!r}: in needs a list, not {what}", hint=f"write .in_([{values!r}])")
        kept = {(type(value), value): value for value in (_checked_value(item, self.key) for item in values)}
        object.__setattr__(self, "values", tuple(kept.values()))

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, Membership) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[object, ...]:
        return self.op, self.key, frozenset((type(value), value) for value in self.values)


@dataclass(frozen=True, slots=True)
class And(Filter):
    """Both match."""

    left: Filter
    right: Filter
    depth: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", _depth_over(self.left, self.right))


@dataclass(frozen=True, slots=True)
class Or(Filter):
    """One of the two matches, or both."""

    left: Filter
    right: Filter
    depth: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", _depth_over(self.left, self.right))


@dataclass(frozen=True, slots=True)
class Not(Filter):
    """The exact complement: matches what `expr` does not, so also where the key is missing."""

    expr: Filter
    depth: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", _depth_over(self.expr))


Node = Comparison | Membership | And | Or | Not
"""All there is: what a `Filter` can be."""


def as_node(value: object) -> Node:
    """The filter as one of the five nodes; text or JSON that was never read must not pass for "no filter"."""
    if isinstance(value, Comparison | Membership | And | Or | Not):
        return value
    raise InvalidInputError(f"{value!r} is no filter", hint="F.parse(text) reads text, Filter.from_wire(value) JSON")


def plain(value: Any) -> Any:
    """A UUID as its string; anything else as it is."""
    return str(value) if isinstance(value, UUID) else value


def checked_key(key: object) -> str:
    if not isinstance(key, str) or is_blank(key):
        raise InvalidInputError(f"filter key {key!r} is blank or not a string", hint="name a metadata key")
    return clean_text(key)[0]


def _checked_value(value: object, key: str) -> Value:
    """The value as a filter holds it: exact str, bool, int, float or UUID, cleaned as metadata is."""
    if isinstance(value, str):
        return clean_text(value)[0]
    if isinstance(value, bool | UUID):
        return value
    if isinstance(value, float):
        return float(value)
    if hasattr(value, "__index__"):
        number = operator.index(value)
        if -(2**63) <= number < 2**63:
            return number
        raise InvalidInputError(f"key {key!r}: {number} is beyond 64 bits", hint="metadata cannot hold such a number")
    if value is None:
        raise InvalidInputError(
            f"key {key!r}: there is no None in metadata", hint="a missing key matches != and not in"
        )
    raise InvalidInputError(
        f"key {key!r}: a {type(value).__name__} cannot be compared",
        hint="use text, numbers or bools; for several values .in_([…]), for dates ISO text",
    )


def _depth_over(*children: object) -> int:
    deepest = 0
    for child in children:
        deepest = max(deepest, as_node(child).depth)
    if deepest >= MAX_DEPTH:
        raise InvalidInputError(f"a filter nests over {MAX_DEPTH} deep", hint="use .in_([…]) instead of a chain of |")
    return deepest + 1
