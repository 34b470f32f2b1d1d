"""A function's parameters are its input: every form registers, has a schema, and is called as it is written."""

import functools
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from flowkit import Flowkit, RunContext
from tests.core.signature_forms import (
    Kitchen,
    Order,
    Table,
    awkward,
    bounded,
    context_and_one,
    data,
    hands_on,
    keywords,
    kitchen,
    letters,
    model,
    model_and_more,
    mutable,
    nothing,
    numbers,
    one,
    one_and_context,
    one_and_optional_context,
    one_and_perhaps_context,
    one_keyword,
    only_context,
    positional_only,
    slow,
    two,
    untyped,
    with_default,
)

FORMS: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], Any]] = [
    (nothing, (), {}, "nothing"),
    (only_context, (), {}, "RunContext"),
    (one, ("a",), {}, "a"),
    (one, (), {"x": "a"}, "a"),
    (one_and_context, ("a",), {}, "aRunContext"),
    (context_and_one, ("a",), {}, "aRunContext"),
    (one_and_perhaps_context, ("a",), {}, "aRunContext"),
    (one_and_optional_context, ("a",), {}, "aRunContext"),
    (with_default, (), {}, 3),
    (with_default, (4,), {}, 4),
    (keywords, (), {"q": "a"}, "aaa"),
    (keywords, ({"q": "a", "k": 1},), {}, "a"),
    (one_keyword, (), {"q": "a"}, "a"),
    (one_keyword, ({"q": "a"},), {}, "a"),
    (two, (3, 1), {}, 2),
    (two, (3,), {"b": 1}, 2),
    (two, (), {"b": 1, "a": 3}, 2),
    (two, ({"a": 3, "b": 1},), {}, 2),
    (positional_only, (3,), {}, 2),
    (positional_only, ({"a": 3, "b": 0},), {}, 3),
    (untyped, ({"any": [1]},), {}, {"any": [1]}),
    (model, (Order(dish="soup"),), {}, "1 soup"),
    (model, ({"dish": "soup", "count": 2},), {}, "2 soup"),
    (data, (Table(2),), {}, 8),
    (data, ({"number": 2},), {}, 8),
    (model_and_more, (Order(dish="soup"), Table(7)), {"note": "!"}, "soup at 7!"),
    (model_and_more, ({"order": {"dish": "soup"}, "table": {"number": 7}},), {}, "soup at 7"),
    (bounded, (), {}, 2),
    (awkward, ("s", 1, "i"), {}, "s1i123"),
    (mutable, (), {}, 0),
    (slow, ("a",), {}, "a"),
    (letters, ("abc",), {}, "abc"),
    (letters, ("",), {}, ""),
    (numbers, (3,), {}, [0, 1, 2]),
    (hands_on, ("a",), {}, "a"),
    (kitchen.cook, ("soup",), {}, "soup by Ada"),
    (kitchen.cook_slowly, ("soup",), {}, "soup by Ada"),
    (kitchen, ("soup",), {"hot": False}, "soup cold"),
    (Kitchen.price, ("soup",), {}, 4),
    (Kitchen.__dict__["price"], ("soup",), {}, 4),
    (Kitchen.rating, (5,), {}, "Kitchen 5"),
    (functools.partial(two, 5), (1,), {}, 4),
    (functools.partial(two, b=5), (6,), {}, 1),
    (functools.partial(slow), ("a",), {}, "a"),
    (functools.partial(letters), ("ab",), {}, "ab"),
    (lambda x: x, ("a",), {}, "a"),
    (lambda x: slow(x), ("a",), {}, "a"),
    (Table, (), {"number": 3}, Table(3)),
    (len, ("abc",), {}, 3),
]


def form(case: tuple[Any, ...]) -> str:
    fn, args, kwargs, _ = case
    given = [*map(repr, args), *(f"{key}={value!r}" for key, value in kwargs.items())]
    return f"{getattr(fn, '__qualname__', type(fn).__name__)}({', '.join(given)})"


@pytest.mark.parametrize("case", FORMS, ids=form)
async def test_an_action_is_called_as_its_function_is(ai: Flowkit, case: tuple[Any, ...]):
    fn, args, kwargs, expected = case

    action = ai.flow("it")(fn)

    assert await action(*args, **kwargs) == expected


SCHEMAS: list[tuple[Callable[..., Any], Any]] = [
    (nothing, None),
    (only_context, None),
    (one, {"type": "string"}),
    (context_and_one, {"type": "string"}),
    (with_default, {"type": "integer", "default": 3}),
    (untyped, {}),
    (bounded, {"type": "integer", "minimum": 1, "maximum": 9, "default": 2}),
    (functools.partial(two, 5), {"type": "integer"}),
    (kitchen.cook, {"type": "string"}),
    (len, {}),
]


@pytest.mark.parametrize(("fn", "schema"), SCHEMAS)
def test_one_parameter_is_the_input_itself(ai: Flowkit, fn: Callable[..., Any], schema: Any):
    assert ai.flow("it")(fn).input_schema == schema


