"""The splitters that a page may choose from, each with its settings as a form.

    splitter = make_splitter("prose", {"maxChars": 1000, "overlapChars": 100}, count=estimated_tokens)
    splitter(document)

Settings have the names of the arguments in `flowkit.rag.split`, in JSON's spelling.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationError

from flowkit.core.types import problems, summary
from flowkit.errors import InvalidInputError, NotFoundError
from flowkit.rag import split
from flowkit.rag.ingest.defaults import MAX_TOKENS
from flowkit.rag.split.syntax import LANGUAGES
from flowkit.schema.wire import Wire
from flowkit.server.preview.shapes import PATTERNS, SplitterData

__all__ = ["make_splitter", "splitter_list"]

_Count = split.Tokenizer | Callable[[str], int]
_MOST = 100_000


class _Settings(Wire):
    model_config = ConfigDict(extra="forbid")


class _Limits(_Settings):
    """One limit in one unit."""

    max_tokens: int | None = Field(None, ge=1, le=_MOST, description="The most tokens of a chunk")
    max_chars: int | None = Field(None, ge=1, le=_MOST, description="The most characters of a chunk, instead of tokens")

    def sizes(self, count: _Count) -> dict[str, Any]:
        """The arguments of a splitter."""
        if self.max_chars is not None:
            return {"max_chars": self.max_chars}
        return {"max_tokens": self.max_tokens, "tokenizer": count}

    def filled(self, tokens: int) -> "_Limits":
        """With a limit where there is none."""
        return self if self.max_chars or self.max_tokens else self.model_copy(update={"max_tokens": tokens})

    def wrong(self, *, below_max: bool) -> list[dict[str, str]]:
        """What does not fit together, by field."""
        if self.max_chars is not None and self.max_tokens is not None:
            return [{"path": "maxChars", "message": "give a limit in tokens or in characters, not in both"}]
        return []


class _Overlapping(_Limits):
    overlap_tokens: int | None = Field(None, ge=0, le=_MOST, description="Tokens that the next chunk repeats")
    overlap_chars: int | None = Field(None, ge=0, le=_MOST, description="Characters that the next chunk repeats")

    def sizes(self, count: _Count) -> dict[str, Any]:
        if self.max_chars is not None:
            return {**super().sizes(count), "overlap_chars": self.overlap_chars or 0}
        return {**super().sizes(count), "overlap_tokens": self.overlap_tokens or 0}

    def filled(self, tokens: int) -> _Limits:
        if self.max_chars or self.max_tokens or self.overlap_chars:
            return self
        overlap = tokens // 10 if self.overlap_tokens is None else self.overlap_tokens
        return self.model_copy(update={"max_tokens": tokens, "overlap_tokens": overlap})

    def wrong(self, *, below_max: bool) -> list[dict[str, str]]:
        found = super().wrong(below_max=below_max)
        if found:
            return found
        if self.max_chars is None and self.max_tokens is None:
            return [{"path": "maxChars", "message": "an overlap in characters needs a limit in characters"}]
        in_chars = self.max_chars is not None
        other, overlap = ("overlapTokens", self.overlap_tokens) if in_chars else ("overlapChars", self.overlap_chars)
        if overlap:
            unit = "characters" if in_chars else "tokens"
            found.append({"path": other, "message": f"the limit is in {unit}, so the overlap is, too"})
        name, own = ("overlapChars", self.overlap_chars) if in_chars else ("overlapTokens", self.overlap_tokens)
        most = ((self.max_chars if in_chars else self.max_tokens) or 0) - below_max
        if own is not None and own > most:
            found.append({"path": name, "message": f"the overlap must lie in 0…{most}"})
        return found


class _Code(_Overlapping):
    language: Literal[tuple(sorted(set(LANGUAGES.values())))] | None = Field(  # type: ignore[valid-type]
        None, description="By default told by the ending of the file's name"
    )


class _Regex(_Overlapping):
    pattern: str = Field(min_length=1, max_length=1000, description="A regular expression; the text is cut where it is")
    join: str = Field(" ", max_length=100, description="What stands between parts of one chunk")


class _Chunk(_Settings):
    min_length: int = Field(1000, ge=0, le=_MOST, description="Characters that a chunk has before it ends")
    max_length: int = Field(2000, ge=1, le=_MOST, description="Characters near which a chunk ends")
    splitter: Literal["sentence", "paragraph"] = "sentence"
    overlap: int = Field(100, ge=0, le=_MOST, description="Characters that the next chunk repeats, about")
    delimiters: str = Field("", max_length=1000, description="A regular expression to cut at instead")


@dataclass(frozen=True)
class _Splitter:
    """One of them. `about` has its description; `below_max`: an overlap must be smaller than the limit."""

    make: Callable[[Any, _Count], split.Splitter]
    settings: type[_Settings] = _Overlapping
    _: KW_ONLY
    about: Callable[..., Any]
    below_max: bool = True


def _sized(fn: Callable[..., split.Splitter], *, below_max: bool = True) -> _Splitter:
    return _Splitter(lambda settings, count: fn(**settings.sizes(count)), about=fn, below_max=below_max)


def _code(settings: _Code, count: _Count) -> split.Splitter:
    return split.code(language=settings.language, **settings.sizes(count))


def _regex(settings: _Regex, count: _Count) -> split.Splitter:
    sizes = settings.sizes(count)
    # A part over the limit is cut smaller here: in a form, a splitter that fails on the first long part is no help.
    return split.regex(settings.pattern, settings.join, sub_splitter=split.sentence(**sizes), **sizes)


_SPLITTERS = {
    "auto": _sized(split.auto),
    "prose": _sized(split.prose),
    "markdown": _sized(split.markdown),
    "code": _Splitter(_code, _Code, about=split.code),
    "exact": _sized(split.exact),
    "recursive": _sized(split.recursive, below_max=False),
    "paragraph": _sized(split.paragraph, below_max=False),
    "line": _sized(split.line, below_max=False),
    "sentence": _sized(split.sentence, below_max=False),
    "word": _sized(split.word, below_max=False),
    "character": _sized(split.character, below_max=False),
    "regex": _Splitter(_regex, _Regex, about=split.regex, below_max=False),
    "chunk": _Splitter(lambda settings, _: split.chunk(**settings.model_dump()), _Chunk, about=split.chunk),
    "semchunk": _Splitter(
        lambda settings, count: split.semchunk(**settings.sizes(count)), _Limits, about=split.semchunk
    ),
}


def splitter_list() -> Sequence[SplitterData]:
    """All of them, the default first."""
    return [
        SplitterData(
            name=name,
            description=(splitter.about.__doc__ or "").strip().splitlines()[0],
            settings=splitter.settings.model_json_schema(by_alias=True),
        )
        for name, splitter in _SPLITTERS.items()
    ]


def make_splitter(
    name: str, settings: Mapping[str, Any], *, count: _Count, max_tokens: int = MAX_TOKENS
) -> split.Splitter:
    """A splitter of that name; `count` counts where a limit is in tokens.

    Where the settings give no limit it is `max_tokens`, with a tenth of it as the overlap.

    Raises:
        NotFoundError: there is none.
        InvalidInputError: the settings do not fit; `details.errors` has each field, as `settings.maxTokens`.
    """
    splitter = _SPLITTERS.get(name)
    if splitter is None:
        raise NotFoundError(f"no splitter {name!r}", hint=f"there are {', '.join(_SPLITTERS)}")
    try:
        given = splitter.settings.model_validate(settings)
    except ValidationError as error:
        raise _bad(name, problems(error)) from None
    if isinstance(given, _Limits):
        given = given.filled(max_tokens)
        if found := given.wrong(below_max=splitter.below_max):
            raise _bad(name, found)
    try:
        return splitter.make(given, count)
    except InvalidInputError as error:  # what is left is the regular expression
        raise _bad(name, [{"path": PATTERNS.get(name, ""), "message": str(error)}]) from None


def _bad(name: str, found: list[dict[str, str]]) -> InvalidInputError:
    errors = [{**each, "path": f"settings.{each['path']}".removesuffix(".")} for each in found]
    return InvalidInputError(f"bad settings for the splitter {name!r}: {summary(errors)}", details={"errors": errors})
