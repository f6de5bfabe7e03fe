"""An estimator with communities as labels, for code written for scikit-learn.

It is imported when it is used: with scikit-learn installed, it is one of its estimators, whose import takes a while.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Literal

from outcore import _anndata
from outcore._api import SEVERAL, Columns, CommunityFormat, Method, cluster, values_of
from outcore._communities import Communities
from outcore._progress import ProgressOption
from outcore._sources import StrPath
from outcore.errors import _made

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self

__all__ = ["Clusterer"]


class _Alone:
    """What an estimator needs of scikit-learn, for Python without it."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        names = inspect.signature(type(self)).parameters
        return {name: getattr(self, name) for name in names}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"invalid parameter {name!r} for {type(self).__name__}: valid ones are {list(known)}")
            setattr(self, name, value)
        return self

    def fit_predict(self, X: Any, y: object = None) -> npt.NDArray[np.int64]:  # noqa: N803
        """Find communities and return the label of every row."""
        labels: npt.NDArray[np.int64] = self.fit(X, y).labels_  # type: ignore[attr-defined]
        return labels

    def __repr__(self) -> str:
        defaults = {name: one.default for name, one in inspect.signature(type(self)).parameters.items()}
        changed = (f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults[name])
        return f"{type(self).__name__}({', '.join(changed)})"


if TYPE_CHECKING:

    class _Base(_Alone): ...

    class _Mixin: ...

else:
    try:
        from sklearn.base import BaseEstimator as _Base
        from sklearn.base import ClusterMixin as _Mixin
    except ImportError:
        _Base = _Alone
        _Mixin = type("_Mixin", (), {})


