"""Results have the right content, and leave no files behind."""

from __future__ import annotations

import copy
import gc
import pickle
from pathlib import Path

import igraph
import numpy as np
import outcore
import polars as pl
import pyarrow as pa
import pytest
from conftest import Edge, write_text


def test_a_result_is_a_table(karate: Path) -> None:
    communities = outcore.cluster(karate, method="modularity")
    lines = Path(communities.path).read_text().splitlines()
    pairs = [(node, int(number)) for node, number in (line.split("\t") for line in lines)]
    assert list(communities) == pairs
    table = pa.table(communities)
    assert table.schema == pa.schema([("node", pa.string()), ("community", pa.int64())]).set(
        0, pa.field("node", pa.string(), False)
    ).set(1, pa.field("community", pa.int64(), False))
    assert list(zip(*table.to_pydict().values(), strict=True)) == pairs
    assert list(communities.to_pandas().itertuples(index=False, name=None)) == pairs
    assert communities.to_polars().rows() == pairs == pl.DataFrame(communities).rows()
    assert communities[[node for node, _ in pairs]].tolist() == [number for _, number in pairs]
    numbered = outcore.cluster([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)], method="modularity")
    assert not numbered.labels.flags.owndata
    sizes = communities.sizes()
    assert sizes.sum() == len(pairs) == communities.node_count == 34
    assert np.all(np.diff(sizes) <= 0)
    assert len(sizes) == communities.community_count
    assert len(communities) == len(pairs)
    assert dict(communities) == dict(pairs) == {node: communities[node] for node, _ in pairs}
    assert "0" in communities and "nobody" not in communities
    assert communities.members(0) == [node for node, number in pairs if number == 0]
    with pytest.raises(KeyError):
        communities["nobody"]
    assert "34" in communities._repr_html_()


def test_an_unnamed_file_is_removed_with_its_result(karate: Path, own_directory: Path) -> None:
    communities = outcore.cluster(karate)
    assert Path(communities.path).exists()
    communities.write("copy.tsv")
    del communities
    gc.collect()
    assert [path.name for path in own_directory.iterdir()] == ["copy.tsv"]


def test_a_copy_keeps_its_format(karate: Path, own_directory: Path) -> None:
    found, table = outcore.cluster(karate), outcore.cluster(karate, output="c.parquet")
    for communities, name in ((found, "c.csv"), (found, "d.parquet"), (table, "d.tsv"), (table, "d.arrow")):
        with pytest.raises(outcore.UsageError, match="is copied as it is"):
            communities.write(name)
    found.write("copy.txt")
    table.write("copy.parquet")
    assert dict(outcore.Communities("copy.txt")) == dict(outcore.Communities("copy.parquet")) == dict(found)
    assert {path.name for path in own_directory.iterdir() if path.is_file()} == {
        "c.parquet",
        "copy.txt",
        "copy.parquet",
    }


def test_repeating_a_call_preserves_the_first_result(karate: Path, own_directory: Path) -> None:
    first, second = outcore.cluster(karate), outcore.cluster(karate)
    expected = list(first)
    del first
    gc.collect()
    assert list(second) == expected
    # As in a notebook cell that is run again: the old result is removed once the new one exists.
    second = outcore.cluster(karate)
    gc.collect()
    assert list(second) == expected
    del second
    gc.collect()
    assert not list(own_directory.iterdir())


def test_a_named_output_is_not_removed(karate: Path, own_directory: Path) -> None:
    communities = outcore.cluster(karate, output="communities.tsv")
    del communities
    gc.collect()
    assert [path.name for path in own_directory.iterdir()] == ["communities.tsv"]


@pytest.mark.parametrize("name", ["c.parquet", "c.arrow"])
def test_results_in_tables_read_like_text(name: str, karate: Path) -> None:
    expected = outcore.cluster(karate)
    found = outcore.cluster(karate, output=name)
    assert list(found) == list(expected)
    assert found.to_pandas().equals(expected.to_pandas())


