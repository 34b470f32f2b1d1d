"""Wire models against Genkit's JSON forms: what goes in comes out, absent stays absent, null data stays null."""

import json

import pytest
from pydantic import TypeAdapter, ValidationError

from flowkit.schema.documents import Document, ScoredDocument
from flowkit.schema.embedding import EmbedderInfo, EmbedRequest, EmbedResponse
from flowkit.schema.evaluation import EvalRequest, EvalResult
from flowkit.schema.messages import Message
from flowkit.schema.model import (
    Citation,
    GenerateRequest,
    GenerateResponse,
    GenerateResponseChunk,
    ModelInfo,
    ToolDefinition,
    Usage,
)
from flowkit.schema.parts import (
    CustomPart,
    DataPart,
    MediaPart,
    Part,
    ReasoningPart,
    ResourcePart,
    TextPart,
    ToolRequest,
    ToolRequestPart,
    ToolResponsePart,
)
from flowkit.schema.retrieval import (
    IndexerRequest,
    RerankerRequest,
    RerankerResponse,
    RetrieverRequest,
    RetrieverResponse,
)

PARTS = [
    (TextPart, {"text": ""}),
    (TextPart, {"text": "soup", "metadata": {"purpose": "context", "pending": None}}),
    (MediaPart, {"media": {"url": "data:image/png;base64,AA=="}}),
    (MediaPart, {"media": {"url": "https://example.org/a.png", "contentType": "image/png"}, "metadata": {"a": 1}}),
    (ToolRequestPart, {"toolRequest": {"name": "menu"}}),
    (ToolRequestPart, {"toolRequest": {"name": "menu", "ref": "0", "input": {"a": None, "b": [None, {"c": None}]}}}),
    (
        ToolRequestPart,
        {"toolRequest": {"name": "menu", "input": False, "partial": True}, "metadata": {"interrupt": {}}},
    ),
    (ToolResponsePart, {"toolResponse": {"name": "menu", "ref": "0", "output": {"dish": None}}}),
    (ToolResponsePart, {"toolResponse": {"name": "menu", "output": 0, "content": [{"text": "x"}, {"data": None}]}}),
    (DataPart, {"data": None}),
    (DataPart, {"data": {"x": None}, "metadata": {"a": 1}}),
    (CustomPart, {"custom": {}}),
    (CustomPart, {"custom": {"a": None, "b": {"camelCase": 1, "snake_case": 2}}}),
    (ReasoningPart, {"reasoning": "hmm"}),
    (ResourcePart, {"resource": {"uri": "file:///menu"}}),
]
DOCUMENT = {"content": [{"text": "soup"}], "metadata": {"source": "menu.pdf", "page": 2, "tags": ["a", None]}}
MESSAGE = {"role": "user", "content": [{"text": "Hi"}]}
USAGE = {
    "inputTokens": 1,
    "outputTokens": 2,
    "totalTokens": 3,
    "inputCharacters": 4,
    "outputCharacters": 5,
    "inputImages": 6,
    "outputImages": 7,
    "inputVideos": 8.0,
    "outputVideos": 9.0,
    "inputAudioFiles": 10.0,
    "outputAudioFiles": 11.0,
    "thoughtsTokens": 12,
    "cachedContentTokens": 13,
    "custom": {"searches": 1.0},
}
FORMS = [
    (Document, DOCUMENT),
    (Document, {"content": [], "metadata": {"embedMetadata": {"embedding": 0}}}),
    (Document, {**DOCUMENT, "id": "7"}),
    (ScoredDocument, {**DOCUMENT, "id": "7", "score": 0.5, "rerankScore": 0.75}),
    (Message, MESSAGE),
    (Message, {"role": "tool", "content": [], "metadata": {"citations": [{"quote": "x"}], "empty": None}}),
    (Usage, {}),
    (Usage, USAGE),
    (ToolDefinition, {"name": "menu", "description": ""}),
    (
        ToolDefinition,
        {
            "name": "menu",
            "description": "Today's menu",
            "key": "/tool/menu",
            "inputSchema": {"type": "object", "properties": {"day": {"type": "string", "default": None}}},
            "outputSchema": {"type": ["string", "null"], "const": None},
            "metadata": {"originalName": "menu"},
        },
    ),
    (GenerateRequest, {"messages": []}),
    (
        GenerateRequest,
        {
            "messages": [MESSAGE],
            "config": {"temperature": 0.5, "safetySettings": [{"a": None}], "snake_case": None},
            "tools": [{"name": "menu", "description": "x"}],
            "toolChoice": "auto",
            "output": {"format": "json", "schema": {"default": None}, "constrained": True, "contentType": "text/plain"},
            "docs": [DOCUMENT, {**DOCUMENT, "id": "7", "score": 0.5}],
        },
    ),
    (GenerateResponse, {"finishReason": "stop"}),
    (
        GenerateResponse,
        {
            "message": {"role": "model", "content": [{"text": "soup"}]},
            "finishReason": "length",
            "finishMessage": "cut",
            "latencyMs": 1.5,
            "usage": {"inputTokens": 1},
            "custom": {"a": None},
            "raw": [None],
            "request": {"messages": [MESSAGE]},
        },
    ),
    (GenerateResponseChunk, {"content": []}),
    (
        GenerateResponseChunk,
        {"content": [{"text": "s"}], "role": "model", "index": 0, "custom": {"a": 1}, "aggregated": False},
    ),
    (
        ModelInfo,
        {
            "label": "Local",
            "versions": ["1"],
            "stage": "stable",
            "supports": {
                "multiturn": True,
                "media": False,
                "tools": True,
                "systemRole": True,
                "output": ["text", "json"],
                "contentType": ["text/plain"],
                "context": True,
                "constrained": "no-tools",
                "toolChoice": True,
                "longRunning": False,
            },
        },
    ),
    (Citation, {"documentId": "7", "source": "menu.pdf", "page": 2, "start": 0, "end": 4, "quote": "soup"}),
    (EmbedRequest, {"input": [DOCUMENT]}),
    (EmbedRequest, {"input": [], "options": {"task": "query", "outputDimensionality": None}}),
    (EmbedResponse, {"embeddings": [{"embedding": [0.5, 1.0]}, {"embedding": [], "metadata": {"part": None}}]}),
    (EmbedderInfo, {"label": "MiniLM", "dimensions": 384, "supports": {"input": ["text"]}}),
    (RetrieverRequest, {"query": DOCUMENT}),
    (RetrieverRequest, {"query": DOCUMENT, "options": {"k": 3, "where": None}}),
    (IndexerRequest, {"documents": [DOCUMENT], "options": {"namespace": None}}),
    (EvalRequest, {"dataset": [], "evalRunId": "1"}),
    (
        EvalRequest,
        {
            "dataset": [
                {
                    "input": {"q": None},
                    "output": [None],
                    "context": [{"a": None}, "text"],
                    "reference": "A",
                    "testCaseId": "1",
                    "traceIds": ["t"],
                }
            ],
            "evalRunId": "1",
            "options": {"a": None},
        },
    ),
]


