"""Any place that a string can name, with the loader for it.

load.auto("docs")      load.auto("https://shop.test/help")      load.auto("s3://bucket/docs/")
"""

import re
from pathlib import Path

from flowkit.errors import InvalidInputError
from flowkit.rag.load.cloud import SCHEMES, cloud
from flowkit.rag.load.files import Files
from flowkit.rag.load.loader import Loader
from flowkit.rag.load.package import package
from flowkit.rag.load.url import url

__all__ = ["auto", "is_address"]

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def auto(place: str | Path) -> Loader:
    """The loader of a path (a file, or a folder with all in it), or of an address, with its default settings.

    Addresses are `https://…` and `http://…` for a page, `s3://…`, `gs://…` and `az://…` for what is stored under that
    prefix, and `package://NAME/PATH` for files in a Python package.

    Raises:
        NotFoundError: there is no such file, folder or package.
        InvalidInputError: no loader knows this kind of address.
    """
    if not is_address(place):
        return Files(place)
    scheme, _, rest = str(place).partition("://")
    scheme = scheme.lower()
    if scheme in ("http", "https"):
        return url(str(place))
    if scheme in SCHEMES:
        return cloud(str(place))
    if scheme == "package":
        name, _, path = rest.partition("/")
        return package(name, path)
    known = ", ".join(f"{each}://" for each in ("http", "https", *SCHEMES, "package"))
    raise InvalidInputError(f"no loader knows {scheme}://", hint=f"use a path, or one of {known}")


def is_address(place: str | Path) -> bool:
    """Whether it is an address and no path of a file."""
    return isinstance(place, str) and _ADDRESS.match(place) is not None
