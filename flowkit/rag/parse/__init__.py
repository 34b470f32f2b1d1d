"""Parsers: bytes in, a document out."""
