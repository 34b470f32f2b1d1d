"""The text of the pages of a PDF that PDFium has opened, by its own functions: an object of pypdfium2 for each page and
each text layer costs as much as everything else that is done with the text.

pages = Pages(pypdfium2.PdfDocument(path))
pages.text(0)
"""

import ctypes

from pypdfium2 import PdfDocument, PdfiumError
from pypdfium2 import raw as pdfium

__all__ = ["Pages"]

_PICTURES = (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM)


class Pages:
    """Pages count from 0, and are loaded one at a time."""

    def __init__(self, document: PdfDocument) -> None:
        self._document = document
        self._units = (ctypes.c_ushort * 16_384)()
        """UTF-16; a type for each length would cost as much as the text."""

    def text(self, number: int) -> str:
        """What the text layer of a page says, as PDFium gives it: lines end with CR LF, and U+FFFE is a soft hyphen.

        Raises:
            PdfiumError: the page is broken.
        """
        page = pdfium.FPDF_LoadPage(self._document, number)
        if not page:
            raise PdfiumError("Failed to load page")
        try:
            layer = pdfium.FPDFText_LoadPage(page)
            if not layer:
                raise PdfiumError("Failed to load text page")
            try:
                characters = pdfium.FPDFText_CountChars(layer)
                units = self._room(characters)
                written = pdfium.FPDFText_GetText(layer, 0, characters, units)
            finally:
                pdfium.FPDFText_ClosePage(layer)
        finally:
            pdfium.FPDF_ClosePage(page)
        # Lone surrogates are no characters. The last unit is a NUL.
        return bytes(memoryview(units)[: max(written - 1, 0)]).decode("utf-16-le", "ignore")

    def draws_pictures(self, number: int) -> bool:
        """Whether there is anything on a page besides text and lines."""
        page = self._document[number]
        try:
            return any(each.type in _PICTURES for each in page.get_objects(max_depth=1))
        finally:
            page.close()

    def _room(self, characters: int) -> "ctypes.Array[ctypes.c_ushort]":
        """For so many characters, each of two units at most, and the NUL."""
        if (needed := 2 * characters + 1) > len(self._units):
            self._units = (ctypes.c_ushort * (2 * needed))()
        return self._units
