"""Filters out of questions: what a model writes is read, checked, tried again, or left alone with the reason."""

import datetime as dt
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from flowkit import Document, F, Flowkit, GenerateRequest
from flowkit.config import Settings
from flowkit.errors import BackendError, InvalidInputError
from flowkit.plugin import ModelInfo, ModelSupports
from flowkit.rag import filters
from flowkit.rag.filters import Key
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.testing import FakeEmbedder, FakeModel
from tests.support.traced import Spans

FILMS: dict[str, Key | Any] = {
    "genre": Key("string", "What kind of film", values=("comedy", "Drama")),
    "year": Key("number", "Year of the premiere"),
    "tags": "list",
    "colour": "bool",
    "title": "string",
}


def clock() -> dt.datetime:
    return dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)


def answer(where: str, reason: str = "It says so.") -> str:
    return json.dumps({"where": where, "reason": reason})


@pytest.fixture
async def ai(tmp_path: Path) -> AsyncIterator[Flowkit]:
    async with Flowkit(settings=Settings(root=tmp_path)) as ai:
        yield ai


async def asked(*replies: Any, question: str = "?", attempts: int = 1) -> tuple[filters.QuestionFilter, FakeModel]:
    model = FakeModel(replies=list(replies))
    async with Flowkit(plugins=[model]) as ai:
        ask = filters.from_question(await ai.action("/model/fake-model"), FILMS, max_attempts=attempts, clock=clock)
        return await ask(question), model


@pytest.mark.parametrize(
    ("written", "filter"),
    [
        (answer("genre = 'comedy' AND year >= 2020"), (F("genre") == "comedy") & (F("year") >= 2020)),
        (answer("genre = 'COMEDY' OR genre IN ('drama')"), (F("genre") == "comedy") | F("genre").in_(["Drama"])),
        (answer("NOT year BETWEEN 1990 AND 1999"), ~F("year").between(1990, 1999)),
        (answer("year = YEAR(CURDATE()) - 1"), F("year") == 2025),
        (answer("tags CONTAINS 'space' AND colour = FALSE"), F("tags").contains("space") & (F("colour") == False)),  # noqa: E712
        (answer("title CONTAINS 'train'"), F("title").contains("train")),
        ("```json\n" + answer("year > 2000") + "\n```", F("year") > 2000),
        ("Here it is: " + answer("year > 2000") + " I hope this helps.", F("year") > 2000),
        ("SELECT * FROM films WHERE year > 2000;", F("year") > 2000),
        ("```sql\nSELECT title FROM films f WHERE f.year > 2000 ORDER BY year\n```", F("year") > 2000),
        ("year > 2000", F("year") > 2000),
    ],
)
async def test_what_a_model_writes_becomes_a_filter(written: str, filter: Any):
    found, _ = await asked(written)

    assert found.filter == filter


@pytest.mark.parametrize("written", [answer(""), answer("null"), answer("1=1;"), '{"where": null, "reason": ""}', ""])
async def test_a_question_that_names_no_key_has_no_filter(written: str):
    found, model = await asked(written)

    assert (found.filter, found.where) == (None, None)
    assert found.reason in ("It says so.", "the question names no key")
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        (answer("director = 'Ozu'"), "there is no key 'director'; there are genre, year, tags, colour, title"),
        (answer("genre = 'western'"), "'genre' is never 'western'; it is one of 'comedy', 'Drama'"),
        (answer("year > '2000'"), "key 'year' holds number in this index, not string"),
        (answer("year LIKE '20%'"), "expected a comparison"),
        (answer("tags = 'space'"), "'tags' holds list"),
        ('{"where": 3}', 'the object has no string "where"'),
        ('{"answer": "year > 3"}', 'the object has no string "where"'),
        ("{oops}", "Expecting property name"),
        ("I cannot do that.", "expected"),
        (answer("(" * 5000), "nested"),
        ('{"where": ' * 100_000 + "}" * 100_000, "nested too deep"),
    ],
)
async def test_what_goes_beyond_the_schema_is_told_to_the_model_and_then_left_alone(written: str, wrong: str):
    found, model = await asked(written, written)

    assert found.filter is None
    assert found.reason.startswith("no filter: ")
    assert wrong in found.reason
    again = model.requests[1].messages
    assert (again[2].text, again[2].role) == (written, "model")
    assert wrong in again[3].text


