"""Parsers: a file or its bytes in, a document out.

parse.pdf(Path("menu.pdf"))
parse.text(Path("notes.txt"))
"""

from flowkit.rag.parse.pdf import pdf
from flowkit.rag.parse.plain import text

__all__ = ["pdf", "text"]
