"""JSON Schema as Genkit's tools read it: draft 7, from the 2020-12 form that pydantic writes.

as_draft07({"$ref": "#/$defs/Dish", "$defs": {…}})        {"$ref": "#/definitions/Dish", "definitions": {…}, …}
"""

from collections.abc import Mapping
from typing import Any

__all__ = ["as_draft07"]

_DRAFT = "http://json-schema.org/draft-07/schema#"
_ONE = {"items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else", "additionalItems"}
_MANY = {"anyOf", "oneOf", "allOf"}
_NAMED = {"properties", "patternProperties", "definitions", "dependentSchemas"}


def as_draft07(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with `$schema`; values such as defaults and enums stay as they are."""
    return {**_converted(dict(schema)), "$schema": _DRAFT}


def _converted(schema: Any) -> Any:
    if not isinstance(schema, dict):  # true and false are schemas, too
        return schema
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "$defs":
            key = "definitions"
        if key == "prefixItems":  # a tuple; what may follow it was `items`
            found["items"] = [_converted(item) for item in value]
            found["additionalItems"] = _converted(schema.get("items", True))
        elif key == "items" and "prefixItems" in schema:
            continue
        elif key == "$ref" and isinstance(value, str):
            found[key] = value.replace("#/$defs/", "#/definitions/", 1)
        elif key in _ONE:
            found[key] = _converted(value)
        elif key in _MANY:
            found[key] = [_converted(item) for item in value]
        elif key in _NAMED:
            found[key] = {name: _converted(item) for name, item in value.items()}
        elif key == "discriminator" and isinstance(value, dict):
            mapping = {name: ref.replace("#/$defs/", "#/definitions/", 1) for name, ref in value["mapping"].items()}
            found[key] = {**value, "mapping": mapping}
        else:
            found[key] = value
    return found