@pytest.mark.filterwarnings("ignore:starts disagree")
def test_stability_is_equal_in_every_form(own_directory: Path) -> None:
    # Hardly any groups, so starts differ.
    pairs = [(a, b) for a, b in np.random.default_rng(1).integers(0, 200, (600, 2)).tolist() if a != b]
    path = write_text([(str(a), str(b), 1.0) for a, b in pairs], own_directory / "edges.tsv")
    text = outcore.cluster(path, method="modularity", stability=True)
    stability = text.stability
    assert stability.shape == text.labels.shape
    assert 0.0 <= stability.min() < 1.0 and stability.max() <= 1.0
    assert stability.mean() < 0.9
    assert list(text) == list(outcore.cluster(path, method="modularity"))
    for name in ["c.parquet", "c.arrow", "c.jsonl"]:
        table = outcore.cluster(path, method="modularity", stability=True, output=name)
        assert np.allclose(table.stability, stability, atol=5e-4)
    means = [stability[text.labels == number].mean() for number in range(text.community_count)]
    assert np.allclose(text.community_stability(), means, atol=5e-4)
    of_edges = outcore.cluster(pairs, method="modularity", stability=True)
    assert np.allclose(of_edges.stability, stability, atol=5e-4)
    assert [str(node) for node, _ in of_edges] == [node for node, _ in text]
    with pytest.raises(ValueError, match="stability=True"):
        _ = outcore.cluster(path).stability


def modularity(communities: outcore.Communities) -> float:
    """Return the modularity, as reported."""
    return float(communities.report["communities"]["modularity"])


def test_a_graph_grows_and_its_communities_are_updated(karate: Path, own_directory: Path) -> None:
    lines = karate.read_text().splitlines(keepends=True)
    old, new = Path("old.tsv"), Path("new.tsv")
    old.write_text("".join(lines[:70]))
    new.write_text("".join(lines[70:]))
    before = outcore.build(old, "before.graph")
    first = outcore.cluster(before, method="modularity", output="first.tsv")
    grown = outcore.build(new, "after.graph", append="before.graph")
    whole = outcore.build([old, new], "whole.graph")
    assert (grown.node_count, grown.edge_count) == (whole.node_count, whole.edge_count)
    for file in Path("whole.graph").iterdir():
        assert file.read_bytes() == (Path("after.graph") / file.name).read_bytes(), file.name
    updated = outcore.cluster(grown, method="modularity", initial=first.path)
    fresh = outcore.cluster(grown, method="modularity")
    assert modularity(updated) == pytest.approx(modularity(fresh), rel=0.05)
    assert modularity(updated) > 0.3


def test_well_connected_communities_have_no_small_cut(karate: Path) -> None:
    import networkx as nx

    graph = nx.Graph(np.loadtxt(karate, dtype=int)[:, :2].tolist())
    communities = outcore.cluster(karate, method="modularity", well_connected=2)
    for number in range(communities.community_count):
        members = [int(node) for node in communities.members(number)]
        if len(members) > 1:
            part = graph.subgraph(members)
            assert len(nx.minimum_edge_cut(part)) > 2


def test_names_of_any_kind_are_returned_unchanged(own_directory: Path) -> None:
    names = ['"quoted"', "tab\tinside", "carriage\rreturn", "é", "x" * 300]
    communities = outcore.cluster([(name, names[0]) for name in names], method="components", self_loops="keep")
    assert sorted(communities.to_arrow().column("node").to_pylist()) == sorted(names)
    assert sorted(node for node, _ in communities) == sorted(names)


def test_a_node_is_looked_up_in_an_index(own_directory: Path) -> None:
    names = ["é", "tab\tinside", "x" * 300, '"', *map(str, range(70_000))]
    communities = outcore.cluster(zip(names, names[4:] + names[:4], strict=True), method="components", output="c.tsv")
    expected = dict(communities)
    assert all(communities[name] == expected[name] for name in names[:1000])
    assert "70000" not in communities and "" not in communities
    # The index has no name on disk; a file that is rewritten gets a new index.
    assert [path.name for path in own_directory.iterdir()] == ["c.tsv"]
    Path("c.tsv").write_text("a\t5\nb\t7\n")
    assert (communities["b"], "é" in communities) == (7, False)
    Path("c.tsv").write_text("a\tfive\n")
    with pytest.raises(outcore.InputError):
        communities["a"]
    assert [path.name for path in own_directory.iterdir()] == ["c.tsv"]


@pytest.mark.parametrize("name", ["c.parquet", "c.arrow"])
def test_lookups_in_tables_equal_those_in_text(name: str, karate: Path) -> None:
    communities = outcore.cluster(karate, output=name)
    expected = outcore.cluster(karate)
    assert {node: communities[node] for node, _ in expected} == dict(expected)


