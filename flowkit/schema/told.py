"""Models that users write by hand: what is wrong with one is said in words of ours, with the name of the field.

class EmbedderInfo(Told): label: str
EmbedderInfo(dimensions=384)            # ConfigError: EmbedderInfo has no label …
"""

from typing import Any, Self

from pydantic import ModelWrapValidatorHandler, ValidationError, model_validator

from flowkit.errors import ConfigError
from flowkit.schema.wire import Wire

__all__ = ["Told"]


class Told(Wire):
    """A Wire whose constructor, and `from_wire`, raise ConfigError."""

    @model_validator(mode="wrap")
    @classmethod
    def _in_words(cls, value: Any, make: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return make(value)
        except ValidationError as error:
            found = error.errors(include_url=False, include_context=False, include_input=False)
        names = {field.alias: name for name, field in cls.model_fields.items()}
        wrong = [(".".join(str(names.get(str(part), part)) for part in each["loc"]), each) for each in found]
        missing = [name for name, each in wrong if each["type"] == "missing"]
        said = [f"{name}: {each['msg']}" if name else each["msg"] for name, each in wrong if each["type"] != "missing"]
        if missing:
            said.insert(0, f"it has no {' and no '.join(missing)}")
        hint = ", ".join(f"{name}=…" for name in missing) or "check its arguments"
        raise ConfigError(
            f"bad {cls.__name__}: {'; '.join(said)}", hint=f"write {cls.__name__}({hint}, …)" if missing else hint
        )
