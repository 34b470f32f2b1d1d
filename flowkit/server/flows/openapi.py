"""The flows of an app as an OpenAPI 3.1 document, for documentation pages and client generators.

openapi_document({"/menuQA": action}, title="bistro")
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from flowkit.core.action import Action
from flowkit.core.values import to_plain
from flowkit.errors import HTTP_STATUS, FlowkitError
from flowkit.server.version import flowkit_version

__all__ = ["openapi_document"]

AnyAction = Action[Any, Any, Any]
Schema = dict[str, Any]

_COMPONENTS, _DEFINITIONS = "#/components/schemas/", "#/$defs/"
_FRAMES = "Frames `data: {…}` with an empty line after each: `message` holds a chunk, the last one `result` or `error`."
_ERROR: Schema = {
    "type": "object",
    "properties": {
        "status": {"type": "string", "enum": [name for name in HTTP_STATUS if name != "OK"]},
        "message": {"type": "string"},
        "details": {"description": "For an invalid input: the errors with their paths, and the flow's schema."},
    },
    "required": ["status", "message"],
}
_IDS = {
    "x-genkit-trace-id": {"description": "The trace of this run.", "schema": {"type": "string"}},
    "x-genkit-span-id": {"description": "Its root span.", "schema": {"type": "string"}},
}


def openapi_document(flows: Mapping[str, AnyAction], *, title: str) -> Schema:
    """Describe flows by the path at which each is called."""
    shared = _Shared()
    paths = {path: {"post": _operation(action, shared)} for path, action in flows.items()}
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": flowkit_version()},
        "paths": paths,
        "components": {"schemas": shared.schemas},
    }


def _operation(action: AnyAction, shared: "_Shared") -> Schema:
    data, result, chunk = (
        shared.lift(_schema(action, which)) for which in ("input_schema", "output_schema", "chunk_schema")
    )
    body: Schema = {"type": "object", "properties": {"data": data}}
    if action.signature.needs_input:
        body["required"] = ["data"]
    error = {"$ref": _COMPONENTS + "Error"}
    answer = {"type": "object", "properties": {"result": result}}
    stream = {
        "type": "object",
        "description": _FRAMES,
        "properties": {"message": chunk, "result": result, "error": error},
    }
    operation: Schema = {
        "operationId": action.name,
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": {
                "description": "What the flow returns; a stream with the header Accept: text/event-stream.",
                "headers": _IDS,
                "content": {"application/json": {"schema": answer}, "text/event-stream": {"schema": stream}},
            },
            "default": {
                "description": "What went wrong.",
                "content": {"application/json": {"schema": error}},
            },
        },
    }
    if action.description:
        operation["summary"] = action.description
    return operation


def _schema(action: AnyAction, which: str) -> Schema | None:
    """A schema of an action; types that pydantic has no schema for leave `{}`, which says "anything"."""
    try:
        schema = getattr(action, which)
    except (FlowkitError, TypeError, ValueError, RuntimeError):  # pydantic's errors are of these
        return {}
    return None if schema is None else to_plain(schema)


class _Shared:
    """Definitions that operations refer to. Two flows may mean different things by one name, or the same thing."""

    def __init__(self) -> None:
        self.schemas: Schema = {"Error": _ERROR}
        self._origins: dict[str, Schema] = {}

    def lift(self, schema: Schema | None) -> Schema:
        """The schema, its own definitions moved to where OpenAPI keeps them; `{}` for None."""
        if schema is None:
            return {}
        schema.pop("$schema", None)
        named = schema.pop("$defs", {})
        places = {name: self._place(name, _reachable(name, named)) for name in named}
        for name, place in places.items():
            self.schemas[place] = _pointed(named[name], places)
        return _pointed(schema, places)  # type: ignore[no-any-return]

    def _place(self, name: str, origin: Schema) -> str:
        safe = re.sub(r"[^A-Za-z0-9._-]", "_", name)
        number = 1
        place = safe
        while place in self.schemas and self._origins.get(place) != origin:
            number += 1
            place = f"{safe}-{number}"
        self.schemas.setdefault(place, {})
        self._origins[place] = origin
        return place


def _reachable(name: str, named: Schema) -> Schema:
    """A definition with all that it refers to."""
    found: Schema = {}
    waiting = [name]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found[each] = named[each]
            waiting += [reference for reference in _references(named[each]) if reference in named]
    return found


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _references(item)
    elif isinstance(value, dict):
        reference = value.get("$ref")
        if isinstance(reference, str):
            yield reference.removeprefix(_DEFINITIONS)
        for item in value.values():
            yield from _references(item)


def _pointed(value: Any, places: Mapping[str, str]) -> Any:
    """A copy whose references lead to `places`."""
    if isinstance(value, list):
        return [_pointed(item, places) for item in value]
    if not isinstance(value, dict):
        return value
    copy = {key: _pointed(item, places) for key, item in value.items()}
    reference = copy.get("$ref")
    if isinstance(reference, str) and reference.removeprefix(_DEFINITIONS) in places:
        copy["$ref"] = _COMPONENTS + places[reference.removeprefix(_DEFINITIONS)]
    return copy
