"""Filters out of questions: a model reads "comedies since 2020" as `genre = 'comedy' AND year >= 2020`.

model = await ai.action("/model/googleai/gemini-2.5-flash")
ask = filters.from_question(model, {"genre": Key("string", values=("comedy", "drama")), "year": Key("number")})
hits = await ai.retrieve("films", question, where=(await ask(question)).filter)
"""

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, assert_never, get_args

from flowkit.ai.step import run_step
from flowkit.core.action import Action
from flowkit.errors import FlowkitError, InvalidInputError, InvalidOutputError
from flowkit.schema.filters import And, Comparison, F, Filter, Membership, Not, Or, check
from flowkit.schema.filters.ast import as_node
from flowkit.schema.filters.dates import Clock, local_now
from flowkit.schema.filters.text import to_text
from flowkit.schema.messages import Message
from flowkit.schema.model import GenerateRequest, GenerateResponse, OutputConfig
from flowkit.schema.wire import Wire

__all__ = ["FromQuestion", "Key", "KeyType", "QuestionFilter", "from_question"]

KeyType = Literal["string", "number", "bool", "list"]
Ask = Callable[[GenerateRequest], Awaitable[GenerateResponse | str] | GenerateResponse | str]

_FENCE = re.compile(r"```[\w-]*\s*(.*?)```", re.DOTALL)
_SELECT = re.compile(r"\bSELECT\b.*", re.DOTALL | re.IGNORECASE)
_NOTHING = {"", "null", "none", "true", "1 = 1", "1=1"}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "where": {"type": "string", "description": "The condition, or an empty string"},
        "reason": {"type": "string", "description": "Why, in one short sentence"},
    },
    "required": ["where", "reason"],
}
_SYSTEM = """\
You turn a question to a collection of documents into a condition on the documents' metadata. Use only the keys that \
are listed, and only what the question says outright of them; leave all that is about a document's content alone. When \
the question says nothing of any key, the condition is empty.

The condition is written as in SQL's WHERE: = != < <= > >=, IN (…), NOT IN (…), BETWEEN … AND …, AND, OR, NOT and \
parentheses. `key CONTAINS 'x'` asks whether a string has that part, or a list that element. Strings stand in single \
quotes. There is no LIKE, no IS NULL and no other function.

Write one JSON object with the keys "where" and "reason", both strings, and nothing else."""


@dataclass(frozen=True, slots=True)
class Key:
    """What a model is told of a metadata key. With `values`, there are no others."""

    type: KeyType
    description: str = ""
    values: tuple[str, ...] = ()


class QuestionFilter(Wire):
    """What became of a question: `where` is the condition as text, None for none; `reason` says why."""

    question: str
    where: str | None
    reason: str

    @property
    def filter(self) -> Filter | None:
        """For `where=` of a retrieval; None finds everything."""
        return None if self.where is None else F.parse(self.where)


def from_question(
    model: Ask, schema: Mapping[str, Key | KeyType], *, max_attempts: int = 1, clock: Clock | None = None
) -> "FromQuestion":
    """A function from a question to a `QuestionFilter`, with the help of a model.

    What the model writes is read as a filter, and checked: every key must be in the schema, and every value of its
    type and among its values. An answer that does not pass is told to the model, which may try again; in the end there
    is no filter, and `reason` says why: a question is always answered, if need be from all documents. That holds also
    when the model fails with one of flowkit's errors. In a trace it is the step `filter-from-question`.

    It helps to find; it keeps nobody out. What a user may not see is for a filter of your own.

    Args:
        model: A model action, or any function from a GenerateRequest to a GenerateResponse or text. One that takes a
            JSON schema is given one.
        schema: The metadata keys that may be used; a type alone stands for `Key(type)`.
        max_attempts: How often the model is asked again.
        clock: The date that the model is told and that `CURDATE()` stands for; local time now by default.

    Raises:
        InvalidInputError: the schema is empty or has no such types, or `model` cannot be called.
    """
    if not callable(model):
        raise InvalidInputError(
            f"model is a {type(model).__name__}", hint='pass an action: await ai.action("/model/<name>")'
        )
    if isinstance(max_attempts, bool) or not isinstance(max_attempts, int) or max_attempts < 0:
        raise InvalidInputError(f"max_attempts is {max_attempts!r}", hint="give 0 or more")
    keys = {name: key if isinstance(key, Key) else Key(key) for name, key in schema.items()}
    if not keys:
        raise InvalidInputError("there is no key to filter by", hint='for instance {"year": "number"}')
    for name, key in keys.items():
        if key.type not in get_args(KeyType):
            types = ", ".join(get_args(KeyType))
            raise InvalidInputError(f"key {name!r} has type {key.type!r}", hint=f"use one of {types}")
    return FromQuestion(model, keys, max_attempts, clock or local_now)


