"""The table of communities as a data frame."""

from __future__ import annotations

import os
from pathlib import Path

import networkx as nx
import outcore
import pandas as pd
import pytest

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
