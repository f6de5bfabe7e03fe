"""The table of communities as a data frame, and their network as a drawing."""

from __future__ import annotations

import itertools
import math
import os
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import networkx as nx
import outcore
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from outcore import _outcore

matplotlib.use("agg")
KARATE = nx.karate_club_graph()


def expected(graph: nx.Graph, communities: outcore.Communities) -> pd.DataFrame:
    """Return the table by its definition."""
    of = dict(communities)
    first = {node: at for at, node in enumerate(of)}
    rows = []
    for number in range(communities.community_count):
        members = {node for node in graph if of[node] == number}
        inner = graph.subgraph(members)
        outer: dict[int, float] = {}
        for one, other, weight in nx.edge_boundary(graph, members, data="weight"):
            assert one in members
            outer[of[other]] = outer.get(of[other], 0.0) + weight
        neighbor = min(outer, key=lambda other: (-outer[other], other), default=None)
        rows.append(
            {
                "community": number,
                "size": len(members),
                "representative": max(members, key=lambda node: (inner.degree(node, weight="weight"), -first[node])),
                "inner_edges": inner.number_of_edges(),
                "inner_weight": inner.size(weight="weight"),
                "outer_weight": sum(outer.values()),
                "density": nx.density(inner) if len(members) > 1 else None,
                "conductance": nx.conductance(graph, members, weight="weight"),
                "neighbor": neighbor,
                "neighbor_weight": outer.get(neighbor),
            }
        )
    return pd.DataFrame(rows)


def check(found: pd.DataFrame, communities: outcore.Communities) -> None:
    pd.testing.assert_frame_equal(found, expected(KARATE, communities), check_dtype=False)


def test_the_summary_is_kept_with_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    communities = outcore.cluster(KARATE, method="modularity", self_loops="keep", summary=True)
    check(communities.summary(), communities)
    del communities
    assert os.listdir(tmp_path) == []


def test_every_result_has_its_own_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    several = outcore.cluster(KARATE, method="modularity", resolution=[2, 4], summary=True, output="c.tsv")
    for communities in several.values():
        check(communities.summary(), communities)
        assert len(communities.summary()) == communities.community_count
    del several, communities
    assert sorted(os.listdir(tmp_path)) == ["c.2.tsv", "c.4.tsv"]


@pytest.mark.parametrize("ending", ["tsv", "csv", "parquet", "arrow", "jsonl"])
def test_a_summary_is_read_from_its_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"summary.{ending}"
    communities = outcore.cluster(KARATE, method="modularity", summary=path, work_dir=tmp_path)
    check(communities.summary(), communities)
    del communities
    assert path.exists()


def test_stability_is_a_column(tmp_path: Path) -> None:
    communities = outcore.cluster(KARATE, method="modularity", stability=True, summary=True, work_dir=tmp_path)
    # The file of communities has thousandths.
    means = pytest.approx(communities.community_stability().tolist(), abs=1e-3)
    assert communities.summary()["stability"].tolist() == means


def test_names_that_look_like_values_are_names(tmp_path: Path) -> None:
    edges = [("NA", "007"), ("007", "nan"), ("nan", "NA"), ('a"b', "c,d")]
    for ending in ("tsv", "csv", "jsonl", "arrow"):
        path = tmp_path / f"summary.{ending}"
        found = outcore.cluster(edges, method="components", summary=path, work_dir=tmp_path).summary()
        assert found["representative"].tolist() == ["NA", 'a"b'], ending


def test_a_result_without_a_summary_says_how_to_get_one(tmp_path: Path) -> None:
    communities = outcore.cluster(KARATE, method="modularity", work_dir=tmp_path)
    with pytest.raises(ValueError, match="summary=True"):
        communities.summary()


Place = tuple[float, float, float]


def ring(names: list[str], sizes: list[int]) -> nx.Graph:
    """Return cliques in a ring, each tied to the next by an edge of a weight of its own."""
    graph = nx.Graph()
    for name, size in zip(names, sizes, strict=True):
        graph.add_edges_from(itertools.combinations([name, *(f"{name}-{at}" for at in range(1, size))], 2), weight=9)
    for at, name in enumerate(names):
        graph.add_edge(name, names[(at + 1) % len(names)], weight=at + 1)
    return graph


def drawn(ax: Any) -> tuple[list[Place], list[tuple[frozenset[int], float]]]:
    """Return the circles, and of each line the circles that it joins and its width."""
    circles = [(*patch.center, patch.radius) for patch in ax.patches if isinstance(patch, Circle)]
    at = {(x, y): number for number, (x, y, _) in enumerate(circles)}
    lines = ax.collections[0]
    ends = [frozenset(at[tuple(end)] for end in segment) for segment in lines.get_segments()]
    return circles, list(zip(ends, lines.get_linewidths(), strict=True))


