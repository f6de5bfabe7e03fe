"""Labels are in the order of the caller's rows and nodes, or are refused: never in another order without a word."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import outcore
import pyarrow as pa
import pytest
import scipy.sparse

SIZE = 60


def groups() -> Any:
    """Return three groups whose rows are mixed, as a matrix in which row 0 is a neighbor of the last row first."""
    random = np.random.default_rng(5)
    of = random.permutation(np.arange(SIZE) % 3)
    same = of[:, None] == of[None, :]
    upper = np.triu(random.random((SIZE, SIZE)) < np.where(same, 0.5, 0.03), 1)
    upper[7] = False
    upper[:, 7] = False
    return (upper | upper.T).astype(float)


#: Sources whose nodes are numbered, and whether a graph knows that.
SOURCES: dict[str, Callable[[], Any]] = {
    "array": groups,
    "matrix": lambda: scipy.sparse.csr_matrix(groups()),
    "asymmetric array": lambda: scipy.sparse.coo_array(np.triu(groups())),
    "igraph": lambda: igraph.Graph.Adjacency(groups().tolist(), mode="undirected"),
    "networkx": lambda: nx.from_numpy_array(groups()),
}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("output", [None, "c.tsv", "c.parquet", "c.jsonl"])
def test_a_graph_on_disk_keeps_the_order_of_rows(name: str, output: str | None, own_directory: Path) -> None:
    source = SOURCES[name]()
    expected = outcore.cluster(source, method="modularity", seed=3)
    graph = outcore.build(source, "rows.graph")
    assert json.loads(Path("rows.graph/graph.json").read_text())["names"] == {"rows": SIZE}
    for opened in (graph, outcore.Graph("rows.graph"), "rows.graph", Path("rows.graph")):
        found = outcore.cluster(opened, method="modularity", seed=3, output=output)
        assert found.labels.tolist() == expected.labels.tolist()
        assert [found[row] for row in range(SIZE)] == expected.labels.tolist()
    in_file = [community for _, community in found]
    assert in_file != expected.labels.tolist(), "the order of the file is another one"


def test_stability_and_left_out_rows_have_the_order_of_rows(own_directory: Path) -> None:
    matrix = groups()
    graph = outcore.build(matrix, "rows.graph")
    options: dict[str, Any] = {"method": "modularity", "stability": True, "min_size": 2}
    found, expected = outcore.cluster(graph, **options), outcore.cluster(matrix, **options)
    assert found.labels[7] == -1 and np.isnan(found.stability[7])
    assert found.labels.tolist() == expected.labels.tolist()
    assert np.array_equal(found.stability, expected.stability, equal_nan=True)


def test_another_process_finds_the_order(own_directory: Path) -> None:
    expected = outcore.cluster(groups(), method="modularity").labels.tolist()
    outcore.build(groups(), "rows.graph")
    code = "import outcore; print(outcore.cluster(outcore.Graph('rows.graph'), method='modularity').labels.tolist())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == expected


@pytest.mark.parametrize(
    "source",
    [
        lambda: nx.relabel_nodes(nx.from_numpy_array(groups()), lambda at: f"cell {at}"),
        lambda: nx.relabel_nodes(nx.from_numpy_array(groups()), lambda at: SIZE - at),
        lambda: igraph.Graph.TupleList([("c", "a"), ("a", "b"), ("d", "c")]),
    ],
)
@pytest.mark.filterwarnings("ignore:one community holds")  # Nearly all nodes are joined, as they should be.
def test_the_order_of_named_nodes_is_not_made_up(source: Callable[[], Any], own_directory: Path) -> None:
    outcore.build(source(), "named.graph")
    found = outcore.cluster(outcore.Graph("named.graph"), method="components")
    with pytest.raises(outcore.UsageError, match="does not record the order") as raised:
        _ = found.labels
    assert raised.value.hint and "communities[name]" in raised.value.hint
    direct = outcore.cluster(source(), method="components")
    assert dict(found) == {str(name): community for name, community in direct}
    assert len(direct.labels) == len(found)


def test_labels_have_the_order_of_names_that_are_numbers_from_0(own_directory: Path) -> None:
    pairs = [(4, 5), (3, 5), (1, 2), (0, 2)]
    table = pa.table({"a": [a for a, _ in pairs], "b": [b for _, b in pairs]})
    Path("edges.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    graph = outcore.build("edges.tsv", "numbers.graph")
    assert "names" not in json.loads(Path("numbers.graph/graph.json").read_text())
    for source in (pairs, table, table.to_pandas(), "edges.tsv", graph, np.array(pairs)):
        found = outcore.cluster(source, method="components", output="c.tsv")
        expected = [found[node] for node in range(6)]
        assert found.labels.tolist() == expected != [community for _, community in found]
        assert outcore.Communities("c.tsv").labels.tolist() == expected
        assert found[[5, 0]].tolist() == found[np.array([5, 0])].tolist() == [expected[5], expected[0]]
    dropped = outcore.cluster([(0, 1), (1, 2), (3, 4)], method="components", min_size=3)
    assert dropped.labels.tolist() == [0, 0, 0, -1, -1]


@pytest.mark.parametrize("names", [("a", "b", "c"), (1, 2, 3), ("0", "1", "02"), ("0", "1", "+2"), (0, 1, 5)])
def test_labels_of_other_names_are_an_error_that_says_what_has_both(names: Any, own_directory: Path) -> None:
    a, b, c = names
    found = outcore.cluster([(a, b), (b, c)], method="components", flow=True, output="c.parquet")
    for result in (found, outcore.Communities("c.parquet")):
        with pytest.raises(outcore.UsageError, match="no index says whose a label is") as raised:
            _ = result.labels
        assert raised.value.hint and "communities[names]" in raised.value.hint and "to_pandas" in raised.value.hint
    assert found[[c, a]].tolist() == [0, 0]
    # Values have the order of the table, whose middle node is that of the most steps.
    assert found.to_pandas()["node"].tolist()[int(found.flow.argmax())] == b
    with pytest.raises(KeyError, match="9"):
        _ = found[[a, 9]]


@pytest.mark.filterwarnings("ignore:one community holds")  # Nearly all nodes are joined, as they should be.
def test_edges_that_are_added_keep_the_order_or_lose_it(own_directory: Path) -> None:
    matrix = groups()
    rows = outcore.build(matrix, "rows.graph")
    larger = np.zeros((SIZE + 1, SIZE + 1))
    larger[SIZE, 0] = larger[0, SIZE] = 1
    grown = outcore.build(larger, "grown.graph", append=rows)
    assert outcore.cluster(grown, method="components").labels.shape == (SIZE + 1,)
    mixed = outcore.build([("x", "0")], "mixed.graph", append=rows)
    with pytest.raises(outcore.UsageError, match="does not record the order"):
        _ = outcore.cluster(mixed).labels


@pytest.mark.parametrize("matrix", [np.zeros((2, 3)), scipy.sparse.csr_array((3, 2)), np.ones((4, 1))])
def test_a_matrix_that_is_not_square_is_refused_with_what_it_may_be(matrix: Any) -> None:
    with pytest.raises(outcore.UsageError, match=f"matrix of {matrix.shape[0]} x {matrix.shape[1]}") as raised:
        outcore.cluster(matrix)
    assert raised.value.hint and "two_mode=True" in raised.value.hint


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_matrix])
def test_rows_and_columns_of_a_matrix_may_be_nodes_of_two_kinds(kind: Any) -> None:
    # Row 2 and column 1 have no entries.
    matrix = kind(np.array([[1.0, 0, 2], [0, 0, 3], [0, 0, 0]]))
    found = outcore.cluster(matrix, two_mode=True, method="components")
    groups = dict(found)
    assert set(groups) == {f"source:{at}" for at in range(3)} | {f"target:{at}" for at in range(3)}
    assert len({groups[name] for name in ("source:0", "source:1", "target:0", "target:2")}) == 1
    assert len(set(groups.values())) == 3
    assert set(dict(outcore.cluster(kind(np.ones((2, 3))), two_mode=True, method="components"))) == {
        *("source:0", "source:1"),
        *("target:0", "target:1", "target:2"),
    }


def test_the_kind_of_a_node_is_in_the_graph_and_in_results(own_directory: Path) -> None:
    matrix = np.array([[1.0, 0, 2], [0, 0, 3]])
    graph = outcore.build(matrix, "kinds.graph", two_mode=True)
    assert graph.kinds == {"source": 2, "target": 3}
    assert outcore.build([("a", "b")], "one.graph").kinds is None
    found = outcore.cluster(graph, method="modularity")
    assert found.report["communities"]["two_mode_modularity"] <= 1
    kinds = dict(zip((node for node, _ in found), found.kinds, strict=True))
    assert all(node.startswith(f"{kind}:") for node, kind in kinds.items())
    with pytest.raises(ValueError, match="of one kind"):
        _ = outcore.cluster(groups()).kinds
    table = outcore.cluster(graph, method="components", output="kinds.csv")
    assert Path(table.path).read_text().splitlines()[0] == "node,community,kind"
    drawn = graph.to_networkx()
    assert nx.is_bipartite(drawn)
    assert {node: data["kind"] for node, data in drawn.nodes(data=True)} == kinds
    assert {data["bipartite"] for _, data in drawn.nodes(data=True)} == {0, 1}
    assert graph.to_igraph().is_bipartite()
    exported = outcore.export(graph, "kinds.graphml")
    assert exported["node_count"] == 5
    assert dict(nx.read_graphml("kinds.graphml").nodes(data="kind")) == kinds


@pytest.mark.parametrize("values", [[0.25, 1], (1, 0.25), np.array([0.25, 2.0]), "generator", [0.5]])
@pytest.mark.parametrize("option", ["resolution", "attenuation"])
@pytest.mark.parametrize("output", [None, "c.tsv", "c.parquet"])
@pytest.mark.filterwarnings("ignore:one community holds", "ignore:starts disagree")
def test_several_values_give_a_result_each(option: str, values: Any, output: str | None, own_directory: Path) -> None:
    method = "modularity" if option == "resolution" else "label-propagation"
    if option == "attenuation":
        values = np.asarray(values) / 4 if not isinstance(values, str) else values
    given = (one for one in [0.125, 0.5]) if isinstance(values, str) else values
    expected = [0.125, 0.5] if isinstance(values, str) else [float(one) for one in values]
    matrix = groups()
    found = outcore.cluster(matrix, method=method, output=output, **{option: given})
    assert list(found) == expected
    for value, communities in found.items():
        alone = outcore.cluster(matrix, method=method, **{option: value})
        if option == "attenuation" or value == max(expected):
            # Other resolutions start from the groups of the largest.
            assert communities.labels.tolist() == alone.labels.tolist()
            assert communities.report["communities"]["modularity"] == alone.report["communities"]["modularity"]
        assert communities.community_count == len(communities.sizes())
        assert communities.report["communities"][option if option == "resolution" else "method"] in (value, method)
        assert communities.report["output"] == communities.path
        assert "results" not in communities.report
        del alone
    if output is None:
        assert len({communities.path for communities in found.values()}) == len(found)
        remaining = found.pop(expected[-1])
        del found, communities
        assert len(list(own_directory.iterdir())) == 1
        assert len(remaining.labels) == SIZE
        return
    ending = output.removeprefix("c")
    names = [f"c.{value:g}{ending}" for value in expected] if len(expected) > 1 else [output]
    assert [communities.path for communities in found.values()] == names
    assert sorted(path.name for path in own_directory.iterdir()) == sorted(names)


@pytest.mark.parametrize("option", ["resolution", "attenuation"])
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "is empty"),
        (np.array([]), "is empty"),
        ([0.5, 1, 0.5], "has the value 0.5 twice"),
        ([1, 1.0], "has the value 1 twice"),
        ("0.5,1", "takes a number, or several"),
        (["a"], "takes a number, or several"),
        ([None], "takes a number, or several"),
        (object(), "takes a number, or several"),
    ],
)
def test_values_that_are_no_numbers_or_repeat_are_refused(
    option: str, values: Any, message: str, karate: Path, own_directory: Path
) -> None:
    with pytest.raises(outcore.UsageError, match=f"`{option}` {message}") as raised:
        outcore.cluster(karate, method="modularity", **{option: values})
    assert raised.value.hint
    assert not list(own_directory.iterdir())


def test_an_estimator_has_one_result(own_directory: Path) -> None:
    with pytest.raises(outcore.UsageError, match="`Clusterer` has one result"):
        outcore.Clusterer(method="modularity", resolution=[0.5, 1]).fit(groups())
    labels = outcore.Clusterer(method="modularity", resolution=np.float64(0.5)).fit_predict(groups())
    assert labels.shape == (SIZE,)


@pytest.mark.filterwarnings("ignore:one community holds")
def test_a_graph_of_rows_gives_labels_for_several_resolutions(own_directory: Path) -> None:
    """The case of a single-cell user: the graph once, labels of the cells for some resolutions."""
    graph = outcore.build(groups(), "cells.graph")
    found = outcore.cluster(graph, method="modularity", resolution=[0.5, 1])
    program = "import outcore._command as command; command.main()"
    options = ["cells.graph", "-o", "c.tsv", "-q", "--method", "modularity", "--resolution", "0.5,1"]
    subprocess.run([sys.executable, "-c", program, "cluster", *options], check=True)
    direct = outcore.cluster(groups(), method="modularity", resolution=[0.5, 1])
    for value in (0.5, 1):
        assert found[value].labels.tolist() == direct[value].labels.tolist()
        of_command = outcore.Communities(f"c.{value:g}.tsv")
        assert found[value].labels.tolist() == [of_command[row] for row in range(SIZE)]
