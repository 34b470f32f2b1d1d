"""HTML as the text that a reader sees, or the parts of it that CSS selectors choose.

page = html_to_text("article", metadata_selectors={"title": "h1"}, include_links=True)(document)
"""

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from flowkit.errors import ConfigError, InvalidInputError
from flowkit.schema.documents import Document

if TYPE_CHECKING:
    from lxml.html import HtmlElement

__all__ = ["html_to_text"]

_log = logging.getLogger("flowkit.transform")

_SPACE = re.compile("[ \t\n\f\r\u00a0]+")
_INVISIBLE = re.compile("[\u200b\u00ad]")
_BEFORE = {"li": "\n * ", "dt": "  ", **dict.fromkeys(("p", "h1", "h2", "h3", "h4", "h5", "h6", "tr"), "\n")}
_BEHIND = dict.fromkeys(("br", "dd", "dt", "p", "h1", "h2", "h3", "h4", "h5", "h6"), "\n")
_NO_TEXT = {"script", "style", "template"}


def html_to_text(
    selector: str | None = None,
    *,
    metadata_selectors: Mapping[str, str] | None = None,
    include_links: bool = False,
) -> Callable[[Document], Document]:
    """Keep the text of an HTML document: headings, paragraphs, rows and list items on lines of their own.

    Runs of whitespace become one space. The text of several selected elements is joined by a blank line.

    Args:
        selector: a CSS selector of what to keep; by default all of it.
        metadata_selectors: metadata key → CSS selector; the text that it selects goes into that key.
        include_links: put the address of each link behind its text, as `<https://…>`, made absolute by the document's
            `url`. One that cannot be made so is `<>`, with a warning in the log.

    Raises (when called with a document):
        InvalidInputError: nothing is selected, so there is no text; or a selector is no CSS.
        ConfigError: the `web` extra is not installed.
    """
    others = dict(metadata_selectors or {})

    def to_text(document: Document) -> Document:
        root = _parsed(document.text)
        base = str(document.metadata.get("url") or "") if include_links else None
        text = _text_of(root, selector, base)
        if not text:
            what = f"{selector!r} selects no text" if selector else "there is no text"
            where = f" in {document.source!r}" if document.source else ""
            raise InvalidInputError(f"{what}{where}", hint="look at the page, and choose another selector")
        extracted = {key: _text_of(root, css, base) for key, css in others.items()}
        return Document.from_text(text, document.metadata | extracted, id=document.id)

    return to_text


def _parsed(html: str) -> "HtmlElement":
    try:
        import cssselect  # noqa: F401  lxml asks for it when a selector is used
        from lxml.html import HTMLParser, document_fromstring
    except ImportError:
        raise ConfigError("reading HTML needs lxml and cssselect", hint="pip install 'flowkit-ai[web]'") from None
    from lxml.etree import ParserError

    # As bytes: lxml refuses a str that says its own encoding.
    parser: Any = HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        return document_fromstring(html.encode("utf-8", "replace"), parser=parser)
    except ParserError as error:
        raise InvalidInputError(f"this is no HTML: {error}", hint="check what the document holds") from None


def _text_of(root: "HtmlElement", selector: str | None, base: str | None) -> str:
    elements = [root] if selector is None else _selected(root, selector)
    return "\n\n".join("".join(_walk(element, base)).strip() for element in elements).strip()


def _selected(root: "HtmlElement", selector: str) -> "Sequence[HtmlElement]":
    from cssselect import SelectorError

    try:
        found: Sequence[HtmlElement] = root.cssselect(selector)
    except SelectorError as error:
        raise InvalidInputError(f"{selector!r} is no CSS selector: {error}") from None
    return found


def _walk(root: "HtmlElement", base: str | None) -> Iterator[str]:
    """The pieces of text in order. Not recursive: pages nest thousands deep."""
    pending: list[tuple[HtmlElement, bool]] = [(root, False)]
    while pending:
        element, behind = pending.pop()
        tag = element.tag if isinstance(element.tag, str) else ""  # a comment has a function here
        if behind:
            yield _BEHIND.get(tag, "")
            if tag == "a" and base is not None:
                yield f" <{_absolute(base, element.get('href'))}>"
            if element is not root:
                yield _plain(element.tail)
            continue
        pending.append((element, True))
        if tag and tag not in _NO_TEXT:
            yield _BEFORE.get(tag, "")
            yield _plain(element.text)
            pending.extend((child, False) for child in reversed(element))


def _plain(text: str | None) -> str:
    return _INVISIBLE.sub("", _SPACE.sub(" ", text or ""))


def _absolute(base: str, href: str | None) -> str:
    try:
        address = urljoin(base, (href or "").strip()) if href is not None else ""
        if urlsplit(address).scheme:
            return address
    except ValueError:  # such as a broken IPv6 address
        address = ""
    _log.warning("the link %r cannot be made absolute; say the page's address in metadata 'url'", href)
    return ""
