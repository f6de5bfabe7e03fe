"""Cells of AnnData get the communities of their own graph, in the order of their rows, on every path."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import Any

import anndata
import h5py
import numpy as np
import outcore
import pandas as pd
import pytest
import scipy.sparse
from conftest import planted

CELLS = 600
pytestmark = [
    # AnnData converts names and warns of it; it says nothing about graphs.
    pytest.mark.filterwarnings("ignore::UserWarning:anndata"),
    pytest.mark.filterwarnings("ignore::FutureWarning:anndata"),
]


def symmetric(count: int = CELLS, edges: int = 5000) -> Any:
    """Return a graph of groups, whose rows are in another order than the groups; one cell has no neighbor."""
    order = np.random.default_rng(7).permutation(count)
    rows, columns, weights = zip(*((int(a), int(b), w) for a, b, w in planted(count - 1, edges)), strict=True)
    half = scipy.sparse.coo_array((weights, (order[list(rows)], order[list(columns)])), shape=(count, count))
    return scipy.sparse.csr_matrix(half + half.T, dtype=np.float32)


def cells(graph: Any = None, key: str = "connectivities") -> Any:
    """Return cells with names in no order, and what scanpy records of their graph."""
    graph = symmetric() if graph is None else graph
    count = graph.shape[0]
    names = [f"CELL-{at:04}" for at in np.random.default_rng(8).permutation(count)]
    adata = anndata.AnnData(np.zeros((count, 1), dtype=np.float32), obs=pd.DataFrame(index=names))
    adata.obsp[key] = graph
    adata.uns["neighbors"] = {"connectivities_key": key, "distances_key": "distances", "params": {"n_neighbors": 15}}
    return adata


def labels(adata: Any, key: str = "leiden") -> list[int]:
    return [int(name) for name in adata.obs[key]]


MODULARITY: dict[str, Any] = {"method": "modularity"}


def test_cells_have_the_communities_of_their_matrix() -> None:
    adata = cells()
    expected = outcore.cluster(adata.obsp["connectivities"], **MODULARITY)
    found = outcore.cluster(adata, **MODULARITY)
    assert found.labels.tolist() == expected.labels.tolist()
    names = adata.obs_names.tolist()
    assert [found[name] for name in names] == expected.labels.tolist()
    # The same lines in the same order, except for the names.
    renamed = "".join(f"{names[row]}\t{community}\n" for row, community in expected)
    assert Path(found.path).read_text() == renamed
    assert found.report["communities"]["modularity"] == expected.report["communities"]["modularity"]
    outcore.tl.leiden(adata)
    assert labels(adata) == expected.labels.tolist()


def test_files_have_the_communities_of_their_matrix(own_directory: Path) -> None:
    adata = cells()
    expected = outcore.cluster(adata, **MODULARITY)
    for compression in (None, "gzip"):
        adata.write_h5ad("cells.h5ad", compression=compression)
        for path in ("cells.h5ad", Path("cells.h5ad")):
            found = outcore.cluster(path, **MODULARITY)
            assert Path(found.path).read_bytes() == Path(expected.path).read_bytes()
            assert found.labels.tolist() == expected.labels.tolist()
        frame = outcore.tl.leiden("cells.h5ad")
        assert isinstance(frame, pd.DataFrame)
        assert frame.index.tolist() == adata.obs_names.tolist()
        assert [int(name) for name in frame["leiden"]] == expected.labels.tolist()
    opened = anndata.read_h5ad("cells.h5ad", backed="r")
    assert Path(outcore.cluster(opened, **MODULARITY).path).read_bytes() == Path(expected.path).read_bytes()
    outcore.tl.leiden(opened)
    assert labels(opened) == expected.labels.tolist()
    opened.file.close()
    with h5py.File("cells.h5ad") as file:
        stored = anndata.io.sparse_dataset(file["obsp/connectivities"])
        assert outcore.cluster(stored, **MODULARITY).labels.tolist() == expected.labels.tolist()


def test_a_file_is_read_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    adata = cells()
    adata.write_h5ad("cells.h5ad")
    expected = outcore.cluster(adata, **MODULARITY)
    monkeypatch.setattr("outcore._sources.BATCH_EDGES", 257)
    monkeypatch.setattr("outcore._anndata._BATCH", 101)
    read: list[int] = []
    original = h5py.Dataset.__getitem__

    def counted(self: Any, at: Any, *more: Any) -> Any:
        found = original(self, at, *more)
        if self.name.startswith("/obsp/") and not self.name.endswith("indptr"):
            read.append(len(found))
        return found

    monkeypatch.setattr(h5py.Dataset, "__getitem__", counted)
    found = outcore.cluster("cells.h5ad", **MODULARITY)
    assert Path(found.path).read_bytes() == Path(expected.path).read_bytes()
    assert max(read) <= 257
    entries = adata.obsp["connectivities"].nnz
    assert sum(read) == 4 * entries


def test_a_matrix_in_a_file_is_symmetric_if_its_entries_are(own_directory: Path) -> None:
    graph = symmetric()
    one = graph.copy()
    one.data[17] *= 1.0001
    other = graph.tolil()
    row, column = (int(ends[5]) for ends in graph.nonzero())
    other[row, column] = 0
    # An entry of 0 is the same as none.
    entries = graph.tocoo()
    absent = int(np.flatnonzero(graph[0].toarray().ravel() == 0)[1])
    zeros = scipy.sparse.csr_matrix(
        (np.append(entries.data, np.float32(-0.0)), (np.append(entries.row, 0), np.append(entries.col, absent))),
        shape=graph.shape,
    )
    assert zeros.nnz == graph.nnz + 1
    upper = scipy.sparse.csr_matrix(scipy.sparse.triu(graph))
    for at, matrix in enumerate((graph, one, scipy.sparse.csr_matrix(other), zeros, upper)):
        adata = cells(matrix)
        adata.write_h5ad(f"{at}.h5ad")
        expected = outcore.cluster(matrix, **MODULARITY)
        found = outcore.cluster(f"{at}.h5ad", **MODULARITY)
        assert found.labels.tolist() == expected.labels.tolist(), at
        assert found.report["graph"]["weight_total"] == expected.report["graph"]["weight_total"], at


def test_each_pair_of_a_symmetric_matrix_counts_once() -> None:
    adata = cells()
    graph = adata.obsp["connectivities"]
    built = outcore.build(adata, "cells.graph")
    assert built.edge_count == scipy.sparse.triu(graph, 1).nnz
    assert built.weight_total == pytest.approx(scipy.sparse.triu(graph, 1).sum(), rel=1e-5)


def test_a_built_graph_has_the_names_or_the_rows() -> None:
    adata = cells()
    expected = outcore.cluster(adata, **MODULARITY).labels.tolist()
    rows = outcore.cluster(outcore.build(adata.obsp["connectivities"], "rows.graph"), **MODULARITY)
    assert rows.labels.tolist() == expected
    named = outcore.cluster(outcore.build(adata, "named.graph"), **MODULARITY)
    assert adata.obs_names.map(dict(named)).tolist() == expected
    with pytest.raises(outcore.UsageError, match="does not record the order"):
        _ = named.labels


def test_views_are_read_like_copies() -> None:
    adata = cells()
    chosen = np.random.default_rng(9).permutation(CELLS)[:400]
    view = adata[chosen]
    assert view.is_view
    expected = outcore.cluster(view.copy(), **MODULARITY).labels.tolist()
    assert outcore.cluster(view, **MODULARITY).labels.tolist() == expected
    assert outcore.cluster(view.obsp["connectivities"], **MODULARITY).labels.tolist() == expected
    dense = cells(symmetric().toarray())
    view_of_dense = dense[chosen]
    assert outcore.cluster(view_of_dense.obsp["connectivities"], **MODULARITY).labels.tolist() == expected
    with pytest.warns(UserWarning) as warned:
        outcore.tl.leiden(view)
    assert all(issubclass(one.category, UserWarning) for one in warned)
    assert labels(view) == expected and "leiden" not in adata.obs


def test_leiden_adds_what_scanpy_adds(own_directory: Path) -> None:
    adata = cells()
    assert outcore.tl.leiden(adata, 0.8, random_state=3) is None
    column = adata.obs["leiden"]
    assert column.dtype == "category" and not column.cat.ordered
    sizes = column.value_counts(sort=False)
    assert column.cat.categories.tolist() == [str(at) for at in range(len(sizes))] and len(sizes) > 10
    assert sizes.tolist() == sorted(sizes, reverse=True)
    found = outcore.cluster(adata, method="modularity", resolution=0.8, seed=3)
    recorded = adata.uns["leiden"]
    assert recorded["params"] == {
        "method": "modularity",
        "resolution": 0.8,
        "random_state": 3,
        "stability": False,
        "version": outcore.__version__,
    }
    assert recorded["modularity"] == found.report["communities"]["modularity"]
    assert recorded["community_count"] == found.community_count == len(sizes)
    outcore.tl.leiden(adata, key_added="sure", stability=True, trials=3, memory="1GiB")
    assert adata.obs["sure_stability"].between(0, 1).all()
    assert adata.uns["sure"]["params"]["trials"] == 3
    # All of it goes to a file and comes back.
    adata.write_h5ad("written.h5ad")
    again = anndata.read_h5ad("written.h5ad")
    assert again.uns["leiden"]["params"]["version"] == outcore.__version__
    assert again.obs["leiden"].tolist() == column.tolist()


def test_several_resolutions_have_a_column_each() -> None:
    adata = cells()
    copied = outcore.tl.leiden(adata, [0.5, 1, 2.25], key_added="fine", copy=True)
    assert "fine_1" not in adata.obs and "fine_1" not in adata.uns
    for value, name in ((0.5, "fine_0.5"), (1, "fine_1"), (2.25, "fine_2.25")):
        found = outcore.cluster(adata, method="modularity", resolution=value)
        assert labels(copied, name) == found.labels.tolist()
        assert copied.uns[name]["params"]["resolution"] == value
    outcore.tl.leiden(adata, [0.5, 1, 1.00000001], stability=True)
    assert "leiden_1.00000001" in adata.obs
    assert {"leiden_0.5_stability", "leiden_1_stability"} <= set(adata.obs)


def test_some_of_the_groups_are_divided() -> None:
    adata = cells()
    outcore.tl.leiden(adata, 0.2, key_added="coarse")
    before = adata.obs["coarse"].tolist()
    outcore.tl.leiden(adata, 2, restrict_to=("coarse", ["1", "0"]), stability=True)
    after = adata.obs["leiden_R"].tolist()
    inside = [name in ("0", "1") for name in before]
    graph = adata.obsp["connectivities"][inside][:, inside]
    expected = outcore.cluster(graph, method="modularity", resolution=2).labels.tolist()
    assert [name for name, is_in in zip(after, inside, strict=True) if is_in] == [f"1-0,{at}" for at in expected]
    assert [name for name, is_in in zip(after, inside, strict=True) if not is_in] == [
        name for name, is_in in zip(before, inside, strict=True) if not is_in
    ]
    categories = adata.obs["leiden_R"].cat.categories.tolist()
    assert categories == [f"1-0,{at}" for at in range(max(expected) + 1)] + [
        str(at) for at in range(2, len(set(before)))
    ]
    assert sorted(["10", "1,10", "1,9", "9"], key=outcore.tl._natural) == ["1,9", "1,10", "9", "10"]
    assert adata.obs["leiden_R_stability"].isna().tolist() == [not is_in for is_in in inside]
    assert adata.uns["leiden_R"]["params"]["restrict_to"] == ["coarse", "1", "0"]
    outcore.tl.leiden(adata, restrict_to=("coarse", ["0"]), key_added="mine")
    assert "mine" in adata.obs


def test_a_graph_is_chosen_as_by_scanpy(own_directory: Path) -> None:
    adata = cells()
    other = symmetric(edges=3000)
    adata.obsp["other_connectivities"] = other
    adata.uns["other"] = {"connectivities_key": "other_connectivities", "distances_key": "d"}
    expected = outcore.cluster(other, **MODULARITY).labels.tolist()
    assert labels(outcore.tl.leiden(adata, copy=True)) != expected
    ways: list[dict[str, Any]] = [
        {"neighbors_key": "other"},
        {"obsp": "other_connectivities"},
        {"adjacency": other},
        {"adjacency": other.toarray()},
        {"adjacency": other.tocoo()},
    ]
    for way in ways:
        assert labels(outcore.tl.leiden(adata, copy=True, **way)) == expected, way
    assert adata[:, :].uns.keys() == adata.uns.keys()
    adata.write_h5ad("cells.h5ad")
    for way in ways[:2]:
        frame = outcore.tl.leiden("cells.h5ad", **way)
        assert [int(name) for name in frame["leiden"]] == expected
    # Old files have the matrix beside the parameters.
    old = cells(key="elsewhere")
    old.uns["neighbors"]["connectivities"] = other
    assert labels(outcore.tl.leiden(old, copy=True)) == expected


class ModularityVertexPartition:
    """Class of leidenalg, by its name."""


class CPMVertexPartition:
    """Another one."""


#: Values of keywords of `scanpy.tl.leiden` and `louvain` that users pass, and what they are for `cluster`.
OF_SCANPY: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"flavor": "igraph", "n_iterations": 2, "directed": False}, {"cycles": 2}),
    ({"flavor": "leidenalg", "n_iterations": -1, "directed": True, "use_weights": True}, {"directed": True}),
    ({"use_weights": False, "partition_type": ModularityVertexPartition}, {"ignore_weights": True}),
    ({"objective_function": "modularity", "partition_type": None}, {}),
]


@pytest.mark.parametrize(("given", "meant"), OF_SCANPY)
def test_keywords_of_scanpy_mean_the_same(given: dict[str, Any], meant: dict[str, Any]) -> None:
    adata = cells()
    outcore.tl.leiden(adata, **given)
    assert labels(adata) == outcore.cluster(adata, **MODULARITY, **meant).labels.tolist()
    params = adata.uns["leiden"]["params"]
    assert {name: params[name] for name in ("cycles", "directed", "ignore_weights") if name in params} == meant


def test_louvain_ignores_weights_as_in_scanpy() -> None:
    adata = cells()
    outcore.tl.louvain(adata, flavor="vtraag", partition_type=None, partition_kwargs={})
    assert labels(adata, "louvain") == outcore.cluster(adata, **MODULARITY, ignore_weights=True).labels.tolist()
    outcore.tl.louvain(adata, 2, use_weights=True, key_added="fine")
    assert labels(adata, "fine") == outcore.cluster(adata, **MODULARITY, resolution=2).labels.tolist()


@pytest.mark.parametrize("name", ["leiden", "louvain"])
def test_every_keyword_of_scanpy_is_one(name: str) -> None:
    """Ours can take the place of theirs: the same parameters in the same order, and the same defaults."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import scanpy
    ours, theirs = (inspect.signature(getattr(module, name)).parameters for module in (outcore.tl, scanpy.tl))
    known = [parameter for parameter in theirs if parameter != "clustering_args"]
    assert [parameter for parameter in ours if parameter in theirs] == known
    # None stands for defaults that change nothing here, and for an empty dictionary.
    other = {"directed", "flavor", "partition_kwargs"}
    assert all(ours[one].default == theirs[one].default for one in known if one not in other)
    assert all(ours[one].default is None for one in known if one in other)


