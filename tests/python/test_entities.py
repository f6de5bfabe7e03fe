"""Groups of duplicates: components at several thresholds, and the record that stays of each."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import outcore
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

PAIRS = [("b", "a", 0.95), ("a", "c", 0.85), ("d", "e", 0.9), ("c", "d", 0.6), ("f", "f", 1.0)]


@pytest.fixture(autouse=True)
def _in_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def groups(found: outcore.Communities) -> set[frozenset[str]]:
    all_: dict[int, set[str]] = {}
    for node, number in found:
        all_.setdefault(number, set()).add(node)
    return {frozenset(nodes) for nodes in all_.values()}


def test_each_threshold_has_a_result() -> None:
    found = outcore.cluster(PAIRS, method="components", min_weight=[0.9, 0.5, 0.8])
    assert list(found) == [0.9, 0.5, 0.8]
    expected = {0.9: ["ab", "c", "de", "f"], 0.8: ["abc", "de", "f"], 0.5: ["abcde", "f"]}
    for threshold, words in expected.items():
        assert groups(found[threshold]) == {frozenset(word) for word in words}
        alone = outcore.cluster(PAIRS, method="components", min_weight=threshold)
        assert groups(alone) == groups(found[threshold])
        assert found[threshold].report["communities"]["min_weight"] == threshold
    # Components of edges need no graph, and no graph has their modularity.
    assert found[0.9].report["communities"]["modularity"] is None
    assert repr(found[0.5]) == "<Communities: 6 nodes in 2 communities>"
    assert "modularity" not in found[0.5]._repr_html_()


def test_other_methods_cluster_once_for_each_threshold() -> None:
    graph = outcore.build(PAIRS, "pairs.graph")
    for source in (PAIRS, graph):
        found = outcore.cluster(source, method="modularity", min_weight=[0.9, 0.5])
        assert groups(found[0.9]) == {frozenset(word) for word in ["ab", "c", "de", "f"]}
        assert found[0.5].report["communities"]["min_weight"] == 0.5
        assert found[0.5].report["communities"]["modularity"] > 0


def test_a_warning_names_its_threshold() -> None:
    pairs = [*((a, b, 0.6) for a, b in combinations("abcde", 2)), ("x", "y", 0.95)]
    with pytest.warns(outcore.OutcoreWarning, match=r"holds 71.4 % .*\(at `min_weight=0.5`\)") as warned:
        outcore.cluster(pairs, method="label-propagation", min_weight=[0.9, 0.5])
    assert len(warned) == 1


def test_a_plan_takes_several_thresholds() -> None:
    Path("pairs.tsv").write_text("".join(f"{a}\t{b}\t{weight}\n" for a, b, weight in PAIRS))
    one = outcore.plan("pairs.tsv", method="components", min_weight=0.9)
    several = outcore.plan("pairs.tsv", method="components", min_weight=[0.9, 0.5])
    assert several.disk_bytes > one.disk_bytes


def test_a_graph_has_the_same_thresholds() -> None:
    graph = outcore.build(PAIRS, "pairs.graph")
    of_graph = outcore.cluster(graph, method="components", min_weight=[0.9, 0.5])
    of_pairs = outcore.cluster(PAIRS, method="components", min_weight=[0.9, 0.5])
    assert {value: groups(one) for value, one in of_graph.items()} == {
        value: groups(one) for value, one in of_pairs.items()
    }


@pytest.mark.parametrize("kind", ["text", "csv", "whole.parquet", "fractions.parquet"])
def test_a_file_says_which_record_stays(kind: str) -> None:
    nodes, numbers = ["a", "b", "c", "d", "e", "x"], [-1, 7, 7, 3, 2, 9]
    path = f"priorities.{kind}"
    if kind.endswith("parquet"):
        lengths = pa.array(numbers, pa.int32() if kind.startswith("whole") else pa.float64())
        pq.write_table(pa.table({"node": nodes, "length": lengths}), path)
    else:
        lines = ["node,length"] * (kind == "csv")
        separator = "," if kind == "csv" else "\t"
        lines += [f"{node}{separator}{number}" for node, number in zip(nodes, numbers, strict=True)]
        Path(path).write_text("\n".join(lines) + "\n")
    outcore.cluster(
        PAIRS,
        method="components",
        min_weight=0.8,
        output="groups.tsv",
        prefer=path,
        keep="keep.txt",
        drop="drop.parquet",
        representatives="representatives.csv",
    )
    assert Path("keep.txt").read_text().split() == ["b", "d", "f"]
    assert pq.read_table("drop.parquet").to_pydict() == {"node": ["a", "c", "e"]}
    assert Path("representatives.csv").read_text().split() == ["community,node,size", "0,b,3", "1,d,2", "2,f,1"]


def test_the_first_record_stays() -> None:
    outcore.cluster(PAIRS, method="components", min_weight=0.8, prefer="first", keep="keep.txt", drop="drop.txt")
    assert Path("keep.txt").read_text().split() == ["b", "d", "f"]
    assert Path("drop.txt").read_text().split() == ["a", "c", "e"]


def test_any_method_takes_preferred_records() -> None:
    outcore.cluster(PAIRS, method="modularity", prefer="first", keep="keep.txt")
    assert len(Path("keep.txt").read_text().split()) == outcore.cluster(PAIRS, method="modularity").community_count


def test_heights_are_cut_at_any_threshold() -> None:
    outcore.cluster(PAIRS, method="components", heights="heights.parquet")
    assert pq.read_table("heights.parquet").to_pydict() == {
        "node": ["b", "a", "c", "d", "e", "f"],
        "weight": [0.0, 0.95, 0.85, 0.6, 0.9, 0.0],
    }


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"min_weight": [0.9, 0.8], "method": "cpm", "resolution": [1, 2]}, ["min_weight", "resolution"]),
        ({"min_weight": [0.9, 0.8], "method": "modularity", "normalize": "self-score"}, ["min_weight", "normalize"]),
        ({"min_weight": [0.9, 0.8], "method": "modularity", "initial": "bad"}, ["min_weight", "initial"]),
        ({"min_weight": [0.9, 0.8], "levels": True}, ["levels", "min_weight"]),
        ({"min_weight": [0.9, 0.8], "well_connected": True}, ["well_connected"]),
        ({"min_weight": [0.9, 0.9]}, ["min_weight", "twice"]),
        ({"min_weight": []}, ["min_weight", "empty"]),
        ({"min_weight": [0.9, -1]}, ["min_weight"]),
        ({"heights": "h.tsv", "method": "modularity"}, ["heights", "components"]),
        ({"prefer": "first"}, ["prefer", "keep"]),
        ({"prefer": "missing", "keep": "k"}, ["missing"]),
        ({"prefer": "bad", "keep": "k"}, ["bad", "line 2", "long", "number"]),
        ({"prefer": "twice", "keep": "k"}, ["twice", "two numbers", "1", "2"]),
        ({"prefer": "others", "keep": "k"}, ["others", "no node"]),
        ({"prefer": "bad", "keep": "bad"}, ["keep", "bad"]),
        ({"keep": "k", "drop": "k"}, ["keep", "drop"]),
        ({"keep": "k.xlsx"}, ["xlsx"]),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, object], words: list[str]) -> None:
    Path("bad").write_text("a\t1\nb\tlong\n")
    Path("twice").write_text("a\t1\na\t2\n")
    Path("others").write_text("x\t1\ny\t2\n")
    arguments = {"method": "components", "output": "c.tsv", **options}
    with pytest.raises(outcore.errors.Error) as refused:
        outcore.cluster(PAIRS, **arguments)  # type: ignore[call-overload]
    text = f"{refused.value}"
    missing = [word for word in words if word not in text]
    assert not missing, text
    assert not Path("c.tsv").exists()
    assert not Path("k").exists()
