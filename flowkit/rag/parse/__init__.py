"""Parsers: a file or its bytes in, a document out.

    parse.auto()(Path("anything"))               # what ingest uses: by content, then by name
    parse.pdf(Path("menu.pdf"), password="secret")

Each takes a path, or bytes with `source_name`, and returns one Document: its text, and metadata. Pages, slides, sheets
and headings end up in the metadata of its chunks (`page`, `heading`). What could be read only in part says so in
`metadata["parse_warnings"]`, which ingest puts into its report. A loader needs no more than that: see `Parser`.
"""

from flowkit.rag.parse.apart import email, epub, html, office
from flowkit.rag.parse.auto import Parser, auto
from flowkit.rag.parse.docling import docling
from flowkit.rag.parse.limits import Limits
from flowkit.rag.parse.notebook import notebook
from flowkit.rag.parse.pdf import pdf
from flowkit.rag.parse.plain import markdown, text
from flowkit.rag.parse.records import csv, json

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
]
