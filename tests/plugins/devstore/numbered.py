"""Rows whose text, metadata and vector follow from one number, so that any mix-up shows; and other processes.

store = await filled(tmp_path, 300)
assert await whole(store) == list(range(300))
"""

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flowkit import Document
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit_devstore import DevStore

__all__ = ["filled", "numbered", "python", "whole"]


def numbered(number: int) -> EmbeddedDocument:
    metadata = {"n": number, "group": number % 10}
    document = Document.from_text(f"text number{number}", metadata, id=f"r{number:05d}")
    waves = [wave(pace * number) for pace in (1.0, 1.7, 2.3) for wave in (math.cos, math.sin)]
    return EmbeddedDocument(document, [(number + 1) * x for x in waves])


async def filled(folder: Path, count: int, *, index: str = "menu", batch: int = 100) -> DevStore:
    """An open store with rows 0 to count - 1."""
    store = DevStore(index, folder=folder)
    await store.open(create=True)
    for at in range(0, count, batch):
        await store.upsert([numbered(number) for number in range(at, min(at + batch, count))])
    return store


async def whole(store: DevStore) -> list[int]:
    """The numbers of all rows, after a look at each: text, metadata, vector and both indexes belong together."""
    numbers: list[int] = []
    cursor = None
    while True:
        page = await store.fetch(limit=500, cursor=cursor, with_vectors=True)
        for item in page.items:
            number = item.document.metadata["n"]
            expected = numbered(number)
            assert item.document == expected.document
            assert list(item.vector) == pytest.approx(list(expected.vector), rel=1e-6)
            numbers.append(number)
        cursor = page.cursor
        if cursor is None:
            break
    assert len(numbers) == len(set(numbers)) == (await store.stats()).count
    for number in numbers[:: max(1, len(numbers) // 5)]:
        best, *_ = await store.search(SearchQuery(vector=numbered(number).vector, k=2))
        assert (best.metadata["n"], best.score) == (number, 1)
        (hit,) = await store.search(SearchQuery(text=f"number{number}", k=3))
        assert hit.metadata["n"] == number
    return sorted(numbers)


def python(code: str, *arguments: object) -> "subprocess.Popen[str]":
    """Another process that runs `code`; what it prints can be read line by line."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
