"""The parser of the filter text, a small part of SQL.

    parse("year BETWEEN 1990 AND 1999 AND (genre IN ('comedy', 'drama') OR NOT rating < 7)")
    parse("SELECT * FROM movies WHERE year = YEAR(CURDATE()) - 1")

Comparisons have the key on the left: `= == != <> > >= < <=`, `[NOT] IN`, `[NOT] BETWEEN`, and our own `[NOT] CONTAINS`.
They are joined by NOT, AND, OR (in that order) and parentheses. Strings stand in single quotes, keys that are no plain
words in double quotes or backticks. Values may be computed with `+ - * /` on numbers of one type (dividing integers
drops the fraction) and from the date: YEAR, MONTH, WEEKOFYEAR, DAYOFYEAR, DAYOFMONTH and DAYOFWEEK of `CURDATE()`, or
`EXTRACT(field FROM CURRENT_DATE)`. A date function around a key is dropped. There is no LIKE and no IS NULL.
"""

import math
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from flowkit.errors import InvalidInputError
from flowkit.schema.filters.ast import MAX_DEPTH, And, Comparison, ComparisonOp, Filter, Membership, Not, Or
from flowkit.schema.filters.dates import CURRENT, EXTRACT_FIELDS, FUNCTIONS, Clock, date_field, local_now
from flowkit.schema.filters.lex import RESERVED, Token, fail, tokens

__all__ = ["Clock", "parse"]

Value = str | bool | int | float
Built = TypeVar("Built")

_COMPARISONS: dict[str, ComparisonOp] = {
    "=": "eq",
    "==": "eq",
    "!=": "ne",
    "<>": "ne",
    ">": "gt",
    ">=": "gte",
    "<": "lt",
    "<=": "lte",
}
_JOINS = {"OR": 1, "AND": 2}
_SUMS = {"+": 1, "-": 1, "*": 2, "/": 2}
_AFTER_WHERE = frozenset({"ORDER", "LIMIT", "OFFSET", "FETCH"})


def parse(text: str, *, clock: Clock | None = None) -> Filter:
    """Read a condition, or a whole SELECT, whose WHERE is taken.

    `clock` is read at most once; default is the local time now.

    Raises:
        InvalidInputError: the text is no filter; the message names the position and what was expected there.
    """
    if not isinstance(text, str):
        raise InvalidInputError(f"a filter text is a string, not {text!r}")
    return _Parser(text, clock or local_now).filter()


