"""One annotation as a validator and a JSON Schema, made at first use (pydantic takes about a millisecond for each).

TypeOf(list[int], "flow 'sum', parameter 'x'").validate(["1", 2])      # [1, 2]
"""

import functools
from typing import Any, Literal

from flowkit.core.functions import MISSING
from flowkit.errors import ConfigError

__all__ = ["TypeOf", "adapter_of", "json_schema", "problems", "summary"]

Mode = Literal["validation", "serialization"]


class TypeOf:
    """A type. `exact` is set for those whose own instances need no validation."""

    __slots__ = ("_adapter", "_where", "annotation", "exact")

    def __init__(self, annotation: Any, where: str) -> None:
        self.annotation = Any if annotation is MISSING else annotation
        self.exact = self.annotation if self.annotation in (str, int, float, bool) else None
        self._where = where
        self._adapter: Any = None

    @property
    def adapter(self) -> Any:
        """Raises ConfigError when pydantic knows nothing of the type."""
        if self._adapter is None:
            self._adapter = adapter_of(self.annotation, self._where)
        return self._adapter

    def validate(self, value: Any) -> Any:
        if value.__class__ is self.exact or self.annotation is Any:
            return value
        return self.adapter.validate_python(value)

    def schema(self, mode: Mode) -> dict[str, Any]:
        return {} if self.annotation is Any else json_schema(self.adapter, mode)


def adapter_of(annotation: Any, where: str) -> Any:
    """Pydantic's validator of a type.

    Raises:
        ConfigError: it has none for it.
    """
    from pydantic import PydanticUserError, TypeAdapter

    try:
        return TypeAdapter(annotation)
    except (PydanticUserError, TypeError, NameError) as error:
        raise ConfigError(
            f"{where}: pydantic has no schema for {_named(annotation)}",
            hint="annotate with a pydantic model, a dataclass or plain types; or drop the annotation",
        ) from error


def json_schema(adapter: Any, mode: Mode = "validation") -> dict[str, Any]:
    """JSON Schema; a part that JSON has no form for (a callable) is `{}`."""
    schema: dict[str, Any] = adapter.json_schema(mode=mode, by_alias=True, schema_generator=_lenient())
    return schema


@functools.cache
def _lenient() -> Any:
    from pydantic.json_schema import GenerateJsonSchema

    class Lenient(GenerateJsonSchema):
        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  as pydantic has it

        def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> dict[str, Any]:
            return {}

    return Lenient


def _named(annotation: Any) -> str:
    return annotation.__qualname__ if isinstance(annotation, type) else str(annotation)


def problems(error: ValueError) -> list[dict[str, str]]:
    """`[{"path": "items.0.n", "message": …}]` of a validation error."""
    listed = getattr(error, "errors", None)
    if not callable(listed):
        return [{"path": "", "message": str(error)}]
    found = listed(include_url=False, include_context=False, include_input=False)
    # "Value error, " is what pydantic writes before the message of a validator's own exception.
    words = [item["msg"].removeprefix("Value error, ") for item in found]
    return [{"path": ".".join(map(str, item["loc"])), "message": said} for item, said in zip(found, words, strict=True)]


def summary(found: list[dict[str, str]]) -> str:
    """The first problems in words, fields named."""
    words = [f"{item['path']}: {item['message']}" if item["path"] else item["message"] for item in found]
    more = f" (and {len(words) - 3} more)" if len(words) > 3 else ""
    return "; ".join(words[:3]) + more