OBJECTS: list[tuple[Callable[..., Any], list[str], dict[str, Any]]] = [
    (two, ["a", "b"], {}),
    (positional_only, ["a"], {"b": 1}),
    (keywords, ["q"], {"k": 3}),
    (one_keyword, ["q"], {}),
    (awkward, ["schema", "copy", "input"], {"json": 1, "model_config": 2, "self_": 3}),
    (mutable, [], {"items": [], "more": {}}),
    (kitchen, ["dish"], {"hot": True}),
    (functools.partial(two, b=5), ["a"], {"b": 5}),
]


@pytest.mark.parametrize(("fn", "required", "defaults"), OBJECTS)
def test_several_parameters_are_an_object_with_required_fields_and_defaults(
    ai: Flowkit, fn: Callable[..., Any], required: list[str], defaults: dict[str, Any]
):
    schema = ai.flow("it")(fn).input_schema

    assert schema is not None
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert schema.get("required", []) == required
    assert {name: p["default"] for name, p in schema["properties"].items() if "default" in p} == defaults


def test_a_model_in_the_input_keeps_its_own_rule_about_other_keys(ai: Flowkit):
    schema = ai.flow("it")(model_and_more).input_schema

    assert schema is not None
    assert "additionalProperties" not in schema["$defs"]["Table"]


def test_generators_have_a_chunk_schema_and_the_schema_of_all_they_yield(ai: Flowkit):
    text, listed = ai.flow("letters")(letters), ai.flow("numbers")(numbers)

    assert (text.chunk_schema, text.output_schema) == ({"type": "string"}, {"type": "string"})
    assert (listed.chunk_schema, listed.output_schema) == (
        {"type": "integer"},
        {"type": "array", "items": {"type": "integer"}},
    )
    assert ai.flow("one")(one).chunk_schema is None


async def test_a_generator_without_annotation_gives_text_when_all_it_yields_is_text(ai: Flowkit):
    @ai.flow()
    async def mixed(last: Any):
        yield "a"
        yield last

    assert await mixed("b") == "ab"
    assert await mixed(1) == ["a", 1]


async def test_a_generator_that_may_yield_more_than_text_gives_a_list_though_it_yields_text(ai: Flowkit):
    @ai.flow()
    async def mixed() -> AsyncIterator[str | int]:
        yield "a"

    assert await mixed() == ["a"]


def test_a_description_is_the_first_line_of_the_docstring(ai: Flowkit):
    assert ai.flow("a")(kitchen.cook).description == "Cook one dish."
    assert ai.flow("b")(functools.partial(kitchen.cook)).description == "Cook one dish."
    assert ai.flow("c")(kitchen).description == "Cooks."
    assert ai.flow("d")(one).description is None


def test_a_name_may_be_left_out(ai: Flowkit):
    assert ai.flow(one).name == "one"
    assert ai.flow()(two).name == "two"
    assert ai.flow(kitchen).name == "Kitchen"
    assert ai.flow(kitchen.cook).name == "cook"
    assert ai.flow(functools.partial(slow)).name == "slow"


async def test_none_reaches_a_parameter_that_may_be_none_and_stands_for_the_default_of_others(ai: Flowkit):
    @ai.flow()
    async def optional(x: int | None = 5) -> str:
        return repr(x)

    @ai.flow()
    async def plain(x: int = 5) -> str:
        return repr(x)

    assert await optional(None) == "None"
    assert await optional() == "5"
    assert await plain(None) == "5"


async def test_an_input_called_context_is_an_input(ai: Flowkit):
    @ai.flow()
    async def answer(question: str, context: list[str], ctx: RunContext) -> str:
        return f"{question} {context} {ctx.auth}"

    assert await answer("q", context=["a"]) == "q ['a'] None"
    assert await answer.run({"question": "q", "context": ["a"]}, context={"auth": "ada"}) == "q ['a'] ada"


async def test_a_mapping_may_be_the_first_of_several_arguments(ai: Flowkit):
    @ai.flow()
    async def count(rows: dict[str, int], times: int = 2) -> int:
        return len(rows) * times

    assert await count({"a": 1, "b": 2}) == 4
    assert await count({"rows": {"a": 1}, "times": 5}) == 5


async def test_one_function_may_be_a_flow_and_a_tool(ai: Flowkit):
    @ai.flow()
    @ai.tool()
    async def both(x: str, ctx: RunContext) -> str:
        return f"{x} {ctx.auth}"

    assert await both("a", context={"auth": 1}) == "a 1"
    assert await ai.registry.get("/tool/both") is not both


async def test_a_decorated_function_keeps_its_parameters(ai: Flowkit):
    def shout(fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        async def loud(*args: Any, **kwargs: Any) -> str:
            return str(await fn(*args, **kwargs)).upper()

        return loud

    @ai.flow()
    @shout
    async def say(word: str, times: int = 2) -> str:
        return word * times

    assert await say("a") == "AA"
    assert say.input_schema is not None
    assert list(say.input_schema["properties"]) == ["word", "times"]
