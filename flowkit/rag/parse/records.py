"""CSV, JSON and YAML files.

document = csv(Path("prices.csv"))        # "Name: Soup; Price: 3.50" for each row
document = json(Path("menu.json"))
document = yaml(Path("menu.yaml"))        # needs the extra `yaml`
"""

import csv as csv_format
import io
import json as json_format
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from flowkit.errors import InvalidInputError, ParseError
from flowkit.rag.parse.decoding import codec_of
from flowkit.rag.parse.files import read
from flowkit.rag.parse.limits import DEFAULT_LIMITS, Limits
from flowkit.rag.parse.made import document_of
from flowkit.rag.parse.plain import decoded
from flowkit.rag.parse.tables import records
from flowkit.rag.parse.workers import read_apart
from flowkit.schema.documents import Document

__all__ = ["csv", "json", "yaml"]

_SAMPLE = 20_000
_DELIMITERS = ",;\t|"
_LONG_LINE = 2_000


def csv(
    source: Path | str | bytes,
    encoding: str | None = None,
    *,
    source_name: str | None = None,
    delimiter: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Document:
    """A line of text for each row that is not empty: `Name: Soup; Price: 3.50`.

    The first row is taken for the names of the columns when it can be: as many different names as columns, none of them
    a number. So a line is understood by itself, however the text is cut. Without names, values have bars between them.

    Metadata: `source`, `rows` (how many, without the names), and `encoding` where it is not UTF-8.

    Args:
        delimiter: What separates values; by default found out among comma, semicolon, tab and bar.

    Raises:
        NotFoundError: there is no such file.
        ParseError: it is empty, blank, binary, or no table.
        InvalidInputError: the delimiter is no character.
    """
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '\r\n"'):
        raise InvalidInputError(f"delimiter is {delimiter!r}", hint="use one character")
    given = read(source, source_name, max_bytes=limits.max_bytes)
    found = decoded(given, encoding)
    text = found.text.replace("\0", "")
    if text[:4].lower() == "sep=":  # Excel's own mark
        said, _, text = text.partition("\n")
        delimiter = delimiter or said[4:5]
    delimiter = (delimiter or "").strip("\r\n") or _delimiter(text)
    try:
        lines = list(_lines(text, delimiter, csv_format.QUOTE_MINIMAL))
    except csv_format.Error:  # a quotation mark that nothing closes
        try:
            lines = list(_lines(text, delimiter, csv_format.QUOTE_NONE))
        except csv_format.Error as error:
            raise ParseError(f"{given.name!r} is no table of values: {error}", hint="use parse.text") from error
    kept = {"rows": len(lines), **found.metadata}
    return document_of(given, "\n".join(lines), kept, warnings=found.warnings, limits=limits)


def _lines(text: str, delimiter: str, quoting: Literal[0, 3]) -> Iterator[str]:
    return records(csv_format.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting))


def _delimiter(text: str) -> str:
    """The one that cuts the first lines into equally many parts, more than one."""
    first = text.lstrip("\r\n")[:_SAMPLE]
    lines = [line for line in first.splitlines()[:20] if line.strip()]
    if len(text) > _SAMPLE and len(lines) > 1:
        lines.pop()  # it may be cut
    best, most = ",", (0, 0)
    for delimiter in _DELIMITERS:
        try:
            widths = [len(row) for row in csv_format.reader(lines, delimiter=delimiter)]
        except csv_format.Error:
            continue
        if widths and widths[0] > 1:
            score = (sum(width == widths[0] for width in widths), widths[0])
            if score > most:
                best, most = delimiter, score
    return best


def json(
    source: Path | str | bytes,
    encoding: str | None = None,
    *,
    source_name: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Document:
    """JSON, or JSON by line, as text with a line for each value and its letters as they are read.

    A file that is laid out so already stays as it is. What is not valid JSON is kept as plain text.

    Raises:
        NotFoundError: there is no such file.
        ParseError: it is empty, blank or binary.
    """
    given = read(source, source_name, max_bytes=limits.max_bytes)
    found = decoded(given, encoding)
    text = found.text
    if "\\u" in text or max(map(len, text.split("\n"))) > _LONG_LINE:
        text = _laid_out(text)
    return document_of(given, text, found.metadata, warnings=found.warnings, limits=limits)


def _laid_out(text: str) -> str:
    try:
        return _written(json_format.loads(text))
    except (ValueError, RecursionError):
        pass
    lines = []
    for line in text.splitlines():
        if line.strip():
            try:
                lines.append(_written(json_format.loads(line)))
            except (ValueError, RecursionError):
                return text
    return "\n\n".join(lines)


def _written(value: Any) -> str:
    return json_format.dumps(value, ensure_ascii=False, indent=1)


def yaml(
    source: Path | str | bytes,
    encoding: str | None = None,
    *,
    source_name: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Document:
    """YAML, of one document or several, as text: as it stands in the file, or a line for each value where it is not so.

    It is looked through, and nothing is made of it: tags make no objects, and aliases are not followed.

    Metadata: `source`; `encoding` and `encoding_confidence` as of `parse.text`.

    Raises:
        NotFoundError: there is no such file.
        ParseError: it is empty, blank or null; it is no YAML, or has a key twice; or it is over a limit.
        ConfigError: the extra `yaml` is not installed.
        InvalidInputError: there is no such encoding.
    """
    if encoding is not None:
        codec_of(encoding)
    given = read(source, source_name, max_bytes=limits.max_bytes)
    found = read_apart("yaml", given, {"encoding": encoding}, limits)
    return document_of(given, "".join(found.pages), found.metadata, warnings=found.warnings, limits=limits)
