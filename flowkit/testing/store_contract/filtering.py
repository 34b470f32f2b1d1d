"""Filters: the truth table, hostile keys and values, types, and random trees against the shared evaluator.

class TestMyStore(StoreContract): ...     # these come with it
"""

import math
import random
from typing import Any

import pytest

from flowkit.errors import FilterTypeError
from flowkit.rag.stores.contract import VectorStore
from flowkit.schema.filters import And, Comparison, F, Filter, Membership, Not, Or, matches
from flowkit.schema.filters.ast import ComparisonOp
from flowkit.testing.store_contract.base import StoreHooks, operators, row

__all__ = ["FilteringTests"]

ROWS = [
    row("a", [1, 0], s="apple", n=1, f=1.5, b=True, tags=["x", "y"], big=9007199254740993, name="O'Neil"),
    row("b", [1, 1], s="Banana", n=2, f=-2.5, b=False, tags=["y"], big=9007199254740992, name="Ana"),
    row("c", [0, 1], s="日本", n=3, f=3, b=True, tags=[], big=9007199254740992.0, zip="00501"),
    row("d", [-1, 0], s="apple pie", n=-4, zip="501", o={"p": 1}, mixed=5),
    row("e", [1, 2], s="", n=0, mixed="5", flag=1, big=0),
    row("f", [2, 1], mixed=True, flag=True, long="l" * 3000, late="\U0001f600"),
    row("g", [2, 2], mixed=[5], long="l" * 2999 + "m", late="\uff5e"),
]
NAN = float("nan")
TABLE: list[tuple[Filter, str]] = [
    (F("s") == "apple", "a"),
    (F("s") != "apple", "bcdefg"),
    (F("s") == "APPLE", ""),
    (F("s").in_(["apple", "日本", "nothing"]), "ac"),
    (F("s").not_in(["apple", "日本"]), "bdefg"),
    (F("s").in_([]), ""),
    (F("s").not_in([]), "abcdefg"),
    (F("s") > "apple", "cd"),
    (F("s") <= "apple", "abe"),
    (F("s") == "", "e"),
    (F("s").contains("pp"), "ad"),
    (F("s").contains("本"), "c"),
    (F("s").contains(""), "abcde"),
    (F("s").contains("%"), ""),
    (F("n") == 2, "b"),
    (F("n") == 2.0, "b"),
    (F("n") != 2, "acdefg"),
    (F("n") >= 2, "bc"),
    (F("n") > 2, "c"),
    (F("n") < 0, "d"),
    (F("n") <= 0, "de"),
    (F("n").between(1, 2), "ab"),
    (F("n").in_([1, 3.0, -4]), "acd"),
    (~(F("n") > 0), "defg"),
    (F("f") == 3, "c"),
    (F("f") < 1.5, "b"),
    (F("n") < math.inf, "abcde"),
    (F("n") == NAN, ""),
    (F("n") != NAN, "abcdefg"),
    (F("b") == True, "ac"),  # noqa: E712
    (F("b") != True, "bdefg"),  # noqa: E712
    (F("b").in_([False]), "b"),
    (F("tags").contains("y"), "ab"),
    (~F("tags").contains("y"), "cdefg"),
    (F("missing") == 1, ""),
    (F("missing") != 1, "abcdefg"),
    (F("missing").not_in(["x"]), "abcdefg"),
    (~(F("missing") > 1), "abcdefg"),
    (F("big") == 9007199254740993, "a"),
    (F("big") == 9007199254740992, "bc"),
    (F("big") > 9007199254740992, "a"),
    (F("zip") == "00501", "c"),
    (F("zip") == "501", "d"),
    (F("mixed") == 5, "d"),
    (F("mixed") == "5", "e"),
    (F("mixed") == True, "f"),  # noqa: E712
    (F("mixed") != 5, "abcefg"),
    (F("mixed") >= 1, "d"),
    (F("mixed").in_([5, "5"]), "de"),
    (F("mixed").contains(5), "g"),
    (F("flag") == 1, "e"),
    (F("flag") == True, "f"),  # noqa: E712
    (F("long") == "l" * 3000, "f"),
    (F("long") > "l" * 3000, "g"),
    (F("long").contains("m"), "g"),
    (F("long") != "l" * 3000, "abcdeg"),
    (F("late") < "\U0001f600", "g"),
    (F("name") == "O'Neil", "a"),
    (F("name").in_(["x') OR 1=1 --"]), ""),
    ((F("s") == "apple") & (F("n") == 1), "a"),
    ((F("s") == "apple") | (F("n") == 2), "ab"),
    (~((F("s") == "apple") | (F("n") == 2)), "cdefg"),
    ((F("b") == True) & (F("s").not_in(["apple"])), "c"),  # noqa: E712
    ((F("n") >= 1) & (F("n") <= 3) & ~(F("n") == 2), "ac"),
]
KEYS = ["name' = '' OR '1'='1' --", 'a.b"c\\d', "名前", "$or", "a b", "n; DROP TABLE rows", "[0]", "a.b"]


