"""Exported graphs are read by other programs as the same graph."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import igraph
import networkx
import numpy as np
import outcore
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse

#: Names that formats have to quote or escape.
HOSTILE = ["a b", "<&>", 'q"uote', "ap'os", "c,omma", "#hash", "ünï", "back\\slash", "*star", "tab\tbed", " blank "]

Edges = dict[tuple[str, str], float]


def known(seed: int, directed: bool, weighted: bool, loops: bool = True) -> tuple[list[str], Edges]:
    """Return nodes and edges of a random graph."""
    rng = random.Random(seed)
    nodes = [*HOSTILE, *(f"n{number}" for number in range(30))]
    edges: Edges = {}
    for _ in range(90):
        source, target = rng.choice(nodes), rng.choice(nodes)
        if source == target and not loops:
            continue
        if directed or (target, source) not in edges:
            edges[source, target] = rng.randrange(1, 1000) / 1000 if weighted else 1.0
    return nodes, edges


def built(directory: Path, nodes: list[str], edges: Edges, directed: bool) -> outcore.Graph:
    """Build the graph; nodes without edges come from a list."""
    table = pa.table(
        {
            "source": [source for source, _ in edges] + nodes,
            "target": [target for _, target in edges] + nodes,
            # A loop of weight 0 is a node alone.
            "weight": [*edges.values(), *[0.0] * len(nodes)],
        }
    )
    return outcore.build(
        table, directory / "g.graph", directed=directed, self_loops="keep", duplicates="max", progress=False
    )


def by_name(edges: Edges, directed: bool) -> Edges:
    return {pair if directed else tuple(sorted(pair)): weight for pair, weight in edges.items()}  # type: ignore[misc]


def order_of(graph: outcore.Graph) -> list[str]:
    return pa.table(graph.degrees())["node"].to_pylist()  # type: ignore[no-any-return]


@pytest.fixture(params=[(seed, directed, weighted) for seed in range(3) for directed in (0, 1) for weighted in (0, 1)])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    seed, directed, weighted = request.param
    nodes, edges = known(seed, bool(directed), bool(weighted))
    return built(tmp_path, nodes, edges, bool(directed)), nodes, edges, tmp_path


def test_graphml_and_gexf_are_read_by_networkx_and_igraph(case: Any) -> None:
    graph, nodes, edges, directory = case
    for name, read in (("g.graphml", networkx.read_graphml), ("g.gexf", networkx.read_gexf)):
        outcore.export(graph, directory / name, progress=False)
        found = read(directory / name)
        assert set(found.nodes) == set(nodes)
        got = {(a, b): data.get("weight", 1.0) for a, b, data in found.edges(data=True)}
        assert by_name(got, graph.is_directed) == by_name(edges, graph.is_directed)
        assert found.is_directed() == graph.is_directed
    found = igraph.Graph.Read_GraphML(str(directory / "g.graphml"))
    # igraph leaves ampersands in attributes escaped.
    found.vs["id"] = [name.replace("&#38;", "&") for name in found.vs["id"]]
    assert set(found.vs["id"]) == set(nodes)
    weights = found.es["weight"] if graph.is_weighted else [1.0] * found.ecount()
    ends = [(found.vs[edge.source]["id"], found.vs[edge.target]["id"]) for edge in found.es]
    got = dict(zip(ends, weights, strict=True))
    assert by_name(got, graph.is_directed) == by_name(edges, graph.is_directed)


def test_matrices_are_read_by_scipy(case: Any) -> None:
    graph, _, edges, directory = case
    outcore.export(graph, directory / "g.mtx", nodes=directory / "names.csv", progress=False)
    matrix = scipy.io.mmread(directory / "g.mtx").toarray()
    names = pd.read_csv(directory / "names.csv")["node"].tolist()
    expected = np.zeros((len(names), len(names)))
    for (source, target), weight in edges.items():
        expected[names.index(source), names.index(target)] = weight
        if not graph.is_directed:
            expected[names.index(target), names.index(source)] = weight
    assert np.array_equal(matrix, expected)
    assert np.array_equal(graph.to_scipy().toarray(), expected)
    assert names == order_of(graph)


def test_pajek_is_read_by_networkx_and_igraph(case: Any) -> None:
    graph, nodes, edges, directory = case
    with pytest.raises(outcore.InputError, match="with a quote"):
        outcore.export(graph, directory / "g.net", progress=False)
    nodes = [node for node in nodes if '"' not in node]
    edges = {(source, target): weight for (source, target), weight in edges.items() if {source, target} <= {*nodes}}
    (directory / "plain").mkdir()
    graph = built(directory / "plain", nodes, edges, graph.is_directed)
    outcore.export(graph, directory / "g.net", progress=False)
    found = networkx.read_pajek(directory / "g.net", encoding="utf-8")
    assert set(found.nodes) == set(nodes)
    got = {(a, b): data.get("weight", 1.0) for a, b, data in found.edges(data=True)}
    assert by_name(got, graph.is_directed) == by_name(edges, graph.is_directed)
    found = igraph.Graph.Read_Pajek(str(directory / "g.net"))
    assert (found.vcount(), found.ecount()) == (len(nodes), len(edges))


def test_tables_are_read_by_pandas_and_polars(case: Any) -> None:
    graph, _, edges, directory = case
    for name, read in (
        ("g.csv", pd.read_csv),
        ("g.parquet", pd.read_parquet),
        ("g.jsonl", lambda path: pd.read_json(path, lines=True, precise_float=True)),
        ("g.arrow", lambda path: pl.read_ipc(path).to_pandas()),
    ):
        outcore.export(graph, directory / name, nodes=directory / "names.tsv", progress=False)
        frame = read(directory / name)
        weights = frame["weight"] if graph.is_weighted else [1.0] * len(frame)
        got = dict(zip(zip(frame["source"], frame["target"], strict=True), weights, strict=True))
        assert by_name(got, graph.is_directed) == by_name(edges, graph.is_directed), name


def test_metis_is_read_by_igraph(tmp_path: Path) -> None:
    nodes, edges = known(1, directed=False, weighted=False, loops=False)
    graph = built(tmp_path, nodes, edges, directed=False)
    outcore.export(graph, tmp_path / "g.metis", progress=False)
    first, *lines = (tmp_path / "g.metis").read_text().splitlines()
    assert first == f"{len(nodes)} {len(edges)}"
    names = order_of(graph)
    pairs = {(names[row], names[int(word) - 1]) for row, line in enumerate(lines) for word in line.split()}
    assert pairs == {pair for source, target in edges for pair in ((source, target), (target, source))}


def test_objects_of_other_libraries_have_all_edges(case: Any) -> None:
    graph, nodes, edges, _ = case
    expected = by_name(edges, graph.is_directed)
    table = pa.table(graph.edges())
    rows = zip(*(table[name].to_pylist() for name in ("source", "target", "weight")), strict=True)
    got = {(source, target): weight for source, target, weight in rows}
    assert by_name({pair: weight for pair, weight in got.items() if weight > 0}, graph.is_directed) == expected
    found = graph.to_networkx()
    assert list(found.nodes) == order_of(graph) and set(found.nodes) == set(nodes)
    assert by_name({(a, b): w for a, b, w in found.edges(data="weight")}, graph.is_directed) == expected
    found = graph.to_igraph()
    ends = [(found.vs[edge.source]["name"], found.vs[edge.target]["name"]) for edge in found.es]
    assert by_name(dict(zip(ends, found.es["weight"], strict=True)), graph.is_directed) == expected
    assert set(found.vs["name"]) == set(nodes)


def test_the_stream_of_edges_is_the_same_graph_again(case: Any) -> None:
    graph, _, _, directory = case
    again = outcore.build(
        graph.edges(memory="64MiB"),
        directory / "again.graph",
        directed=graph.is_directed,
        self_loops="keep",
        progress=False,
    )
    assert again.node_count == graph.node_count and again.edge_count == graph.edge_count
    assert again.weight_total == graph.weight_total


def test_communities_are_attributes_parts_and_networks(tmp_path: Path, karate: Path) -> None:
    graph = outcore.build(karate, tmp_path / "karate.graph", progress=False)
    found = outcore.cluster(graph, method="modularity", progress=False)
    outcore.export(graph, tmp_path / "k.graphml", communities=found, progress=False)
    read = networkx.read_graphml(tmp_path / "k.graphml")
    assert dict(read.nodes(data="community")) == dict(found)
    outcore.export(graph, tmp_path / "k.gexf", communities=found, progress=False)
    assert dict(networkx.read_gexf(tmp_path / "k.gexf").nodes(data="community")) == dict(found)

    report = outcore.export(graph, tmp_path / "part.graphml", communities=found, members=[0, 2], progress=False)
    whole = graph.to_networkx()
    part = whole.subgraph([node for node, community in found if community in (0, 2)])
    assert report.node_count == part.number_of_nodes() and report.edge_count == part.number_of_edges()
    assert set(networkx.read_graphml(tmp_path / "part.graphml").nodes) == set(part.nodes)

    outcore.export(graph, tmp_path / "network.graphml", communities=found, quotient=True, progress=False)
    network = networkx.read_graphml(tmp_path / "network.graphml")
    sizes = pd.Series(dict(found)).value_counts()
    assert {int(node): size for node, size in network.nodes(data="size")} == sizes.to_dict()
    assert sum(weight for _, _, weight in network.edges(data="weight")) == whole.number_of_edges()


@pytest.mark.filterwarnings("ignore:one community holds")  # Nearly all nodes are joined, as they should be.
def test_the_network_of_communities_is_a_graph(tmp_path: Path) -> None:
    nodes, edges = known(4, directed=False, weighted=True)
    # Results as text do not keep blanks around names.
    edges = {pair: weight for pair, weight in edges.items() if " blank " not in pair}
    nodes.remove(" blank ")
    graph = built(tmp_path, nodes, edges, directed=False)
    found = outcore.cluster(graph, method="components", progress=False)
    network = found.network(graph)
    assert network.node_count == found.community_count
    expected: dict[int, float] = {}
    for (source, _), weight in edges.items():
        expected[found[source]] = expected.get(found[source], 0) + weight
    got = {int(a): w for a, b, w in network.to_networkx().edges(data="weight") if a == b}
    assert got == pytest.approx(expected, rel=1e-6)
    assert network.edge_count == 0


def test_options_that_contradict_each_other_are_refused(tmp_path: Path, karate: Path) -> None:
    graph = outcore.build(karate, tmp_path / "karate.graph", progress=False)
    with pytest.raises(outcore.UsageError, match="needs communities"):
        outcore.export(graph, tmp_path / "e.tsv", quotient=True, progress=False)
    with pytest.raises(outcore.UsageError, match="no format"):
        outcore.export(graph, tmp_path / "e.dot", progress=False)
    with pytest.raises(outcore.UsageError, match="inside"):
        outcore.export(graph, tmp_path / "karate.graph" / "e.tsv", progress=False)


def test_graphs_of_rows_keep_their_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    matrix = scipy.sparse.random_array((30, 30), density=0.1, rng=rng)
    matrix = (matrix + matrix.T).tocsr()
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    graph = outcore.build(matrix, tmp_path / "rows.graph", progress=False)
    assert order_of(graph) != [str(row) for row in range(30)]
    assert np.allclose(graph.to_scipy().toarray(), matrix.toarray(), rtol=1e-6)
    found = graph.to_igraph()
    assert found.vs["name"] == [str(row) for row in range(30)]
    assert np.allclose(np.array(found.get_adjacency_sparse("weight").todense()), matrix.toarray(), rtol=1e-6)
    assert list(graph.to_networkx().nodes) == found.vs["name"]
    communities = outcore.cluster(graph, method="modularity", progress=False)
    quality = outcore.score(graph, communities).quality.modularity
    assert found.modularity(communities.labels.tolist(), weights="weight") == pytest.approx(quality, abs=1e-6)


def test_results_with_stability_are_used_as_any_other(tmp_path: Path, karate: Path, monkeypatch: Any) -> None:
    graph = outcore.build(karate, tmp_path / "karate.graph", progress=False)
    monkeypatch.chdir(tmp_path)
    found = outcore.cluster(graph, method="modularity", stability=True, summary=True, progress=False)
    other = outcore.cluster(graph, method="modularity", progress=False)
    # The result outlives a change of the current directory.
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert outcore.compare(found, other, progress=False).node_count == len(found) == 34
    assert outcore.score(graph, found, progress=False).quality.community_count == found.community_count
    assert found.network(graph).node_count == found.community_count
    outcore.export(graph, tmp_path / "k.graphml", communities=found, progress=False)
    assert dict(networkx.read_graphml(tmp_path / "k.graphml").nodes(data="community")) == dict(found)
    assert found.stability.shape == (34,) and len(found.summary()) == found.community_count
    again = outcore.cluster(graph, method="modularity", initial=found, match=found, progress=False)
    assert again.report["communities"]["presented"]["kept_number_count"] > 0
    for nodes in (["a", "b"], pa.table({"id": ["a"]})):
        with pytest.raises(outcore.UsageError, match="`nodes` is the path of a file, not an object of type"):
            outcore.cluster(karate, nodes=nodes, progress=False)  # type: ignore[arg-type]
