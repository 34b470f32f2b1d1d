"""The app that the tests of the developer UI look at: every kind of action, made of fakes.

    flowkit start tests/ui/app.py

A step that the test lets go waits for a file of that name beside the app (see `gate`).
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from flowkit import Document, Flowkit, GenerateRequest, GenerateResponse, RunContext
from flowkit.schema.messages import Message
from flowkit.schema.model import ModelInfo, ModelSupports, Usage
from flowkit.testing import FakeEmbedder
from flowkit_devstore import DevStore

HERE = Path.cwd()
HOSTILE = (
    '<img src=x onerror="window.__xss=1"><script>window.__xss=1</script> '
    "[click](javascript:window.__xss=1) ![picture](https://evil.example/pixel.png) <b>bold</b>"
)

ai = Flowkit(
    plugins=[FakeEmbedder(dimension=32), DevStore("menu", embedder="fake-embedder")],
    model="waiter",
)
log = logging.getLogger("menu")
log.setLevel(logging.INFO)


class Address(BaseModel):
    """Where it is brought."""

    street: str
    city: str = "Kyoto"


class Dish(BaseModel):
    """One line of an order."""

    name: str
    price: float = Field(ge=0, le=1000, description="In euros.")


class Card(BaseModel):
    kind: Literal["card"] = "card"
    number: str = Field(min_length=4, max_length=19)


class Cash(BaseModel):
    kind: Literal["cash"] = "cash"
    tip: int = 0


class Order(BaseModel):
    """What somebody wants to eat."""

    guest: str = Field(min_length=1, description="Who orders.")
    people: int = Field(ge=1, le=12)
    course: Literal["starter", "main", "dessert"]
    dishes: list[Dish] = []
    vegan: bool = False
    on: date | None = None
    address: Address | None = None
    payment: Annotated[Card | Cash, Field(discriminator="kind")] | None = None
    note: str | None = Field(None, max_length=500)


class Receipt(BaseModel):
    order: Order
    total: float


async def gate(name: str) -> None:
    """Go on when a test has made the file `go-<name>`; at once where no test has closed the gates."""
    while (HERE / "gates").exists() and not (HERE / f"go-{name}").exists():
        await asyncio.sleep(0.02)


@ai.flow("takeOrder")
async def take_order(order: Order) -> Receipt:
    """Take an order, and say what it costs."""
    return Receipt(order=order, total=sum(dish.price for dish in order.dishes))


@ai.flow("echo")
async def echo(value: Any = None) -> Any:
    """Give back what was given."""
    return value


@ai.flow("hello")
async def hello(name: str) -> str:
    """Greet somebody."""
    log.info("greeting %s", name)
    return f"Hello, {name}!"


@ai.flow("countUp")
async def count_up(n: int = 5) -> AsyncIterator[str]:
    """Stream numbers, one after the other."""
    for number in range(n):
        await gate(f"chunk-{number}")
        yield f"number {number} "


@ai.flow("threeSteps")
async def three_steps(dish: str = "soup") -> list[str]:
    """Cook in three steps."""
    return [await ai.run(name, prepare, name, dish) for name in ("wash", "cut", "cook")]


async def prepare(how: str, dish: str) -> str:
    await gate(how)
    return f"{how} {dish}"


@ai.flow("sleep")
async def sleep(seconds: float = 60.0) -> str:
    """Sleep for long, unless it is cancelled."""
    await asyncio.sleep(seconds)
    return "awake"


@ai.flow("boom")
async def boom(dish: str = "soup") -> str:
    """Fail, for a reason that has a reason."""
    log.error("the kitchen is on fire")
    return await ai.run("fetch-dish", fetch, dish)


async def fetch(dish: str) -> str:
    try:
        return {"cake": "a cake"}[dish]
    except KeyError as error:
        raise ValueError(f"there is no {dish} today") from error


@ai.flow("hostile")
async def hostile(text: str = HOSTILE) -> dict[str, Any]:
    """Answer with <script>window.__xss=1</script> and the like."""
    log.warning("hostile: %s", HOSTILE)
    return {"text": text, "<b>key</b>": HOSTILE, "link": "javascript:window.__xss=1"}


@ai.flow("large")
async def large(megabytes: float = 5.0) -> str:
    """Answer with a lot of text."""
    return "0123456789abcdef" * int(megabytes * 65_536)


@ai.flow("askMenu")
async def ask_menu(question: str, ctx: RunContext) -> str:
    """Answer a question from the menu: retrieve, rerank, generate."""
    hits = await ai.retrieve("menu", question, k=4)
    best = await ai.rerank("byWords", query=question, documents=hits)
    response = await ai.generate(
        prompt=question, docs=list(best)[:2], on_chunk=lambda chunk: ctx.send_chunk(chunk.text)
    )
    return response.text


DISHES = (
    ("Tomato soup with basil. A light starter, vegan, 5 euros.", {"source": "menu.pdf", "page": 1, "price": 5}),
    ("Vegan lasagne with spinach and tofu, 12 euros.", {"source": "menu.pdf", "page": 2, "price": 12}),
    ("Beef stew with carrots, cooked for six hours, 18 euros.", {"source": "menu.pdf", "page": 2, "price": 18}),
    ("Chocolate cake with cherries, 6 euros.", {"source": "menu.pdf", "page": 3, "price": 6}),
    ("Green tea from Uji, 4 euros. 宇治の緑茶。", {"source": "drinks.md", "page": 1, "price": 4}),
    (f"A hostile dish: {HOSTILE}", {"source": "<i>evil</i>.md", "page": 1, "price": 1, "html": HOSTILE}),
)


@ai.flow("indexMenu")
async def index_menu() -> int:
    """Put the menu into the index; returns how many dishes were new."""
    report = await ai.index("menu", [Document.from_text(text, metadata) for text, metadata in DISHES])
    return report.written


@ai.indexer("pantry")
async def pantry(documents: list[Document]) -> int:
    """Take documents, and forget them; each portion waits at a gate."""
    await gate("pantry")
    return len(documents)


@ai.simple_retriever("drinks", content="text", metadata=["price"])
async def drinks(query: str) -> list[dict[str, Any]]:
    """Drinks, whatever was asked."""
    return [{"text": "Green tea", "price": 4}, {"text": "Plum wine", "price": 6}]


@ai.reranker("byWords")
async def by_words(query: str, documents: list[Document]) -> list[float]:
    """Count the words that query and document share."""
    words = set(query.lower().split())
    return [len(words & set(document.text.lower().split())) / (len(words) or 1) for document in documents]


@ai.tool("today")
async def today(city: str = "Kyoto") -> str:
    """The dish of the day."""
    return f"Lasagne in {city}"


@ai.tool("<b>evil</b>")
async def evil(text: str = "") -> str:
    """<img src=x onerror="window.__xss=1"> in a description."""
    return HOSTILE


WAITER = ModelInfo(
    label="Waiter",
    supports=ModelSupports(multiturn=True, system_role=True, tools=False, context=True),
)
STYLE = {
    "type": "object",
    "properties": {
        "temperature": {"type": "number", "minimum": 0, "maximum": 2, "description": "How bold it is."},
        "style": {"enum": ["short", "polite"], "default": "polite"},
    },
}


@ai.model("waiter", info=WAITER, config_schema=STYLE)
async def waiter(request: GenerateRequest) -> AsyncIterator[str | GenerateResponse]:
    """Says what it was asked, how many turns there were, and what it has read."""
    turns = [message for message in request.messages if message.role == "user"]
    told = turns[-1].text
    if "hostile" in told:
        text = HOSTILE
    elif "fail" in told:
        raise RuntimeError("the waiter has dropped the tray")
    else:
        first = f" You began with: {turns[0].text}." if len(turns) > 1 else ""
        text = f"You asked **{told}**. This is turn {len(turns)}.{first}"
    if (request.config or {}).get("style") == "short":
        text = text[:20]
    for at, word in enumerate(text.split(" ")):
        if "slowly" in told:
            await gate(f"word-{at}")
        yield f"{word} "
    asked = sum(len(message.text.split()) for message in request.messages)
    yield GenerateResponse(
        message=Message.model(text), usage=Usage(input_tokens=asked, output_tokens=len(text.split()))
    )