VALUES: dict[str, list[Any]] = {
    "s": ["apple", "Banana", "", "b"],
    "n": [-4, 0, 2, 2.5],
    "f": [1.5, 3, 0],
    "b": [True, False],
}
ORDERED: list[ComparisonOp] = ["eq", "ne", "gt", "gte", "lt", "lte"]


def _random_filter(numbers: random.Random, depth: int) -> Filter:
    if depth == 0 or numbers.random() < 0.3:
        key = numbers.choice(list(VALUES))
        if numbers.random() < 0.4:
            return Membership(numbers.choice(["in", "nin"]), key, tuple(numbers.sample(VALUES[key], 2)))
        return Comparison(numbers.choice(ORDERED[:2] if key == "b" else ORDERED), key, numbers.choice(VALUES[key]))
    match numbers.choice(["and", "or", "not"]):
        case "and":
            return And(_random_filter(numbers, depth - 1), _random_filter(numbers, depth - 1))
        case "or":
            return Or(_random_filter(numbers, depth - 1), _random_filter(numbers, depth - 1))
        case _:
            return Not(_random_filter(numbers, depth - 1))


class FilteringTests(StoreHooks):
    async def test_the_truth_table(self, store: VectorStore) -> None:
        async with self.opened(store, ROWS):
            for where, ids in TABLE:
                assert {item.id for item in ROWS if matches(where, item.document.metadata)} == set(ids), str(where)
                found = await self.matching(store, [1, 0], where)
                assert found is None or found == set(ids), where.to_wire()

    async def test_random_trees_match_as_the_shared_evaluator_says(self, store: VectorStore) -> None:
        numbers = random.Random(11)
        async with self.opened(store, ROWS):
            for _ in range(60):
                where = _random_filter(numbers, 4)
                found = await self.matching(store, [1, 0], where)
                right = {item.id for item in ROWS if matches(where, item.document.metadata)}
                assert found is None or found == right, where.to_wire()

    async def test_not_is_the_exact_complement(self, store: VectorStore) -> None:
        async with self.opened(store, ROWS):
            for where, ids in TABLE:
                found = await self.matching(store, [1, 0], ~where)
                assert found is None or found == set("abcdefg") - set(ids), where.to_wire()

    @pytest.mark.parametrize("key", KEYS)
    async def test_a_hostile_key_is_only_a_key(self, store: VectorStore, key: str) -> None:
        async with self.opened(store, [row("a", [1, 0], name="x"), row("b", [1, 0], **{key: "z"})]):
            assert await self.matching(store, [1, 0], F(key) == "z") == {"b"}
            assert await self.matching(store, [1, 0], F(key) != "z") == {"a"}
            assert await self.matching(store, [1, 0], F(key) == "' OR 1=1 --") == set()

    async def test_another_type_than_the_key_has_had_is_refused(self, store: VectorStore) -> None:
        async with self.opened(store, [row("a", [1, 0], n=5, s="5", b=True)]):
            for where in (F("n") == "5", F("s") == 5, F("n") == True, F("b") == 1, F("s").in_(["5", 5])):  # noqa: E712
                for whole in (where, ~where, (F("n") == 5) & where):
                    with pytest.raises(FilterTypeError):
                        await self.search(store, [1, 0], where=whole)
                    with pytest.raises(FilterTypeError):
                        await store.fetch(where=whole)
            with pytest.raises(FilterTypeError):
                await store.delete(where=F("n") != "5")
            assert (await store.stats()).count == 1

    async def test_a_filter_holds_for_few_of_many(self, store: VectorStore) -> None:
        rows = [row(f"r{at:03d}", [1, at], n=at, group=at % 50) for at in range(500)]
        async with self.opened(store, rows):
            hits = await self.search(store, [1, 0], k=5, where=F("group") == 7)
            assert [hit.metadata["n"] for hit in hits] == [7, 57, 107, 157, 207]
            hits = await self.search(store, [1, 0], k=3, where=F("group") != 0)
            assert [hit.metadata["n"] for hit in hits] == [1, 2, 3]

    async def test_operators_that_a_store_refuses_are_named(self, store: VectorStore) -> None:
        async with self.opened(store, ROWS):
            for where, _ in TABLE:
                if operators(where) & self.unsupported_filters:
                    assert await self.matching(store, [1, 0], where) is None
