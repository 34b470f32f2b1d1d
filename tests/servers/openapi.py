"""Whether HTTP messages are as a published OpenAPI document says.

spec = OpenApi.of("db_data_2025-10.oas.yaml")      # None when the file is not at hand
spec.check("POST", "/query", query={}, headers={}, body=…, status=200, answer=…)

Such files stand in the folder that FLOWKIT_SPECS names, or in specs/pinecone of a folder beside this checkout.
"""

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["OpenApi", "specs_folder"]

ROOT = Path(__file__).resolve().parents[2]


def specs_folder() -> Path | None:
    if named := os.environ.get("FLOWKIT_SPECS"):
        return Path(named)
    return next(iter(sorted(ROOT.parent.glob("*/specs/pinecone"))), None)


class OpenApi:
    """One document, OpenAPI 3.0."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._validators: dict[int, Any] = {}

    @classmethod
    @cache
    def of(cls, name: str) -> "OpenApi | None":
        folder = specs_folder()
        if folder is None or not (folder / name).is_file():
            return None
        import yaml

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        return cls(yaml.load((folder / name).read_text(encoding="utf-8"), Loader=loader))

    def check(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, list[str]],
        headers: Mapping[str, str],
        body: Any,
        status: int,
        answer: Any,
    ) -> list[str]:
        """What is wrong with a request and its answer, in sentences."""
        where = f"{method} {path}"
        operation = self._operation(method, path)
        if operation is None:
            return [f"{where}: there is no such operation"]
        problems = [*self._parameters(operation, query, headers)]
        if "requestBody" in operation:
            problems += self._against(operation["requestBody"]["content"]["application/json"]["schema"], body)
        elif body is not None:
            problems.append("the operation takes no body")
        responses = operation["responses"]
        response = responses.get(str(status)) or responses.get(f"{status // 100}XX")
        if response is None:
            problems.append(f"there is no answer {status}")
        elif (content := self._resolved(response).get("content")) is not None:
            problems += self._against(content["application/json"]["schema"], answer)
        return [f"{where}: {problem}" for problem in problems]

    def _operation(self, method: str, path: str) -> dict[str, Any] | None:
        for template, operations in self._document["paths"].items():
            if re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", template), path):
                found: dict[str, Any] | None = operations.get(method.lower())
                return found
        return None

    def _parameters(
        self, operation: dict[str, Any], query: Mapping[str, list[str]], headers: Mapping[str, str]
    ) -> list[str]:
        problems: list[str] = []
        known: set[str] = set()
        for parameter in map(self._resolved, operation.get("parameters", ())):
            name, required = parameter["name"], parameter.get("required", False)
            if parameter["in"] == "query":
                known.add(name)
                schema = parameter["schema"]
                if name not in query:
                    problems += [f"parameter {name} is missing"] if required else []
                elif schema.get("type") == "integer":
                    problems += self._against(schema, int(query[name][0]))
                else:
                    problems += self._against(schema, query[name] if schema["type"] == "array" else query[name][0])
            elif parameter["in"] == "header" and required and name.lower() not in headers:
                problems.append(f"header {name} is missing")
        return problems + [f"parameter {name} is not in the document" for name in query if name not in known]

    def _against(self, schema: dict[str, Any], value: Any) -> list[str]:
        from openapi_schema_validator import OAS30Validator

        if id(schema) not in self._validators:
            whole = {**schema, "components": self._document["components"]}
            self._validators[id(schema)] = OAS30Validator(_cleaned(whole))
        return [
            f"{error.json_path}: {error.message[:200]}" for error in self._validators[id(schema)].iter_errors(value)
        ]

    def _resolved(self, node: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in node:
            return node
        found: Any = self._document
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        return dict(found)


def _cleaned(schema: Any) -> Any:
    """The document has `required` lists on single properties, which says nothing in OpenAPI 3.0, and length limits of
    strings on lists, which mean the lists' own."""
    if isinstance(schema, list):
        return [_cleaned(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _cleaned(value) for key, value in schema.items()}
    if found.get("type") in ("string", "integer", "number", "array"):
        found.pop("required", None)
    if found.get("type") == "array":
        for old, new in (("minLength", "minItems"), ("maxLength", "maxItems")):
            if old in found:
                found[new] = found.pop(old)
    return found
