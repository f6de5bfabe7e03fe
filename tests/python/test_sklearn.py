"""The estimator is one of scikit-learn where that is installed, passes its checks, and also works without it."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import outcore
import pytest
import scipy.sparse
import sklearn.base
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

pytestmark = pytest.mark.filterwarnings("ignore::outcore.errors.OutcoreWarning")
#: Checks of scikit-learn that cannot pass, with the reason.
CANNOT_PASS = {"check_clustering": "passes points with two columns, but the estimator takes a square matrix of weights"}


@parametrize_with_checks(
    [outcore.Clusterer(), outcore.Clusterer(method="modularity"), outcore.Clusterer(method="label-propagation")],
    expected_failed_checks=lambda estimator: CANNOT_PASS,
)
def test_the_estimator_passes_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_points_are_clustered_by_their_graph_of_neighbors() -> None:
    points, truth = make_blobs(n_samples=400, centers=4, random_state=3)
    graph = kneighbors_graph(points, 15)
    estimator = outcore.Clusterer(method="modularity", resolution=0.3)
    labels = estimator.fit_predict(graph)
    assert adjusted_rand_score(truth, labels) > 0.9
    assert labels.tolist() == outcore.cluster(graph, method="modularity", resolution=0.3).labels.tolist()
    assert estimator.n_features_in_ == 400 and len(estimator.communities_) == 400
    pipeline = make_pipeline(KNeighborsTransformer(n_neighbors=15, mode="connectivity"), estimator)
    assert adjusted_rand_score(truth, pipeline.fit_predict(points)) > 0.9
    distances = kneighbors_graph(points, 15, mode="distance")
    near = outcore.Clusterer(method="modularity", resolution=0.3, weight_transform="similarity")
    assert adjusted_rand_score(truth, near.fit_predict(distances)) > 0.9


def test_parameters_are_keywords_of_cluster() -> None:
    of_estimator = inspect.signature(outcore.Clusterer).parameters
    of_function = inspect.signature(outcore.cluster).parameters
    # A matrix has no lines, no names, and no nodes of two kinds; results are attributes.
    absent = {"edges", "output", "output_header", "representatives", "rejects", "nodes", "names", "two_mode"}
    absent |= {"format", "columns", "delimiter", "comment", "header", "on_bad_line"}
    absent |= {"prefer", "keep", "drop", "heights"}
    assert set(of_function) - set(of_estimator) == absent
    assert {name: one.default for name, one in of_estimator.items()} == {
        name: one.default for name, one in of_function.items() if name not in absent
    }


def test_estimators_are_cloned_printed_and_pickled() -> None:
    estimator = outcore.Clusterer(method="cpm", resolution=0.5)
    assert isinstance(estimator, sklearn.base.BaseEstimator) and sklearn.base.is_clusterer(estimator)
    copied = sklearn.base.clone(estimator)
    assert copied is not estimator and copied.get_params() == estimator.get_params()
    assert repr(estimator) == "Clusterer(method='cpm', resolution=0.5)"
    matrix = scipy.sparse.coo_array(([1.0, 1.0], ([0, 2], [1, 3])), shape=(4, 4))
    estimator.fit(matrix)
    again = pickle.loads(pickle.dumps(estimator))
    assert again.labels_.tolist() == estimator.labels_.tolist() == again.communities_.labels.tolist()
    with pytest.raises(ValueError, match="nothing"):
        estimator.set_params(nothing=1)


def test_what_is_no_square_matrix_of_weights_is_refused() -> None:
    with pytest.raises(outcore.UsageError, match=r"square matrix.*not one of 5 x 2\n.*kneighbors_graph"):
        outcore.Clusterer().fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="Negative values in data: the smallest weight is -1"):
        outcore.Clusterer().fit(-np.eye(3))
    with pytest.raises(ValueError, match="NaN"):
        outcore.Clusterer().fit(np.full((3, 3), np.nan))
    outcore.Clusterer(method="components", ignore_weights=True).fit(-np.ones((3, 3)))


#: Without scikit-learn; the import of the package alone must not import it where it is installed.
ALONE = """
import sys
import outcore
assert "sklearn" not in sys.modules and "Clusterer" in dir(outcore)
sys.modules["sklearn"] = None
import numpy, pickle
estimator = outcore.Clusterer(method="components", seed=2)
assert repr(estimator) == "Clusterer(method='components', seed=2)", repr(estimator)
assert estimator.get_params()["seed"] == 2 and len(estimator.get_params()) > 30
assert estimator.set_params(seed=3) is estimator and estimator.seed == 3
try:
    estimator.set_params(speed=3)
except ValueError as error:
    assert "'speed'" in str(error)
else:
    raise AssertionError
matrix = numpy.zeros((4, 4))
matrix[0, 3] = 1
assert estimator.fit_predict(matrix).tolist() == [0, 1, 2, 0]
assert estimator.n_features_in_ == 4
assert estimator.fit([("a", "b")]).labels_.tolist() == [0, 0]
for wrong in (numpy.ones((5, 2)), -matrix):
    try:
        estimator.fit(wrong)
    except outcore.Error:
        pass
    else:
        raise AssertionError(wrong)
assert not any(name.startswith("sklearn.") for name in sys.modules)
try:
    outcore.Nothing
except AttributeError as error:
    assert "'Nothing'" in str(error)
"""


def test_the_estimator_works_without_scikit_learn() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
