"""From what was found to a document, or to the reason why there is none.

item = parsed(Parsing.of(parse.pdf), found)          # Document | Skipped | None, or an awaitable of one
"""

import inspect
import logging
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flowkit.errors import FlowkitError, InvalidInputError, InvalidOutputError, NotFoundError
from flowkit.rag.load.formats import default_parser, is_binary
from flowkit.rag.load.found import Content, Found, Parser
from flowkit.rag.load.skipped import Skipped
from flowkit.schema.documents import Document

__all__ = ["Item", "Parsing", "parsed"]

Item = Document | Skipped

_log = logging.getLogger("flowkit.load")

_NAMES = ("source_name", "media_type", "encoding")
_BLANK_BYTES = 1_000_000  # a larger file is not blank, or nobody minds


@dataclass(frozen=True, slots=True)
class Parsing:
    """A parser and which of the optional arguments it takes."""

    parser: Parser
    takes: frozenset[str]
    is_default: bool
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, parser: Parser | None, metadata: Mapping[str, Any] | None = None) -> "Parsing":
        """The parser given; or, for None, the one that goes by content type and ending. `metadata` is every document's.

        Raises:
            InvalidInputError: the metadata names a source.
        """
        if metadata is not None and "source" in metadata:
            raise InvalidInputError(
                "the source of a document is for its loader to say", hint="leave it out of metadata="
            )
        chosen = parser or default_parser
        try:
            parameters = inspect.signature(chosen).parameters
        except (TypeError, ValueError):  # some callables written in C have none
            parameters = {}  # type: ignore[assignment]
        return cls(chosen, frozenset(name for name in _NAMES if name in parameters), parser is None, metadata or {})


def parsed(parsing: Parsing, found: Found) -> Item | Awaitable[Item | None] | None:
    """What is made of it; awaitable when the parser is async. None for what is gone by now. Blocks; never raises."""
    if parsing.is_default and is_binary(found.name):
        return Skipped(source=found.source, reason="no text format")
    try:
        content = found.content if isinstance(found.content, Path | bytes) else found.content()
    except Exception as error:  # noqa: BLE001  one item that cannot be read is told, and the others are loaded
        return _failed(found, error, gone=isinstance(error, FileNotFoundError))
    given = {"source_name": found.source, "media_type": found.media_type, "encoding": found.encoding}
    arguments = {name: value for name, value in given.items() if name in parsing.takes}
    try:
        made = parsing.parser(content, **arguments)
        if inspect.isawaitable(made):
            return _awaited(parsing, made, found, content)
        return _finished(parsing, made, found)
    except Exception as error:  # noqa: BLE001  as above
        gone = isinstance(error, NotFoundError) and isinstance(content, Path)
        return _failed(found, error, empty=_is_blank(content), gone=gone)


async def _awaited(parsing: Parsing, made: Awaitable[Any], found: Found, content: Content) -> Item | None:
    try:
        return _finished(parsing, await made, found)
    except Exception as error:  # noqa: BLE001  as above
        return _failed(found, error, empty=_is_blank(content))


def _finished(parsing: Parsing, document: Any, found: Found) -> Document:
    """The loader's metadata over the parser's."""
    if not isinstance(document, Document):
        raise InvalidOutputError(
            f"the parser gave a {type(document).__name__}, not a Document", hint="return Document.from_text(text)"
        )
    ours = {"source": found.source, **found.metadata, **parsing.metadata}
    theirs = document.metadata
    differ = sorted(key for key, value in ours.items() if key in theirs and theirs[key] != value)
    if differ:
        told = ", ".join(f"{key} ({theirs[key]!r}, now {ours[key]!r})" for key in differ)
        _log.warning("%s: the loader's metadata replaces the parser's: %s", found.source, told)
    elif all(key in theirs for key in ours):
        return document
    return document.with_metadata(**ours)


def _failed(found: Found, error: Exception, *, empty: bool = False, gone: bool = False) -> Skipped | None:
    if gone:
        return None
    if isinstance(error, FlowkitError):
        return Skipped(source=found.source, reason=error.message, hint=error.hint, empty=empty)
    if isinstance(error, OSError):
        return Skipped(source=found.source, reason=f"cannot be read: {error.strerror or error}", hint=None)
    _log.warning("%s: the parser failed", found.source, exc_info=error)
    told = " ".join(str(error).split())[:300]
    return Skipped(source=found.source, reason=f"{type(error).__name__}: {told}" if told else type(error).__name__)


def _is_blank(content: Content) -> bool:
    """Whether what could not be parsed has no text, and is not merely unreadable."""
    if isinstance(content, bytes):
        return len(content) < _BLANK_BYTES and not content.strip()
    try:
        return content.stat().st_size < _BLANK_BYTES and not content.read_bytes().strip()
    except OSError:
        return False
