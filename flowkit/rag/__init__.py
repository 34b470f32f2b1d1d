"""The toolbox for retrieval: everything between files on a disk and documents in a prompt.

from flowkit.rag import parse, split
chunks = split.recursive(max_chars=1000, overlap_chars=100)(parse.pdf(Path("menu.pdf")))
"""

from flowkit.rag import parse, split, transform

__all__ = ["parse", "split", "transform"]
