"""Actions as the JSON that tools list: key, name, description, schemas, metadata.

    describe_actions(ai.registry)["/flow/menuQA"]       {"key": "/flow/menuQA", "name": "menuQA", "inputSchema": …}

Genkit's tools check this list strictly: they refuse null, and lists in lists among the values of `metadata`.
"""

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from flowkit.core.action import Action
from flowkit.core.kinds import Kind
from flowkit.core.plugin import ActionInfo
from flowkit.core.registry import Registry
from flowkit.core.values import to_plain
from flowkit.errors import FlowkitError
from flowkit.schema.embedding import EmbedRequest, EmbedResponse
from flowkit.schema.evaluation import EvalRequest
from flowkit.schema.model import GenerateRequest, GenerateResponse
from flowkit.schema.retrieval import (
    IndexerRequest,
    IndexReport,
    RerankerRequest,
    RerankerResponse,
    RetrieverRequest,
    RetrieverResponse,
)
from flowkit.schema.wire import Wire
from flowkit.server.draft07 import as_draft07

__all__ = ["TOOL_V2", "describe_actions"]

TOOL_V2 = "/tool.v2/"
"""Genkit lists every tool twice; the second form answers with `{"output": …}`."""

_WIRE: Mapping[Kind, tuple[type[Wire], type[Wire] | None]] = {
    "model": (GenerateRequest, GenerateResponse),
    "embedder": (EmbedRequest, EmbedResponse),
    "retriever": (RetrieverRequest, RetrieverResponse),
    "indexer": (IndexerRequest, IndexReport),
    "reranker": (RerankerRequest, RerankerResponse),
    "evaluator": (EvalRequest, None),
}
_schemas: WeakKeyDictionary[Action[Any, Any, Any], dict[str, Any]] = WeakKeyDictionary()
_wire_schemas: dict[type[Wire], dict[str, Any]] = {}


def describe_actions(registry: Registry) -> dict[str, dict[str, Any]]:
    """All actions by key: those that exist, and those that plugins would make when they are asked for."""
    made = {action.key: action for action in registry.registered()}
    listed: dict[str, dict[str, Any]] = {}
    for info in registry.list():
        action = made.get(info.key)
        known = _lazy_schemas(info.kind) if action is None else _made_schemas(action)
        listed[info.key] = _described(info, info.key, known, _metadata(info))
        if info.kind == "tool":
            twin = {**info.metadata, "type": "tool.v2", "tool": {"multipart": True}, "dynamic": True}
            input_only = {key: value for key, value in known.items() if key == "inputSchema"}
            listed[TOOL_V2 + info.name] = _described(info, TOOL_V2 + info.name, input_only, _clean(twin))
    return listed


def _described(info: ActionInfo, key: str, schemas: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {"key": key, "name": info.name}
    if info.description:
        described["description"] = info.description
    described.update(schemas)
    if metadata:
        described["metadata"] = metadata
    return described


def _metadata(info: ActionInfo) -> dict[str, Any]:
    metadata = _clean(info.metadata)
    if info.kind in _WIRE or info.kind == "tool":
        metadata.setdefault("type", info.kind)
        metadata.setdefault(info.kind, {})
    if info.kind == "tool" and not metadata["tool"]:
        del metadata["tool"]
    return metadata


def _clean(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata as Genkit's tools accept it: JSON without null, and no lists in the lists at its top."""
    plain = to_plain(dict(metadata))
    return {key: _flat(_without_null(value)) for key, value in plain.items() if value is not None}


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_null(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_null(item) for item in value if item is not None]
    return value


def _flat(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [{"items": item} if isinstance(item, list) else item for item in value]


def _made_schemas(action: Action[Any, Any, Any]) -> dict[str, Any]:
    """Both schemas of an action; types that pydantic has no schema for leave `{}`, which says "anything"."""
    known = _schemas.get(action)
    if known is None:
        known = {}
        for name, of in (("inputSchema", "input_schema"), ("outputSchema", "output_schema")):
            try:
                schema = getattr(action, of)
            except (FlowkitError, TypeError, ValueError, RuntimeError):  # pydantic's errors are of these
                schema = {}
            if schema is not None:
                known[name] = as_draft07(schema)
        _schemas[action] = known
    return known


def _lazy_schemas(kind: Kind) -> dict[str, Any]:
    given, taken = _WIRE.get(kind, (None, None))
    named = {"inputSchema": given, "outputSchema": taken}
    return {name: _wire_schema(model) for name, model in named.items() if model is not None}


def _wire_schema(model: type[Wire]) -> dict[str, Any]:
    if model not in _wire_schemas:
        _wire_schemas[model] = as_draft07(model.model_json_schema(by_alias=True))
    return _wire_schemas[model]
