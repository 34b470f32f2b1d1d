"""What vectors look like: their lengths, how similar they are to each other, and where they lie on a plane.

look = compare([[1.0, 0.0], [0.8, 0.6]])
look.similarity[0][1]            # 0.8
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Compared", "compare"]

_SMALL = 1e-12


class Compared(NamedTuple):
    """`norms` and `points` have an item for each vector, `similarity` a row and a column."""

    norms: list[float]
    similarity: list[list[float]]
    """Cosine, -1…1; 0 with a vector of length 0."""
    points: list[tuple[float, float]]
    """Principal components, centred on 0."""
    explained: tuple[float, float]
    """The share of the variance, 0…1, that each axis shows."""


def compare(vectors: Sequence[Sequence[float]]) -> Compared:
    """Compare vectors of one dimension, at least one of them.

    The plane is that of the two largest principal components (singular value decomposition of the centred vectors);
    the sign of an axis is such that its largest coordinate is positive, so that a picture does not flip.
    """
    import numpy as np

    rows: NDArray[np.float64] = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1)
    units = rows / np.where(norms < _SMALL, np.inf, norms)[:, None]
    similarity = np.clip(units @ units.T, -1.0, 1.0)
    np.fill_diagonal(similarity, np.where(norms < _SMALL, 0.0, 1.0))
    points, explained = _plane(rows - rows.mean(axis=0))
    return Compared(norms.tolist(), similarity.tolist(), points, explained)


def _plane(centred: "NDArray[Any]") -> tuple[list[tuple[float, float]], tuple[float, float]]:
    import numpy as np

    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    coordinates = np.zeros((len(centred), 2))
    shares = [0.0, 0.0]
    total = float((sizes**2).sum())
    for axis in range(min(2, len(sizes))):
        if total < _SMALL or sizes[axis] ** 2 < total * _SMALL:
            break
        column = left[:, axis] * sizes[axis]
        coordinates[:, axis] = column * np.sign(column[np.abs(column).argmax()])
        shares[axis] = float(sizes[axis] ** 2) / total
    return [(float(x), float(y)) for x, y in coordinates], (shares[0], shares[1])
