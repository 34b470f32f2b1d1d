"""Files of many formats made for tests.

data = word([("Heading 1", "Guide"), ("Normal", "Text")])
data = book({"one.xhtml": "<h1>One</h1>"})
"""

import io
import zipfile
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from typing import Any

__all__ = ["book", "encrypted_office", "mail", "packed", "sheets", "slides", "word"]

_CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>"""


def packed(files: Mapping[str, str | bytes]) -> bytes:
    """A zip archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def word(paragraphs: Sequence[tuple[str, str]], *, table: Sequence[Sequence[str]] = (), title: str = "") -> bytes:
    """A .docx: paragraphs by style and text, then a table."""
    from docx import Document

    document = Document()
    document.core_properties.title = title
    for style, text in paragraphs:
        document.add_paragraph(text, style=style)
    if table:
        made = document.add_table(len(table), len(table[0]))
        for row, cells in zip(made.rows, table, strict=True):
            for cell, text in zip(row.cells, cells, strict=True):
                cell.text = text
    return _saved(document)


def slides(pages: Sequence[tuple[str, str, str]]) -> bytes:
    """A .pptx: title, text and notes of each slide."""
    from pptx import Presentation

    presentation = Presentation()
    for title, text, notes in pages:
        page = presentation.slides.add_slide(presentation.slide_layouts[1 if title else 6])
        if title:
            page.shapes.title.text = title
            page.placeholders[1].text = text
        if notes:
            page.notes_slide.notes_text_frame.text = notes
    return _saved(presentation)


def sheets(named: Mapping[str, Sequence[Sequence[Any]]]) -> bytes:
    """An .xlsx with these sheets."""
    from openpyxl import Workbook

    workbook = Workbook()
    workbook.remove(workbook.active)
    for name, rows in named.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    return _saved(workbook)


def encrypted_office(data: bytes, password: str) -> bytes:
    from msoffcrypto.format.ooxml import OOXMLFile

    made = io.BytesIO()
    OOXMLFile(io.BytesIO(data)).encrypt(password, made)
    return made.getvalue()


def book(chapters: Mapping[str, str], *, more: Mapping[str, str | bytes] | None = None) -> bytes:
    """An .epub with these chapters in this order."""
    items = "".join(
        f'<item id="c{at}" href="{name}" media-type="application/xhtml+xml"/>' for at, name in enumerate(chapters)
    )
    order = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    package = f"""<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Soups</dc:title><dc:creator>Ann</dc:creator>
<dc:language>en</dc:language></metadata><manifest>{items}</manifest><spine>{order}</spine></package>"""
    pages = {f"OEBPS/{name}": f"<html><body>{text}</body></html>" for name, text in chapters.items() if text}
    return packed(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": _CONTAINER,
            "OEBPS/content.opf": package,
            **pages,
            **(more or {}),
        }
    )


def mail(subject: str, text: str, *, html: str = "", attached: Mapping[str, bytes] | None = None) -> EmailMessage:
    message = EmailMessage()
    message["Subject"] = subject
    message["From"] = "Ann <ann@shop.test>"
    message["To"] = "Bob <bob@shop.test>"
    message["Date"] = "Mon, 05 Jan 2026 12:30:00 +0100"
    message["Message-ID"] = "<1@shop.test>"
    if text:
        message.set_content(text)
        if html:
            message.add_alternative(html, subtype="html")
    else:
        message.set_content(html, subtype="html")
    for name, data in (attached or {}).items():
        message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return message


def _saved(made: Any) -> bytes:
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()
