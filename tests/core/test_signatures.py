"""A function's parameters are its input: every form registers, has a schema, and is called as it is written."""

import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Optional

import pytest
from pydantic import BaseModel, Field

from flowkit import Flowkit, RunContext
from flowkit.errors import ConfigError, FlowkitError, InvalidInputError, InvalidOutputError


class Order(BaseModel):
    dish: str
    count: int = 1


@dataclass
class Table:
    number: int
    seats: int = 4


class Kitchen:
    """Cooks."""

    def __init__(self, name: str) -> None:
        self.name = name

    def cook(self, dish: str) -> str:
        """Cook one dish."""
        return f"{dish} by {self.name}"

    async def cook_slowly(self, dish: str) -> str:
        return f"{dish} by {self.name}"

    @staticmethod
    def price(dish: str) -> int:
        return len(dish)

    @classmethod
    def rating(cls, stars: int) -> str:
        return f"{cls.__name__} {stars}"

    def __call__(self, dish: str, hot: bool = True) -> str:
        return f"{dish} {'hot' if hot else 'cold'}"


def nothing() -> str:
    return "nothing"


def only_context(ctx: RunContext) -> str:
    return type(ctx).__name__


def one(x: str) -> str:
    return x


def one_and_context(x: str, ctx: RunContext) -> str:
    return x + type(ctx).__name__


def context_and_one(ctx: RunContext, x: str) -> str:
    return x + type(ctx).__name__


def one_and_perhaps_context(x: str, ctx: RunContext | None = None) -> str:
    return x + type(ctx).__name__


def one_and_optional_context(x: str, ctx: Optional["RunContext"] = None) -> str:
    return x + type(ctx).__name__


def with_default(x: int = 3) -> int:
    return x


def keywords(*, q: str, k: int = 3) -> str:
    return q * k


def one_keyword(*, q: str) -> str:
    return q


def two(a: int, b: int) -> int:
    return a - b


def positional_only(a: int, /, b: int = 1) -> int:
    return a - b


def untyped(x):
    return x


def model(order: Order) -> str:
    return f"{order.count} {order.dish}"


def data(table: Table) -> int:
    return table.number * table.seats


def model_and_more(order: Order, table: Table, note: str = "") -> str:
    return f"{order.dish} at {table.number}{note}"


def bounded(k: Annotated[int, Field(ge=1, le=9)] = 2) -> int:
    return k


def awkward(schema: str, copy: int, input: str, json: int = 1, model_config: int = 2, self_: int = 3) -> str:
    return f"{schema}{copy}{input}{json}{model_config}{self_}"


def mutable(items: list[int] = [], more: dict[str, int] = {}) -> int:  # noqa: B006  this is what is tested
    return len(items) + len(more)


async def slow(x: str) -> str:
    return x


async def letters(text: str) -> AsyncIterator[str]:
    for letter in text:
        yield letter


def numbers(n: int) -> Iterator[int]:
    yield from range(n)


def hands_on(x: str) -> Awaitable[str]:
    return slow(x)


kitchen = Kitchen("Ada")

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


# What is refused.


