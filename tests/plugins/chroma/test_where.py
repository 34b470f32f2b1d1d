"""Filters in Chroma's words: always legal, and exact or said not to be."""

from typing import Any

import pytest

from flowkit import F, Filter
from flowkit_chroma import Plan, plan
from flowkit_chroma.where import is_settled

KINDS = {
    "n": {"number", "whole"},
    "f": {"number"},
    "k": {"string"},
    "b": {"bool"},
    "o": {"number", "odd"},
    "$x": {"string", "odd"},
}
ALL, NONE, LOOK = Plan(True, True), Plan(False, True), Plan(True, False)


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        (F("n").between(18, 65), {"$and": [{"n": {"$gte": 18}}, {"n": {"$lte": 65}}]}),
        (F("k") == "a", {"k": {"$eq": "a"}}),
        (~((F("k") == "a") | (F("k") == "b")), {"$and": [{"k": {"$ne": "a"}}, {"k": {"$ne": "b"}}]}),
        (~~(F("k") != "a"), {"k": {"$ne": "a"}}),
        (F("k").in_(["a"]), {"k": {"$eq": "a"}}),
        (~F("k").in_(["a", "b"]), {"k": {"$nin": ["a", "b"]}}),
        (F("n").in_([1, "x"]), {"$or": [{"n": {"$eq": 1}}, {"n": {"$eq": "x"}}]}),
        ((F("k") == "a") & F("k").not_in([]), {"k": {"$eq": "a"}}),
        ((F("k") == "a") & (F("n") == 1) & (F("b") == True),  # noqa: E712
         {"$and": [{"k": {"$eq": "a"}}, {"n": {"$eq": 1}}, {"b": {"$eq": True}}]}),
        (F("f") > 1.5, {"f": {"$gt": 1.5}}),
        (F("n") < float("inf"), {"n": {"$lte": 2**53}}),
        (F("n") == 1764487167123456.0, {"n": {"$eq": 1764487167123456}}),  # such a float is none of Chroma's
        (F("o") == 1, {"o": {"$eq": 1}}),
        (F("o") != "a", {"o": {"$ne": "a"}}),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_what_chroma_can_do_is_left_to_it(where: Filter, wanted: dict[str, Any]):
    assert plan(where, KINDS) == Plan(wanted, True)


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        (F("k").in_([]), NONE),
        (F("k").not_in([]), ALL),
        (F("missing") == 1, NONE),
        (F("missing") != 1, ALL),
        (~(F("missing") > 1), ALL),
        (F("n") == float("nan"), NONE),
        ((F("k") == "a") & F("n").in_([]), NONE),
        (~(F("n") >= 5), LOOK),
        (F("k") > "a", LOOK),
        (F("k").contains("a"), LOOK),
        (F("o") > 1, LOOK),
        (F("o") == 2**60, LOOK),
        (F("o") == 2**53, LOOK),  # the same as a float is none of Chroma's
        (F("o").in_([1, 1e300]), LOOK),
        (F("$x") == "a", LOOK),
    ],
    ids=lambda value: str(value)[:40],
)
def test_the_rest_is_answered_without_a_call_or_row_by_row(where: Filter, wanted: Plan):
    assert plan(where, KINDS) == wanted


def test_a_part_that_chroma_cannot_do_is_narrowed_down_by_one_that_it_can():
    assert plan((F("n") == 1) & F("k").contains("x"), KINDS) == Plan({"n": {"$eq": 1}}, False)
    assert plan((F("n") == 1) | F("k").contains("x"), KINDS) == LOOK


@pytest.mark.parametrize(
    ("where", "settled"),
    [
        (F("n") == 1, True),
        (~(F("k") != "a") | F("b").in_([True, False]), True),
        (F("o") == 1, True),
        (F("f") == 2.0, True),
        (F("f") == 2.5, False),  # Chroma would cut it for integers
        (F("n") > 1, False),
        (F("k").contains("a"), False),
        (F("n") == 2**60, False),
        (F("missing") == 1, False),
        (F("$x") == "a", False),
        ((F("n") == 1) & (F("missing") == 1), False),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_no_row_of_another_can_change_is_known(where: Filter, settled: bool):
    assert is_settled(where, KINDS) is settled
    if settled:
        everything = {key: {*kinds, "string", "number", "bool", "list", "odd", "whole"} for key, kinds in KINDS.items()}
        assert plan(where, everything | {"missing": {"string"}}) == plan(where, KINDS)
