"""PDF files made for tests.

data = paper("Page one", "Page two")
data = with_glyphs("o\ufb03ce")
"""

from io import BytesIO
from typing import Any

from pypdf import PdfReader, PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

__all__ = ["encrypted", "paper", "with_glyphs", "with_unknown_filter"]


def paper(*pages: str) -> bytes:
    """A PDF with these pages, one drawn line per line of text; an empty page for an empty text."""
    from reportlab.pdfgen.canvas import Canvas

    file = BytesIO()
    canvas = Canvas(file)
    for page in pages:
        for row, line in enumerate(page.splitlines()):
            canvas.drawString(72, 770 - 16 * row, line)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def encrypted(data: bytes, user_password: str, algorithm: str = "AES-256") -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(data)))
    writer.encrypt(user_password, "the owner's", algorithm=algorithm)
    return _written(writer)


def with_glyphs(text: str) -> bytes:
    """A page whose font names its glyphs as these characters, whatever they are."""
    named = "\n".join(f"<{code:02x}> <{ord(char):04x}>" for code, char in enumerate(text, start=1))
    table = f"1 begincodespacerange <00> <ff> endcodespacerange\n{len(text)} beginbfchar\n{named}\nendbfchar\n"
    shown = "".join(f"{code:02x}" for code in range(1, len(text) + 1))
    writer = PdfWriter()
    font = _object(Type="/Font", Subtype="/Type1", BaseFont="/Helvetica", ToUnicode=writer._add_object(_stream(table)))
    page = writer.add_blank_page(600, 800)
    page[NameObject("/Resources")] = _object(Font=_object(F1=font))
    page[NameObject("/Contents")] = writer._add_object(_stream(f"BT /F1 12 Tf 72 700 Td <{shown}> Tj ET"))
    return _written(writer)


def with_unknown_filter(*pages: str) -> bytes:
    """The last page is packed in a way that nobody knows."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(paper(*pages))))
    packed = _stream("nobody knows")
    packed[NameObject("/Filter")] = NameObject("/NobodyKnows")
    writer.pages[-1][NameObject("/Contents")] = writer._add_object(packed)
    return _written(writer)


def _written(writer: PdfWriter) -> bytes:
    file = BytesIO()
    writer.write(file)
    return file.getvalue()


def _stream(text: str) -> DecodedStreamObject:
    stream = DecodedStreamObject()
    stream.set_data(text.encode("latin-1"))
    return stream


def _object(**entries: Any) -> DictionaryObject:
    values = {key: NameObject(value) if isinstance(value, str) else value for key, value in entries.items()}
    return DictionaryObject({NameObject(f"/{key}"): value for key, value in values.items()})
