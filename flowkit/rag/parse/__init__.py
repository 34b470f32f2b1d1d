"""Parsers: a file or its bytes in, a document out.

    parse.auto()(Path("anything"))               # what ingest uses: by content, then by name
    parse.pdf(Path("menu.pdf"), password="secret")

Each takes a path, or bytes with `source_name`, and returns one Document: its text, and metadata. Pages, slides, sheets
and headings end up in the metadata of its chunks (`page`, `heading`). What could be read only in part says so in
`metadata["parse_warnings"]`, which ingest puts into its report. A loader needs no more than that: see `Parser`.

Names are loaded when they are first used: the processes that read files import this package, and need none.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flowkit.rag.parse.any_file import Parser, auto
    from flowkit.rag.parse.apart import email, epub, html, office
    from flowkit.rag.parse.docling_service import docling
    from flowkit.rag.parse.limits import Limits
    from flowkit.rag.parse.notebook_file import notebook
    from flowkit.rag.parse.pdf_file import pdf
    from flowkit.rag.parse.plain import markdown, text
    from flowkit.rag.parse.records import csv, json, yaml

__all__ = [
    "Limits",
    "Parser",
    "auto",
    "csv",
    "docling",
    "email",
    "epub",
    "html",
    "json",
    "markdown",
    "notebook",
    "office",
    "pdf",
    "text",
    "yaml",
]

_HOMES = {
    "Limits": "limits",
    "Parser": "any_file",
    "auto": "any_file",
    "csv": "records",
    "docling": "docling_service",
    "email": "apart",
    "epub": "apart",
    "html": "apart",
    "json": "records",
    "markdown": "plain",
    "notebook": "notebook_file",
    "office": "apart",
    "pdf": "pdf_file",
    "text": "plain",
    "yaml": "records",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module 'flowkit.rag.parse' has no attribute {name!r}")
    value = getattr(import_module(f"flowkit.rag.parse.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