@pytest.mark.parametrize(("kind", "form"), PARTS, ids=lambda value: str(value)[:40])
def test_every_part_is_read_by_its_one_key_and_written_as_it_came(kind, form):
    part = TypeAdapter(Part).validate_python(form)
    assert type(part) is kind
    assert part.to_wire() == form
    assert json.loads(part.model_dump_json(by_alias=True, exclude_none=True)) == form


@pytest.mark.parametrize(("model", "form"), FORMS, ids=lambda value: getattr(value, "__name__", "-"))
def test_every_form_comes_out_as_it_went_in(model, form):
    value = model.from_wire(json.loads(json.dumps(form)))
    assert value.to_wire() == form
    assert model.from_wire(value.to_wire()) == value


@pytest.mark.parametrize(("model", "form"), FORMS, ids=lambda value: getattr(value, "__name__", "-"))
def test_unknown_keys_are_ignored(model, form):
    assert model.from_wire({**form, "aKeyOfTomorrow": {"x": None}}).to_wire() == form


def test_python_names_are_read_too():
    assert Usage.from_wire({"input_tokens": 3}).to_wire() == {"inputTokens": 3}
    part = TypeAdapter(Part).validate_python({"tool_request": {"name": "menu"}})
    assert part == ToolRequestPart(tool_request=ToolRequest(name="menu"))


@pytest.mark.parametrize("form", [{}, {"metadata": {}}, {"image": "x"}, {"text": None}, {"media": {}}, None, "soup"])
def test_what_is_no_part_is_refused(form):
    with pytest.raises(ValidationError):
        TypeAdapter(Part).validate_python(form)


def test_a_custom_key_beside_another_does_not_make_a_custom_part():
    part = TypeAdapter(Part).validate_python({"text": "soup", "custom": {"a": 1}})
    assert type(part) is TextPart
    assert part.to_wire() == {"text": "soup", "custom": {"a": 1}}


def test_hits_of_other_tools_are_read_with_score_0():
    response = RetrieverResponse.from_wire({"documents": [DOCUMENT]})
    assert response.documents[0].score == 0
    assert response.documents[0].metadata["page"] == 2


def test_reranked_documents_carry_their_score_where_genkit_looks_for_it():
    form = {"documents": [{"content": [{"text": "soup"}], "metadata": {"score": 0.9}}]}
    response = RerankerResponse.from_wire(form)
    assert response.to_wire()["documents"][0]["metadata"] == {"score": 0.9}
    request = RerankerRequest.from_wire({"query": DOCUMENT, "documents": [DOCUMENT], "options": {"k": 1}})
    assert request.options == {"k": 1}


def test_plain_documents_in_a_request_stay_plain():
    request = GenerateRequest.from_wire({"messages": [], "docs": [DOCUMENT, {**DOCUMENT, "score": 0.5}]})
    assert [type(document) for document in request.docs] == [Document, ScoredDocument]


@pytest.mark.parametrize(
    "form",
    [
        {"testCaseId": "1", "evaluation": {"score": True, "status": "PASS", "details": {"reasoning": "good"}}},
        {"testCaseId": "1", "sampleIndex": 0, "traceId": "t", "spanId": "s", "evaluation": [{"id": "a", "score": "x"}]},
        {"testCaseId": "1", "evaluation": {"score": 0.5, "error": "none"}},
    ],
    ids=["one", "several", "error"],
)
def test_evaluations_come_out_as_they_went_in(form):
    assert EvalResult.from_wire(form).to_wire() == form


def test_values_are_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        Message.user("x").role = "model"
