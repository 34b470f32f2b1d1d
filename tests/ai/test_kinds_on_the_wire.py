"""Every kind of action as Genkit's tools see it: keys, metadata blocks, inputs and results in their JSON forms."""

import json
from typing import Any

import pytest

from flowkit import (
    Action,
    Document,
    EmbedderInfo,
    EvalCase,
    Flowkit,
    GenerateRequest,
    ModelInfo,
    Score,
    ScoredDocument,
)
from flowkit.core.kinds import KINDS
from flowkit.core.values import to_plain
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.schema.model import ModelSupports

SOUP = {"content": [{"text": "soup"}], "metadata": {"page": 1}}
K = {"k": {"title": "K", "type": "integer", "default": 3}}


@pytest.fixture
def kinds(ai: Flowkit) -> dict[str, Action[Any, Any, Any]]:
    """One action of each kind that has a decorator."""

    @ai.flow()
    async def flow(dish: str) -> str:
        """Praise a dish."""
        return f"{dish}!"

    @ai.tool()
    async def tool(city: str) -> str:
        """The weather."""
        return f"sunny in {city}"

    supports = ModelSupports(multiturn=True, system_role=True, output=("text",))

    @ai.model("fake/echo", info=ModelInfo(label="Fake Echo", versions=("echo-001",), supports=supports))
    async def model(request: GenerateRequest) -> str:
        return request.messages[-1].text

    @ai.embedder("fake/embed", info=EmbedderInfo(label="Fake Embedder", dimensions=1, supports={"input": ["text"]}))
    async def embedder(texts: list[str], *, scale: float = 1.0) -> list[list[float]]:
        return [[len(text) * scale] for text in texts]

    @ai.retriever()
    async def retriever(query: str, *, k: int = 3) -> list[ScoredDocument]:
        return [ScoredDocument.of(Document.from_text(query, {"page": 1}), 0.5)]

    @ai.indexer()
    async def indexer(documents: list[Document]) -> None: ...

    @ai.reranker(label="rr")
    async def reranker(query: str, documents: list[str]) -> list[float]:
        return [0.5 for _ in documents]

    @ai.evaluator(display_name="Length", definition="checks length", billed=True)
    async def evaluator(case: EvalCase) -> Score:
        return Score(score=len(str(case.output)), status="PASS", details={"reasoning": "counted"})

    return {action.kind: action for action in ai.registry.registered()}


METADATA = {
    "flow": {},
    "tool": {"type": "tool"},
    "model": {
        "type": "model",
        "model": {
            "label": "Fake Echo",
            "versions": ["echo-001"],
            "supports": {"multiturn": True, "systemRole": True, "output": ["text"]},
            "customOptions": {},
        },
    },
    "embedder": {
        "type": "embedder",
        "info": {"label": "Fake Embedder", "dimensions": 1, "supports": {"input": ["text"]}},
        "embedder": {
            "customOptions": {
                "additionalProperties": False,
                "properties": {"scale": {"default": 1.0, "title": "Scale", "type": "number"}},
                "title": "Input",
                "type": "object",
            }
        },
    },
    "retriever": {
        "type": "retriever",
        "info": {"label": "retriever"},
        "retriever": {
            "customOptions": {"additionalProperties": False, "properties": K, "title": "Input", "type": "object"}
        },
    },
    "indexer": {"type": "indexer", "info": {"label": "indexer"}, "indexer": {"customOptions": {}}},
    "reranker": {"type": "reranker", "info": {"label": "rr"}, "reranker": {"customOptions": {}}},
    "evaluator": {
        "type": "evaluator",
        "evaluator": {
            "evaluatorIsBilled": True,
            "evaluatorDisplayName": "Length",
            "evaluatorDefinition": "checks length",
            "customOptions": {},
        },
    },
}


