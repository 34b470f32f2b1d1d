"""The OpenAPI 3.1 document of the dev server, made from the same operations that answer.

document = openapi(operations)
"""

import re
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from flowkit.server.dev.shapes import ErrorAnswer
from flowkit.server.dev.uploads import MULTIPART
from flowkit.server.operations import PATTERNS, Operation
from flowkit.server.streams import NDJSON, SERVER_SENT
from flowkit.server.version import flowkit_version

__all__ = ["openapi"]

_ABOUT = (
    "What the developer UI is built on. Telemetry has Genkit's routes and shapes, so that its runtimes may send here; "
    "the rest is flowkit's own. It answers on loopback only; a page must send the header X-Flowkit-UI: 1 with every "
    "request that changes something."
)
_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
_Mode = Literal["validation", "serialization"]


def openapi(operations: Sequence[Operation]) -> dict[str, Any]:
    """The document. Bodies of streams are described by the shape of one line."""
    taken: list[tuple[type[BaseModel], _Mode]] = [(ErrorAnswer, "serialization")]
    for operation in operations:
        if operation.body is not None:
            taken.append((operation.body, "validation"))
        if operation.answer is not None:
            taken.append((operation.answer, "serialization"))
    references, schemas = models_json_schema(
        list(dict.fromkeys(taken)), by_alias=True, ref_template="#/components/schemas/{model}"
    )
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        path = _PARAMETER.sub(r"{\1}", operation.path)
        paths.setdefault(path, {})[operation.method.lower()] = _described(operation, references)
    return {
        "openapi": "3.1.0",
        "info": {"title": "flowkit dev server", "version": flowkit_version(), "description": _ABOUT},
        "tags": [
            {"name": "dev", "description": "What the developer UI asks"},
            {"name": "telemetry", "description": "Spans and logs, as Genkit's telemetry server has them"},
        ],
        "paths": paths,
        "components": {"schemas": schemas.get("$defs", {})},
    }


def _described(operation: Operation, references: Any) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [operation.tag],
        "responses": {"200": _answer(operation, references), "default": _refusal(operation, references)},
    }
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": _part(name)}
        for name in _PARAMETER.findall(operation.path)
    ]
    if operation.query is not None:
        parameters += _query(operation.query)
    if parameters:
        described["parameters"] = parameters
    if operation.body is not None:
        schema = references[operation.body, "validation"]
        described["requestBody"] = {
            "required": True,
            "content": {media: {"schema": _body(media, schema)} for media in operation.takes},
        }
    return described


def _body(media: str, schema: dict[str, Any]) -> dict[str, Any]:
    if media == MULTIPART:
        return {"type": "object", "required": ["file"], "properties": {"file": {"type": "string", "format": "binary"}}}
    return schema if media == "application/json" else {"type": "string", "format": "binary"}


def _answer(operation: Operation, references: Any) -> dict[str, Any]:
    if operation.answer is not None:
        schema = references[operation.answer, "serialization"]
    elif operation.gives == "application/json":
        schema = {}
    else:
        schema = {"type": "string"}
    told = "The shape is that of each line" if operation.gives in (NDJSON, SERVER_SENT) else "The answer"
    return {"description": told, "content": {operation.gives: {"schema": schema}}}


def _refusal(operation: Operation, references: Any) -> dict[str, Any]:
    schema = references[ErrorAnswer, "serialization"]
    if operation.genkit:
        schema = {
            "type": "object",
            "required": ["code", "message", "details"],
            "properties": {
                "code": {"type": "integer"},
                "message": {"type": "string"},
                "details": {"type": "object"},
            },
        }
    return {"description": "Why it was refused, or failed", "content": {"application/json": {"schema": schema}}}


def _query(model: type[BaseModel]) -> list[dict[str, Any]]:
    schema = model.model_json_schema(by_alias=True)
    required = schema.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _without_null(field)}
        for name, field in schema.get("properties", {}).items()
    ]


def _without_null(field: dict[str, Any]) -> dict[str, Any]:
    """A query's field is there or not; null cannot be written."""
    choices = [choice for choice in field.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) != 1:
        return field
    rest = {key: value for key, value in field.items() if key not in ("anyOf", "default")}
    return {**rest, **choices[0]}


def _part(name: str) -> dict[str, Any]:
    pattern = PATTERNS.get(name)
    return {"type": "string"} if pattern is None else {"type": "string", "pattern": f"^({pattern})$"}