class FromQuestion:
    """See `from_question`."""

    def __init__(self, model: Ask, keys: Mapping[str, Key], max_attempts: int, clock: Clock) -> None:
        self._model = model
        self._keys = keys
        self._max_attempts = max_attempts
        self._clock = clock

    async def __call__(self, question: str) -> QuestionFilter:
        """The condition that a question holds."""
        if isinstance(self._model, Action):
            found: QuestionFilter = await run_step(
                self._model.runtime, "filter-from-question", self._find, (question,), {}
            )
            return found
        return await self._find(question)

    async def _find(self, question: str) -> QuestionFilter:
        messages = [Message.system(_SYSTEM), Message.user(self._prompt(question))]
        wrong = ""
        for attempt in range(self._max_attempts + 1):
            try:
                answer = await self._ask(messages)
            except FlowkitError as error:
                return QuestionFilter(question=question, where=None, reason=f"no filter: {error.message}")
            try:
                where, reason = _read(answer)
                if where.strip().rstrip(";").lower() in _NOTHING:
                    return QuestionFilter(question=question, where=None, reason=reason or "the question names no key")
                checked = self._checked(F.parse(where, clock=self._clock))
                return QuestionFilter(question=question, where=to_text(checked), reason=reason)
            except (InvalidInputError, ValueError) as error:
                wrong = error.message if isinstance(error, FlowkitError) else str(error)
                if attempt < self._max_attempts:
                    messages += [
                        Message.model(answer or " "),
                        Message.user(f"That cannot be used: {wrong}. Write the JSON object again."),
                    ]
        return QuestionFilter(question=question, where=None, reason=f"no filter: {wrong}")

    async def _ask(self, messages: list[Message]) -> str:
        structured = _takes_schema(self._model)
        output = OutputConfig(format="json", schema_=_SCHEMA, constrained=True) if structured else None
        answer = self._model(GenerateRequest(messages=tuple(messages), output=output))
        response = await answer if inspect.isawaitable(answer) else answer
        text = response.text if isinstance(response, GenerateResponse) else response
        if not isinstance(text, str):
            raise InvalidOutputError(f"the model gave a {type(text).__name__}, not text")
        return text

    def _prompt(self, question: str) -> str:
        lines = []
        for name, key in self._keys.items():
            values = f" One of: {', '.join(map(repr, key.values))}." if key.values else ""
            described = f": {key.description}" if key.description else ""
            lines.append(f"- {name} ({key.type}){described}{'.' if values and described else ''}{values}")
        today = self._clock().strftime("%A, %Y-%m-%d")
        return f"Keys:\n{chr(10).join(lines)}\n\nToday is {today}.\n\nQuestion:\n{question}"

    def _checked(self, filter: Filter) -> Filter:
        """The filter with values spelled as the schema spells them.

        Raises:
            InvalidInputError: it goes beyond the schema.
        """
        fixed = self._spelled(filter)
        check(fixed, {name: {key.type} for name, key in self._keys.items()})
        return fixed

    def _spelled(self, filter: Filter) -> Filter:
        node = as_node(filter)
        match node:
            case And(left=left, right=right):
                return And(self._spelled(left), self._spelled(right))
            case Or(left=left, right=right):
                return Or(self._spelled(left), self._spelled(right))
            case Not(expr=expr):
                return Not(self._spelled(expr))
            case Comparison(op=op, key=key, value=value):
                known = self._key(key)
                exact = op in ("eq", "ne") or (op == "contains" and known.type == "list")
                return Comparison(op, key, self._value(key, value)) if exact else node
            case Membership(op=op, key=key, values=values):
                return Membership(op, key, tuple(self._value(key, value) for value in values))
            case _:
                assert_never(node)

    def _key(self, name: str) -> Key:
        try:
            return self._keys[name]
        except KeyError:
            known = ", ".join(self._keys)
            raise InvalidInputError(f"there is no key {name!r}; there are {known}") from None

    def _value(self, name: str, value: Any) -> Any:
        values = self._key(name).values
        if not values or not isinstance(value, str) or value in values:
            return value
        for each in values:
            if each.casefold() == value.casefold():
                return each
        raise InvalidInputError(f"{name!r} is never {value!r}; it is one of {', '.join(map(repr, values))}")


def _takes_schema(model: Ask) -> bool:
    if not isinstance(model, Action):
        return False
    supports = (model.metadata.get("model") or {}).get("supports") or {}
    return supports.get("constrained") in ("all", "no-tools")


def _read(answer: str) -> tuple[str, str]:
    """Condition and reason of what a model wrote: JSON as asked for, in a fence or not; else a SELECT, or a condition.

    Raises:
        ValueError: it is JSON of another shape.
    """
    fenced = _FENCE.search(answer)
    text = (fenced[1] if fenced else answer).strip()
    start, end = text.find("{"), text.rfind("}")
    if start != -1 and end > start:
        try:
            found = json.loads(text[start : end + 1])
        except RecursionError:
            raise ValueError("the object is nested too deep") from None
        where, reason = found.get("where"), found.get("reason")
        if not isinstance(where, str | None) or "where" not in found:
            raise ValueError('the object has no string "where"')
        return where or "", reason if isinstance(reason, str) else ""
    select = _SELECT.search(text)
    return (select[0] if select else text), ""
