"""The builder: a key whose comparisons make filters.

    (F("year") >= 2020) & ~F("lang").in_(["de", "fr"])
    F.parse("year >= 2020 AND lang NOT IN ('de', 'fr')")

Each comparison needs its parentheses, because `&` and `|` bind tighter than `==` and `>` in Python.
"""

from collections.abc import Iterable
from typing import NoReturn, cast

from flowkit.errors import InvalidInputError
from flowkit.schema.filters.ast import And, Comparison, Filter, Membership, MembershipOp, Value, checked_key, plain
from flowkit.schema.filters.dates import Clock

__all__ = ["F"]


class F:
    """A metadata key, whose comparisons make filters: `F("year") >= 2020`.

    Operators: `==` `!=` `>` `>=` `<` `<=`, `.between`, `.in_`, `.not_in`, `.contains`.
    Values: strings, bools, 64-bit integers, floats, and UUIDs, which become their string.
    """

    __slots__ = ("key",)

    def __init__(self, key: str) -> None:
        self.key = checked_key(key)

    @staticmethod
    def parse(text: str, *, clock: Clock | None = None) -> Filter:
        """Read a filter from text: `F.parse("age > 18 AND city = 'Munich'")`.

        `clock` gives the moment that CURRENT_DATE and its kin mean; default is the local time now.

        Raises:
            InvalidInputError: the text is no filter; the message names the position and what was expected there.
        """
        from flowkit.schema.filters.parse import parse

        return parse(text, clock=clock)

    def __eq__(self, value: Value) -> Comparison:  # type: ignore[override]
        return Comparison("eq", self.key, plain(value))

    def __ne__(self, value: Value) -> Comparison:  # type: ignore[override]
        return Comparison("ne", self.key, plain(value))

    def __gt__(self, value: Value) -> Comparison:
        return Comparison("gt", self.key, plain(value))

    def __ge__(self, value: Value) -> Comparison:
        return Comparison("gte", self.key, plain(value))

    def __lt__(self, value: Value) -> Comparison:
        return Comparison("lt", self.key, plain(value))

    def __le__(self, value: Value) -> Comparison:
        return Comparison("lte", self.key, plain(value))

    def between(self, low: Value, high: Value) -> And:
        """From `low` to `high`, both included."""
        return And(self >= low, self <= high)

    def in_(self, values: Iterable[Value]) -> Membership:
        """Equal to one of `values`; of none when it is empty."""
        return self._membership("in", values)

    def not_in(self, values: Iterable[Value]) -> Membership:
        """Equal to none of `values`; also matches where the key is missing."""
        return self._membership("nin", values)

    def contains(self, value: str | int | float) -> Comparison:
        """A string that holds `value` (case counts), or a list with an element equal to `value`."""
        return Comparison("contains", self.key, plain(value))

    def _membership(self, op: MembershipOp, values: Iterable[Value]) -> Membership:
        if not isinstance(values, str | bytes | dict) and isinstance(values, Iterable):
            values = tuple(map(plain, values))
        return Membership(op, self.key, cast(tuple[Value, ...], values))

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"F({self.key!r})"

    def __bool__(self) -> NoReturn:
        raise self._not_a_filter()

    def __contains__(self, item: object) -> NoReturn:
        raise InvalidInputError(f"`in` does not work on {self!r}", hint=f"write {self!r}.contains(…) or .in_([…])")

    def __and__(self, other: object) -> NoReturn:
        raise self._not_a_filter()

    __rand__ = __or__ = __ror__ = __and__

    def __invert__(self) -> NoReturn:
        raise self._not_a_filter()

    def _not_a_filter(self) -> InvalidInputError:
        return InvalidInputError(
            f"{self!r} alone is no filter", hint="compare it, and put each comparison in parentheses: (F(…) == 1) & (…)"
        )
