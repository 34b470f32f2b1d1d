"""Filters for Pinecone mean what the shared evaluator says, however it reads what is not laid down."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowkit import F, Filter
from flowkit.schema.filters import And, Comparison, Membership, Not, Or, key_type, matches
from flowkit_pinecone import Plan, plan
from flowkit_pinecone.rows import kinds
from tests.servers import pinecone_data

NUMBERS = [-4, 0, 1, 2.5, 2**53, 2**53 + 1, -(2**60), 1e300, float("inf"), float("-inf")]
VALUES: dict[str, list[Any]] = {
    "s": ["", "a", "b", "日本"],
    "n": NUMBERS[:-2],
    "b": [True, False],
    "t": [["x"], ["x", "y"], ["y"]],
    "mixed": ["1", 1, True, ["1"]],
}
SOUGHT: dict[str, list[Any]] = {
    **VALUES,
    "n": [*NUMBERS, float("nan"), 2**63 - 1],
    "t": ["x", "y", "z"],
    "mixed": ["1", 1, True],
}
METADATA = st.fixed_dictionaries({}, optional={key: st.sampled_from(values) for key, values in VALUES.items()})


@st.composite
def comparisons(draw: st.DrawFn) -> Filter:
    key = draw(st.sampled_from([*SOUGHT, "never"]))
    values = st.sampled_from(SOUGHT.get(key, ["a", 1]))
    value = draw(values)
    if draw(st.booleans()):
        return Membership(draw(st.sampled_from(["in", "nin"])), key, tuple(draw(st.lists(values, max_size=3))))
    ops = ["eq", "ne"] if isinstance(value, bool) else ["eq", "ne", "gt", "gte", "lt", "lte", "contains"]
    return Comparison(draw(st.sampled_from(ops)), key, value)  # type: ignore[arg-type]


FILTERS = st.recursive(
    comparisons(),
    lambda part: st.one_of(st.builds(And, part, part), st.builds(Or, part, part), st.builds(Not, part)),
    max_leaves=6,
)


@given(FILTERS, st.lists(METADATA, min_size=1, max_size=4), st.booleans())
def test_the_service_finds_at_least_what_matches_and_just_that_when_the_plan_is_exact(
    where: Filter, rows: list[dict[str, Any]], missing_differs: bool
):
    known: dict[str, set[str]] = {}
    for row in rows:
        for key, kind in kinds(row.items()):
            known.setdefault(key, set()).add(kind)
    found = plan(where, known)
    for row in rows:
        native = {key: value for key, value in row.items() if (key, "odd") not in kinds([(key, value)])}
        stored = {key: pinecone_data._stored(key, value) for key, value in native.items()}
        sent = found.where
        hit = sent if isinstance(sent, bool) else pinecone_data.matches(sent, stored, missing_differs=missing_differs)
        right = matches(where, row)
        assert hit == right if found.exact else hit or not right


@pytest.mark.parametrize(
    ("where", "planned"),
    [
        (F("n") == 5, Plan({"n": {"$eq": 5.0}}, True)),
        (F("n").between(1, 5), Plan({"$and": [{"n": {"$gte": 1.0}}, {"n": {"$lte": 5.0}}]}, True)),
        (F("n") != 5, Plan({"$or": [{"n": {"$exists": False}}, {"n": {"$ne": 5.0}}]}, True)),
        (F("n") > 2**53 + 1, Plan({"n": {"$gt": 2.0**53}}, True)),
        (F("n") < float("inf"), Plan({"n": {"$exists": True}}, True)),
        (F("s").in_([]), Plan(False, True)),
        (F("s").not_in([]), Plan(True, True)),
        (F("s") > "a", Plan(True, False)),
        (F("s").contains("a"), Plan(True, False)),
        (F("t").contains("x"), Plan({"t": {"$eq": "x"}}, True)),
        (F("never") == 1, Plan(False, True)),
        (F("never") != 1, Plan(True, True)),
        ((F("s") == "a") & (F("s") > "a"), Plan({"s": {"$eq": "a"}}, False)),
        ((F("s") == "a") | (F("s") > "a"), Plan(True, False)),
        (F("b") != True, Plan({"$or": [{"b": {"$exists": False}}, {"b": {"$eq": False}}]}, True)),  # noqa: E712
    ],
    ids=str,
)
def test_what_pinecone_is_asked(where: Filter, planned: Plan):
    known = {"n": {"number"}, "s": {"string"}, "t": {"list"}, "b": {"bool"}}
    assert plan(where, known) == planned


def test_a_key_of_two_types_is_looked_at_here():
    assert plan(F("k") == 1, {"k": {key_type(1), key_type("1")}}) == Plan(True, False)
