"""The vector file: unit vectors in float32, one slot after the other, written at the end and mapped for reading.

VectorFile(folder, generation=1, dimension=384).append(slots=1000, rows=array)
rows = Views(folder).rows(generation=1, dimension=384, slots=1100)      # 1100 × 384, straight from the page cache
"""

import mmap
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np

from flowkit.errors import StoreError
from flowkit_devstore.folders import sync_folder

__all__ = [
    "Float32",
    "Float64",
    "Slots",
    "Views",
    "check_cosines",
    "cosines",
    "exact_cosines",
    "unit_rows",
    "vector_path",
    "write_vectors",
]

Float32 = np.ndarray[Any, np.dtype[np.float32]]
Float64 = np.ndarray[Any, np.dtype[np.float64]]
Slots = np.ndarray[Any, np.dtype[np.int64]]

_HEADER = struct.Struct("<16sIII36x")  # magic, format version, dimension, generation; 64 bytes keep rows aligned
_MAGIC = b"flowkit vectors\x00"
_VERSION = 1
_MOST = 1.01  # a float32 cosine with a row of nearly length 1
_BLOCK = 4096  # rows gathered at a time: they stay in the cache for the product


def vector_path(folder: Path, generation: int) -> Path:
    """A generation is a file: clearing or compacting an index starts a new one, as others may have mapped the old."""
    return folder / f"vectors-{generation:06d}.f32"


def unit_rows(vectors: Float32) -> tuple[Float32, list[float | None]]:
    """Rows scaled to length 1, and the lengths that give the vectors back; None where it was 1 (or 0) before.

    Vectors of nearly length 1, as most embedders give, are kept to the bit.
    """
    lengths = np.sqrt(np.vecdot(vectors, vectors, dtype=np.float64))
    as_is = (np.abs(lengths - 1) < 1e-6) | (lengths == 0)
    if as_is.all():
        return vectors, [None] * len(vectors)
    scaled = (vectors / np.where(as_is, 1.0, lengths)[:, None]).astype(np.float32)
    return scaled, [None if same else length for same, length in zip(as_is, lengths.tolist(), strict=True)]


def write_vectors(folder: Path, generation: int, *, slots: int, rows: Float32) -> None:
    """Write rows from slot `slots` on, and make them durable; slot 0 starts a new file.

    Whatever lies there already belongs to a write that never committed, and is overwritten.

    Raises:
        StoreError: the file is missing or shorter than `slots` rows.
    """
    path = vector_path(folder, generation)
    dimension = rows.shape[1]
    fresh = slots == 0
    if not fresh:
        _check_file(path, dimension, generation, slots)
    with path.open("wb" if fresh else "r+b", buffering=0) as file:
        if fresh:
            _write_all(file, _HEADER.pack(_MAGIC, _VERSION, dimension, generation))
        file.seek(_HEADER.size + slots * dimension * 4)
        _write_all(file, np.ascontiguousarray(rows, dtype="<f4").data.cast("B"))
        os.fsync(file.fileno())
    if fresh:
        path.chmod(0o600)
        sync_folder(folder)


def _write_all(file: Any, data: bytes | memoryview) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


class Views:
    """The mapped vector file of one index in this process; mapped again when it has grown or a new one took over."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: tuple[int, Float32] | None = None

    def rows(self, generation: int, dimension: int, slots: int) -> Float32:
        """The first `slots` rows.

        Raises:
            FileNotFoundError: another process has put a new generation in place; look at the state again.
            StoreError: the file is shorter than it must be, or is no vector file.
        """
        held = self._held
        if held is None or held[0] != generation or len(held[1]) < slots:
            held = self._held = (generation, self._map(generation, dimension, slots))
        return held[1][:slots]

    def check(self, generation: int, dimension: int, slots: int) -> None:
        """Raise StoreError when the file cannot hold the rows that the database counts."""
        _check_file(vector_path(self._folder, generation), dimension, generation, slots)

    def _map(self, generation: int, dimension: int, slots: int) -> Float32:
        path = vector_path(self._folder, generation)
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < (needed := _HEADER.size + slots * dimension * 4):
                raise _damaged(path, f"has {size} bytes instead of {needed}")
            mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
        _check_header(path, mapped[: _HEADER.size], dimension, generation)
        whole = (size - _HEADER.size) // (dimension * 4)
        flat = np.frombuffer(mapped, dtype="<f4", count=whole * dimension, offset=_HEADER.size)
        return flat.reshape(whole, dimension)


def _check_file(path: Path, dimension: int, generation: int, slots: int) -> None:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            header = file.read(_HEADER.size)
    except FileNotFoundError:
        raise _damaged(path, "is missing") from None
    _check_header(path, header, dimension, generation)
    if size < (needed := _HEADER.size + slots * dimension * 4):
        raise _damaged(path, f"has {size} bytes instead of {needed}")


def _check_header(path: Path, header: bytes, dimension: int, generation: int) -> None:
    if len(header) < _HEADER.size or not header.startswith(_MAGIC):
        raise _damaged(path, "is no vector file")
    _, version, found_dimension, found_generation = _HEADER.unpack(header)
    if version > _VERSION:
        raise StoreError(f"{path} has the newer format {version}", hint="update flowkit-devstore")
    if (found_dimension, found_generation) != (dimension, generation):
        raise _damaged(path, f"holds vectors of {found_dimension} dimensions, the index {dimension}")


def _damaged(path: Path, what: str) -> StoreError:
    return StoreError(
        f"vector file {path} {what}",
        hint="bring the folder back from a copy, or move it away and index again; nothing was changed",
    )


def check_cosines(found: Float32, folder: Path, generation: int) -> None:
    """Raise StoreError when one is NaN or above 1: what is written has length 1 or 0, so the file has been spoilt."""
    if not found.max() <= _MOST:  # NaN fails as well
        raise _damaged(vector_path(folder, generation), "holds rows that are no unit vectors")


def cosines(rows: Float32, unit: Float32, slots: Slots | None = None) -> Float32:
    """Cosine of a unit query with all rows, or with those of `slots`, to float32's precision.

    vecdot and not `@`: one dot product per row, so BLAS starts no threads, which on small inputs and busy machines
    cost more than they bring.
    """
    if slots is None:
        return np.asarray(np.vecdot(rows, unit))
    found = np.empty(len(slots), dtype=np.float32)
    for at in range(0, len(slots), _BLOCK):
        np.vecdot(rows.take(slots[at : at + _BLOCK], axis=0), unit, out=found[at : at + _BLOCK])
    return found


def exact_cosines(rows: Float32, unit: Float64, slots: Slots) -> Float64:
    """The same in float64: equal vectors get equal values, wherever they lie. A zero vector gives 0."""
    found = np.empty(len(slots))
    for at in range(0, len(slots), _BLOCK):
        taken = rows.take(slots[at : at + _BLOCK], axis=0).astype(np.float64)
        lengths = np.sqrt(np.vecdot(taken, taken))
        lengths[lengths == 0] = 1.0
        np.divide(np.vecdot(taken, unit), lengths, out=found[at : at + _BLOCK])
    return found
