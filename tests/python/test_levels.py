"""Levels of a result: a frame, a tree of modules, and partitions of other libraries on each level."""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import outcore
import pytest

GRAPH = Path(__file__).resolve().parents[2] / "tests/graphs/football.tsv"


@pytest.fixture(scope="module", params=["modularity", "map-equation"])
def found(request: pytest.FixtureRequest) -> outcore.Communities:
    return outcore.cluster(GRAPH, method=request.param, levels=True, progress=False)


def test_each_level_divides_the_one_before_it(found: outcore.Communities) -> None:
    frame = found.levels
    columns = [name for name in frame.columns if name != "node"]
    assert columns[0] == "community" and len(columns) == 1 + len(found.report["communities"]["group_counts"])
    assert dict(zip(frame["node"], frame["community"], strict=True)) == dict(found)
    for parent, child in itertools.pairwise(columns):
        assert (frame.groupby(child)[parent].nunique() == 1).all()


@pytest.mark.parametrize("ending", ["tsv", "csv", "jsonl", "parquet", "arrow"])
def test_all_formats_give_the_same_levels(ending: str, tmp_path: Path) -> None:
    options = {"method": "modularity", "levels": True, "progress": False}
    expected = outcore.cluster(GRAPH, **options).levels  # type: ignore[arg-type]
    written = outcore.cluster(GRAPH, output=tmp_path / f"c.{ending}", **options)  # type: ignore[arg-type]
    assert written.levels.equals(expected)


def test_sizes_of_children_add_up(found: outcore.Communities) -> None:
    tree = found.tree()
    sizes = dict(zip(tree["path"], tree["size"], strict=True))
    assert sum(size for path, size in sizes.items() if len(path) == 1) == found.node_count
    for path, size in sizes.items():
        children = [sizes[other] for other in sizes if other[:-1] == path]
        assert not children or (sum(children) == size and len(children) > 1)


def test_libraries_get_each_level() -> None:
    networkx, igraph = pytest.importorskip("networkx"), pytest.importorskip("igraph")
    graph = networkx.ring_of_cliques(8, 5)
    found = outcore.cluster(graph, method="modularity", levels=True, progress=False)
    deepest = len(found.levels.columns) - 1
    for level in range(1, deepest + 1):
        column = "community" if level == 1 else f"group{level - 1}"
        groups = found.levels.groupby(column)["node"].agg(set).tolist()
        assert sorted(map(sorted, found.to_networkx(graph, level))) == sorted(map(sorted, groups))
        clustering = found.to_igraph(igraph.Graph.from_networkx(graph), level)
        assert len(clustering) == len(groups)
    with pytest.raises(ValueError, match="`level` is from 1"):
        found.to_networkx(graph, deepest + 1)


def test_without_levels_is_an_error_that_says_what_to_type(tmp_path: Path) -> None:
    plain = outcore.cluster(GRAPH, method="modularity", output=tmp_path / "c.tsv", progress=False)
    for result in (plain, outcore.Communities(tmp_path / "c.tsv")):
        with pytest.raises(ValueError, match="levels=True"):
            _ = result.levels


def test_a_tree_from_standard_input_is_scored_with_a_warning(tmp_path: Path) -> None:
    graph = outcore.build(GRAPH, tmp_path / "games.graph", progress=False)
    found = outcore.cluster(graph, output=tmp_path / "games.tree", method="modularity", levels=True, progress=False)
    command = [Path(sys.executable).parent / "outcore", "score", graph.path]
    whole = subprocess.run([*command, found.path, "--json", "-q"], capture_output=True, text=True, check=True)
    assert json.loads(whole.stdout)["tree"]["depth"] > 1
    text = Path(found.path).read_text()
    read = subprocess.run([*command, "-", "--json"], input=text, capture_output=True, text=True, check=True)
    assert "the code length of its tree is left out" in read.stderr
    assert "tree" not in json.loads(read.stdout)
