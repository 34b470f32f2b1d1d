"""The text and JSON forms of filters."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from pydantic import BaseModel, ValidationError

from flowkit.errors import InvalidInputError
from flowkit.schema.filters import And, Comparison, F, Filter, Not
from tests.schema.filter_strategies import filters

NOW = datetime(2026, 11, 30, 4, 20, tzinfo=UTC)


def parse(text: str) -> Filter:
    return F.parse(text, clock=lambda: NOW)


class TestText:
    @settings(max_examples=200, deadline=None)
    @given(filters(finite=True))
    def test_a_filter_survives_its_text(self, filter):
        assert F.parse(filter.to_text()) == filter

    @pytest.mark.parametrize(
        ("text", "filter"),
        [
            ("age > 18 AND city = 'Munich'", (F("age") > 18) & (F("city") == "Munich")),
            ("age>=18 or age<1", (F("age") >= 18) | (F("age") < 1)),
            ("a = 1 OR b = 2 AND c = 3", (F("a") == 1) | ((F("b") == 2) & (F("c") == 3))),
            ("NOT a = 1 AND b = 2", ~(F("a") == 1) & (F("b") == 2)),
            ("a <> 'x' AND a != 'y' AND a == 'z'", ((F("a") != "x") & (F("a") != "y")) & (F("a") == "z")),
            ("name = 'O''Neil'", F("name") == "O'Neil"),
            ('"two words" = 1 AND `back``tick` = 2', (F("two words") == 1) & (F("back`tick") == 2)),
            ("meta.author.name = 'x'", F("meta.author.name") == "x"),
            ("名前 IN ('x', 2, -3.5, TRUE)", F("名前").in_(["x", 2, -3.5, True])),
            ("k NOT IN ()", F("k").not_in([])),
            ("k BETWEEN -1 AND 2", F("k").between(-1, 2)),
            ("k NOT BETWEEN 'a' AND 'z'", ~F("k").between("a", "z")),
            ("tags CONTAINS 'de'", F("tags").contains("de")),
            ("tags NOT CONTAINS 'de'", ~F("tags").contains("de")),
            ("draft = false", F("draft") == False),  # noqa: E712
            ("k = 2 + 3 * 4", F("k") == 14),
            ("k = (2 + 3) * 4 - 1", F("k") == 19),
            ("k = 10 - 4 - 3", F("k") == 3),
            ("k = 7 / 2 AND l = -7 / 2", (F("k") == 3) & (F("l") == -3)),
            ("k = 7.0 / 2.0", F("k") == 3.5),
            ("k = .5 AND l = 1e3 AND m = 5.", ((F("k") == 0.5) & (F("l") == 1000.0)) & (F("m") == 5.0)),
            ("k = -(1 + 2)", F("k") == -3),
            ("k = -9223372036854775808", F("k") == -(2**63)),
            ("in_ = 1 AND year = 2", (F("in_") == 1) & (F("year") == 2)),
            ("SELECT * FROM t WHERE a = 1;", F("a") == 1),
            ("select max(a, (b)), c from t as x where x.a = 1 and t.b = 2", (F("a") == 1) & (F("b") == 2)),
            ("SELECT a FROM t WHERE other.a = 1 ORDER BY a DESC LIMIT 5", F("other.a") == 1),
        ],
    )
    def test_reading(self, text, filter):
        assert parse(text) == filter

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("YEAR(CURDATE())", 2026),
            ("month(curdate())", 11),
            ("WEEKOFYEAR(CURDATE())", 49),
            ("DAYOFYEAR(CURDATE())", 334),
            ("DAYOFMONTH(CURRENT_DATE)", 30),
            ("DAYOFWEEK(CURDATE())", 1),
            ("EXTRACT(YEAR FROM CURRENT_DATE)", 2026),
            ("EXTRACT(WEEK FROM CURRENT_TIMESTAMP)", 49),
            ("EXTRACT(DAY FROM CURRENT_DATE)", 30),
            ("EXTRACT(DOW FROM CURRENT_DATE)", 1),
            ("EXTRACT(DOY FROM CURRENT_DATE)", 334),
            ("extract(hour from current_time)", 4),
            ("EXTRACT(MINUTE FROM CURRENT_TIMESTAMP)", 20),
            ("EXTRACT(YEAR FROM CURRENT_DATE) / 2 + 1", 1014),
        ],
    )
    def test_dates_are_read_off_the_clock(self, text, value):
        assert parse(f"k = {text}") == (F("k") == value)

    def test_the_week_belongs_to_its_own_year(self):
        first_of_january = datetime(2021, 1, 1, tzinfo=UTC)
        assert F.parse("k = WEEKOFYEAR(CURDATE())", clock=lambda: first_of_january) == (F("k") == 53)

    def test_the_clock_is_read_once(self):
        moments = iter([NOW])
        filter = F.parse("a = YEAR(CURDATE()) OR b = EXTRACT(MINUTE FROM CURRENT_TIME)", clock=lambda: next(moments))
        assert filter == (F("a") == 2026) | (F("b") == 20)

    @pytest.mark.parametrize("text", ["YEAR(released) = 2024", "EXTRACT(YEAR FROM released) = 2024"])
    def test_a_date_function_around_the_key_is_dropped(self, text):
        assert parse(text) == (F("released") == 2024)

    @pytest.mark.parametrize(
        ("text", "position", "expected"),
        [
            ("", 0, "a key"),
            ("age >", 5, "a value"),
            ("age >> 18", 5, "a value"),
            ("age", 3, "a comparison"),
            ("18 < age", 0, "a key"),
            ("'age' = 18", 0, "a key"),
            ("a = 1 AND", 9, "a key"),
            ("a = 1 b = 2", 6, "AND, OR or the end"),
            ("(a = 1", 6, "')'"),
            ("a = 1)", 5, "AND, OR or the end"),
            ("a = b", 4, "a value"),
            # Without going back, as that takes minutes here.
            pytest.param(f"a = {'1' * 200_000}x", 4, "a key, a value", id="many digits"),
            ('a = "b"', 4, "a value"),
            ("a = 'b", 4, "a closing quote"),
            ("a LIKE 'x%'", 2, "a comparison"),
            ("a IS NULL", 2, "a comparison"),
            ("a NOT LIKE 'x%'", 6, "IN, BETWEEN or CONTAINS"),
            ("a IN 'x'", 5, "'('"),
            ("a IN ('x'", 9, "',' or ')'"),
            ("a IN (b)", 6, "a value"),
            ("a IN (SELECT a FROM t)", 6, "a value"),
            ("a BETWEEN 1 OR 2", 12, "AND"),
            ("and = 1", 0, "a key"),
            ("content-type = 'x'", 7, "a comparison"),
            ("a = 1 -- b", 6, "a key, a value or an operator"),
            ("a = 1 /* b */", 6, "a key, a value or an operator"),
            ("a = 1 + 1.0", 6, "two integers, or two decimals"),
            ("a = 'x' + 'y'", 8, "two integers, or two decimals"),
            ("a = -'x'", 4, "a number after the sign"),
            ("a = 1 / 0", 6, "no division by zero"),
            ("a = 1e999", 4, "a number that fits"),
            ("a = 99999999999999999999", 4, "an integer of 64 bits"),
            ("a = 9223372036854775808", 2, "a legal comparison"),
            ("a > TRUE", 2, "a legal comparison"),
            ("a = 12abc", 4, "a key, a value or an operator"),
            ("a = CURDATE()", 4, "a value"),
            ("a = LOWER('x')", 4, "a value"),
            ("LOWER(a) = 'x'", 0, "one of YEAR"),
            ("a = YEAR('2024-01-01')", 9, "CURDATE()"),
            ("a = EXTRACT(SECOND FROM CURRENT_TIME)", 12, "one of YEAR"),
            ("a = 1; b = 2", 7, "AND, OR or the end"),
            ("SELECT * FROM t", 15, "WHERE"),
            ("SELECT FROM t WHERE a = 1", 7, "the columns"),
            ("SELECT a", 8, "FROM"),
            ("SELECT * FROM t JOIN u WHERE a = 1", 16, "WHERE"),
            ("SELECT * FROM t, u WHERE a = 1", 15, "WHERE"),
            ("SELECT * FROM t WHERE a = 1 GROUP BY a", 28, "AND, OR or the end"),
            ("SELECT * FROM t WHERE a = 1 LIMIT 1 UNION SELECT * FROM t", 36, "the end of the SELECT"),
        ],
    )
    def test_what_cannot_be_read_says_where_and_what_was_expected(self, text, position, expected):
        with pytest.raises(InvalidInputError) as caught:
            parse(text)
        assert caught.value.details["position"] == position
        assert caught.value.details["expected"].startswith(expected)
        assert f"character {position + 1}" in str(caught.value)

    def test_hostile_text_is_refused_quickly(self):
        for text in (
            "(" * 100_000,
            "NOT " * 100_000,
            "a = " + "-" * 50_000,
            "a = " + "(" * 50_000,
            "a = '" + "''" * 99_999,
        ):
            with pytest.raises(InvalidInputError):
                F.parse(text)

    def test_text_is_what_str_gives(self):
        filter = (F("year") >= 2020) & ~F("lang").in_(["de", "fr"]) & F("n").between(1, 2)
        assert str(filter) == "year >= 2020 AND NOT lang IN ('de', 'fr') AND n BETWEEN 1 AND 2"
        assert str(F("a b") == "O'Neil") == "\"a b\" = 'O''Neil'"

    def test_infinity_has_no_text(self):
        endless = F("k") < float("inf")
        with pytest.raises(InvalidInputError, match="inf cannot be written"):
            endless.to_text()
        assert "inf" in str(endless)


class TestWire:
    @settings(max_examples=200, deadline=None)
    @given(filters())
    def test_a_filter_survives_json(self, filter):
        there = json.loads(json.dumps(filter.to_wire(), allow_nan=False))
        back = Filter.from_wire(there)
        assert back.to_wire() == filter.to_wire()
        if "NaN" not in str(filter.to_wire()):
            assert back == filter

    def test_the_forms(self):
        assert (F("a") == "x").to_wire() == {"op": "eq", "key": "a", "value": "x"}
        assert F("a").not_in([1, True]).to_wire() == {"op": "nin", "key": "a", "values": [1, True]}
        left, right = {"op": "gt", "key": "a", "value": 1}, {"op": "contains", "key": "b", "value": "x"}
        both = (F("a") > 1) & F("b").contains("x")
        assert both.to_wire() == {"op": "and", "left": left, "right": right}
        assert (~both).to_wire() == {"op": "not", "expr": {"op": "and", "left": left, "right": right}}

    def test_between_and_typed_values_are_read(self):
        assert Filter.from_wire({"op": "between", "key": "a", "from": 1, "to": 2}) == F("a").between(1, 2)
        typed = {"op": "eq", "key": "a", "value": {"type": "long", "value": "9007199254740993"}}
        assert Filter.from_wire(typed) == (F("a") == 2**53 + 1)
        assert (F("a") == 2**53 + 1).to_wire() == typed
        ids = {"op": "in", "key": "a", "values": [{"type": "uuid", "value": "3F2504E0-4F89-41D3-9A0C-0305E82C3301"}]}
        assert Filter.from_wire(ids) == F("a").in_(["3f2504e0-4f89-41d3-9a0c-0305e82c3301"])

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (5, "filter is 5"),
            ({}, "op None"),
            ({"op": "like", "key": "a", "value": "x"}, "op 'like'"),
            ({"op": ["eq"]}, "op"),
            ({"op": "eq", "key": "a"}, "'eq' takes key and value, not key"),
            ({"op": "eq", "key": "a", "value": 1, "negate": True}, "not key, negate, value"),
            ({"op": "in", "key": "a", "values": "Ana"}, "in needs a list, not a string"),
            ({"op": "in", "key": "a", "values": None}, "in needs a list"),
            ({"op": "eq", "key": " ", "value": 1}, "blank"),
            ({"op": "eq", "key": "a", "value": None}, "no None"),
            ({"op": "eq", "key": "a", "value": {"x": 1}}, r"filter\.value is an object"),
            ({"op": "eq", "key": "a", "value": {"type": "long", "value": "x"}}, "'x' is no long"),
            ({"op": "not", "expr": {"op": "and", "left": {"op": "x"}, "right": {}}}, r"filter\.expr\.left has op 'x'"),
        ],
    )
    def test_another_shape_is_refused_with_its_place(self, value, message):
        with pytest.raises(InvalidInputError, match=message):
            Filter.from_wire(value)

    def test_json_that_nests_without_end_is_refused(self):
        deep = {"op": "eq", "key": "a", "value": 1}
        for _ in range(300):
            deep = {"op": "not", "expr": deep}
        with pytest.raises(InvalidInputError, match="200 deep"):
            Filter.from_wire(deep)


class Options(BaseModel):
    where: Filter | None = None


class TestField:
    def test_a_model_field_takes_a_filter_its_json_or_text(self):
        filter = (F("a") == 1) & ~(F("b") == "x")
        for given_as in (filter, filter.to_wire(), str(filter)):
            assert Options.model_validate({"where": given_as}).where == filter
        assert Options().where is None

    def test_a_model_field_goes_out_as_json(self):
        options = Options(where=F("a") == 1)
        assert options.model_dump(mode="json") == {"where": {"op": "eq", "key": "a", "value": 1}}
        assert options.model_dump() == options.model_dump(mode="json")
        assert Options.model_validate_json(options.model_dump_json()) == options
        assert Options.model_validate(options.model_dump()) == options

    def test_a_wrong_filter_is_a_validation_error_in_words(self):
        with pytest.raises(ValidationError, match="expected a value at character 5"):
            Options.model_validate({"where": "a = "})

    def test_the_json_schema_allows_both_forms(self):
        where = Options.model_json_schema()["properties"]["where"]
        assert {"type": "string"} in where["anyOf"][0]["anyOf"]


def test_nodes_print_as_what_they_are():
    assert repr(Not(And(F("a") == 1, Comparison("gt", "b", 2)))) == (
        "Not(expr=And(left=Comparison(op='eq', key='a', value=1), right=Comparison(op='gt', key='b', value=2)))"
    )
