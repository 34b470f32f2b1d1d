"""Inside an EPUB: the chapters in reading order. Runs in the process that reads.

for piece in read(job): ...
"""

import posixpath
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from flowkit.errors import ParseError
from flowkit.rag.parse.archive import Archive
from flowkit.rag.parse.decoding import decode
from flowkit.rag.parse.markup import render
from flowkit.rag.parse.pieces import End, Job, Page, Piece

__all__ = ["read"]

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
# These two only disguise fonts; anything else locks the text.
_FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_PAGES = re.compile(r"x?html|xml", re.IGNORECASE)


def read(job: Job) -> Iterator[Piece]:
    """One page with all chapters; then title, author and language."""
    with Archive(job, "EPUB") as book:
        _check_locks(job, book)
        place, package = _package(job, book)
        files = {
            item.get("id"): item.get("href", "")
            for item in _all(package, "item")
            if _PAGES.search(item.get("media-type", ""))
        }
        order = [item.get("idref") for item in _all(package, "itemref") if item.get("linear") != "no"]
        texts: list[str] = []
        warnings: list[str] = []
        missing = 0
        for href in (files[each] for each in order if each in files):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(place), unquote(href.partition("#")[0])))
            try:
                page = book.read(name)
            except KeyError:
                missing += 1
                continue
            found = decode(page, name)
            texts.append(render(found.text).text)
            warnings.extend(f"{name}: {each}" for each in found.warnings)
        if missing:
            warnings.append(f"{missing} chapters are named in its table, and not in the file")
        yield Page("\n\n".join(text for text in texts if text))
        yield End(_described(package), tuple(warnings))


def _check_locks(job: Job, book: Archive) -> None:
    if _ENCRYPTION not in book.names:
        return
    for method in _all(_xml(job, book.read(_ENCRYPTION)), "EncryptionMethod"):
        if method.get("Algorithm") not in _FONT_ALGORITHMS:
            raise ParseError(f"{job.name!r} is locked (DRM)", hint="get a copy that is not protected")


def _package(job: Job, book: Archive) -> tuple[str, ET.Element]:
    """The file that lists all others, and where it lies."""
    try:
        roots = _all(_xml(job, book.read(_CONTAINER)), "rootfile")
        place = unquote(next(root.get("full-path", "") for root in roots))
        return place, _xml(job, book.read(place))
    except (KeyError, StopIteration) as error:
        raise ParseError(
            f"{job.name!r} is a broken EPUB: its table of contents is missing", hint="get it again"
        ) from error


def _described(package: ET.Element) -> dict[str, Any]:
    found = {}
    for key, name in (("title", "title"), ("author", "creator"), ("language", "language"), ("date", "date")):
        values = [" ".join("".join(each.itertext()).split()) for each in _all(package, name)]
        if any(values):
            found[key] = ", ".join(value for value in values if value)
    return found


def _xml(job: Job, data: bytes) -> ET.Element:
    if b"<!ENTITY" in data:  # entities in entities grow without end
        raise ParseError(f"{job.name!r} is a broken EPUB: its table defines entities", hint="leave it out")
    try:
        return ET.fromstring(data)
    except ET.ParseError as error:
        raise ParseError(f"{job.name!r} is a broken EPUB ({error})", hint="get it again") from error


def _all(root: ET.Element, name: str) -> list[ET.Element]:
    """The elements of that name in any namespace, in order."""
    return [each for each in root.iter() if isinstance(each.tag, str) and each.tag.rpartition("}")[2] == name]
