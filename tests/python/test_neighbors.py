"""Neighbors of points have the edges that a naive program finds, in every form that libraries return."""

from __future__ import annotations

from typing import Any

import numpy as np
import outcore
import pandas as pd
import pynndescent
import pytest
import scipy.sparse
from outcore import _neighbors
from sklearn.neighbors import NearestNeighbors

pytestmark = [
    pytest.mark.filterwarnings("ignore:one community holds"),
    pytest.mark.filterwarnings("ignore:Parquet does not hold"),
]
POINTS = 300
WIDTH = 6


def points() -> Any:
    return np.random.default_rng(3).normal(size=(POINTS, 3)) + 4 * np.eye(3)[np.arange(POINTS) % 3]


def search() -> tuple[Any, Any]:
    """Return indices and distances of the neighbors of all points, themselves included."""
    distances, indices = NearestNeighbors(n_neighbors=WIDTH).fit(points()).kneighbors(points())
    return indices, distances


def naive(indices: Any, distances: Any, weight: Any) -> dict[tuple[int, int], float]:
    found = {}
    for row, (others, away) in enumerate(zip(indices.tolist(), distances.tolist(), strict=True)):
        for other, distance in zip(others, away, strict=True):
            if other not in (-1, row):
                found[min(row, other), max(row, other)] = weight(distance)
    return found


def edges_of(source: Any, path: str = "built.graph", **options: Any) -> dict[tuple[int, int], float]:
    """Return the edges of a graph of these, and check that it has all points as nodes."""
    graph = outcore.build(source, path, **options)
    assert graph.node_count == POINTS
    table = outcore.export(graph, "edges.parquet") and pd.read_parquet("edges.parquet")
    rows = table.to_numpy()
    return {(min(int(a), int(b)), max(int(a), int(b))): float(*w or [1]) for a, b, *w in rows}


def same(found: dict[tuple[int, int], float], expected: dict[tuple[int, int], float]) -> bool:
    return found.keys() == expected.keys() and all(
        found[pair] == pytest.approx(expected[pair], rel=1e-6) for pair in found
    )


WEIGHTS: dict[str, Any] = {"similarity": lambda d: 1 / (1 + d), "reciprocal": lambda d: 1 / d, "none": lambda d: d}


@pytest.mark.parametrize("transform", WEIGHTS)
def test_two_points_share_an_edge_whose_weight_is_that_of_their_distance(transform: Any) -> None:
    indices, distances = search()
    expected = naive(indices, distances, WEIGHTS[transform])
    assert same(edges_of(outcore.neighbors(indices, distances, weight_transform=transform)), expected)


def test_every_library_is_read_as_it_means_it(monkeypatch: pytest.MonkeyPatch) -> None:
    indices, distances = search()
    expected = naive(indices, distances, WEIGHTS["similarity"])
    matrix = NearestNeighbors(n_neighbors=WIDTH).fit(points()).kneighbors_graph(points(), mode="distance")
    monkeypatch.setattr(_neighbors, "_BATCH", 100)
    ways = {
        "scikit-learn": outcore.neighbors(distances, indices),
        "faiss": (distances.astype(np.float32), indices),
        "hnswlib": outcore.neighbors(indices.astype(np.uint64), distances.astype(np.float32)),
        "a pair": (indices, distances),
        "a matrix": outcore.neighbors(matrix),
        "lists": outcore.neighbors(indices.tolist(), distances.tolist()),
    }
    for name, source in ways.items():
        assert same(edges_of(source, f"{name}.graph"), expected), name
    of_descent = pynndescent.NNDescent(points(), n_neighbors=WIDTH, random_state=1).neighbor_graph
    assert same(edges_of(outcore.neighbors(*of_descent), "d.graph"), naive(*of_descent, WEIGHTS["similarity"]))


def test_missing_neighbors_and_points_without_any_are_kept_apart() -> None:
    indices, distances = search()
    indices[::7, 3:], distances[::7, 3:] = -1, np.finfo(np.float32).max
    indices[5], distances[5] = -1, np.inf
    indices[indices == 5] = -1
    assert same(edges_of(outcore.neighbors(indices, distances)), naive(indices, distances, WEIGHTS["similarity"]))
    found = outcore.cluster(outcore.neighbors(indices, distances), method="components")
    assert (found.labels == found.labels[5]).sum() == 1
    unweighted = edges_of(outcore.neighbors(indices), "u.graph")
    assert set(unweighted.values()) == {1.0} and unweighted.keys() == naive(indices, distances, float).keys()