class Clusterer(_Mixin, _Base):
    """Estimator that finds communities of the rows of a square matrix, for scikit-learn.

    The matrix holds the weights of edges: similarities that were computed before, or the graph of the nearest
    neighbors, ``sklearn.neighbors.kneighbors_graph(X, 15)``. With scikit-learn installed, this is one of its
    estimators, which can be cloned, and put at the end of a pipeline.

    Parameters
    ----------
    method, seed, resolution, max_size, well_connected, initial, seeding, cycles, trials, stability, levels, \
recorded_teleportation, max_sweeps, tolerance, converge, duplicates, self_loops, directed, ignore_weights, \
weight_transform, min_weight, max_weight, normalize, attenuation, attenuation_rule, label_cutoff, max_visits, fixed, \
like, min_size, small, match, summary, community_columns, community_format, flow, memory, threads, work_dir, profile, \
restart, progress
        See :func:`outcore.cluster`; `resolution`, `attenuation` and `min_weight` have one value each.

    Attributes
    ----------
    labels_ : numpy.ndarray
        Community of every row, set by :meth:`fit`; -1 where `min_size` left out the row.
    communities_ : Communities
        Result on disk, set by :meth:`fit`.
    n_features_in_ : int
        Number of columns of the matrix, set by :meth:`fit`.

    Examples
    --------
    >>> import scipy.sparse
    >>> matrix = scipy.sparse.coo_array(([1.0, 1.0, 1.0], ([0, 3, 2], [3, 1, 4])), shape=(5, 5))
    >>> Clusterer(method="components").fit_predict(matrix)
    array([0, 0, 1, 0, 1])
    """

    labels_: npt.NDArray[np.int64]
    communities_: Communities
    n_features_in_: int

    def __init__(
        self,
        *,
        method: Method = "map-equation",
        seed: int = 0,
        resolution: float | None = None,
        max_size: int | None = None,
        well_connected: bool | str | int | None = None,
        initial: Communities | StrPath | None = None,
        seeding: Literal["star", "own"] | None = None,
        cycles: int | None = None,
        trials: int | None = None,
        stability: bool = False,
        levels: bool = False,
        recorded_teleportation: bool = False,
        max_sweeps: int | None = None,
        tolerance: float | None = None,
        converge: bool = False,
        duplicates: Literal["sum", "max", "min", "first"] = "sum",
        self_loops: Literal["keep", "drop"] = "drop",
        directed: bool = False,
        ignore_weights: bool = False,
        weight_transform: Literal["none", "log", "neglog10", "reciprocal", "similarity"] = "none",
        min_weight: float | None = None,
        max_weight: float | None = None,
        normalize: Literal["none", "self-score"] = "none",
        attenuation: float | None = None,
        attenuation_rule: Literal["hops", "change"] | None = None,
        label_cutoff: float | None = None,
        max_visits: int | Literal["root-degree"] | None = None,
        fixed: Communities | StrPath | None = None,
        like: Literal["exolabel"] | None = None,
        min_size: int = 1,
        small: Literal["drop", "singletons"] = "drop",
        match: Communities | StrPath | None = None,
        summary: StrPath | bool | None = None,
        community_columns: Columns | None = None,
        community_format: CommunityFormat = "auto",
        flow: bool = False,
        memory: str | int = "50%",
        threads: int | None = None,
        work_dir: StrPath | None = None,
        profile: StrPath | None = None,
        restart: bool = False,
        progress: ProgressOption = "auto",
    ) -> None:
        self.method = method
        self.seed = seed
        self.resolution = resolution
        self.max_size = max_size
        self.well_connected = well_connected
        self.initial = initial
        self.seeding = seeding
        self.cycles = cycles
        self.trials = trials
        self.stability = stability
        self.levels = levels
        self.recorded_teleportation = recorded_teleportation
        self.max_sweeps = max_sweeps
        self.tolerance = tolerance
        self.converge = converge
        self.duplicates = duplicates
        self.self_loops = self_loops
        self.directed = directed
        self.ignore_weights = ignore_weights
        self.weight_transform = weight_transform
        self.min_weight = min_weight
        self.max_weight = max_weight
        self.normalize = normalize
        self.attenuation = attenuation
        self.attenuation_rule = attenuation_rule
        self.label_cutoff = label_cutoff
        self.max_visits = max_visits
        self.fixed = fixed
        self.like = like
        self.min_size = min_size
        self.small = small
        self.match = match
        self.summary = summary
        self.community_columns = community_columns
        self.community_format = community_format
        self.flow = flow
        self.memory = memory
        self.threads = threads
        self.work_dir = work_dir
        self.profile = profile
        self.restart = restart
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn has to know: the input is a matrix of similarities, which are not negative."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: N803
        """Find communities of the rows of a square matrix of weights."""
        options = self.get_params(deep=False)
        for name in SEVERAL:
            if values_of(name, options[name]) is not None:
                message = f"`Clusterer` has one result, so `{name}` must be one number"
                hint = f"use `outcore.cluster(matrix, {name}=[...])`, which returns a dictionary"
                raise _made({"kind": "usage", "message": message, "hint": hint})
        self.communities_ = cluster(self._checked(X), **options)
        # A list of edges between named nodes has no rows, only an order of appearance.
        found = self.communities_
        self.labels_ = found._in_file() if found._rows is None else found.labels
        return self

    def _checked(self, matrix: Any) -> Any:
        """Return a square matrix after the checks of scikit-learn, which record its columns; anything else as it is."""
        is_matrix = hasattr(matrix, "shape") or isinstance(matrix, (list, tuple))
        if not is_matrix or _anndata.is_anndata(matrix):
            return matrix
        if not isinstance(self, _Alone):
            from sklearn.utils import validation

            # Its annotations do not say what it takes.
            checks: Any = validation
            if hasattr(checks, "validate_data"):
                matrix = checks.validate_data(self, matrix, accept_sparse="csr", dtype="numeric")
            else:
                # Before 1.6, what this adds were methods of another form.
                matrix = checks.check_array(matrix, accept_sparse="csr", dtype="numeric")
        shape: tuple[int, ...] = getattr(matrix, "shape", ())
        if len(shape) == 2 and shape[0] != shape[1]:
            message = f"`Clusterer` takes a square matrix of weights, not one of {shape[0]} x {shape[1]}"
            hint = "if columns are features, pass the graph of neighbors: `sklearn.neighbors.kneighbors_graph(X, 15)`"
            raise _made({"kind": "usage", "message": message, "hint": hint})
        if self.weight_transform == "none" and not self.ignore_weights:
            _refuse_negative(matrix)
        self.n_features_in_ = shape[1] if len(shape) == 2 else len(matrix)
        return matrix


def _refuse_negative(matrix: Any) -> None:
    """Refuse negative weights in the words by which scikit-learn knows such an error."""
    values = matrix.tocsr().data if hasattr(matrix, "tocsr") else matrix
    least = values.min(initial=0) if hasattr(values, "min") else 0
    if least < 0:
        message = f"Negative values in data: the smallest weight is {least:g}"
        hint = "pass similarities; `weight_transform` turns distances around, and `ignore_weights=True` ignores them"
        raise _made({"kind": "bad-input", "message": message, "hint": hint})
