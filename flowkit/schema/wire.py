"""The one base of all wire models: snake_case in Python, Genkit's camelCase in JSON.

class Usage(Wire): input_tokens: int | None = None      # JSON: {"inputTokens": 3}
"""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

__all__ = ["JSON", "Wire"]

# A value that JSON can carry. Any, because a recursive alias costs pydantic a validator per level.
JSON = Any


class Wire(BaseModel):
    """A frozen value with a JSON form. Unknown keys are ignored, as Genkit's tools send more than they document."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, populate_by_name=True, extra="ignore", protected_namespaces=()
    )

    def to_wire(self) -> dict[str, JSON]:
        """The JSON form: camelCase keys, unset optional fields absent (Genkit's validators refuse null)."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    @classmethod
    def from_wire(cls, value: JSON) -> Self:
        """Read the JSON form (snake_case names are accepted too).

        Raises:
            pydantic.ValidationError: the value has not this shape.
        """
        return cls.model_validate(value)
