"""What is asked: the question in a prompt, without the words that prompts put around it.

question_of(request.messages)        # "Which dishes are vegan?"
"""

import re
from collections.abc import Sequence

from flowkit import Message
from flowkit.plugin import TextPart

__all__ = ["question_of"]

_LABEL = re.compile(r"\bquestion\s*:", re.IGNORECASE)
# What may follow a labelled question: the place for the answer, or the material to answer from.
_NEXT_LABEL = re.compile(r"\n\s*(?:\n|(?:answer|context|documents?|information|sources?)\s*:)", re.IGNORECASE)
# How injected documents are announced when they come in the text of the message.
_INJECTED = re.compile(r"\n\s*(?:Answer using|Use) the following information\b", re.IGNORECASE)


def question_of(messages: Sequence[Message]) -> str:
    """The question of the last user message; "" when there is none.

    It is what stands behind the last "Question:", up to a blank line or the next label, else the whole text. Parts
    that hold documents for the model are left out.
    """
    asked = next((message for message in reversed(messages) if message.role == "user"), None)
    if asked is None:
        return ""
    texts = [
        part.text
        for part in asked.content
        if isinstance(part, TextPart) and (part.metadata or {}).get("purpose") != "context"
    ]
    text = "".join(texts)
    text = text[: found.start()] if (found := _INJECTED.search(text)) else text
    labels = list(_LABEL.finditer(text))
    for label in reversed(labels):
        behind = text[label.end() :].strip()
        end = _NEXT_LABEL.search(behind)
        if question := (behind[: end.start()] if end else behind).strip():
            return question
    return text.strip()
