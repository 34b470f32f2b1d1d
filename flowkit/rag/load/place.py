"""Any place that a string can name, with the loader for it.

load.auto("docs")      load.auto("https://shop.test/help")      load.auto("s3://bucket/docs/")
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flowkit.errors import InvalidInputError
from flowkit.rag.load.cloud import SCHEMES, cloud
from flowkit.rag.load.files import Files, directory
from flowkit.rag.load.found import Parser
from flowkit.rag.load.loader import Loader
from flowkit.rag.load.package import package
from flowkit.rag.load.url import url

__all__ = ["auto", "is_address"]

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def auto(
    place: str | Path,
    *,
    glob: str | Sequence[str] | None = None,
    allow_private: bool = False,
    parser: Parser | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Loader:
    """The loader of a path (a file, or a folder with all in it), or of an address.

    Addresses are `https://…` and `http://…` for a page, `s3://…`, `gs://…` and `az://…` for what is stored under that
    prefix, and `package://NAME/PATH` for files in a Python package.

    Args:
        glob: Which files of a folder or prefix, as for `load.directory`.
        allow_private: For a page: whether it may lie in a private network.
        parser: By default it goes by content type and name.
        metadata: For every document, beside its source; put over what the parser says.

    Raises:
        NotFoundError: there is no such file, folder or package.
        InvalidInputError: no loader knows this kind of address, or a pattern is given where there is no folder.
    """
    scheme, _, rest = str(place).partition("://")
    scheme = scheme.lower() if is_address(place) else ""
    if not scheme:
        return (
            Files(place, parser=parser, metadata=metadata)
            if glob is None
            else directory(place, glob=glob, parser=parser, metadata=metadata)
        )
    if scheme in ("http", "https"):
        if glob is not None:
            raise InvalidInputError("a page is no folder, so a pattern chooses nothing", hint="leave out the pattern")
        return url(str(place), allow_private=allow_private, parser=parser, metadata=metadata)
    if scheme in SCHEMES:
        return cloud(str(place), glob=glob, parser=parser, metadata=metadata)
    if scheme == "package":
        name, _, path = rest.partition("/")
        return package(name, path, glob=glob, parser=parser, metadata=metadata)
    known = ", ".join(f"{each}://" for each in ("http", "https", *SCHEMES, "package"))
    raise InvalidInputError(f"no loader knows {scheme}://", hint=f"use a path, or one of {known}")


def is_address(place: str | Path) -> bool:
    """Whether it is an address and no path of a file."""
    return isinstance(place, str) and _ADDRESS.match(place) is not None
