"""Functions with every form of signature."""

from collections.abc import AsyncIterator, Awaitable, Iterator
from dataclasses import dataclass
from typing import Annotated, Optional

from pydantic import BaseModel, Field

from flowkit import RunContext


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