def check_places(circles: list[Place], width: float, height: float) -> None:
    for x, y, radius in circles:
        assert radius <= x <= width - radius and radius <= y <= height - radius
    for (x, y, radius), (other_x, other_y, other) in itertools.combinations(circles, 2):
        assert math.hypot(x - other_x, y - other_y) > radius + other


def test_circles_are_apart_inside_and_as_large_as_their_communities(tmp_path: Path) -> None:
    sizes = [20, 12, 9, 7, 5, 4]
    found = outcore.cluster(ring(list("abcdef"), sizes), summary=True, work_dir=tmp_path)
    ax = Figure(figsize=(5, 3)).subplots()
    assert found.plot(ax) is ax
    circles, _ = drawn(ax)
    (left, right), (bottom, top) = sorted(ax.get_xlim()), sorted(ax.get_ylim())
    assert left == 0 == bottom
    check_places(circles, right, top)
    assert found.summary()["size"].tolist() == sizes
    unit = circles[0][2] ** 2 / sizes[0]
    assert [radius**2 / unit for _, _, radius in circles] == pytest.approx(sizes)


def test_the_smallest_circles_stand_for_all_smaller_sizes() -> None:
    sizes = [1e6, 5e5, 1e5, 100.0, 1.0]
    circles, lines = _outcore.place_network(sizes, [(0, 1, 2.0), (1, 2, 1.0)], 400.0, 300.0)
    places = [(x, y, radius) for x, y, radius in circles]
    check_places(places, 400.0, 300.0)
    areas = [radius**2 for _, _, radius in places]
    assert [area / areas[0] for area in areas[:3]] == pytest.approx([1, 0.5, 0.1])
    assert areas[3] == areas[4] > areas[0] * 1e-4
    assert sorted(lines) == [(0, 1, 2.0), (1, 2, 1.0)]
    with pytest.raises(ValueError, match="an end that is no circle"):
        _outcore.place_network([1.0], [(0, 1, 1.0)], 400.0, 300.0)


def test_every_link_that_is_drawn_is_a_line(tmp_path: Path) -> None:
    found = outcore.cluster(ring(list("abcdef"), [9, 8, 7, 6, 5, 4]), summary=True, work_dir=tmp_path)
    _, lines = drawn(found.plot(Figure().subplots()))
    # In a ring nothing is left out. The weights are 1 to 6, and the heaviest line is six points wide.
    expected = {frozenset({at, (at + 1) % 6}): float(at + 1) for at in range(6)}
    assert len(lines) == 6
    assert dict(lines) == pytest.approx(expected)


def test_the_heaviest_lines_of_a_dense_network_are_drawn(tmp_path: Path) -> None:
    names = [f"n{at}" for at in range(9)]
    graph = ring(names, [9] * 9)
    weights = {frozenset(pair): 1.0 + at / 36 for at, pair in enumerate(itertools.combinations(range(9), 2))}
    graph.add_edges_from((names[min(pair)], names[max(pair)], {"weight": weight}) for pair, weight in weights.items())
    found = outcore.cluster(graph, summary=True, work_dir=tmp_path)
    of = [found[name] for name in names]
    expected = {frozenset(of[end] for end in pair): weight for pair, weight in weights.items()}
    _, lines = drawn(found.plot(Figure().subplots()))
    two_largest = {
        pair
        for own in range(9)
        for pair in sorted((pair for pair in expected if own in pair), key=lambda pair: -expected[pair])[:2]
    }
    assert two_largest <= {pair for pair, _ in lines} < set(expected)
    heaviest = max(expected.values())
    assert dict(lines) == pytest.approx({pair: 6 * expected[pair] / heaviest for pair, _ in lines})
    assert nx.is_connected(nx.Graph([tuple(pair) for pair, _ in lines]))


def test_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    names = ["$a_1$", "b$_{", "c_d^e"]
    found = outcore.cluster(ring(names, [9, 8, 7]), summary=True, work_dir=tmp_path)
    ax = found.plot(Figure().subplots())
    assert [text.get_text() for text in ax.texts] == [f"{at}: {name}" for at, name in enumerate(names)]
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        ax.figure.savefig(tmp_path / "drawn.svg")
    written = (tmp_path / "drawn.svg").read_text()
    assert all(f">{at}: {name}<" in written for at, name in enumerate(names))


def test_the_current_axes_are_drawn_on_by_default(tmp_path: Path) -> None:
    figure, axes = plt.subplots(1, 2)
    found = outcore.cluster(KARATE, method="modularity", summary=True, work_dir=tmp_path)
    assert found.plot() is axes[1]
    assert not axes[0].patches and len(axes[1].patches) == found.community_count
    plt.close(figure)


def test_a_result_without_a_summary_is_not_drawn(tmp_path: Path) -> None:
    communities = outcore.cluster(KARATE, method="modularity", work_dir=tmp_path)
    before = plt.get_fignums()
    with pytest.raises(ValueError, match="summary=True"):
        communities.plot()
    assert plt.get_fignums() == before
