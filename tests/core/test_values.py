"""Values become JSON for traces and the wire, whatever they are, and are not changed by being looked at."""

import datetime as dt
import decimal
import enum
import json
import math
import pathlib
import uuid
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, field_serializer
from pydantic.alias_generators import to_camel

from flowkit import Document, Flowkit, GenerateResponse, Message, Usage
from flowkit.core.values import to_json, to_plain
from tests.support.traced import Spans


class Order(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    main_dish: str
    note: str | None = None


@dataclass
class Table:
    number: int
    guests: tuple[str, ...] = ()


class Colour(enum.Enum):
    RED = "red"


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError("not a word")


class Broken(BaseModel):
    good: str = "fine"
    bad: Any = None

    @field_serializer("bad")
    def fail(self, value: object) -> object:
        raise RuntimeError("no")


Point = namedtuple("Point", "x y")

VALUES: list[tuple[Any, Any]] = [
    (None, None),
    (True, True),
    (2**80, 2**80),
    (1.5, 1.5),
    ("こんにちは 🍲", "こんにちは 🍲"),
    ("half \ud800 a pair", "half � a pair"),
    ({"bad \udfff": ["\ud800", 1]}, {"bad �": ["�", 1]}),
    ("a\x00b", "a\x00b"),
    (math.nan, "NaN"),
    ([math.inf, -math.inf], ["Infinity", "-Infinity"]),
    ([math.nan, "\ud800"], ["NaN", "�"]),
    ([-math.inf, "\ud800"], ["-Infinity", "�"]),
    (b"bytes", "bytes"),
    (b"\xff\xfe", "��"),
    (bytearray(b"\xff"), "�"),
    ({"a": None}, {"a": None}),
    ({1: "one", (1, 2): "pair", None: "none"}, {"1": "one", "1,2": "pair", "None": "none"}),
    ({"x", "y"} - {"y"}, ["x"]),
    (OrderedDict(a=1), {"a": 1}),
    (Point(1, 2), [1, 2]),
    (Colour.RED, "red"),
    (pathlib.PurePosixPath("a/b"), "a/b"),
    (decimal.Decimal("1.10"), "1.10"),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (dt.date(2024, 2, 29), "2024-02-29"),
    (dt.timedelta(seconds=90), "PT1M30S"),
    (Order(main_dish="soup"), {"mainDish": "soup", "note": None}),
    ([Order(main_dish="\ud800")], [{"mainDish": "�", "note": None}]),
    (Table(1, ("Ada",)), {"number": 1, "guests": ["Ada"]}),
    (Document.from_text("soup"), {"content": [{"text": "soup"}], "metadata": {}}),
    ([Document.from_text("soup", {"page": 1})], [{"content": [{"text": "soup"}], "metadata": {"page": 1}}]),
    (Usage(input_tokens=1), {"inputTokens": 1}),
    (
        GenerateResponse(message=Message.model("hi")),
        {"message": {"role": "model", "content": [{"text": "hi"}]}, "finishReason": "stop"},
    ),
    (np.arange(3), [0, 1, 2]),
    (np.float32(0.5), 0.5),
    ({"v": np.ones((1, 2))}, {"v": [[1.0, 1.0]]}),
    (Mute(), "<Mute>"),
    ({"m": Mute(), "ok": 1}, {"m": "<Mute>", "ok": 1}),
    (Broken(bad=1), {"good": "fine", "bad": 1}),
    (ValueError("x"), "ValueError('x')"),
]


@pytest.mark.parametrize(("value", "plain"), VALUES, ids=lambda v: type(v).__name__)
def test_any_value_has_a_json_form(value: Any, plain: Any):
    assert to_plain(value) == plain


def test_characters_are_written_as_they_are():
    assert to_json({"q": "こんにちは"}) == '{"q":"こんにちは"}'.encode()


def test_a_value_inside_itself_ends():
    twice: list[Any] = ["x"]
    twice.extend([twice, twice])
    loop: dict[str, Any] = {}
    loop["self"] = loop
    order = Order(main_dish="soup")
    object.__setattr__(order, "note", order)

    assert to_plain(twice) == ["x", "…", "…"]
    assert to_plain(loop) == {"self": "…"}
    assert "…" in to_json(order).decode() or "soup" in to_json(order).decode()


def test_the_same_value_twice_is_no_circle():
    shared = ["\ud800"]

    assert to_plain([shared, shared]) == [["�"], ["�"]]


def test_a_deep_value_ends():
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    assert len(to_json(deep)) < 200


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner, inner),
        max_leaves=20,
    )
)
def test_what_comes_out_is_json(value: Any):
    json.loads(to_json(value).decode())


async def test_looking_at_a_generator_does_not_empty_it(ai: Flowkit, spans: Spans):
    @ai.flow()
    async def total(numbers: Any, times: int = 1) -> int:
        return int(sum(numbers)) * times

    @ai.flow()
    def hands_on() -> Any:
        return (n for n in range(4))

    assert await total(n for n in range(4)) == 6
    assert await total((n for n in range(4)), times=2) == 12
    assert await ai.run("step", sum, (n for n in range(4))) == 6
    assert await ai.run("step", sum, (n for n in range(4)), 1) == 7
    assert sum(await hands_on()) == 6
    assert all(b"<generator object" in (span.input or b"") + (span.output or b"") for span in spans)
