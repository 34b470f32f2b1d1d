"""Inside a web page. Runs in the process that reads, since pages can be built to take hours.

for piece in read(job): ...
"""

import re
from collections.abc import Iterator

from flowkit.rag.parse.decoding import Decoded, as_text, decode
from flowkit.rag.parse.markup import render
from flowkit.rag.parse.pieces import End, Job, Page, Piece

__all__ = ["read"]

_CHARSET = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE)
_HEAD = 4096


def read(job: Job) -> Iterator[Piece]:
    """One page; then its title."""
    data = job.content
    encoding = job.options.get("encoding")
    if encoding is not None:
        found = Decoded(as_text(data, encoding, job.name), "utf-8")
    else:
        said = _CHARSET.search(data[:_HEAD])
        found = decode(data, job.name, declared=said[1].decode("ascii") if said else None)
    page = render(found.text)
    yield Page(page.text)
    yield End({**({"title": page.title} if page.title else {}), **found.metadata}, found.warnings)
