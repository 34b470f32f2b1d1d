"""The limit that the dev store is measured against: bare numpy over a mapped file, and JSON lines at known offsets.

    limit = Limit(folder); limit.build(rows, vectors); limit.search(query, k=10)

It does what can't be avoided and nothing else: no ids to keep apart, no filter, no other process, no update.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Row = Mapping[str, Any]


class Limit:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def build(self, rows: Iterable[Row], vectors: np.ndarray) -> None:
        for name in ("vectors", "rows", "offsets"):
            (self.folder / name).write_bytes(b"")
        self._end = 0
        self.append(rows, vectors)

    def append(self, rows: Iterable[Row], vectors: np.ndarray) -> None:
        """Durable: both files are on disk when it returns."""
        lines = [json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows]
        offsets = self._end + np.cumsum([0, *map(len, lines)])
        self._end = int(offsets[-1])
        self._append("vectors", vectors.tobytes())
        self._append("rows", b"".join(lines))
        with (self.folder / "offsets").open("ab") as file:  # could be made anew from the rows
            file.write(offsets[:-1].astype(np.int64).tobytes())

    def _append(self, name: str, data: bytes) -> None:
        with (self.folder / name).open("ab") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def open(self, dimension: int) -> None:
        self.vectors = np.memmap(self.folder / "vectors", dtype=np.float32, mode="r").reshape(-1, dimension)
        self.lines = np.memmap(self.folder / "rows", dtype=np.uint8, mode="r")
        self.offsets = np.append(np.fromfile(self.folder / "offsets", dtype=np.int64), len(self.lines))
        # As plain arrays: a memmap's own subclass costs microseconds at every step.
        self.vectors, self.lines = np.asarray(self.vectors), np.asarray(self.lines)

    def search(self, query: np.ndarray, *, k: int, slots: np.ndarray | None = None) -> list[tuple[float, Row]]:
        """The best k, of all rows or of those given."""
        if slots is not None and len(slots) * 8 < len(self.vectors):
            scores = self.vectors[slots] @ query
            best = slots[np.argpartition(scores, -k)[-k:]]
        else:
            scores = self.vectors @ query
            if slots is not None:
                kept = scores[slots]
                best = slots[np.argpartition(kept, -k)[-k:]]
            else:
                best = np.argpartition(scores, -k)[-k:]
        found = self.vectors[best] @ query
        order = np.argsort(-found)
        return [((1 + float(found[at])) / 2, self._row(int(best[at]))) for at in order]

    def _row(self, slot: int) -> Row:
        row: Row = json.loads(self.lines[self.offsets[slot] : self.offsets[slot + 1]].tobytes())
        return row

    def size_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.folder.iterdir())
