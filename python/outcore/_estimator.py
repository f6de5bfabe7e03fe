"""An estimator with communities as labels, for code written for scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outcore._api import SEVERAL, cluster, values_of
from outcore._communities import Communities
from outcore.errors import _made

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Clusterer"]


class Clusterer:
    """Estimator that finds communities of the rows of a square matrix.

    Parameters
    ----------
    **options
        Options of :func:`outcore.cluster`, with one value each.

    Attributes
    ----------
    labels_ : numpy.ndarray
        Community of every row, set by :meth:`fit`.
    communities_ : Communities
        Result on disk, set by :meth:`fit`.

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
        """Return the options."""
        return dict(self.options)

    def set_params(self, **options: Any) -> Clusterer:
        """Set options."""
        self.options.update(options)
        return self

    def fit(self, matrix: Any, y: object = None) -> Clusterer:
        """Find communities of the rows of a square matrix of weights."""
        for name in SEVERAL:
            if values_of(name, self.options.get(name)) is not None:
                message = f"`Clusterer` has one result, so `{name}` must be one number"
                hint = f"use `outcore.cluster(matrix, {name}=[...])`, which returns a dictionary"
                raise _made({"kind": "usage", "message": message, "hint": hint})
        self.communities_ = cluster(matrix, **self.options)
        self.labels_ = self.communities_.labels
        return self

    def fit_predict(self, matrix: Any, y: object = None) -> npt.NDArray[np.int64]:
        """Find communities and return the label of every row."""
        return self.fit(matrix, y).labels_
