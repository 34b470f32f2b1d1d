"""Metadata at the beginning of each chunk's text, so that a chunk from the middle still says what it is about.

transform_chunk=prefix("title", "heading")
"""

from collections.abc import Callable

from flowkit.errors import InvalidInputError
from flowkit.schema.documents import Document, text_hash
from flowkit.schema.parts import TextPart

__all__ = ["prefix"]


def prefix(*keys: str, join: str = "\n", end: str = "\n\n") -> Callable[[Document], Document]:
    """Put the values of these metadata keys before the text, joined by `join` and followed by `end`.

    Missing keys are left out, and so is a value that the text begins with. Values are part of what is embedded and
    searched. `start` and `end` in the metadata stay those of the text behind; chunks grow by the length of the values.

    Raises:
        InvalidInputError: no key is given.
    """
    if not keys or not all(isinstance(key, str) for key in keys):
        raise InvalidInputError("prefix needs the names of metadata keys", hint='prefix("title")')

    def put_before(document: Document) -> Document:
        text = document.text
        values = [str(document.metadata[key]) for key in keys if key in document.metadata]
        new = [value for value in values if value and not text.startswith(value)]
        if not new:
            return document
        text = join.join(new) + end + text
        metadata = document.metadata.copy()
        if "content_hash" in metadata:
            metadata["content_hash"] = text_hash(text)
        others = [part for part in document.content if not isinstance(part, TextPart)]
        return document.model_copy(update={"content": (TextPart(text=text), *others), "metadata": metadata})

    return put_before
