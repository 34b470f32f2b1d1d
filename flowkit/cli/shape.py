"""JSON Schema in few words, as a Python programmer would write the type.

parameters(action)      "question: str, k: int = 3"
example(schema)         {"n": 1}
"""

import inspect
import json
from collections.abc import Mapping
from typing import Any

from flowkit.core.action import Action

__all__ = ["example", "json_types", "parameters", "short_type", "types_of"]

Schema = Mapping[str, Any]

_NAMES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "object": "dict"}
_FORMATS = {
    "binary": "bytes",
    "date": "date",
    "date-time": "datetime",
    "file-path": "Path",
    "path": "Path",
    "time": "time",
    "uuid": "UUID",
}
ALL_TYPES = frozenset({"string", "integer", "number", "boolean", "null", "object", "array"})


def parameters(action: Action[Any, Any, Any]) -> str:
    """What a flow takes: `question: str, k: int = 3`; "" when it takes nothing."""
    schema = action.input_schema
    if schema is None:
        return ""
    if not action.signature.single:
        return _fields(schema, schema)
    names = [name for name in inspect.signature(action.fn).parameters if name != action.signature.context_name]
    default = f" = {_literal(schema['default'])}" if "default" in schema else ""
    return f"{names[0]}: {short_type(schema)}{default}"


def short_type(schema: Schema | bool, root: Schema | None = None, depth: int = 0) -> str:
    """`str`, `list[int]`, `"a" | "b"`, `{name: str, price: float}`; models deeper than two levels by their name."""
    if isinstance(schema, bool):
        return "Any"
    root = schema if root is None else root
    if "$ref" in schema:
        target = _resolve(schema["$ref"], root)
        name = str(schema["$ref"]).rpartition("/")[2]
        return name if depth > 1 or "properties" not in target else short_type(target, root, depth)
    if "const" in schema:
        return _literal(schema["const"])
    if "enum" in schema:
        return " | ".join(_literal(value) for value in schema["enum"])
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " | ".join(dict.fromkeys(short_type(choice, root, depth) for choice in choices))
    if len(schema.get("allOf", ())) == 1:
        return short_type(schema["allOf"][0], root, depth)
    kind = schema.get("type", "object" if "properties" in schema else None)
    if isinstance(kind, list):
        return " | ".join(_NAMES.get(each, str(each)) for each in kind)
    if kind == "array":
        items = schema.get("items")
        return "list" if items in (None, {}, True) else f"list[{short_type(items, root, depth + 1)}]"
    if kind == "object":
        if schema.get("properties"):
            return "{" + _fields(schema, root, depth + 1) + "}" if depth < 2 else str(schema.get("title", "dict"))
        values = schema.get("additionalProperties")
        return f"dict[str, {short_type(values, root, depth + 1)}]" if isinstance(values, dict) and values else "dict"
    if kind == "string":
        return _FORMATS.get(schema.get("format", ""), "str")
    return _NAMES.get(kind, "Any") if isinstance(kind, str) else "Any"


def json_types(schema: Schema | bool, root: Schema | None = None, depth: int = 0) -> frozenset[str]:
    """The JSON types that a schema may accept; all of them where it does not say."""
    if isinstance(schema, bool) or not schema or depth > 20:
        return ALL_TYPES
    root = schema if root is None else root
    if "$ref" in schema:
        return json_types(_resolve(schema["$ref"], root), root, depth + 1)
    if "const" in schema or "enum" in schema:
        values = schema["enum"] if "enum" in schema else [schema["const"]]
        return frozenset().union(*(types_of(value) for value in values))
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return frozenset().union(*(json_types(choice, root, depth + 1) for choice in choices))
    if "allOf" in schema:
        return ALL_TYPES.intersection(*(json_types(part, root, depth + 1) for part in schema["allOf"]))
    kind = schema.get("type", "object" if "properties" in schema else None)
    if kind is None:
        return ALL_TYPES
    kinds = frozenset([kind] if isinstance(kind, str) else kind)
    return kinds | {"integer"} if "number" in kinds else kinds


def types_of(value: Any) -> frozenset[str]:
    """The schema types that a JSON value has: 3 is an integer and a number."""
    match value:
        case None:
            return frozenset({"null"})
        case bool():
            return frozenset({"boolean"})
        case int():
            return frozenset({"integer", "number"})
        case float():
            return frozenset({"number"})
        case str():
            return frozenset({"string"})
        case list():
            return frozenset({"array"})
        case _:
            return frozenset({"object"})


def example(schema: Schema | bool, root: Schema | None = None, depth: int = 0) -> Any:
    """A small JSON value of that shape, with the fields that are required."""
    if isinstance(schema, bool) or depth > 4:
        return "…"
    root = schema if root is None else root
    if "$ref" in schema:
        return example(_resolve(schema["$ref"], root), root, depth + 1)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("enum", "examples"):
        if schema.get(key):
            return schema[key][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return example(schema[key][0], root, depth + 1)
    fields = schema.get("properties")
    if fields:
        shown = schema.get("required") or list(fields)[:1]
        return {name: example(fields.get(name, True), root, depth + 1) for name in shown}
    simple: dict[Any, Any] = {"integer": 1, "number": 1.5, "boolean": True, "null": None, "array": [], "object": {}}
    kind = schema.get("type")
    return simple.get(kind, "…") if isinstance(kind, str) else "…"


def _fields(schema: Schema, root: Schema, depth: int = 0) -> str:
    required = schema.get("required", ())
    shown = []
    for name, field in schema.get("properties", {}).items():
        default = ""
        if name not in required:
            default = f" = {_literal(field['default'])}" if isinstance(field, dict) and "default" in field else " = …"
        shown.append(f"{name}: {short_type(field, root, depth)}{default}")
    return ", ".join(shown)


def _resolve(reference: str, root: Schema) -> Schema:
    found: Any = root
    for key in reference.removeprefix("#/").split("/"):
        found = found.get(key, {}) if isinstance(found, dict) else {}
    return found if isinstance(found, dict) else {}


def _literal(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value)
    return json.dumps(value, ensure_ascii=False)
