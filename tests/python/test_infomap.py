"""Files of Infomap: Infomap itself reads what is written here, and finds the same code length."""

from collections import Counter
from pathlib import Path

import numpy as np
import outcore
import pytest

GRAPHS = Path(__file__).parents[1] / "graphs"
infomap = pytest.importorskip("infomap")


def code_length(links: Path, communities: Path) -> float:
    """Return the code length of the modules in a file by Infomap, which may not move a node."""
    flags = f"--silent --two-level --no-infomap --cluster-data {communities}"
    walk = infomap.Infomap(flags)
    walk.read_file(str(links))
    walk.run()
    return float(walk.codelength)


@pytest.fixture
def loops(tmp_path: Path) -> Path:
    """Return a list of links of the karate club, with loops and weights."""
    lines = [line.split() for line in (GRAPHS / "karate.tsv").read_text().splitlines()]
    rows = [f"{a} {b} {1 + int(a) % 3}" for a, b in lines] + ["0 0 4", "33 33 2", "5 5 1"]
    path = tmp_path / "links.txt"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ending", ["tree", "ftree", "clu"])
def test_infomap_reads_a_result(loops: Path, tmp_path: Path, ending: str) -> None:
    output = tmp_path / f"found.{ending}"
    graph = outcore.build(loops, tmp_path / "graph", self_loops="keep", progress=False)
    found = outcore.cluster(graph, output=output, progress=False)
    expected = found.report["communities"]["code_length"]
    assert code_length(loops, output) == pytest.approx(expected, abs=1e-9)
    quality = outcore.score(graph, output)["quality"]
    assert quality["code_length"] == pytest.approx(expected, abs=1e-9)


def sections(path: Path) -> dict[str, list[list[float]]]:
    """Return the links of each module in a flow tree, after a row of what is known of it."""
    found: dict[str, list[list[float]]] = {}
    for line in path.read_text().split("#*Links path")[1].splitlines()[1:]:
        if line.startswith("*Links "):
            _, module, *numbers = line.split()
            rows = found.setdefault(module, [])
        else:
            numbers = line.split()
        rows.append([float(number) for number in numbers])
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("flags", ["", "--directed", "--directed --recorded-teleportation"])
def test_links_are_those_of_infomap(loops: Path, tmp_path: Path, flags: str) -> None:
    output, expected = tmp_path / "found.ftree", tmp_path / "infomap.ftree"
    keywords = {flag.removeprefix("--").replace("-", "_"): True for flag in flags.split()}
    outcore.cluster(loops, output=output, self_loops="keep", progress=False, **keywords)
    walk = infomap.Infomap(f"--silent --two-level --no-infomap --cluster-data {output} {flags}")
    walk.read_file(str(loops))
    walk.run()
    walk.write_flow_tree(str(expected))
    ours, theirs = sections(output), sections(expected)
    assert list(ours) == list(theirs)
    for module, rows in theirs.items():
        # Nodes of equal flow may have other numbers there.
        by_flow = [sorted(rows[1:], key=lambda row: row[2]) for rows in (rows, ours[module])]
        assert ours[module][0] == pytest.approx(rows[0], abs=1e-5)
        assert [row[2] for row in by_flow[1]] == pytest.approx([row[2] for row in by_flow[0]], abs=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_infomap_reads_names_by_the_numbers_of_an_exported_network(tmp_path: Path) -> None:
    edges = [("a b", "c", 2.0), ("c", 'd"e', 1.0), ('d"e', "a b", 1.0), ("c", "f", 0.5)]
    edges += [("f", "g", 1.0), ("g", "h", 1.0), ("h", "f", 1.0)]
    graph = outcore.build(edges, tmp_path / "graph", progress=False)
    network, output = tmp_path / "network.net", tmp_path / "found.tree"
    found = outcore.cluster(graph, output=output, progress=False)
    assert {name for name, _ in found} == {"a b", "c", 'd"e', "f", "g", "h"}
    plain = [(a.replace('"', "'"), b.replace('"', "'"), w) for a, b, w in edges]
    outcore.export(outcore.build(plain, tmp_path / "plain", progress=False), network, progress=False)
    expected = found.report["communities"]["code_length"]
    assert code_length(network, output) == pytest.approx(expected, abs=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_a_tree_of_infomap_has_its_code_length_here(loops: Path, tmp_path: Path) -> None:
    walk = infomap.Infomap("--silent --two-level --seed 3")
    walk.read_file(str(loops))
    walk.run()
    graph = outcore.build(loops, tmp_path / "graph", self_loops="keep", progress=False)
    for name, write in (("i.tree", walk.write_tree), ("i.ftree", walk.write_flow_tree), ("i.clu", walk.write_clu)):
        path = tmp_path / name
        write(str(path))
        quality = outcore.score(graph, path)["quality"]
        assert quality["code_length"] == pytest.approx(walk.codelength, abs=1e-9)


def test_flow_is_the_share_of_the_weight_at_a_node(tmp_path: Path) -> None:
    degrees = Counter((GRAPHS / "karate.tsv").read_text().split())
    for ending in ("tsv", "csv", "parquet", "arrow", "jsonl"):
        found = outcore.cluster(
            GRAPHS / "karate.tsv",
            output=tmp_path / f"c.{ending}",
            flow=True,
            output_header=ending == "tsv",
            progress=False,
        )
        expected = [degrees[str(node)] / degrees.total() for node in range(len(degrees))]
        assert found.flow == pytest.approx(np.array(expected)), "names are the numbers from 0"
    with pytest.raises(ValueError, match="flow=True"):
        _ = outcore.cluster(GRAPHS / "karate.tsv", progress=False).flow
