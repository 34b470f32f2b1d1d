"""Knowledge graphs drawn from text by a language model.

model = await ai.action("/model/googleai/gemini-2.5-flash")
graph = await transform.llm_graph(model, allowed_nodes=["Person", "Place"])(document)
"""

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from flowkit.core.action import Action
from flowkit.errors import InvalidInputError, InvalidOutputError
from flowkit.rag.transform.apply import transform_all
from flowkit.rag.transform.graph import GraphDocument, GraphEdge, GraphNode
from flowkit.schema.documents import Document
from flowkit.schema.messages import Message
from flowkit.schema.model import GenerateRequest, GenerateResponse, OutputConfig

__all__ = ["LlmGraph", "llm_graph"]

Ask = Callable[[GenerateRequest], Awaitable[GenerateResponse | str] | GenerateResponse | str]

_KEYS = ("head", "head_type", "relation", "tail", "tail_type")
_FENCE = re.compile(r"```[ \t]*(?:[A-Za-z0-9_-]+[ \t]*(?:\n|(?=[\[{])))?(.*?)```", re.DOTALL)
_SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {key: {"type": "string"} for key in _KEYS},
        "required": ["head", "relation", "tail"],
    },
}
_SYSTEM = (
    "You turn text into a knowledge graph. Find the things that the text speaks of and how they relate. Write one JSON "
    "list of objects with the keys head, head_type, relation, tail and tail_type, all of them strings: the name and "
    "type of a thing, the relation, and the name and type of the other thing. Give one thing the same, fullest name "
    "everywhere. Take nothing that the text does not say. Write the list only, without explanations."
)


def llm_graph(
    model: Ask,
    *,
    allowed_nodes: Sequence[str] = (),
    allowed_relations: Sequence[str] = (),
    examples: str = "",
    instructions: str = "",
    prompt: str | None = None,
    max_attempts: int = 1,
) -> "LlmGraph":
    """A transformer from a document to its `GraphDocument`, or to None when the model finds nothing in it.

    Args:
        model: a model action, or any function from a GenerateRequest to a GenerateResponse or text.
        allowed_nodes: types that nodes may have; any when empty.
        allowed_relations: types that edges may have; any when empty.
        examples: what good answers look like, in the form that the model is to write.
        instructions: more for the model to keep to.
        prompt: is sent alone, exactly as it is, in place of all of the above and of the text.
        max_attempts: how often the model is asked again after an answer that cannot be read.

    Raises (when called with a document):
        InvalidOutputError: no answer could be read.
    """
    if not callable(model):
        raise InvalidInputError(
            f"model is a {type(model).__name__}", hint='pass an action: await ai.action("/model/<name>")'
        )
    if isinstance(max_attempts, bool) or not isinstance(max_attempts, int) or max_attempts < 0:
        raise InvalidInputError(f"max_attempts is {max_attempts!r}", hint="give 0 or more")
    request = _Asking(tuple(allowed_nodes), tuple(allowed_relations), examples, instructions, prompt)
    return LlmGraph(model, request, max_attempts)


class _Asking:
    """How a document becomes a request."""

    def __init__(
        self, nodes: tuple[str, ...], relations: tuple[str, ...], examples: str, instructions: str, prompt: str | None
    ) -> None:
        self._nodes = nodes
        self._relations = relations
        self._examples = examples
        self._instructions = instructions
        self._prompt = prompt

    def request(self, text: str, *, structured: bool) -> GenerateRequest:
        output = OutputConfig(format="json", schema_=_SCHEMA, constrained=True) if structured else None
        if self._prompt is not None:
            return GenerateRequest(messages=(Message.user(self._prompt),), output=output)
        parts = [
            f"Types of things: {', '.join(self._nodes)}." if self._nodes else "",
            f"Relations: {', '.join(self._relations)}." if self._relations else "",
            f"Examples:\n{self._examples}" if self._examples else "",
            self._instructions,
            f"Text:\n{text}",
        ]
        system = _SYSTEM
        if self._nodes or self._relations:
            system += " Use no other types of things and no other relations than those that are listed."
        asked = "\n\n".join(part for part in parts if part)
        return GenerateRequest(messages=(Message.system(system), Message.user(asked)), output=output)


class LlmGraph:
    """See `llm_graph`."""

    def __init__(self, model: Ask, asking: _Asking, max_attempts: int) -> None:
        self._model = model
        self._asking = asking
        self._max_attempts = max_attempts

    async def __call__(self, document: Document) -> GraphDocument | None:
        """The graph of one document."""
        request = self._asking.request(document.text, structured=_takes_schema(self._model))
        for attempt in range(self._max_attempts + 1):
            answer = self._model(request)
            response = await answer if inspect.isawaitable(answer) else answer
            text = response.text if isinstance(response, GenerateResponse) else response
            try:
                return _graph(_entries(text), document)
            except ValueError as error:
                if attempt == self._max_attempts:
                    asked = f"{attempt + 1} answers" if attempt else "the answer"
                    raise InvalidOutputError(
                        f"{asked} of the model cannot be read as a graph: {error}",
                        hint="give examples, raise max_attempts, or take a larger model",
                        details={"answer": text},
                    ) from error
        return None

    async def transform_all(self, documents: Iterable[Document]) -> list[GraphDocument]:
        """The graphs of several documents, in order, without those in which nothing was found."""
        return await transform_all(self, documents)


def _takes_schema(model: Ask) -> bool:
    if not isinstance(model, Action):
        return False
    supports = (model.metadata.get("model") or {}).get("supports") or {}
    return supports.get("constrained") in ("all", "no-tools")


def _entries(text: str) -> list[Any]:
    fenced = _FENCE.search(text)
    found = json.loads(fenced[1] if fenced else text)
    if not isinstance(found, list):
        raise ValueError(f"it is a JSON {type(found).__name__}, not a list")
    return found


def _graph(entries: Sequence[Any], document: Document) -> GraphDocument | None:
    nodes: set[GraphNode] = set()
    edges: set[GraphEdge] = set()
    for entry in entries:
        values = entry if isinstance(entry, dict) else {}
        head, head_type, relation, tail, tail_type = (values.get(key) for key in _KEYS)
        if not (head and relation and tail):
            continue
        source = GraphNode(str(head), str(head_type or "Node"))
        target = GraphNode(str(tail), str(tail_type or "Node"))
        nodes |= {source, target}
        edges.add(GraphEdge(source, target, str(relation)))
    return GraphDocument(frozenset(nodes), frozenset(edges), document) if nodes else None
