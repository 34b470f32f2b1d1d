"""Conformance: language-neutral vectors of how a RAG toolbox behaves, run against the public API.

python -m tests.conformance tests/conformance/vectors
"""