class _Parser:
    def __init__(self, text: str, clock: Clock) -> None:
        self._text = text
        self._clock = clock
        self._now: datetime | None = None
        self._tokens = tokens(text)
        self._at = 0
        self._open = 0
        self._tables: set[str] = set()

    def filter(self) -> Filter:
        select = self._select()
        found = self._condition(1)
        if select and self._next.keyword in _AFTER_WHERE:
            self._skip_order()
        self._accept(";")
        if self._next.kind != "end":
            raise self._expected("AND, OR or the end")
        return found

    # Reading tokens

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._tokens[self._at]
        if token.kind != "end":
            self._at += 1
        return token

    def _accept(self, word: str) -> bool:
        """Take the symbol or keyword when it comes next."""
        token = self._next
        if token.keyword == word or (token.kind == "symbol" and token.text == word):
            self._at += 1
            return True
        return False

    def _require(self, word: str) -> None:
        if not self._accept(word):
            raise self._expected(repr(word) if len(word) == 1 else word)

    def _expected(self, what: str, *, at: Token | None = None, hint: str | None = None) -> InvalidInputError:
        token = at or self._next
        return fail(self._text, token.position, what, str(token), hint)

    def _nest(self) -> None:
        self._open += 1
        if self._open > MAX_DEPTH:
            raise self._expected(f"at most {MAX_DEPTH} nested parentheses and NOTs")

    # Conditions

    def _condition(self, loosest: int) -> Filter:
        left = self._one_condition()
        while (strength := _JOINS.get(self._next.keyword, 0)) >= loosest:
            joint = self._take()
            right = self._condition(strength + 1)
            join: type[And] | type[Or] = And if strength == 2 else Or
            left = self._build(joint, lambda: join(left, right))  # noqa: B023
        return left

    def _one_condition(self) -> Filter:
        first = self._next
        if self._accept("NOT"):
            self._nest()
            inner = self._one_condition()
            self._open -= 1
            return self._build(first, lambda: Not(inner))
        if self._accept("("):
            self._nest()
            inner = self._condition(1)
            self._require(")")
            self._open -= 1
            return inner
        return self._comparison()

    def _comparison(self) -> Filter:
        key = self._key()
        sign = self._take()
        if sign.kind == "symbol" and sign.text in _COMPARISONS:
            value = self._value(1)
            return self._build(sign, lambda: Comparison(_COMPARISONS[sign.text], key, value))
        negated = sign.keyword == "NOT"
        word = self._take() if negated else sign
        match word.keyword:
            case "IN":
                values = self._list()
                return self._build(word, lambda: Membership("nin" if negated else "in", key, values))
            case "BETWEEN":
                low = self._value(1)
                self._require("AND")
                high = self._value(1)
                found: Filter = self._build(
                    word, lambda: And(Comparison("gte", key, low), Comparison("lte", key, high))
                )
            case "CONTAINS":
                value = self._value(1)
                found = self._build(word, lambda: Comparison("contains", key, value))
            case _ if negated:
                raise self._expected("IN, BETWEEN or CONTAINS", at=word)
            case _:
                hint = (
                    'a key with such characters is written in double quotes: "a-b"'
                    if word.text in tuple("-+/*")
                    else None
                )
                raise self._expected("a comparison such as =, >= or IN", at=word, hint=hint)
        return Not(found) if negated else found

    def _build(self, at: Token, make: Callable[[], Built]) -> Built:
        """Make a node; what it refuses is reported with its position."""
        try:
            return make()
        except InvalidInputError as error:
            raise fail(self._text, at.position, "a legal comparison", f"{at}: {error.message}", error.hint) from error

    def _key(self) -> str:
        token = self._take()
        if token.keyword in RESERVED or token.kind not in ("word", "quoted"):
            hint = None
            if token.kind in ("string", "number"):
                hint = "the key stands on the left; write it without quotes, or in double quotes"
            elif token.keyword in RESERVED:
                hint = "a key that is a keyword is written in double quotes"
            raise self._expected("a key", at=token, hint=hint)
        if token.kind == "word" and self._accept("("):
            return self._key_in_function(token)
        parts = [token.value]
        while self._next.kind == "symbol" and self._accept("."):
            part = self._take()
            if part.kind not in ("word", "quoted"):
                raise self._expected("the rest of the key", at=part)
            parts.append(part.value)
        key = ".".join(parts)
        table, _, column = key.partition(".")
        return column if column and table.casefold() in self._tables else key

    def _key_in_function(self, function: Token) -> str:
        if function.keyword == "EXTRACT":
            self._field()
            self._require("FROM")
        elif function.keyword not in FUNCTIONS:
            raise self._expected(f"one of {', '.join(FUNCTIONS)}", at=function, hint="other functions are not read")
        key = self._key()
        self._require(")")
        return key

    # Values

    def _list(self) -> tuple[Value, ...]:
        self._require("(")
        values: list[Value] = []
        if self._accept(")"):
            return ()
        while True:
            values.append(self._value(1))
            if self._accept(")"):
                return tuple(values)
            if not self._accept(","):
                raise self._expected("',' or ')'")

    def _value(self, loosest: int) -> Value:
        left = self._one_value()
        while self._next.kind == "symbol" and (strength := _SUMS.get(self._next.text, 0)) >= loosest:
            sign = self._take()
            left = self._calculate(sign, left, self._value(strength + 1))
        return left

    def _one_value(self) -> Value:
        token = self._take()
        match token.kind:
            case "string":
                return token.value
            case "number":
                return self._number(token)
            case "symbol" if token.text in "+-":
                self._nest()
                value = self._one_value()
                self._open -= 1
                if isinstance(value, bool) or not isinstance(value, int | float):
                    raise self._expected("a number after the sign", at=token)
                return -value if token.text == "-" else value
            case "symbol" if token.text == "(":
                self._nest()
                value = self._value(1)
                self._require(")")
                self._open -= 1
                return value
            case "word":
                return self._word_value(token)
            case _:
                raise self._expected("a value", at=token, hint=_quote_hint(token))

    def _word_value(self, token: Token) -> Value:
        if token.keyword in ("TRUE", "FALSE"):
            return token.keyword == "TRUE"
        if token.keyword == "EXTRACT":
            self._require("(")
            field = self._field()
            self._require("FROM")
            return self._moment(field)
        if token.keyword in FUNCTIONS:
            self._require("(")
            return self._moment(FUNCTIONS[token.keyword])
        raise self._expected("a value", at=token, hint=_quote_hint(token))

    def _field(self) -> str:
        token = self._take()
        if token.keyword not in EXTRACT_FIELDS:
            raise self._expected(f"one of {', '.join(EXTRACT_FIELDS)}", at=token)
        return token.keyword

    def _moment(self, field: str) -> int:
        """`CURDATE())` or `CURRENT_DATE)`, whose field is read off the clock."""
        token = self._take()
        if token.keyword == "CURDATE":
            self._require("(")
            self._require(")")
        elif token.keyword not in CURRENT:
            raise self._expected("CURDATE() or CURRENT_DATE", at=token)
        self._require(")")
        if self._now is None:
            self._now = self._clock()
        return date_field(field, self._now)

    def _number(self, token: Token) -> int | float:
        if not token.text.isdecimal():
            value = float(token.text)
            if not math.isfinite(value):
                raise self._expected("a number that fits in 64 bits", at=token)
            return value
        digits = token.text.lstrip("0") or "0"
        if len(digits) > 19:
            raise self._expected("an integer of 64 bits", at=token)
        return int(digits)

    def _calculate(self, sign: Token, left: Value, right: Value) -> int | float:
        if type(left) is int and type(right) is int:
            if sign.text == "/":
                if right == 0:
                    raise self._expected("no division by zero", at=sign)
                quotient = abs(left) // abs(right)
                return quotient if (left < 0) == (right < 0) else -quotient
            return left + right if sign.text == "+" else left - right if sign.text == "-" else left * right
        if type(left) is float and type(right) is float:
            return self._calculate_float(sign, left, right)
        raise self._expected("two integers, or two decimals", at=sign, hint="write 2.0 to calculate with decimals")

    def _calculate_float(self, sign: Token, left: float, right: float) -> float:
        if sign.text == "/" and right == 0:
            raise self._expected("no division by zero", at=sign)
        result = {
            "+": lambda: left + right,
            "-": lambda: left - right,
            "*": lambda: left * right,
            "/": lambda: left / right,
        }[sign.text]()
        if not math.isfinite(result):
            raise self._expected("a result that fits in 64 bits", at=sign)
        return result

    # SELECT … FROM … WHERE

    def _select(self) -> bool:
        if self._next.keyword != "SELECT":
            return False
        after = self._tokens[self._at + 1]
        if after.text in _COMPARISONS:
            raise self._expected("a key", hint="a key that is a keyword is written in double quotes")
        self._take()
        depth = columns = 0
        while depth or self._next.keyword != "FROM":
            token = self._take()
            if token.kind == "end":
                raise self._expected("FROM", at=token)
            depth += (token.text == "(") - (token.text == ")")
            columns += 1
        if not columns:
            raise self._expected("the columns to select")
        self._require("FROM")
        self._table()
        if not self._accept("WHERE"):
            raise self._expected("WHERE", hint="one table, no JOIN; only the condition becomes a filter")
        return True

    def _table(self) -> None:
        """The table and its alias: `movies.year` then means the key `year`."""
        name = self._take()
        if name.kind not in ("word", "quoted"):
            raise self._expected("a table", at=name)
        self._tables = {name.value.casefold(), name.value.casefold().rpartition(".")[2]}
        self._accept("AS")
        if self._next.kind == "quoted" or (self._next.kind == "word" and self._next.keyword != "WHERE"):
            alias = self._take()
            if alias.keyword in ("JOIN", "LEFT", "RIGHT", "INNER", "OUTER", "CROSS", "FULL", "NATURAL"):
                raise self._expected("WHERE", at=alias, hint="one table, no JOIN")
            self._tables.add(alias.value.casefold())

    def _skip_order(self) -> None:
        """ORDER BY, LIMIT and the like say nothing about which rows match."""
        while self._next.kind != "end" and self._next.text != ";":
            token = self._take()
            if token.keyword in ("UNION", "INTERSECT", "EXCEPT", "WHERE", "HAVING", "GROUP", "SELECT"):
                raise self._expected("the end of the SELECT", at=token)


def _quote_hint(token: Token) -> str | None:
    if token.kind == "word":
        return f"text stands in single quotes: '{token.text[:40]}'"
    return "text stands in single quotes; double quotes are for keys" if token.kind == "quoted" else None
