"""Neighbors of points as edges, from what faiss, hnswlib, pynndescent and scikit-learn return.

Arrays are read in batches of rows, and nothing of their size is made; a sparse matrix is copied twice. Two points that
are neighbors of each other have one edge: its weight says how near they are, not that two searches found it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from outcore.errors import _made

__all__ = ["NeighborWeights", "Neighbors", "are_neighbors", "neighbors", "refuse_distances"]

NeighborWeights: TypeAlias = Literal["similarity", "reciprocal", "none"]

#: Entries of a batch.
_BATCH = 1 << 20
#: Pairs of successive entries in the rows of a matrix that may ascend by chance.
_BY_CHANCE = 20


@dataclass(frozen=True)
class Neighbors:
    """Neighbors of every point, as :func:`neighbors` returns them.

    Attributes
    ----------
    indices : array or sparse matrix
        Numbers of neighbors, with a row for each point, or the matrix of distances.
    distances : array, optional
        Distances to them.
    weight_transform : {"similarity", "reciprocal", "none"}
        How distances become weights.
    """

    indices: Any
    distances: Any
    weight_transform: NeighborWeights

    def batches(self) -> Iterator[tuple[bytes, bytes, bytes | None]]:
        """Yield the edges in batches; a point without any has a loop of weight 0, so that it is not lost."""
        import numpy as np

        count, width = self.indices.shape
        seen = np.zeros(count, dtype=bool)
        step = max(1, _BATCH // max(width, 1))
        for at in range(0, count, step):
            found = np.asarray(self.indices[at : at + step]).astype(np.int64)
            rows = np.arange(at, at + len(found))
            self._check(found, at)
            source, target = np.repeat(rows, width), found.ravel()
            # Missing neighbors are -1, and the nearest of a point is often itself.
            is_edge = (target >= 0) & (target != source)
            later = np.flatnonzero(is_edge & (target < source))
            there = np.asarray(self.indices[target[later]]).astype(np.int64)
            is_edge[later] = ~(there == source[later, None]).any(axis=1)
            seen[source[is_edge]] = True
            seen[target[is_edge]] = True
            weights = None
            if self.distances is not None:
                part = np.asarray(self.distances[at : at + step], dtype=np.float64).ravel()
                weights = _weights(part[is_edge], self.weight_transform).tobytes()
            yield source[is_edge].tobytes(), target[is_edge].tobytes(), weights
        alone = np.flatnonzero(~seen).astype(np.int64).tobytes()
        yield alone, alone, None if self.distances is None else bytes(len(alone))

    def _check(self, found: Any, at: int) -> None:
        """Refuse numbers that are not those of rows."""
        import numpy as np

        count = len(self.indices)
        if (found < count).all():
            return
        row, column = np.argwhere(found >= count)[0]
        raise _refused(
            f"row {at + row} has the neighbor {found[row, column]}, but there are {count} rows",
            "pass a row for each point, numbered from 0; for some of the points, pass columns: "
            "`(rows, neighbors, weights)`",
        )

    def matrix(self) -> Any:
        """Return the symmetric matrix of the weights, of a sparse matrix of distances."""
        import scipy.sparse

        entries = self.indices.tocoo()
        others = entries.row != entries.col
        weights = _weights(entries.data[others].astype("float64"), self.weight_transform)
        places = entries.row[others], entries.col[others]
        one_way = scipy.sparse.csr_array((weights, places), shape=entries.shape)
        return one_way.maximum(one_way.T).tocsr()


def neighbors(indices: Any, distances: Any = None, *, weight_transform: NeighborWeights = "similarity") -> Neighbors:
    """Return the neighbors of points as a source of edges for :func:`outcore.cluster` and :func:`outcore.build`.

    Parameters
    ----------
    indices : array of int, shape (points, neighbors), or sparse matrix of distances
        Numbers of the neighbors of each point. Missing ones are -1, and a point does not count as its own neighbor.
        Both arrays may change places, as faiss and scikit-learn return the distances first. A matrix is that of
        ``kneighbors_graph(mode="distance")``.
    distances : array of float, shape (points, neighbors), optional
        Distances to them; without them, every edge has the weight 1.
    weight_transform : {"similarity", "reciprocal", "none"}
        How a distance ``d`` becomes a weight: ``similarity`` is 1/(1 + d), ``reciprocal`` is 1/d, and with ``none``
        the values are weights already, such as inner products.

    Returns
    -------
    Neighbors
        Edges; two points that are neighbors of each other have one.

    Raises
    ------
    outcore.UsageError
        If these are not arrays of one shape, or their rows are not those of all points.

    Examples
    --------
    >>> import numpy, outcore
    >>> distances = numpy.array([[0, 0.1], [0, 0.1], [0, 0.2], [0, 0.2]])
    >>> indices = numpy.array([[0, 1], [1, 0], [2, 3], [3, 2]])
    >>> outcore.cluster(outcore.neighbors(indices, distances), method="modularity").labels.tolist()
    [0, 0, 1, 1]
    """
    if weight_transform not in ("similarity", "reciprocal", "none"):
        hint = 'use "similarity" or "reciprocal" for distances, "none" for weights'
        raise _refused(f"`weight_transform` is not {weight_transform!r:.60}", hint)
    if hasattr(indices, "tocsr"):
        if distances is not None:
            raise _refused("a sparse matrix holds its distances", "leave `distances` out")
        return Neighbors(indices, None, weight_transform)
    first, second = _array(indices), None if distances is None else _array(distances)
    if second is not None and first.dtype.kind == "f" and second.dtype.kind in "iu":
        first, second = second, first
    if first.ndim != 2 or first.dtype.kind not in "iu":
        raise _refused(
            f"neighbors are an array of whole numbers with a row for each point, not `{first.dtype}` of shape "
            f"{first.shape}",
            "pass what a search for the neighbors of all points returned: `outcore.neighbors(indices, distances)`",
        )
    if second is not None and second.shape != first.shape:
        raise _refused(
            f"there are {first.shape} neighbors and {second.shape} distances", "pass both arrays of one search"
        )
    return Neighbors(first, second, weight_transform)


def are_neighbors(source: object) -> bool:
    """Return whether these are neighbors and distances as a search returns them: a pair of arrays of one shape."""
    if not isinstance(source, (tuple, list)) or len(source) != 2:
        return False
    shapes = [getattr(part, "shape", ()) for part in source]
    kinds = sorted(getattr(getattr(part, "dtype", None), "kind", "") for part in source)
    return len(shapes[0]) == 2 and shapes[0] == shapes[1] and kinds[0] == "f" and kinds[1] in "iu"


def refuse_distances(rows: Any) -> None:
    """Refuse a sparse matrix in which each row has as many entries, the smallest first, as distances to neighbors."""
    import numpy as np

    count = rows.shape[0]
    width = rows.nnz // max(count, 1)
    if width * count != rows.nnz or count * (width - 1) < _BY_CHANCE or (np.diff(rows.indptr) != width).any():
        return
    steps = np.diff(rows.data.reshape(count, width), axis=1)
    if (steps < 0).any() or not (steps > 0).any():
        return
    raise _refused(
        f"the matrix has {width} entries in each row, the smallest first, as distances to neighbors have; weights are "
        "larger where nodes are closer",
        'use `outcore.neighbors(matrix)` for distances, or `outcore.neighbors(matrix, weight_transform="none")`',
    )


def _array(part: Any) -> Any:
    """Return an array as it is, also one that is mapped from a file, or a list as an array."""
    import numpy as np

    return part if hasattr(part, "dtype") and hasattr(part, "shape") else np.asarray(part)


def _weights(distances: Any, transform: NeighborWeights) -> Any:
    """Return the weights of distances."""
    import numpy as np

    if transform == "none":
        return distances
    if not np.isfinite(distances).all():
        raise _refused("a distance is not a finite number", "mark a missing neighbor by the index -1")
    if (distances < 0).any():
        raise _refused("a distance is negative", 'use `weight_transform="none"` if the values are similarities')
    if transform == "similarity":
        return 1 / (1 + distances)
    if (distances == 0).any():
        raise _refused("a distance is 0, whose reciprocal is infinite", 'use `weight_transform="similarity"`')
    return 1 / distances


def _refused(message: str, hint: str) -> BaseException:
    """Return the error for arrays that are not neighbors."""
    return _made({"kind": "usage", "message": message, "hint": hint})
