"""What does not fit a signature is refused: functions with a hint, inputs with the path of each field."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from pydantic import Field

from flowkit import Flowkit, RunContext
from flowkit.errors import ConfigError, FlowkitError, InvalidInputError, InvalidOutputError
from tests.core.signature_forms import (
    Kitchen,
    Order,
    bounded,
    keywords,
    model,
    model_and_more,
    nothing,
    one,
    two,
)


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
