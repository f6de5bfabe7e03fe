"""Communities as the labels of an estimator, for code that is written for scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outcore._api import cluster
from outcore._communities import Communities

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Clusterer"]


class Clusterer:
    """Communities of a square matrix as `labels_`, one for each row.

    Parameters
    ----------
    **options
        Those of :func:`outcore.cluster`.

    Attributes
    ----------
    labels_ : numpy.ndarray
        The community of every row, after :meth:`fit`.
    communities_ : Communities
        The result, on disk.

    Examples
    --------
    >>> import scipy.sparse
    >>> matrix = scipy.sparse.coo_array(([1.0, 1.0, 1.0], ([0, 3, 2], [3, 1, 4])), shape=(5, 5))
    >>> Clusterer(method="components").fit_predict(matrix)
    array([0, 0, 1, 0, 1])
    """

    labels_: npt.NDArray[np.int64]
    communities_: Communities

    def __init__(self, **options: Any) -> None:
        self.options = options

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Give the options."""
        return dict(self.options)

    def set_params(self, **options: Any) -> Clusterer:
        """Change options."""
        self.options.update(options)
        return self

    def fit(self, matrix: Any, y: object = None) -> Clusterer:
        """Find communities of the rows of a square matrix of weights."""
        self.communities_ = cluster(matrix, **self.options)
        self.labels_ = self.communities_.labels
        return self

    def fit_predict(self, matrix: Any, y: object = None) -> npt.NDArray[np.int64]:
        """Find communities and give the label of every row."""
        return self.fit(matrix, y).labels_