def stars(*rest: int) -> None: ...
def double_stars(**rest: int) -> None: ...
def unknown_type(a: int, b: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821
def field_default(k: int = Field(3, ge=1)) -> None: ...
def untyped_context(x: str, ctx) -> None: ...
def two_contexts(a: RunContext, b: RunContext) -> None: ...


@pytest.mark.parametrize(
    ("fn", "message", "hint"),
    [
        (stars, "*rest has no schema", "name every parameter"),
        (double_stars, "**rest has no schema", "name every parameter"),
        (unknown_type, "parameter 'b'", "at module level"),
        (field_default, "parameter 'k'", "Annotated"),
        (untyped_context, "parameter 'ctx' has no type", "RunContext"),
        (two_contexts, "two contexts", "one RunContext"),
        (Kitchen.cook, "a method without its object", "bound method"),
        (max, "flow 'it'", "wrap it in a function"),
        (print, "*args has no schema", "name every parameter"),
        (3, "int is not callable", "decorate a function"),
    ],
)
def test_a_signature_without_a_schema_is_refused_with_a_hint(ai: Flowkit, fn: Any, message: str, hint: str):
    with pytest.raises(ConfigError) as caught:
        ai.flow("it")(fn)

    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


class Opaque:
    """Nothing that pydantic knows."""


async def test_a_type_that_pydantic_does_not_know_is_named_with_its_parameter(ai: Flowkit):
    def single(thing: Opaque) -> None: ...
    def several(name: str, thing: Opaque) -> None: ...

    for fn in (single, several):
        action = ai.flow(fn.__name__)(fn)
        with pytest.raises(ConfigError, match=r"parameter 'thing'.*Opaque"):
            _ = action.input_schema
        with pytest.raises(ConfigError, match="parameter 'thing'"):
            await action.run({"name": "x", "thing": 1})


async def test_a_type_without_json_form_still_runs_and_lists(ai: Flowkit):
    @ai.flow()
    def apply(fn: Callable[[int], int], x: int = 2) -> int:
        return fn(x)

    assert await apply(lambda x: x * 2) == 4
    assert apply.input_schema is not None
    assert apply.input_schema["properties"]["x"]["type"] == "integer"


@pytest.mark.parametrize(
    ("fn", "args", "kwargs", "message"),
    [
        (two, (1, 2, 3), {}, "takes 2 positional arguments, 3 were given"),
        (two, (1,), {"a": 1}, "got 'a' twice"),
        (two, (1, 2), {"c": 1}, "has no parameter 'c'"),
        (keywords, ("a",), {}, "takes 0 positional arguments, 1 were given"),
        (nothing, ("a",), {}, "takes 0 positional arguments, 1 were given"),
    ],
)
def test_a_call_that_the_function_cannot_take_is_refused_at_once(
    ai: Flowkit, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], message: str
):
    action = ai.flow("it")(fn)

    with pytest.raises(InvalidInputError, match=message):
        action(*args, **kwargs)


@pytest.mark.parametrize(
    ("fn", "value", "paths"),
    [
        (one, 3, [""]),
        (two, {"a": "x", "b": 1}, ["a"]),
        (two, {"a": 1}, ["b"]),
        (two, {"a": 1, "b": 2, "c": 3}, ["c"]),
        (two, {"a": 1, "c": 3}, ["c", "b"]),
        (two, [1, 2], [""]),
        (model, {"count": "many"}, ["dish", "count"]),
        (model_and_more, {"order": {"dish": 1}, "table": {"number": "x"}}, ["order.dish", "table.number"]),
        (bounded, 10, [""]),
        (nothing, "x", [""]),
    ],
)
async def test_a_bad_input_is_refused_with_the_path_of_each_field(
    ai: Flowkit, fn: Callable[..., Any], value: Any, paths: list[str]
):
    action = ai.flow("it")(fn)

    with pytest.raises(InvalidInputError) as caught:
        await action.run(value)

    assert [problem["path"] for problem in caught.value.details["errors"]] == paths
    assert caught.value.http_status == 400


@pytest.mark.parametrize("value", [None, {}])
async def test_tools_that_send_nothing_in_other_words_reach_a_flow_without_input(ai: Flowkit, value: Any):
    assert await ai.flow("it")(nothing).run(value) == "nothing"


async def test_an_input_that_is_missing_is_missed(ai: Flowkit):
    action = ai.flow("it")(one)

    with pytest.raises(InvalidInputError, match="needs an input"):
        await action.run()
    assert action.signature.needs_input


async def test_what_a_function_returns_is_held_to_its_annotation(ai: Flowkit):
    @ai.flow()
    async def order() -> Order:
        return {"dish": "soup"}  # type: ignore[return-value]

    @ai.flow()
    async def wrong() -> list[Order]:
        return [{"dish": "soup"}, {"count": 2}]  # type: ignore[list-item]

    assert await order() == Order(dish="soup")
    with pytest.raises(InvalidOutputError) as caught:
        await wrong()
    assert caught.value.details == {"errors": [{"path": "1.dish", "message": "Field required"}]}


async def test_what_a_generator_yields_is_held_to_its_annotation(ai: Flowkit):
    @ai.flow()
    async def wrong() -> AsyncIterator[int]:
        yield 1
        yield "x"  # type: ignore[misc]

    with pytest.raises(InvalidOutputError, match="yielded"):
        await wrong()


def test_every_refusal_is_an_error_of_ours():
    assert issubclass(ConfigError, FlowkitError)
    assert issubclass(InvalidInputError, FlowkitError)