@pytest.mark.parametrize("kind", list(METADATA))
def test_metadata_is_what_the_tools_expect(kinds: dict[str, Action[Any, Any, Any]], kind: str):
    action = kinds[kind]

    assert json.loads(json.dumps(action.metadata)) == METADATA[kind]
    assert action.key == f"/{kind}/{action.name}"
    assert kind in KINDS


def test_descriptions_come_from_docstrings_and_labels(kinds: dict[str, Action[Any, Any, Any]]):
    assert {kind: action.description for kind, action in kinds.items() if action.description} == {
        "flow": "Praise a dish.",
        "tool": "The weather.",
        "model": "Fake Echo",
        "evaluator": "checks length",
    }


def test_no_metadata_is_null(ai: Flowkit, kinds: dict[str, Action[Any, Any, Any]]):
    """The tools refuse a list in which any top value of an action's metadata is null."""
    ai.vector_store(InMemoryStore("menu"), name="memory/menu", embedder="fake/embed")

    for info in ai.registry.list():
        assert None not in info.metadata.values()
        json.dumps(info.metadata)


EXCHANGES: list[tuple[str, Any, Any]] = [
    ("flow", "soup", "soup!"),
    ("tool", "Oslo", "sunny in Oslo"),
    (
        "model",
        {"messages": [{"role": "user", "content": [{"text": "hi"}]}], "config": {"temperature": 1}, "candidates": 1},
        {"message": {"role": "model", "content": [{"text": "hi"}]}, "finishReason": "stop"},
    ),
    (
        "embedder",
        {"input": [{"content": [{"text": "soup"}]}], "options": {"scale": 2}},
        {"embeddings": [{"embedding": [8.0]}]},
    ),
    (
        "retriever",
        {"query": {"content": [{"text": "soup"}]}, "options": {"k": 1}},
        {"documents": [{**SOUP, "score": 0.5}]},
    ),
    ("indexer", {"documents": [SOUP]}, {"written": 1}),
    (
        "reranker",
        {"query": {"content": [{"text": "soup"}]}, "documents": [SOUP], "options": {"k": 3}},
        {"documents": [{"content": [{"text": "soup"}], "metadata": {"page": 1, "score": 0.5}, "rerankScore": 0.5}]},
    ),
    (
        "evaluator",
        {"dataset": [{"input": "q", "output": "four", "testCaseId": "c1"}, {"input": "q"}], "evalRunId": "r"},
        [
            {"testCaseId": "c1", "evaluation": {"score": 4, "status": "PASS", "details": {"reasoning": "counted"}}},
            {"testCaseId": "1", "evaluation": {"score": 4, "status": "PASS", "details": {"reasoning": "counted"}}},
        ],
    ),
]


def holds(found: Any, expected: Any) -> bool:
    """True when `found` has all that is expected; tools ignore what they do not know."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(key in found and holds(found[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(holds, found, expected))
    return bool(found == expected)


@pytest.mark.parametrize(("kind", "sent", "answer"), EXCHANGES, ids=[kind for kind, _, _ in EXCHANGES])
async def test_inputs_and_results_have_the_tools_json_forms(
    kinds: dict[str, Action[Any, Any, Any]], kind: str, sent: Any, answer: Any
):
    found = to_plain(await kinds[kind].run(sent))

    assert holds(found, answer), found
    assert "null" not in json.dumps(found)


async def test_names_of_fields_may_be_pythons(kinds: dict[str, Action[Any, Any, Any]]):
    request = {"dataset": [{"input": "q", "output": "four", "test_case_id": "c1"}], "eval_run_id": "r"}

    (result,) = await kinds["evaluator"].run(request)

    assert result.test_case_id == "c1"


def test_inputs_of_kinds_have_the_tools_names(kinds: dict[str, Action[Any, Any, Any]]):
    schema = kinds["evaluator"].input_schema

    assert schema is not None
    assert set(schema["required"]) == {"dataset", "evalRunId"}
    assert "testCaseId" in schema["$defs"]["EvalCase"]["properties"]
