"""A folder of anything is ingested: every format, its places, what is damaged, and what cannot be read."""

import json
from pathlib import Path
from typing import Any

from flowkit import Flowkit
from flowkit.rag.stores.memory import InMemoryStore
from tests.rag.parse.files import book, encrypted_office, mail, packed, sheets, slides, word
from tests.rag.parse.papers import paper, with_glyphs


def fill(folder: Path) -> None:
    files: dict[str, bytes] = {
        "book.epub": book({"one.xhtml": "<h1>Bread</h1><p>Rye"}),
        "broken.docx": b"no zip",
        "deck.pptx": slides([("Soups", "Tomato", "Smile"), ("Cakes", "Plum", "")]),
        "glyphs.pdf": with_glyphs("o\ue000ce hours"),
        "letter.eml": mail("Order", "Two soups").as_bytes(),
        "locked.docx": encrypted_office(word([("Normal", "Secret")]), "x"),
        "menu.pdf": paper("Soup", "Cake"),
        "note.ipynb": json.dumps({"cells": [{"cell_type": "markdown", "source": "# Note"}]}).encode(),
        "offer.docx": word([("Heading 1", "Offer"), ("Normal", "Ten soups")]),
        "old.odt": packed({"mimetype": "application/vnd.oasis.opendocument.text"}),
        "page.html": b"<title>Page</title><h1>Tea</h1><p>Green",
        "prices.csv": b"Name,Price\nSoup,3\n",
        "prices.xlsx": sheets({"Winter": [["Name", "Price"], ["Soup", 3]]}),
        "wrong.txt": paper("Hidden soup"),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)


async def test_every_format_gives_chunks_with_their_places(ai: Flowkit, store: InMemoryStore, tmp_path: Path):
    folder = tmp_path / "docs"
    folder.mkdir()
    fill(folder)

    report = await ai.ingest("docs", folder)

    found: dict[str, list[Any]] = {}
    for row in (await store.fetch(limit=1000)).items:
        metadata = row.document.metadata
        place = metadata.get("page", metadata.get("heading"))
        found.setdefault(str(metadata["source"]).removeprefix("docs/"), []).append(place)
        assert not {"page_starts", "text_format", "parse_warnings"} & metadata.keys()
    assert {name: sorted(places) if len(places) > 1 else places[0] for name, places in found.items()} == {
        "book.epub": "Bread",
        "deck.pptx": [1, 2],
        "glyphs.pdf": 1,
        "letter.eml": "Order",
        "menu.pdf": 1,
        "note.ipynb": "Note",
        "offer.docx": "Offer",
        "page.html": "Tea",
        "prices.csv": None,
        "prices.xlsx": "Winter",
        "wrong.txt": 1,
    }
    told = {warning.partition(": ")[0]: warning.partition(": ")[2] for warning in report.warnings}
    assert told["docs/wrong.txt"] == "it is a PDF, though its name ends in .txt"
    assert told["docs/glyphs.pdf"].startswith("page 1: the font does not say")
    assert {item.source: item.hint for item in report.skipped} == {
        "docs/broken.docx": "get it again, or save it anew",
        "docs/locked.docx": "pass password=",
        "docs/old.odt": "save it as docx, for instance with: soffice --headless --convert-to docx FILE",
    }


async def test_whole_documents_are_stored_without_what_their_parser_told(
    ai: Flowkit, store: InMemoryStore, tmp_path: Path
):
    (tmp_path / "deck.pptx").write_bytes(slides([("Soups", "Tomato", "")]))

    await ai.ingest("docs", tmp_path / "deck.pptx", splitter=None)

    (row,) = (await store.fetch()).items
    assert dict(row.document.metadata) == {"source": "deck.pptx", "pages": 1, "index": 0}
