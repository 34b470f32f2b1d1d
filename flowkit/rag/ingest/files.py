"""One file as a document, whatever its format is.

document = parse_file(Path("docs/menu.pdf"), "docs/menu.pdf")
"""

from pathlib import Path

from flowkit.rag.load.formats import default_parser
from flowkit.schema.documents import Document

__all__ = ["parse_file"]


def parse_file(file: Path, source: str) -> Document:
    """The text of a file, whatever its format is.

    Raises:
        ParseError, UnsupportedError, ConfigError: it cannot be read.
    """
    return default_parser(file, source_name=source)