def test_columns_are_edges_also_in_a_dictionary() -> None:
    i, j, weight = np.array([0, 1, 3]), np.array([1, 2, 4]), np.array([0.5, 1, 2])
    expected = dict(outcore.cluster(list(zip(i.tolist(), j.tolist(), weight.tolist(), strict=True))))
    frame = pd.DataFrame({"source": i, "target": j, "weight": weight}, index=[7, 8, 9])
    for source in (
        (i, j, weight),
        dict(frame.items()),
        (frame["source"], frame["target"]),
        [i, j],
        {"source": i, "target": j, "weight": weight},
        {"weight": weight.tolist(), "source": i.tolist(), "target": j.tolist()},
        scipy.sparse.find(scipy.sparse.coo_array((weight, (i, j)), shape=(5, 5))),
    ):
        assert dict(outcore.cluster(source)) == expected
    named = {"who": ["a", "b"], "whom": ["b", "c"], "when": [1, 2]}
    assert dict(outcore.cluster(named, columns=("who", "whom"))) == {"a": 0, "b": 0, "c": 0}
    assert dict(outcore.cluster(named, columns=(1, 2))) == {"a": 0, "b": 0, "c": 0}


def distances_of(count: int) -> Any:
    return NearestNeighbors(n_neighbors=3).fit(points()[:count]).kneighbors_graph(mode="distance")


def test_a_matrix_of_distances_is_asked_about() -> None:
    with pytest.raises(outcore.UsageError, match=r"3 entries in each row, the smallest first.*\n.*outcore\.neighbors"):
        outcore.cluster(distances_of(100))
    # What it is has been said.
    outcore.cluster(distances_of(100), weight_transform="similarity")
    outcore.cluster(outcore.neighbors(distances_of(100), weight_transform="none"))
    outcore.build(distances_of(100), "said.graph", weight_transform="reciprocal")
    connected = NearestNeighbors(n_neighbors=3).fit(points()).kneighbors_graph()
    similar = distances_of(100)
    similar.data = 1 / similar.data
    for matrix in (connected, connected * 0.5, similar, distances_of(5)):
        outcore.cluster(matrix)


REFUSED: dict[str, tuple[Any, str, str]] = {
    "fractions": (lambda: outcore.neighbors(points()), "whole numbers", "outcore.neighbors(indices, distances)"),
    "another shape": (lambda: outcore.neighbors(search()[0], points()), "(300, 6) neighbors", "one search"),
    "a transform": (lambda: outcore.neighbors(*search(), weight_transform="log"), "'log'", '"similarity"'),
    "a matrix and distances": (lambda: outcore.neighbors(distances_of(9), points()), "sparse", "leave"),
    "some of the points": (
        lambda: outcore.cluster(outcore.neighbors(search()[0][:50])),
        "there are 50 rows",
        "columns",
    ),
    "similarities": (lambda: outcore.cluster((search()[0], -search()[1])), "negative", '"none"'),
    "no number": (lambda: outcore.cluster((search()[0], search()[1] * np.nan)), "not a finite number", "-1"),
    "equal points": (
        lambda: outcore.cluster(outcore.neighbors([[1], [0]], [[0.0], [0.0]], weight_transform="reciprocal")),
        "reciprocal is infinite",
        '"similarity"',
    ),
    "a direction": (lambda: outcore.cluster(outcore.neighbors(*search()), directed=True), "no direction", "leave"),
    "lists of neighbors": (lambda: outcore.cluster({"a": ["b", "c"], "b": ["c"]}), "`a`, `b`", "for b in graph[a]"),
    "a column": (lambda: outcore.cluster({"a": [1], "b": [2]}, columns=("a", "c")), "no column 'c'", "use these"),
    "lengths": (lambda: outcore.cluster({"source": [1], "target": [2, 3]}), "different lengths", "in each"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_meant_is_refused_with_the_remedy(name: str) -> None:
    call, message, hint = REFUSED[name]
    with pytest.raises(outcore.Error) as raised:
        call()
    assert message in raised.value.message
    assert hint in (raised.value.hint or "")
