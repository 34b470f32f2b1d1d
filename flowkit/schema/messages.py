"""Messages: who says what in a conversation with a model.

Message.user("Which dishes are vegan?")
"""

from typing import Literal

from flowkit.schema.parts import Part, TextPart
from flowkit.schema.wire import JSON, Wire

__all__ = ["Message", "Role"]

Role = Literal["system", "user", "model", "tool"]


class Message(Wire):
    """One turn: a role and its parts. `metadata.citations` lists what a model's text rests on."""

    role: Role
    content: tuple[Part, ...]
    metadata: dict[str, JSON] | None = None

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.content if isinstance(part, TextPart))

    @classmethod
    def system(cls, text: str) -> "Message":
        return cls(role="system", content=(TextPart(text=text),))

    @classmethod
    def user(cls, text: str) -> "Message":
        return cls(role="user", content=(TextPart(text=text),))

    @classmethod
    def model(cls, text: str) -> "Message":
        return cls(role="model", content=(TextPart(text=text),))