def test_nodes_that_are_left_out_are_not_counted(own_directory: Path) -> None:
    edges = [("a", "b"), ("b", "c"), ("x", "y")]
    communities = outcore.cluster(edges, method="components", min_size=3)
    assert len(communities) == len(list(communities)) == 3 and communities.node_count == 5
    assert "x" not in communities
    alone = outcore.cluster(edges, method="components", min_size=3, small="singletons")
    assert len(alone) == len(list(alone)) == 5


def test_properties_of_a_graph_are_right(edges: list[Edge], own_directory: Path) -> None:
    graph = outcore.build(write_text(edges, Path("edges.tsv")), "edges.graph")
    neighbors: dict[str, dict[str, float]] = {}
    for source, target, weight in edges:
        for one, other in ((source, target), (target, source)):
            of_one = neighbors.setdefault(one, {})
            of_one[other] = of_one.get(other, 0) + weight
    assert graph.node_count == len(neighbors)
    assert graph.edge_count == sum(map(len, neighbors.values())) / 2
    assert graph.weight_total == pytest.approx(sum(weight for _, _, weight in edges))
    assert graph.is_weighted and not graph.is_directed
    for node in ("0", "77", edges[-1][0]):
        assert graph.neighbors(node) == pytest.approx(neighbors[node])
    degrees = pa.table(graph.degrees()).to_pydict()
    assert dict(zip(*degrees.values(), strict=True)) == {node: len(of) for node, of in neighbors.items()}
    with pytest.raises(KeyError):
        graph.neighbors("nobody")
    graph.verify()
    communities = outcore.cluster(graph, output="c.tsv")
    assert list(communities) == list(outcore.cluster("edges.tsv"))
    score = outcore.score(graph, communities, against=communities)
    assert score.against.agreement.nmi == 1.0
    assert score.quality.modularity == pytest.approx(communities.report.communities.modularity, abs=1e-6)
    opened = outcore.open_graph("edges.graph")
    assert repr(opened) == repr(graph)


def test_a_plan_has_its_fields(karate: Path) -> None:
    plan = outcore.plan(karate, memory="64MiB")
    assert plan.input.edge_count == 78
    assert plan.time.total_seconds() < 10
    assert "read" in plan._repr_html_()
    assert plan.memory_bytes_min <= 64 << 20
    with pytest.raises(AttributeError, match="there is no field `nothing`"):
        _ = plan.nothing


def test_progress_is_reported(edges: list[Edge]) -> None:
    events: list[outcore.Progress] = []
    communities = outcore.cluster(write_text(edges, Path("edges.tsv")), progress=events.append)
    stages = [progress.stage for progress in events if progress.is_done]
    assert stages == [stage["stage"] for stage in communities.report["stages"]]
    assert "read" in communities.report._repr_html_()
    clustering = [progress for progress in events if progress.stage == "cluster"]
    assert clustering[0].total and all(progress.done <= (progress.total or progress.done) for progress in clustering)


def test_a_notebook_shows_the_progress_of_a_terminal() -> None:
    from outcore._progress import Listener, Progress, _Notebook

    shown: list[str] = []
    listener = Listener(lambda progress: shown.append(_Notebook._line(progress)), warn=True)
    listener("begin", "cluster", 0, 4, "arcs")
    listener("advance", "1 of 4 arcs, 1/s, about 5s left", 1, None, "")
    listener("detail", "sweep 1", None, None, "")
    listener("expect", "", None, None, "")
    listener("end", "2 communities", None, None, "")
    assert shown == [
        "cluster 0%",
        "cluster 25%: 1 of 4 arcs, 1/s, about 5s left",
        "cluster 25%: 1 of 4 arcs, 1/s, about 5s left, sweep 1",
        "cluster: sweep 1",
        "cluster: 2 communities",
    ]
    assert _Notebook._line(Progress("read")) == "read"


def test_an_exception_of_progress_stops_the_job(edges: list[Edge], own_directory: Path) -> None:
    def stop(progress: outcore.Progress) -> None:
        raise LookupError(progress.stage)

    with pytest.raises(LookupError, match="read"):
        outcore.cluster(write_text(edges, Path("edges.tsv")), output="c.tsv", progress=stop)
    assert not Path("c.tsv").exists()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.filterwarnings("ignore:one community holds")  # Nearly all nodes are joined, as they should be.