def test_other_methods_are_available() -> None:
    adata = cells()
    graph = adata.obsp["connectivities"]
    outcore.tl.communities(adata, "cpm", 0.05, key_added="cpm")
    assert labels(adata, "cpm") == outcore.cluster(graph, method="cpm", resolution=0.05).labels.tolist()
    outcore.tl.communities(adata, "map-equation", min_size=5, small="drop")
    found = outcore.cluster(graph, min_size=5)
    assert adata.obs["outcore"].cat.codes.tolist() == found.labels.tolist()
    assert adata.uns["outcore"]["code_length"] == found.report["communities"]["code_length"]


def test_numbers_of_an_earlier_result_are_kept() -> None:
    adata = cells()
    before = outcore.cluster(adata, **MODULARITY, seed=5)
    before.write("before.tsv")
    for match in (before, "before.tsv"):
        outcore.tl.leiden(adata, match=match)
        expected = outcore.cluster(adata, **MODULARITY, match="before.tsv").labels.tolist()
        assert labels(adata) == expected
    adata.obs["part"] = pd.Categorical(["a", "b"] * (CELLS // 2))
    outcore.tl.leiden(adata, match="before.tsv", restrict_to=("part", ["b"]))
    part = adata[adata.obs["part"] == "b"]
    expected = outcore.cluster(part, **MODULARITY, match="before.tsv").labels.tolist()
    assert adata.obs["leiden_R"][1::2].tolist() == [f"b,{number}" for number in expected]


def without(adata: Any) -> Any:
    del adata.obsp["connectivities"]
    return adata


def repeated() -> Any:
    adata = cells()
    adata.obs_names = ["same"] * CELLS
    return adata


REFUSED: dict[str, tuple[Any, str, str]] = {
    "no graph": (lambda: outcore.tl.leiden(without(cells())), "no graph", "sc.pp.neighbors(adata)"),
    "no graph to cluster": (lambda: outcore.cluster(without(cells())), "no graph", "sc.pp.neighbors(adata)"),
    "names that repeat": (lambda: outcore.cluster(repeated()), "`same`", "obs_names_make_unique"),
    "two graphs": (lambda: outcore.tl.leiden(cells(), obsp="a", neighbors_key="b"), "both select", "one of them"),
    "a graph twice": (
        lambda: outcore.tl.leiden(cells(), adjacency=symmetric(), obsp="connectivities"),
        "no effect",
        "leave them out",
    ),
    "another key": (lambda: outcore.tl.leiden(cells(), obsp="x"), "no `x`, but `connectivities`", "one of these"),
    "another graph": (lambda: outcore.tl.leiden(cells(), neighbors_key="x"), "no `x`", 'key_added="x"'),
    "a matrix of other cells": (
        lambda: outcore.tl.leiden(cells(), adjacency=symmetric(30, 100)),
        "(30, 30)",
        "for each cell",
    ),
    "a category that is not there": (
        lambda: outcore.tl.leiden(grouped(), restrict_to=("kind", ["z"])),
        "no category `z`",
        "`a`, `b`",
    ),
    "a category as text": (lambda: outcore.tl.leiden(grouped(), restrict_to=("kind", "a")), "list", '["a"]'),
    "a column that is not there": (
        lambda: outcore.tl.leiden(grouped(), restrict_to=("sort", ["a"])),
        "no column `sort`",
        "one of these",
    ),
    "a column without categories": (
        lambda: outcore.tl.leiden(grouped(), restrict_to=("number", ["1"])),
        "no categories",
        "astype",
    ),
    "a seed": (lambda: outcore.tl.leiden(cells(), seed=1), "`seed`", "random_state"),
    "a state": (lambda: outcore.tl.leiden(cells(), random_state=None), "`random_state`", "random_state=0"),
    "a flavor": (lambda: outcore.tl.leiden(cells(), flavor="vtraag"), '"leidenalg" or "igraph"', "leave it out"),
    "iterations": (lambda: outcore.tl.leiden(cells(), n_iterations=0), "`n_iterations`", "n_iterations=2"),
    "a class": (
        lambda: outcore.tl.leiden(cells(), partition_type=CPMVertexPartition),
        "`partition_type=CPMVertexPartition`",
        'communities(adata, "cpm"',
    ),
    "an objective": (lambda: outcore.tl.leiden(cells(), objective_function="CPM"), "objective_function='CPM'", "cpm"),
    "members": (lambda: outcore.tl.leiden(cells(), initial_membership=[0]), "`initial_membership`", "`initial`"),
    "settings of a class": (
        lambda: outcore.tl.louvain(cells(), partition_kwargs={"resolution_parameter": 2}),
        "`resolution_parameter`",
        "`resolution`",
    ),
    "a file of results": (lambda: outcore.tl.leiden(cells(), output="x.tsv"), "`output`", "outcore.cluster"),
    "a matrix": (lambda: outcore.tl.leiden(symmetric()), "not an object of type", "outcore.cluster"),
    "no file": (lambda: outcore.tl.leiden("nowhere.h5ad"), "does not exist", ".h5ad"),
    "columns": (lambda: outcore.cluster(cells(), columns=(1, 2)), "`columns`", "leave it out"),
    "nodes of two kinds": (lambda: outcore.cluster(cells(), two_mode=True), "two_mode", "leave it out"),
    "values of another option": (
        lambda: outcore.tl.communities(cells(), "label-propagation", attenuation=[0.1, 0.2]),
        "one number",
        "key_added",
    ),
}


def grouped() -> Any:
    adata = cells()
    adata.obs["kind"] = pd.Categorical(["a", "b"] * (CELLS // 2))
    adata.obs["number"] = 1
    return adata


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_graph_of_cells_is_refused_with_the_remedy(name: str, own_directory: Path) -> None:
    call, message, hint = REFUSED[name]
    with pytest.raises(outcore.Error) as raised:
        call()
    assert message in raised.value.message
    assert hint in (raised.value.hint or "")
    assert not list(own_directory.iterdir())


def test_files_that_have_no_graph_by_rows_are_refused() -> None:
    without(cells()).write_h5ad("none.h5ad")
    with pytest.raises(outcore.UsageError, match=r"no `connectivities`, but nothing\n.*sc\.pp\.neighbors"):
        outcore.cluster("none.h5ad")
    cells(symmetric().tocsc()).write_h5ad("columns.h5ad")
    with pytest.raises(outcore.UsageError, match=r"`csc_matrix`.*\n.*anndata\.read_h5ad"):
        outcore.cluster("columns.h5ad")
    cells(symmetric().toarray()).write_h5ad("dense.h5ad")
    with pytest.raises(outcore.UsageError, match=r"dense matrix.*\n.*anndata\.read_h5ad"):
        outcore.cluster("dense.h5ad")
    Path("text.h5ad").write_text("a\tb\n")
    with pytest.raises(outcore.CorruptFileError, match=r"`text\.h5ad` is not a file of AnnData"):
        outcore.cluster("text.h5ad")
    repeated().write_h5ad("repeated.h5ad")
    with pytest.raises(outcore.InputError, match="several cells have the name `same`"):
        outcore.cluster("repeated.h5ad")
    # Rows are known all the same.
    expected = outcore.cluster(symmetric(), **MODULARITY).labels.tolist()
    adata = repeated()
    outcore.tl.leiden(adata)
    assert labels(adata) == expected
