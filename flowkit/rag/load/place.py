"""Any place that a string can name, with the loader for it.

load.auto("docs")      load.auto("https://shop.test/help")      load.auto("s3://bucket/docs/")
"""

from pathlib import Path

from flowkit.rag.load.files import Files
from flowkit.rag.load.loader import Loader

__all__ = ["auto"]


def auto(place: str | Path) -> Loader:
    """The loader of a path (a file, or a folder with all in it), a URL, or an address in a cloud.

    Raises:
        NotFoundError: there is no such file or folder.
        InvalidInputError: no loader knows this kind of address.
    """
    return Files(place)