async def test_a_second_answer_may_be_better_than_the_first():
    found, _ = await asked(answer("yeer > 2000"), answer("year > 2000"))
    once, model = await asked(answer("yeer > 2000"), attempts=0)

    assert found.where == "year > 2000"
    assert once.filter is None
    assert len(model.requests) == 1


async def test_a_model_that_fails_leaves_the_question_without_a_filter():
    found, _ = await asked(BackendError("429 too many requests"))

    assert (found.filter, found.reason) == (None, "no filter: 429 too many requests")
    nothing: Any = lambda request: None  # noqa: E731
    assert (await filters.from_question(nothing, {"year": "number"})("1999?")).reason == (
        "no filter: the model gave a NoneType, not text"
    )


async def test_the_model_is_told_the_keys_their_values_and_the_date():
    _, model = await asked(answer(""), question="Comedies of last year?")

    said = model.requests[0].messages[1].text
    assert "- genre (string): What kind of film. One of: 'comedy', 'Drama'." in said
    assert "- year (number): Year of the premiere\n" in said
    assert "- tags (list)\n" in said
    assert "Today is Monday, 2026-11-30." in said
    assert said.endswith("Question:\nComedies of last year?")
    assert model.requests[0].output is None


async def test_a_model_that_takes_a_json_schema_is_given_one(ai: Flowkit):
    requests: list[GenerateRequest] = []

    @ai.model("strict", info=ModelInfo(label="strict", supports=ModelSupports(constrained="all")))
    async def strict(request: GenerateRequest) -> str:
        requests.append(request)
        return answer("year < 1960")

    found = await filters.from_question(strict, FILMS)("Films before 1960?")

    assert found.filter == (F("year") < 1960)
    output = requests[0].output
    assert output is not None
    assert (output.format, output.constrained) == ("json", True)
    assert output.schema_ is not None
    assert output.schema_["required"] == ["where", "reason"]


async def test_a_plain_function_may_be_the_model():
    found = await filters.from_question(lambda request: answer("year = 1999"), FILMS)("The films of 1999?")

    assert found.where == "year = 1999"


async def test_the_filter_finds_and_the_trace_shows_why(tmp_path: Path):
    model = FakeModel(replies=[answer("year >= 2020", "The question says since 2020."), answer("director = 'Ozu'")] * 2)
    store = InMemoryStore("films", embedder="fake-embedder")
    async with Flowkit(plugins=[store, FakeEmbedder(8), model], settings=Settings(root=tmp_path)) as ai:
        await ai.index("films", [Document.from_text(f"A film of {year}", {"year": year}) for year in (1999, 2021)])
        ask = filters.from_question(await ai.action("/model/fake-model"), FILMS, max_attempts=0)
        spans = Spans()
        ai.runtime.tracing.sink = spans

        found = await ask("Films since 2020?")
        hits = await ai.retrieve("films", "film", where=found.filter)
        lost = await ask("Films by Ozu?")
        everything = await ai.retrieve("films", "film", where=lost.filter)

    assert [hit.metadata["year"] for hit in hits] == [2021]
    assert len(everything) == 2
    steps = [json.loads(span.output or b"{}") for span in spans if span.name == "filter-from-question"]
    assert [step["reason"] for step in steps] == [
        "The question says since 2020.",
        "no filter: there is no key 'director'; there are genre, year, tags, colour, title",
    ]
    assert (steps[0]["where"], steps[1].get("where")) == ("year >= 2020", None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gemini", {"a": "string"}), "model is a str"),
        ((print, {}), "there is no key to filter by"),
        ((print, {"a": "text"}), "key 'a' has type 'text'"),
    ],
)
def test_what_is_wrong_is_said_when_it_is_made(arguments: tuple[Any, Any], message: str):
    with pytest.raises(InvalidInputError, match=message):
        filters.from_question(*arguments)
    with pytest.raises(InvalidInputError, match="max_attempts is -1"):
        filters.from_question(print, {"a": "string"}, max_attempts=-1)  # type: ignore[arg-type]
