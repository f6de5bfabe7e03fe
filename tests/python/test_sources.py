"""A graph gives the same communities from every kind of source."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import igraph
import networkx
import numpy as np
import outcore
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.io
import scipy.sparse
from conftest import Edge, write_text


def table_of(edges: list[Edge]) -> pa.Table:
    source, target, weight = zip(*edges, strict=True)
    return pa.table({"source": source, "target": target, "weight": weight})


def integers_of(edges: list[Edge]) -> pa.Table:
    source, target, weight = zip(*edges, strict=True)
    return pa.table({"source": [int(n) for n in source], "target": [int(n) for n in target], "weight": weight})


def parquet(edges: list[Edge]) -> str:
    pa.parquet.write_table(table_of(edges), "edges.parquet", row_group_size=3000)
    return "edges.parquet"


def several(edges: list[Edge]) -> str:
    Path("parts").mkdir()
    for part in range(4):
        of_part = table_of(edges[part * 5000 : (part + 1) * 5000])
        pa.parquet.write_table(of_part, f"parts/{part}.parquet")
    return "parts/*.parquet"


def arrow(edges: list[Edge]) -> str:
    pa.feather.write_feather(table_of(edges), "edges.arrow", compression="lz4")
    return "edges.arrow"


def gzipped(edges: list[Edge]) -> Path:
    text = write_text(edges, Path("edges.tsv")).read_bytes()
    Path("edges.tsv.gz").write_bytes(gzip.compress(text))
    return Path("edges.tsv.gz")


def batches(edges: list[Edge]) -> Iterator[pa.RecordBatch]:
    yield from table_of(edges).to_batches(max_chunksize=777)


SOURCES: dict[str, Callable[[list[Edge]], Any]] = {
    "text": lambda edges: write_text(edges, Path("edges.tsv")),
    "gzip": gzipped,
    "a list of paths": lambda edges: [
        write_text(edges[:9000], Path("a.tsv")),
        write_text(edges[9000:], Path("b.tsv")),
    ],
    "Parquet": parquet,
    "a pattern": several,
    "Arrow file": arrow,
    "Arrow table": table_of,
    "Arrow reader": lambda edges: pa.RecordBatchReader.from_batches(table_of(edges).schema, batches(edges)),
    "Arrow integers": integers_of,
    "Arrow dictionary": lambda edges: table_of(edges).set_column(
        0, "source", table_of(edges).column(0).dictionary_encode()
    ),
    "batches": batches,
    "pandas": lambda edges: table_of(edges).to_pandas(),
    "pandas integers": lambda edges: integers_of(edges).to_pandas(),
    "polars": lambda edges: pl.DataFrame(table_of(edges)),
    "polars query": lambda edges: pl.DataFrame(table_of(edges)).lazy().with_columns(pl.col("weight") * 1),
    "polars query of a file": lambda edges: pl.scan_parquet(parquet(edges)),
    "pyarrow dataset": lambda edges: pa.dataset.dataset(parquet(edges)),
    "pyarrow scanner": lambda edges: pa.dataset.dataset(parquet(edges)).scanner(batch_size=999),
    "DuckDB": lambda edges: duckdb.sql(f"select * from '{parquet(edges)}'"),
    "tuples": iter,
}


@pytest.mark.parametrize("name", SOURCES)
def test_communities_are_independent_of_the_source(name: str, edges: list[Edge]) -> None:
    expected = outcore.cluster(write_text(edges, Path("expected.tsv")))
    found = outcore.cluster(SOURCES[name](edges))
    assert Path(found.path).read_bytes() == Path(expected.path).read_bytes()


def groups(communities: outcore.Communities) -> set[frozenset[str]]:
    """Return communities as sets, since numbers may differ if a source has an order of its own."""
    found: dict[int, set[str]] = {}
    for node, community in communities:
        found.setdefault(community, set()).add(str(node))
    return {frozenset(group) for group in found.values()}


def simple(edges: list[Edge]) -> list[Edge]:
    """Return edges without repetitions in the order of a matrix, so that nodes appear in the same order."""
    found = {}
    for source, target, weight in edges:
        low, high = sorted((int(source), int(target)))
        found[low, high] = weight
    return [(str(low), str(high), found[low, high]) for low, high in sorted(found)]


def matrix(edges: list[Edge], kind: str, symmetric: bool) -> Any:
    rows, columns, weights = zip(*((int(a), int(b), w) for a, b, w in edges), strict=True)
    upper = scipy.sparse.coo_array((weights, (rows, columns)), shape=(2000, 2000))
    return (upper + upper.T if symmetric else upper).asformat(kind)


def test_arrays_of_edges_are_recognized_if_nothing_else_is_meant(edges: list[Edge]) -> None:
    table = np.array([(int(a), int(b), w) for a, b, w in edges])
    expected = outcore.cluster(write_text(edges, Path("expected.tsv")))
    for columns in ((1, 2, 3), "1,2,3", ("1", "2", "3")):
        found = outcore.cluster(table, columns=columns)
        assert Path(found.path).read_bytes() == Path(expected.path).read_bytes()
    swapped = outcore.cluster(table[:, [2, 1, 0]], columns=(3, 2, 1))
    assert Path(swapped.path).read_bytes() == Path(expected.path).read_bytes()
    assert {type(node) for node, _ in found} == {int}
    pairs = table[:, :2].astype(np.int32)
    without = outcore.cluster(write_text([(a, b, 1.0) for a, b, _ in edges], Path("pairs.tsv")))
    assert Path(outcore.cluster(pairs).path).read_bytes() == Path(without.path).read_bytes()
    triples = np.array([[1, 2, 5], [2, 3, 1], [7, 8, 2], [8, 9, 1]])
    assert dict(outcore.cluster(triples, method="components")) == {1: 0, 2: 0, 3: 0, 7: 1, 8: 1, 9: 1}
    # Two rows of two are a matrix, unless columns are named.
    square = np.array([[0, 1], [1, 2]])
    assert len(outcore.cluster(square, method="components")) == 2
    assert len(outcore.cluster(square, method="components", columns=(1, 2))) == 3


@pytest.mark.parametrize(
    ("array", "columns", "message"),
    [
        (np.ones((5, 3)), None, r"matrix of 5 x 3.*\n.*`columns=\(1, 2, 3\)` if its rows are edges"),
        (np.array([[0.5, 1]] * 3), (1, 2), "not whole numbers"),
        (np.array([[np.nan, 1]] * 3), (1, 2), "not whole numbers"),
        (np.array([[1 << 63, 1]] * 3, dtype=np.uint64), (1, 2), "not whole numbers of 64 bits"),
        (np.array([["a", "b"]] * 3), (1, 2), "not whole numbers"),
        (np.ones((5, 3)), (1, 4), r"`columns=\(1, 4\)` does not select"),
        (np.ones((5, 3)), ("a", "b"), "does not select"),
        (np.ones((5, 3)), (1,), "does not select"),
        (np.ones((0, 2)), (1, 2), "holds no edges"),
        (np.array([[0, 1, -1]] * 4), None, "weight is negative"),
    ],
)
def test_other_arrays_are_refused(array: Any, columns: Any, message: str, own_directory: Path) -> None:
    with pytest.raises(outcore.Error, match=message):
        outcore.cluster(array, columns=columns)
    assert not list(own_directory.iterdir())


@pytest.mark.parametrize(
    "nothing",
    [
        pd.DataFrame({"source": [], "target": []}),
        pd.DataFrame({"a": [1], "b": [2]}).iloc[:0],
        pd.DataFrame({"source": ["a"], "target": ["b"], "weight": [1.0]}).iloc[:0],
        pl.DataFrame({"source": ["a"], "target": ["b"]}).clear(),
        pl.LazyFrame({"source": ["a"], "target": ["b"]}).filter(pl.col("source") == "c"),
        pa.table({"source": pa.array([], pa.string()), "target": pa.array([], pa.string())}),
        pa.dataset.dataset(pa.table({"source": pa.array([], pa.string()), "target": pa.array([], pa.string())})),
    ],
    ids=lambda nothing: f"{type(nothing).__name__} of {getattr(nothing, 'shape', '')}",
)
def test_tables_without_rows_hold_no_edges(nothing: Any, own_directory: Path) -> None:
    with pytest.raises(outcore.InputError, match="the input holds no edges"):
        outcore.cluster(nothing)
    assert not list(own_directory.iterdir())


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("kind", ["coo", "csr"])
def test_matrices_are_graphs(kind: str, symmetric: bool, edges: list[Edge]) -> None:
    edges = simple(edges)
    expected = outcore.cluster(write_text(edges, Path("expected.tsv")))
    found = outcore.cluster(matrix(edges, kind, symmetric))
    assert Path(found.path).read_bytes() == Path(expected.path).read_bytes()
    assert found.to_arrow().schema.field("node").type == pa.int64()


def test_directed_edges_of_a_symmetric_matrix_lead_both_ways(own_directory: Path) -> None:
    ring = scipy.sparse.csr_array(([1.0, 1.0, 1.0], ([0, 1, 2], [1, 2, 0])), shape=(3, 3))
    both = ring + ring.T
    counts = [
        outcore.cluster(rows, method="components", directed=directed).report["graph"]["edge_count"]
        for rows, directed in ((both, False), (both, True), (ring, True))
    ]
    assert counts == [3, 6, 3]


def clustered(source: object, **options: Any) -> bytes:
    found = outcore.cluster(source, **options)
    return Path(found.path).read_bytes()


@pytest.mark.filterwarnings("ignore:one community holds")  # Nearly all nodes are joined, as they should be.
def test_matrix_market_is_a_graph(edges: list[Edge]) -> None:
    edges = simple(edges)
    counted = [(str(int(source) + 1), str(int(target) + 1), weight) for source, target, weight in edges]
    text = write_text(counted, Path("expected.tsv"))
    scipy.io.mmwrite("upper.mtx", matrix(edges, "coo", False).tocsr(), precision=17)
    assert clustered("upper.mtx") == clustered(text)
    # The file has the entries of the other half, so nodes are in another order.
    scipy.io.mmwrite("whole.mtx", matrix(edges, "coo", True), precision=17, symmetry="symmetric")
    assert "symmetric" in Path("whole.mtx").read_text().partition("\n")[0]
    found = outcore.cluster("whole.mtx", method="components")
    assert groups(found) == groups(outcore.cluster(text, method="components"))


def test_adjacency_lists_are_graphs(edges: list[Edge]) -> None:
    edges = simple(edges)
    count = 1 + max(int(name) for edge in edges for name in edge[:2])
    nodes: list[dict[int, float]] = [{} for _ in range(count)]
    for source, target, weight in edges:
        nodes[int(source)][int(target)] = nodes[int(target)][int(source)] = weight
    lists = [sorted(neighbors.items()) for neighbors in nodes]
    metis = [" ".join(f"{other + 1} {weight!r}" for other, weight in neighbors) for neighbors in lists]
    mcl = [" ".join(f"{other}:{weight!r}" for other, weight in neighbors) for neighbors in lists]
    Path("g.metis").write_text("\n".join([f"{count} {len(edges)} 001", *metis, ""]))
    columns = "".join(f"{node} {entries} $\n" for node, entries in enumerate(mcl))
    Path("g.mci").write_text(
        f"(mclheader\nmcltype matrix\ndimensions {count}x{count}\n)\n(mclmatrix\nbegin\n{columns})\n"
    )
    for path, first in (("g.metis", 1), ("g.mci", 0)):
        # The same graph in lines, where a node without neighbors is a loop of weight 0.
        text = [
            f"{node + first}\t{other + first}\t{weight!r}\n"
            for node, neighbors in enumerate(lists)
            for other, weight in ([pair for pair in neighbors if pair[0] >= node] if neighbors else [(node, 0.0)])
        ]
        Path("expected.tsv").write_text("".join(text))
        expected = clustered("expected.tsv")
        assert clustered(path) == expected
        assert clustered(path, format="mcl" if first == 0 else "metis") == expected


@pytest.mark.filterwarnings("ignore:one community holds")  # Nearly all nodes are joined, as they should be.
def test_graphs_of_other_libraries_are_read_and_returned(edges: list[Edge]) -> None:
    edges = simple(edges)
    expected = groups(outcore.cluster(write_text(edges, Path("expected.tsv")), method="components"))
    graph = networkx.Graph()
    graph.add_weighted_edges_from((int(a), int(b), w) for a, b, w in edges)
    graph.add_node(7000)
    found = outcore.cluster(graph, method="components")
    assert groups(found) == expected | {frozenset({"7000"})}
    sets = found.to_networkx(graph)
    assert networkx.community.is_partition(graph, sets)
    assert sets[0] == max(networkx.connected_components(graph), key=len)

    of_igraph = igraph.Graph.TupleList(edges, edge_attrs=["weight"])
    found = outcore.cluster(of_igraph, method="components")
    assert groups(found) == expected
    clustering = found.to_igraph(of_igraph)
    assert sorted(map(len, clustering)) == sorted(map(len, of_igraph.connected_components()))


def same_groups(labels: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> bool:
    """Return whether two arrays of labels group their rows in the same way."""
    pairs = set(zip(labels.tolist(), np.asarray(expected).tolist(), strict=True))
    return len(pairs) == len(set(labels.tolist())) == len(set(np.asarray(expected).tolist()))


def shuffled(edges: list[Edge]) -> list[tuple[int, int, float]]:
    """Return edges within components, with nodes in an order other than that of the edges."""
    order = np.random.default_rng(4).permutation(2000).tolist()
    return [(order[int(a)], order[int(b)], w) for a, b, w in simple(edges) if int(a) // 200 == int(b) // 200]


def test_labels_are_in_the_order_of_rows(edges: list[Edge]) -> None:
    rows, columns, weights = zip(*shuffled(edges), strict=True)
    upper = scipy.sparse.coo_array((weights, (rows, columns)), shape=(2000, 2000))
    both = (upper + upper.T).tocsr()
    count, expected = scipy.sparse.csgraph.connected_components(both)
    for matrix in (both, both.tocoo(), upper, both.toarray()):
        found = outcore.cluster(matrix, method="components")
        assert same_groups(found.labels, expected)
        assert dict(found) == dict(enumerate(found.labels.tolist()))
    labels = outcore.Clusterer(method="components").fit_predict(both)
    assert same_groups(labels, expected) and labels.max() + 1 == count
    # Rows that are left out have no community.
    large = outcore.cluster(both, method="components", min_size=2)
    assert (large.labels == -1).sum() == 2000 - len(large)


@pytest.mark.parametrize("named", [False, True])
def test_labels_are_in_the_order_of_a_graphs_nodes(edges: list[Edge], named: bool) -> None:
    links = shuffled(edges)
    graph = igraph.Graph(2000, [link[:2] for link in links], edge_attrs={"weight": [link[2] for link in links]})
    expected = np.array(graph.connected_components().membership)
    if named:
        graph.vs["name"] = [f"node {at}" for at in range(2000)]
    found = outcore.cluster(graph, method="components")
    assert same_groups(found.labels, expected)
    assert found.to_igraph(graph).membership == found.labels.tolist()
    of_networkx = networkx.Graph()
    of_networkx.add_nodes_from(graph.vs["name"] if named else range(2000))
    of_networkx.add_edges_from((graph.vs[a]["name"], graph.vs[b]["name"]) if named else (a, b) for a, b, _ in links)
    assert same_groups(outcore.cluster(of_networkx, method="components").labels, expected)


def of_frame(kind: str) -> Callable[[list[Any]], Any]:
    return lambda rows: pd.DataFrame({"day": "today", "a": [a for a, _ in rows], "b": [b for _, b in rows]}).astype(
        {"a": kind, "b": kind}
    )


@pytest.mark.parametrize(
    ("source", "options"),
    [
        (iter, {}),
        (lambda rows: [(np.int32(a), np.int32(b)) for a, b in rows], {}),
        (of_frame("int32"), {"columns": ("a", "b")}),
        (of_frame("uint64"), {"columns": "2,3"}),
        (lambda rows: pl.DataFrame({"weight": [1] * 3, "target": [b for _, b in rows], "source": [1, 2, 8]}), {}),
        (lambda rows: iter(pa.table({"a": [1, 2, 8], "b": [2, 3, 9]}).to_batches(max_chunksize=1)), {}),
        (networkx.Graph, {}),
    ],
)
def test_integers_stay_integers(source: Callable[[Any], Any], options: dict[str, Any]) -> None:
    found = outcore.cluster(source([(1, 2), (2, 3), (8, 9)]), method="components", **options)
    assert sorted(dict(found).items()) == [(1, 0), (2, 0), (3, 0), (8, 1), (9, 1)]
    assert found.members(1) == [8, 9]
    assert found[8] == 1 and 8 in found and 7 not in found
    assert str(found.to_arrow().schema.field("node").type) in ("int64", "uint64")


@pytest.mark.filterwarnings("ignore:one community holds")  # Nearly all nodes are joined, as they should be.
def test_names_that_are_not_all_integers_are_text() -> None:
    late = [(at, at + 1) for at in range(70_000)] + [("a", 3)]
    for rows in (late, [(1, "a")], [(1, 2), (True, 2)], [(1, 1 << 63)], [(1.0, 2)]):
        found = outcore.cluster(rows, method="components")
        assert {type(node) for node, _ in found} == {str}
        assert found.to_arrow().schema.field("node").type == pa.string()
    table = pa.table({"a": [1], "b": ["x"]})
    assert outcore.cluster(table, method="components").members(0) == ["1", "x"]
    largest = pa.table({"a": pa.array([(1 << 64) - 1], pa.uint64()), "b": pa.array([1], pa.uint64())})
    assert outcore.cluster(largest, method="components").to_pandas()["node"].tolist() == [(1 << 64) - 1, 1]


@pytest.mark.parametrize(
    ("row", "kind", "column"),
    [
        (("a", "b"), "missing-column", 3),
        (("a", "b", 1, 2), "bad-input", 4),
        ("abc", "bad-input", 1),
        (("a", None, 2), "empty-name", 2),
        (("a", "b", None), "bad-weight", 3),
        (("a", "b", "2 kg"), "bad-weight", 3),
    ],
)
@pytest.mark.parametrize("before", [1, 70_000])
def test_an_error_has_the_place_of_a_bad_row(
    row: Any, kind: str, column: int, before: int, own_directory: Path
) -> None:
    rows = [("b", "c", 2.0)] * before + [row] + [("b", "c", 2.0)]
    with pytest.raises(outcore.InputError) as raised:
        outcore.cluster(rows)
    error = raised.value
    assert (error.kind, error.path, error.line, error.column) == (kind, "the iterable", before + 1, column)
    assert error.text == repr(row)
    assert not list(own_directory.iterdir())


def test_weights_are_in_all_rows_or_in_none(own_directory: Path) -> None:
    with pytest.raises(outcore.InputError, match="the iterable:2:3: this row has 3 fields"):
        outcore.cluster([("a", "b"), ("b", "c", 2)])
    assert not list(own_directory.iterdir())


def test_columns_of_frames_are_chosen_by_name(edges: list[Edge]) -> None:
    frame = pd.DataFrame(edges, columns=["a", "b", "w"])
    frame.insert(0, "date", "today")
    expected = outcore.cluster(write_text(edges, Path("expected.tsv")))
    found = outcore.cluster(frame, columns=("a", "b", "w"))
    assert dict(found) == dict(expected)


def test_objects_without_edges_are_refused() -> None:
    for nothing in (3, [], [1, 2], [("a",)], object(), iter([]), np.zeros((2, 3))):
        with pytest.raises(outcore.UsageError, match="cannot read edges from"):
            outcore.cluster(nothing)


def test_an_exception_of_an_iterator_is_raised_unchanged(edges: list[Edge]) -> None:
    def failing() -> Iterator[Edge]:
        yield from edges * 20
        raise LookupError("no more edges")

    with pytest.raises(LookupError, match="no more edges"):
        outcore.cluster(failing())


@pytest.mark.filterwarnings("ignore:one community holds")  # Nearly all nodes are joined, as they should be.
def test_lists_of_nodes_are_text_or_tables(tmp_path: Path, edges: list[Edge]) -> None:
    names = ["9001", "7", "9002", "9001"]
    numbers = pa.table({"label": ["x"] * 4, "id": [int(name) for name in names]})
    (tmp_path / "n.txt").write_text("\n".join(names))
    pa.parquet.write_table(numbers, tmp_path / "n.parquet")
    pa.feather.write_feather(numbers, tmp_path / "n.feather")
    pa.feather.write_feather(pa.table({"x": pa.array(names).dictionary_encode()}), tmp_path / "x.feather")
    text = write_text(edges, tmp_path / "edges.tsv")
    found = [
        dict(outcore.cluster(text, nodes=tmp_path / name, method="components", progress=False))
        for name in ("n.txt", "n.parquet", "n.feather", "x.feather")
    ]
    assert found == [found[0]] * 4
    assert {"9001", "9002"} < set(map(str, found[0]))
    pa.parquet.write_table(pa.table({"node": [1.5]}), tmp_path / "bad.parquet")
    with pytest.raises(outcore.InputError, match="column `node` is Float64"):
        outcore.cluster(text, nodes=tmp_path / "bad.parquet", progress=False)
