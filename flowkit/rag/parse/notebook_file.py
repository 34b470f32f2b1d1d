"""Jupyter notebooks: text, code and what came out of it.

document = notebook(Path("analysis.ipynb"))
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from flowkit.errors import ParseError
from flowkit.rag.parse.files import read
from flowkit.rag.parse.limits import DEFAULT_LIMITS, Limits
from flowkit.rag.parse.made import document_of
from flowkit.rag.parse.plain import decoded
from flowkit.schema.documents import Document

__all__ = ["notebook"]

_LONGEST_OUTPUT = 2_000


def notebook(
    source: Path | str | bytes,
    *,
    source_name: str | None = None,
    include_outputs: bool = True,
    limits: Limits = DEFAULT_LIMITS,
) -> Document:
    """The cells in order: text as Markdown, code in fences, its output below, cut at 2,000 characters each.

    Pictures are left out. Metadata: `source`, and `language`, that of the kernel.

    Raises:
        NotFoundError: there is no such file.
        ParseError: it is empty, or no notebook.
    """
    given = read(source, source_name, max_bytes=limits.max_bytes)
    written = decoded(given, None)
    try:
        found = json.loads(written.text)
        cells = (
            found["cells"] if "cells" in found else [cell for sheet in found["worksheets"] for cell in sheet["cells"]]
        )
        language = _language(found)
        parts = [part for cell in cells for part in _cell(cell, language, include_outputs=include_outputs)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "it has no cells"
        raise ParseError(f"{given.name!r} is no notebook: {reason}", hint="save it anew in Jupyter") from error
    kept = {**({"language": language} if language else {}), **written.metadata}
    return document_of(given, "\n\n".join(parts), kept, markdown=True, warnings=written.warnings, limits=limits)


def _language(found: Mapping[str, Any]) -> str:
    about = found.get("metadata") or {}
    name = (about.get("language_info") or {}).get("name") or (about.get("kernelspec") or {}).get("language")
    return name if isinstance(name, str) else ""


def _cell(cell: Mapping[str, Any], language: str, *, include_outputs: bool) -> Iterator[str]:
    written = _joined(cell.get("source", cell.get("input", ""))).strip("\n")
    if cell.get("cell_type") == "code":
        if written.strip():
            yield _fenced(written, language)
        for output in cell.get("outputs") or () if include_outputs else ():
            if text := _output(output).strip("\n"):
                cut = text if len(text) <= _LONGEST_OUTPUT else f"{text[:_LONGEST_OUTPUT]} …"
                yield f"Output:\n\n{_fenced(cut, '')}"
    elif cell.get("cell_type") == "heading":  # the older format's
        yield f"{'#' * int(cell.get('level', 1))} {written}"
    elif written.strip():
        yield written


def _output(output: Mapping[str, Any]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename', 'Error')}: {_joined(output.get('evalue', ''))}"
    data = output.get("data") or {}
    return _joined(output.get("text") or data.get("text/markdown") or data.get("text/plain") or "")


def _joined(text: Any) -> str:
    """A text, which the format keeps as one string or as lines."""
    return text if isinstance(text, str) else "".join(line for line in text if isinstance(line, str))


def _fenced(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