def test_a_subgraph_is_the_edges_among_its_nodes(tmp_path: Path, directed: bool) -> None:
    random = np.random.default_rng(3)
    edges = {
        (f"n{a}", f"n{b}"): float(w) for a, b, w in random.integers(1, 40, (300, 3)) if a < b or (directed and a != b)
    }
    rows = [(source, target, weight) for (source, target), weight in edges.items()]
    graph = outcore.build(rows, tmp_path / "graph", directed=directed)
    wanted = {f"n{number}" for number in range(1, 40, 3)} & {name for edge in edges for name in edge}
    found = pa.table(graph.subgraph(wanted)).to_pylist()
    inside = {edge: weight for edge, weight in edges.items() if wanted.issuperset(edge)}
    ends = {(row["source"], row["target"]) for row in found}
    if not directed:
        ends = {(min(edge), max(edge)) for edge in ends}
        inside = {(min(edge), max(edge)): weight for edge, weight in inside.items()}
    alone = wanted - {name for edge in inside for name in edge[directed:]}
    assert ends == set(inside) | {(name, name) for name in alone}
    assert len(found) == len(ends)
    assert sum(row["weight"] for row in found) == pytest.approx(sum(inside.values()))
    with pytest.raises(KeyError, match="nobody"):
        pa.table(graph.subgraph(["n1", "nobody"]))
    communities = outcore.cluster(graph.subgraph(wanted), directed=directed, method="components")
    assert {name for name, _ in communities} == wanted


def test_a_plan_is_compared_with_a_cluster(karate: Path) -> None:
    import outcore.spark

    local = outcore.plan(karate, method="label-propagation")
    stays = outcore.spark.plan(local, workers=4, cores=8, memory="32GiB")
    assert (stays.moves, stays.reasons) == (False, [])
    moves = outcore.spark.plan(local, workers=4, cores=8, memory=32 << 30, free_disk=1)
    assert moves.moves
    assert "of disk here" in moves.reasons[0]
    poor = outcore.spark.plan(local, workers=4, cores=8, memory="1MiB", free_disk=1)
    assert not poor.moves
    assert "its tasks need" in poor.reasons[0]
    for wrong in ({"workers": 0}, {"cores": -1}, {"memory": "much"}, {"memory": 0}):
        with pytest.raises(outcore.UsageError):
            outcore.spark.plan(local, **{"workers": 4, "cores": 8, "memory": "32GiB", **wrong})


def test_a_result_is_pickled_with_its_temporary_files(karate: Path, own_directory: Path) -> None:
    found = outcore.cluster(karate, method="modularity", summary=True, stability=True)
    for copied in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found), copy.copy(found)):
        assert copied.path != found.path and dict(copied) == dict(found)
        assert copied["33"] == found["33"] and copied.report["communities"]["modularity"] == found._found["modularity"]
        assert copied.stability.tolist() == found.stability.tolist()
        assert copied.summary().equals(found.summary())
    state = pickle.dumps(found)
    del found
    gc.collect()
    again = pickle.loads(state)
    assert len(again) == 34 and len(again.members(0)) == 12
    directory = Path(again.path).parent
    del again
    gc.collect()
    assert not directory.exists()
    matrix = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    of_matrix = outcore.cluster(matrix, method="components")
    assert pickle.loads(pickle.dumps(of_matrix)).labels.tolist() == [0, 1, 0]


def test_a_result_in_a_file_is_pickled_by_its_path(karate: Path, own_directory: Path) -> None:
    found = outcore.cluster(karate, output="found.tsv", summary="summary.tsv")
    opened = outcore.Communities("found.tsv")
    state, of_opened = pickle.dumps(found), pickle.dumps(opened)
    assert len(state) < 20_000 and str(own_directory / "found.tsv").encode() in state
    for one in (state, of_opened):
        assert dict(pickle.loads(one)) == dict(found)
    assert pickle.loads(of_opened).node_count == 34
    Path("found.tsv").unlink()
    for one in (state, of_opened):
        with pytest.raises(outcore.FileError, match=r"found\.tsv"):
            dict(pickle.loads(one))


def test_communities_are_lists_and_clusterings(karate: Path, own_directory: Path) -> None:
    found = outcore.cluster(karate, method="modularity", levels=True)
    lists = found.to_lists()
    assert [len(nodes) for nodes in lists] == found.sizes().tolist()
    assert lists[0] == found.members(0)
    assert sorted(node for nodes in found.to_lists(level=2) for node in nodes) == sorted(dict(found))
    club = igraph.Graph.Famous("Zachary")
    large = outcore.cluster(club, method="modularity", min_size=6)
    with pytest.raises(ValueError, match=r"has no community.*small=\"singletons\""):
        large.to_igraph(club)
    small = outcore.cluster(club, method="modularity", min_size=6, small="singletons").to_igraph(club)
    assert len(small) == 3 + 5
